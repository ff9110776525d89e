//! Bytes and names at the end of a message.

use super::RenderError;
use crate::slices::Parts as _;
use hashlane_dns_compress::Compressor;
use hashlane_dns_compress::slices::copy;
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
        self.bytes.part(self.base..self.end)
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
        self.end = self.bytes_at(self.end, bytes)?;
        Ok(())
    }

    /// Writes a name, compressed.
    ///
    /// # Errors
    /// There is no room.
    #[inline(always)]
    pub fn name(&mut self, name: Name<'_>) -> Result<(), RenderError> {
        match self.name_at(self.end, name) {
            Ok(end) => {
                self.end = end;
                Ok(())
            }
            Err(error) => {
                self.compressor.truncate(self.len());
                Err(error)
            }
        }
    }

    /// The end of the bytes written, from the start of the buffer: where a run of
    /// [`bytes_at`](Self::bytes_at) and [`name_at`](Self::name_at) begins.
    #[inline(always)]
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    /// Ends a run of writes at `end`.
    #[inline(always)]
    pub(super) const fn end_at(&mut self, end: usize) {
        self.end = end;
    }

    /// Writes bytes at `at`, and returns the end of them. The caller keeps it in a register, and calls
    /// [`end_at`](Self::end_at) after the last of several writes: a load of the end after each store of it
    /// costs some nanoseconds for a record.
    ///
    /// # Errors
    /// There is no room.
    #[inline(always)]
    pub(super) fn bytes_at(&mut self, at: usize, bytes: &[u8]) -> Result<usize, RenderError> {
        let end = at + bytes.len();
        if end > self.bytes.len().saturating_sub(self.reserved) {
            return Err(RenderError::Full);
        }
        copy(&mut self.bytes[at..end], bytes);
        Ok(end)
    }

    /// Writes a name at `at`, compressed, and returns the end of it, as [`bytes_at`](Self::bytes_at).
    ///
    /// # Errors
    /// There is no room. The compressor must then be [cut](Self::truncate) to the bytes that stay.
    #[inline(always)]
    pub(super) fn name_at(&mut self, at: usize, name: Name<'_>) -> Result<usize, RenderError> {
        let place = self.compressor.place(&self.bytes[self.base..at], name);
        let labels = name.as_bytes().part(..place.literal());
        let end = at + labels.len();
        let limit = self.bytes.len().saturating_sub(self.reserved);
        let end = match place.pointer() {
            Some(target) if end + 2 <= limit => {
                self.bytes[end..end + 2].copy_from_slice(&(0xc000 | target).to_be_bytes());
                end + 2
            }
            None if end <= limit => end,
            _ => return Err(RenderError::Full),
        };
        copy(&mut self.bytes[at..at + labels.len()], labels);
        Ok(end)
    }

    /// Writes over bytes at `at`, from the start of the buffer.
    #[inline(always)]
    pub(super) fn patch<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(place) = self.bytes.get_mut(at..at + N) {
            place.copy_from_slice(&bytes);
        }
    }

    /// Writes over the start of the message.
    #[inline(always)]
    pub(super) fn patch_start<const N: usize>(&mut self, bytes: [u8; N]) {
        self.patch(self.base, bytes);
    }

    /// Cuts the message to `len` bytes, and forgets the names of the rest.
    pub(super) fn truncate(&mut self, len: usize) {
        if len <= self.len() {
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
