//! The user's own names.

use std::error::Error;
use std::fmt::Write as _;

use hashlane_lab::study::{Input, Loaded, Paths};
use std::path::Path;

use crate::file::{self, FromFile};
use hashlane_stats::format::plural;

/// Most names that are read from a file: the source's number.
const MOST_NAMES: usize = 1_000_000;

/// Options for the user's own names.
pub(crate) const INPUTS: &[Input] = &[Input {
    option: "names",
    help: "Measure these names, one per line, instead of the study's workloads; - reads standard input",
    conflicts: &[],
}];

/// Reads the user's names. The notes name the first skipped lines.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
    let Some(path) = paths.get("names") else { return Ok(None) };
    let FromFile { names, skipped, skipped_count, lines, limit } = file::read(path, MOST_NAMES)?;
    let shown = file::shown(path);
    let mut note = format!("{shown}: {} from {}", plural(names.len(), "name"), plural(lines, "line"));
    if skipped_count > 0 {
        let are = if skipped_count == 1 { "is not a name" } else { "are not names" };
        write!(note, "; {} skipped that {are}", plural(skipped_count, "line"))?;
    }
    if let Some(limit) = limit {
        write!(note, "; the rest was not read: {limit}")?;
    }
    let mut loaded = Loaded::new(Loaded::label("names", Path::new(&*shown)), names).with_note(note);
    loaded.notes.extend(skipped.iter().map(|(line, reason)| format!("  line {line}: {reason}")));
    if skipped_count > skipped.len() {
        loaded.notes.push(format!("  and {} more", skipped_count - skipped.len()));
    }
    Ok(Some(loaded))
}
