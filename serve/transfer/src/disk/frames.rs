//! Frames with checksums, in which a file of a zone is written and read.

use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::PrefixHash as _;
use std::io::{self, Read, Write};

/// Begin of a file.
pub(super) const MAGIC: &[u8; 16] = b"hashlane zone 1\n";

/// Bytes of the head of a frame.
const HEAD: usize = 12;

/// Most bytes of a frame.
const MAX_FRAME: usize = 1 << 30;

/// The frames of a file.
pub(super) struct Frames<R> {
    input: R,
    /// Offset of the next frame.
    pub(super) at: u64,
    /// Bytes from there on.
    left: u64,
}

impl<R: Read> Frames<R> {
    /// The frames of `len` bytes.
    pub(super) fn new(input: R, len: u64) -> Self {
        Self { input, at: 0, left: len }
    }

    pub(super) fn magic(&mut self) -> io::Result<Option<()>> {
        let mut magic = [0; MAGIC.len()];
        if self.left < magic.len() as u64 {
            return Ok(None);
        }
        self.input.read_exact(&mut magic)?;
        self.advance(magic.len());
        Ok((magic == *MAGIC).then_some(()))
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.left = self.left.saturating_sub(bytes as u64);
    }

    /// The next frame; `None` if the bytes that follow are no frame.
    pub(super) fn next(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        let mut head = [0; HEAD];
        if self.left < HEAD as u64 {
            return Ok(None);
        }
        self.input.read_exact(&mut head)?;
        let [kind, len, sum] = [0, 4, 8].map(|at| {
            let bytes = head.get(at..).and_then(<[u8]>::first_chunk);
            u32::from_le_bytes(bytes.copied().unwrap_or_default())
        });
        let size = len as usize;
        if u64::from(len) + HEAD as u64 > self.left || size > MAX_FRAME {
            return Ok(None);
        }
        let mut body = vec![0; size];
        self.input.read_exact(&mut body)?;
        if checksum(kind, &[&body]) != sum {
            return Ok(None);
        }
        self.advance(HEAD + size);
        Ok(Some((kind, body)))
    }
}

fn checksum(kind: u32, parts: &[&[u8]]) -> u32 {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let head = [kind.to_le_bytes(), (len as u32).to_le_bytes()];
    crc32c([head.as_flattened()].into_iter().chain(parts.iter().copied()))
}

/// The CRC-32C of parts in a row.
pub(super) fn crc32c<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let crc = Crc32c::detect();
    let mut state = crc.start();
    parts.into_iter().for_each(|part| crc.extend(&mut state, part));
    crc.finish(&state) as u32
}

/// Writes a frame; returns its length.
pub(super) fn frame(out: &mut impl Write, kind: u32, parts: &[&[u8]]) -> io::Result<u64> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    if len > MAX_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "more than 1 GiB of records in one difference",
        ));
    }
    for number in [kind, len as u32, checksum(kind, parts)] {
        out.write_all(&number.to_le_bytes())?;
    }
    parts.iter().try_for_each(|part| out.write_all(part))?;
    Ok((HEAD + len) as u64)
}
