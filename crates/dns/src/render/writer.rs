//! Bytes and names at the end of a message.

use super::RenderError;
use super::compressor::{Compressor, Place};
use hashlane_name::dns::{Case, Name};

/// Writes bytes and names into a buffer, and compresses names against earlier ones.
///
/// It knows neither records nor sections: that is [`Message`](super::Message). Offsets are from the start of
/// the message. A write that does not fit writes nothing.
#[derive(Debug)]
pub struct Writer<'a, C> {
    /// The buffer, including the bytes before the message.
    bytes: &'a mut [u8],
    /// Bytes before the message.
    base: usize,
    /// Bytes written, those before the message with them.
    end: usize,
    /// Reserved bytes at the end.
    reserved: usize,
    compressor: &'a mut C,
}

impl<'a, C: Compressor> Writer<'a, C> {
    /// Writes to `bytes`, with a message that starts at `base`. Bytes before it stay as they are, but if
    /// there are at least two, the last two of them become the message's length. Starts the compressor.
    #[inline]
    pub fn new(bytes: &'a mut [u8], base: usize, compressor: &'a mut C, case: Case) -> Self {
        compressor.start(case);
        let base = base.min(bytes.len());
        Self { bytes, base, end: base, reserved: 0, compressor }
    }

    /// Bytes written.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "a message has a header from the start")]
    pub const fn len(&self) -> usize {
        self.end - self.base
    }

    /// Bytes that can still be written.
    #[inline]
    pub const fn room(&self) -> usize {
        self.bytes.len().saturating_sub(self.reserved).saturating_sub(self.end)
    }

    /// The message so far.
    #[inline]
    pub fn written(&self) -> &[u8] {
        self.bytes.get(self.base..self.end).unwrap_or_default()
    }

    /// Reserves `bytes` at the end for later, in place of an earlier reservation.
    ///
    /// # Errors
    /// There is no room for them; the earlier reservation stays.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), RenderError> {
        match self.bytes.len().checked_sub(self.end).is_some_and(|room| bytes <= room) {
            true => {
                self.reserved = bytes;
                Ok(())
            }
            false => Err(RenderError::Full),
        }
    }

    /// Reserved bytes.
    pub const fn reserved(&self) -> usize {
        self.reserved
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// There is no room.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), RenderError> {
        let end = self.end + bytes.len();
        if end > self.bytes.len().saturating_sub(self.reserved) {
            return Err(RenderError::Full);
        }
        self.bytes[self.end..end].copy_from_slice(bytes);
        self.end = end;
        Ok(())
    }

    /// Writes a name, compressed.
    ///
    /// # Errors
    /// There is no room.
    #[inline]
    pub fn name(&mut self, name: Name<'_>) -> Result<(), RenderError> {
        let start = self.end;
        let Place { literal, pointer } = self.compressor.place(&self.bytes[self.base..start], name);
        let labels = name.as_bytes().get(..literal).unwrap_or_default();
        let end = start + labels.len();
        let limit = self.bytes.len().saturating_sub(self.reserved);
        let end = match pointer {
            Some(target) if end + 2 <= limit => {
                self.bytes[end..end + 2].copy_from_slice(&(0xc000 | target).to_be_bytes());
                end + 2
            }
            None if end <= limit => end,
            _ => {
                self.compressor.truncate(start - self.base);
                return Err(RenderError::Full);
            }
        };
        copy(&mut self.bytes[start..start + labels.len()], labels);
        self.end = end;
        Ok(())
    }

    /// Writes over bytes that were written.
    #[inline(always)]
    pub(super) fn patch<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(place) = self.bytes[self.base..self.end].get_mut(at..at + N) {
            place.copy_from_slice(&bytes);
        }
    }

    /// Cuts the message to `len` bytes, and forgets the names of the rest.
    pub(super) fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.end = self.base + len;
            self.compressor.truncate(len);
        }
    }

    /// The message, with its length before it if there is room for that.
    #[inline]
    pub fn finish(self) -> &'a [u8] {
        let len = self.end - self.base;
        if let Some(prefix) = self.bytes[..self.base].last_chunk_mut() {
            // The buffer is no longer than the two bytes can express.
            *prefix = (len as u16).to_be_bytes();
        }
        &self.bytes[..self.end]
    }
}

/// Copies bytes that are mostly few: two copies of a fixed number of them, which may overlap, take less than
/// a call.
#[inline(always)]
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> Option<()> {
        let (first, last) = (*from.first_chunk::<N>()?, *from.last_chunk::<N>()?);
        *to.first_chunk_mut()? = first;
        *to.last_chunk_mut()? = last;
        Some(())
    }
    let done = match from.len() {
        0 => Some(()),
        1 => both_ends::<1>(to, from),
        2..=4 => both_ends::<2>(to, from),
        5..=8 => both_ends::<4>(to, from),
        9..=16 => both_ends::<8>(to, from),
        17..=32 => both_ends::<16>(to, from),
        _ => None,
    };
    if done.is_none() {
        to.copy_from_slice(from);
    }
}
