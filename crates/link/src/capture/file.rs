//! Captures in files and on standard input, also compressed.

use super::error::FormatError;
use super::reader::Reader;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::mem;
use std::path::Path;

/// Stream of a capture's bytes, after decompression.
pub type Input = Box<dyn Read + Send>;

/// Opens a capture; `-` is standard input. A stream that begins as one of gzip (RFC 1952) or Zstandard (RFC
/// 8878) is decompressed as it is read.
///
/// # Errors
/// The file does not open, or is not a capture.
pub fn open(path: &Path) -> Result<Reader<Input>, FormatError> {
    let from: Input = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(FormatError::Read)?)
    };
    Reader::new(decompressed(from).map_err(FormatError::Read)?)
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The stream, or what it is a compressed form of.
pub(super) fn decompressed(mut from: Input) -> io::Result<Input> {
    let mut head = Vec::new();
    from.by_ref().take(4).read_to_end(&mut head)?;
    let (gzip, zstandard) = (head.starts_with(&GZIP), head.starts_with(&ZSTANDARD));
    let whole = Cursor::new(head).chain(from);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else if zstandard {
        Box::new(Zstandard::new(Box::new(whole)))
    } else {
        Box::new(whole)
    })
}

/// Frames of Zstandard one after the other; skippable ones hold no bytes of the capture.
struct Zstandard {
    state: State,
}

enum State {
    /// At the start of a frame, or at the end.
    Between(Input),
    Within(Box<Decoder>),
    Ended,
}

/// A frame's magic number was read before.
type Decoder = StreamingDecoder<Chain<Cursor<Vec<u8>>, Input>, FrameDecoder>;

impl Zstandard {
    fn new(from: Input) -> Self {
        Self { state: State::Between(from) }
    }

    /// The decoder of the next frame, or `None` at the end.
    fn begin(mut from: Input) -> io::Result<Option<Decoder>> {
        const SKIPPABLE: u32 = 0x184d_2a50;
        loop {
            let mut magic = Vec::new();
            from.by_ref().take(4).read_to_end(&mut magic)?;
            if magic.is_empty() {
                return Ok(None);
            }
            let number = magic.first_chunk().map_or(0, |magic| u32::from_le_bytes(*magic));
            if number & !0xf != SKIPPABLE {
                let whole = Cursor::new(magic).chain(from);
                return StreamingDecoder::new(whole).map(Some).map_err(io::Error::other);
            }
            let mut length = [0; 4];
            from.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            if io::copy(&mut from.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

impl Read for Zstandard {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            // Ended, too, after an error.
            match mem::replace(&mut self.state, State::Ended) {
                State::Between(from) => match Self::begin(from)? {
                    Some(decoder) => self.state = State::Within(Box::new(decoder)),
                    None => return Ok(0),
                },
                State::Within(mut decoder) => {
                    let read = decoder.read(out)?;
                    if read == 0 && !out.is_empty() {
                        self.state = State::Between(decoder.into_inner().into_inner().1);
                        continue;
                    }
                    self.state = State::Within(decoder);
                    return Ok(read);
                }
                State::Ended => return Ok(0),
            }
        }
    }
}
