//! Packets of a capture that were not used, in words.

use std::collections::BTreeMap;
use std::fmt;

/// Writes the skipped packets by reason, and the error that ended the reading, if one did.
///
/// # Errors
/// The error of the formatter.
pub fn write_skipped(
    f: &mut fmt::Formatter<'_>,
    skipped: &BTreeMap<&'static str, u64>,
    full: bool,
    broken: Option<&str>,
) -> fmt::Result {
    let sum: u64 = skipped.values().sum();
    if sum > 0 {
        let reasons: Vec<String> = skipped.iter().map(|(why, count)| format!("{count} {why}")).collect();
        write!(f, "; {sum} skipped: {}", reasons.join(", "))?;
    }
    if full {
        f.write_str("; the rest was not read: limit reached")?;
    }
    match broken {
        Some(why) => write!(f, "; the file is truncated: {why}"),
        None => Ok(()),
    }
}
