//! The user's own flows.

use std::error::Error;

use hashlane_lab::study::{Loaded, PCAP, Paths};

use crate::capture;

/// Most tuples that are taken from a capture: about 100 bytes each while it is read.
const MOST_TUPLES: usize = 1 << 20;

/// Reads the tuples of the user's capture.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
    let Some(path) = paths.get(PCAP.option) else { return Ok(None) };
    let capture = capture::read(path, MOST_TUPLES)?;
    let note = format!("{}: {capture}", path.display());
    Ok(Some(Loaded::new(Loaded::label("pcap", path), capture).with_note(note)))
}
