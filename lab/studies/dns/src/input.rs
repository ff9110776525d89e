//! The user's own DNS messages: a capture, or the records of a zone file.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use hashlane_hash::scheme::Key;
use hashlane_lab::study::{Input, Loaded, PCAP, Paths};
use hashlane_stats::format::plural;
use hashlane_zone_file::messages::{captured, read_bytes, zone};

use crate::workload::split;

/// Most bytes of memory for messages that are taken from a capture, about.
const MOST_MESSAGES: usize = 64 << 20;

/// Error with one line for the user.
type InputError = Box<dyn Error + Send + Sync>;

/// Options for the user's own messages.
pub(crate) const INPUTS: &[Input] = &[
    PCAP,
    Input {
        option: "zone",
        help: "Render the records of this zone file instead of generated messages",
        conflicts: &["pcap"],
    },
];

/// Reads the user's messages.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, InputError> {
    if let Some(path) = paths.get("zone") {
        return own_zone(path).map(Some);
    }
    let Some(path) = paths.get(PCAP.option) else { return Ok(None) };
    let name = path.display().to_string();
    let capture = captured(&read_file(path)?, &name, MOST_MESSAGES)?;
    let note = format!("{name}: {capture}");
    Ok(Some(Loaded::new(Loaded::label("pcap", path), capture.messages).with_note(note)))
}

/// Reads the records of a zone file, split into messages as a transfer sends them.
fn own_zone(path: &Path) -> Result<Loaded, InputError> {
    let name = path.display().to_string();
    let advice = "a line `$ORIGIN NAME` before it gives one";
    let content = zone(&read_file(path)?, &name, Some(path), None, advice)?;
    let records = content.records.len();
    let messages = split(content, &Key::VECTOR);
    let kept: usize = messages.iter().map(|message| message.records.len()).sum();
    let mut note = format!("{name}: {kept} records in {}", plural(messages.len(), "message"));
    if kept < records {
        write!(note, "; {} are too long for a message", records - kept)?;
    }
    Ok(Loaded::new(Loaded::label("zone", path), messages).with_note(note))
}

fn read_file(path: &Path) -> Result<Vec<u8>, InputError> {
    let cannot_read = |error: io::Error| format!("cannot read {}: {error}", path.display());
    read_bytes(File::open(path).map_err(cannot_read)?, &path.display().to_string())
}
