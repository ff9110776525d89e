//! The user's own names.

use std::error::Error;

use hashlane_lab::study::{Input, Loaded, Paths};
use std::path::Path;

use crate::file::{self, FromFile, Lines};
use crate::packed::Names;
use hashlane_stats::format::plural;

/// Most names that are read from a file: the source's number.
const MOST_NAMES: usize = 1_000_000;

/// Option for the user's own names.
pub(crate) const NAMES: Input = Input {
    option: "names",
    help: "Measure these names, one per line, instead of the study's workloads; - reads standard input",
    conflicts: &[],
};

/// Reads the user's names. The notes name the first skipped lines.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
    let Some(path) = paths.get(NAMES.option) else { return Ok(None) };
    let read = file::read::<Names>(path, MOST_NAMES)?;
    let (notes, label) = (notes(path, &read, "name"), Loaded::label("names", Path::new(&*file::shown(path))));
    let mut loaded = Loaded::new(label, read.names);
    loaded.notes = notes;
    Ok(Some(loaded))
}

/// Notes about a file of `what`, such as names: how much was read, and the first skipped lines.
pub(crate) fn notes<N: Lines>(path: &Path, read: &FromFile<N>, what: &str) -> Vec<String> {
    let FromFile { names, skipped, skipped_count, lines, limit } = read;
    let mut note =
        format!("{}: {} from {}", file::shown(path), plural(names.count(), what), plural(*lines, "line"));
    if *skipped_count > 0 {
        let are = if *skipped_count == 1 { format!("is not a {what}") } else { format!("are not {what}s") };
        note += &format!("; {} skipped that {are}", plural(*skipped_count, "line"));
    }
    if let Some(limit) = limit {
        note += &format!("; the rest was not read: {limit}");
    }
    let mut notes = vec![note];
    notes.extend(skipped.iter().map(|(line, reason)| format!("  line {line}: {reason}")));
    if *skipped_count > skipped.len() {
        notes.push(format!("  and {} more", skipped_count - skipped.len()));
    }
    notes
}
