//! Captures built by hand and by another crate, whole, cut, broken and compressed.

mod build;
mod compressed;
mod formats;
mod hostile;

use super::{CaptureError, Frame, Reader};
use std::io::Read;

/// A frame with bytes of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    link: Option<u32>,
    time: u64,
    original: u32,
    bytes: Vec<u8>,
}

impl Owned {
    fn of(frame: Frame<'_>) -> Self {
        let Frame { link, time, original, bytes } = frame;
        Self { link, time, original, bytes: bytes.to_vec() }
    }
}

/// All frames, and the error at the end.
fn read(from: impl Read) -> (Vec<Owned>, Option<CaptureError>) {
    let (mut reader, mut all) = (Reader::new(from).unwrap(), Vec::new());
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => all.extend(batch.map(Owned::of)),
            Ok(None) => return (all, None),
            Err(error) => {
                assert!(reader.next_batch().unwrap().is_none());
                return (all, Some(error));
            }
        }
    }
}
