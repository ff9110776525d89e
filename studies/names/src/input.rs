//! The user's own names.

use std::error::Error;
use std::fmt::Write as _;

use hashlane_lab::study::{Input, Loaded, Paths};

use crate::file::{self, FromFile};

/// Most names that are read from a file: the source's number.
const MOST_NAMES: usize = 1_000_000;

/// Options for the user's own names.
pub(crate) const INPUTS: &[Input] = &[Input {
    option: "names",
    help: "Measure these names, one per line, instead of the study's workloads",
    conflicts: &[],
}];

/// Reads the user's names. The notes name the first skipped lines.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
    let Some(path) = paths.get("names") else { return Ok(None) };
    let FromFile { names, skipped, skipped_count, lines, full } = file::read(path, MOST_NAMES)?;
    let mut note = format!("{}: {} names from {lines} lines", path.display(), names.len());
    if skipped_count > 0 {
        write!(note, "; {skipped_count} lines skipped that are not names")?;
    }
    if full {
        write!(note, "; the rest of the file was not read: at most {MOST_NAMES} names are measured")?;
    }
    let mut loaded = Loaded::new(Loaded::label("names", path), names).with_note(note);
    loaded.notes.extend(skipped.iter().map(|(line, reason)| format!("  line {line}: {reason}")));
    if skipped_count > skipped.len() as u64 {
        loaded.notes.push(format!("  and {} more", skipped_count - skipped.len() as u64));
    }
    Ok(Some(loaded))
}
