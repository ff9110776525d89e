//! Captures built by hand and by another crate, whole, cut, broken and compressed.

mod build;
mod compressed;
mod formats;
mod hostile;

use super::{CaptureError, Frame, Reader};
use std::io::Read;

/// A frame that owns its bytes.
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

/// All frames, and the error at the end: the same in batches and in chunks.
fn read(mut from: impl Read) -> (Vec<Owned>, Option<CaptureError>) {
    let mut bytes = Vec::new();
    // A stream that fails after some bytes.
    let failed = from.read_to_end(&mut bytes).err();
    let again = |bytes| Failing(bytes, failed.as_ref().map(std::io::Error::kind));
    let (frames, error) = in_batches(again(&bytes));
    let (same, same_error) = in_chunks(again(&bytes));
    assert_eq!((&same, format!("{same_error:?}")), (&frames, format!("{error:?}")));
    (frames, error)
}

/// Bytes, and then an error.
struct Failing<'a>(&'a [u8], Option<std::io::ErrorKind>);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.1 {
            Some(kind) if self.0.is_empty() => Err(kind.into()),
            _ => self.0.read(into),
        }
    }
}

fn in_batches(from: impl Read) -> (Vec<Owned>, Option<CaptureError>) {
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

fn in_chunks(from: impl Read) -> (Vec<Owned>, Option<CaptureError>) {
    let (mut reader, mut all) = (Reader::new(from).unwrap(), Vec::new());
    let mut chunks = [super::Chunk::default(), super::Chunk::default()];
    loop {
        chunks.swap(0, 1);
        match reader.next_chunk(&mut chunks[0]) {
            Ok(true) => all.extend(chunks[0].frames().into_iter().flatten().map(Owned::of)),
            Ok(false) => return (all, None),
            Err(error) => {
                assert!(!reader.next_chunk(&mut chunks[0]).unwrap());
                return (all, Some(error));
            }
        }
    }
}
