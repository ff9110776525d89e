//! Captures in files and on standard input, also compressed.

use super::error::FormatError;
use super::pipe::{Patient, Pipe, unbuffered_stdin};
use super::reader::Reader;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::mem;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Stream of a capture's bytes, after decompression.
pub type Input<'a> = Box<dyn Read + Send + 'a>;

/// Opens a capture as [`open_stream`] does.
///
/// # Errors
/// The file does not open, or is not a capture.
pub fn open(path: &Path) -> Result<Reader<Input<'static>>, FormatError> {
    Reader::new(open_stream(path).map_err(FormatError::Read)?)
}

/// Opens a file of any format; `-` is standard input. A stream that begins as one of gzip (RFC 1952) or
/// Zstandard (RFC 8878) is decompressed as it is read.
///
/// # Errors
/// The file does not open, or its first bytes cannot be read.
pub fn open_stream(path: &Path) -> io::Result<Input<'static>> {
    let from: Input<'_> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    decompressed(from)
}

/// Acts as [`open`], but waits for the bytes of a pipe only until `stop` is true: the stream then ends,
/// within 100 ms, also within a packet.
///
/// While a pipe is silent, [`Reader::next_batch`] returns an empty batch each 100 ms, unless its stream is
/// compressed.
///
/// # Errors
/// As [`open`]. A stream that was stopped before its first bytes is not a capture.
pub fn open_until<'a>(path: &Path, stop: &'a AtomicBool) -> Result<Reader<Input<'a>>, FormatError> {
    let file = if path == Path::new("-") { unbuffered_stdin() } else { File::open(path) };
    let file = file.map_err(FormatError::Read)?;
    let is_file = file.metadata().is_ok_and(|data| data.is_file());
    let from: Input<'a> = if is_file { Box::new(file) } else { Box::new(Pipe::new(file, stop)) };
    Reader::new(decompressed(from).map_err(FormatError::Read)?)
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The stream, or what it is a compressed form of.
pub(super) fn decompressed(mut from: Input<'_>) -> io::Result<Input<'_>> {
    let mut head = Vec::new();
    Patient(&mut from).take(4).read_to_end(&mut head)?;
    let (gzip, zstandard) = (head.starts_with(&GZIP), head.starts_with(&ZSTANDARD));
    let whole = Cursor::new(head).chain(from);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(Patient(whole)))
    } else if zstandard {
        Box::new(Zstandard::new(Box::new(Patient(whole))))
    } else {
        Box::new(whole)
    })
}

/// Frames of Zstandard one after the other; skippable ones hold no bytes of the capture.
struct Zstandard<'a> {
    state: State<'a>,
}

enum State<'a> {
    /// At the start of a frame, or at the end.
    Between(Input<'a>),
    Within(Box<Decoder<'a>>),
    Ended,
}

/// A frame's magic number was read before.
type Decoder<'a> = StreamingDecoder<Chain<Cursor<Vec<u8>>, Input<'a>>, FrameDecoder>;

impl<'a> Zstandard<'a> {
    fn new(from: Input<'a>) -> Self {
        Self { state: State::Between(from) }
    }

    /// The decoder of the next frame, or `None` at the end.
    fn begin(mut from: Input<'a>) -> io::Result<Option<Decoder<'a>>> {
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

/// Compares the checksum that a frame states, if any, with the checksum of its bytes.
fn verify(frame: &FrameDecoder) -> io::Result<()> {
    match (frame.get_checksum_from_data(), frame.get_calculated_checksum()) {
        (Some(stated), Some(found)) if stated != found => {
            let error = format!("checksum {found:#010x} of a Zstandard frame that states {stated:#010x}");
            Err(io::Error::new(io::ErrorKind::InvalidData, error))
        }
        _ => Ok(()),
    }
}

impl Read for Zstandard<'_> {
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
                        verify(&decoder.decoder)?;
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
