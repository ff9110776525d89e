//! Memory that the kernel and the process share: mappings, and frames that one of the two owns.
#![allow(unsafe_code, reason = "memory shared with the kernel; each use says why it is sound")]

use nix::errno::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;

/// Bytes of a frame's memory. Two of them are a page.
pub(super) const FRAME: usize = 2048;

/// A mapping, which is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Map {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone; the kernel does not care which thread uses it.
unsafe impl Send for Map {}

impl Map {
    /// Maps a part of a socket that it shares with the kernel.
    pub(super) fn shared(socket: BorrowedFd<'_>, offset: i64, length: usize) -> io::Result<Self> {
        Self::new(length, libc::MAP_SHARED | libc::MAP_POPULATE, socket.as_raw_fd(), offset)
    }

    /// Maps memory of zeros.
    fn anonymous(length: usize) -> io::Result<Self> {
        Self::new(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    fn new(length: usize, flags: i32, fd: i32, offset: i64) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; the result is checked.
        let start = unsafe { libc::mmap(null_mut(), length, access, flags, fd, offset) };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { start, length }),
            _ => Err(Errno::last().into()),
        }
    }

    /// Address of `length` bytes at `at`.
    ///
    /// # Panics
    /// They are not within the mapping.
    #[inline]
    pub(super) fn at(&self, at: usize, length: usize) -> NonNull<u8> {
        assert!(at <= self.length && length <= self.length - at, "a place in the mapping");
        // SAFETY: the place is within the mapping, as was checked.
        unsafe { self.start.add(at) }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and no reference into it outlives `self`. An error
        // would mean that the memory is not mapped, and then nothing is left to do.
        let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// The frames of a socket (UMEM).
#[derive(Debug)]
pub(super) struct Frames(Map);

/// A frame that the process owns: the right to read and write its memory.
///
/// There is at most one for each place in [`Frames`], and none while the kernel owns the frame. So a socket
/// gives it away when it puts the frame in a ring, and gets it back from a ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame(u32);

impl Frame {
    /// Gives the frame away: the address by which the kernel knows it.
    pub(super) fn into_address(self) -> u64 {
        u64::from(self.0) * FRAME as u64
    }

    /// The frame that has this address within it, and the place of the address in the frame.
    ///
    /// # Safety
    /// The kernel has handed over this address, of a frame of the socket, and no other value of this type
    /// stands for the frame.
    pub(super) unsafe fn from_address(address: u64) -> (Self, usize) {
        let (number, place) = (address / FRAME as u64, address % FRAME as u64);
        // Addresses are below 2^32 frames; `Frames` checks the number again at each use.
        (Self(number as u32), place as usize)
    }
}

impl Frames {
    /// Memory for frames, all of them the process's.
    pub(super) fn new(count: u32) -> io::Result<(Self, Vec<Frame>)> {
        let map = Map::anonymous(count as usize * FRAME)?;
        Ok((Self(map), (0..count).map(Frame).collect()))
    }

    /// Start and length of the memory, for the kernel.
    pub(super) fn registration(&self) -> (u64, u64) {
        (self.0.start.as_ptr().expose_provenance() as u64, self.0.length() as u64)
    }

    /// Bytes of a frame.
    #[inline]
    pub(super) fn bytes<'a>(&'a self, frame: &'a Frame) -> &'a [u8] {
        let start = self.0.at(frame.0 as usize * FRAME, FRAME);
        // SAFETY: `at` checks the bounds. The memory was zeros at first, so all of it is initialised. The
        // process owns the frame while there is a `Frame`, so the kernel does not write it; the shared
        // reference to the only `Frame` excludes writers in this process.
        unsafe { slice::from_raw_parts(start.as_ptr(), FRAME) }
    }

    /// Bytes of a frame, to be written.
    #[inline]
    pub(super) fn bytes_mut<'a>(&'a self, frame: &'a mut Frame) -> &'a mut [u8] {
        let start = self.0.at(frame.0 as usize * FRAME, FRAME);
        // SAFETY: as above; the mutable reference to the only `Frame` excludes all other users of its bytes.
        unsafe { slice::from_raw_parts_mut(start.as_ptr(), FRAME) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_memory_of_their_own() {
        let (frames, mut all) = Frames::new(8).unwrap();
        for (number, frame) in (0..).zip(&mut all) {
            assert!(frames.bytes(frame).iter().all(|byte| *byte == 0));
            frames.bytes_mut(frame).fill(number);
        }
        for (number, frame) in (0..).zip(&all) {
            assert!(frames.bytes(frame).iter().all(|byte| *byte == number));
        }
        assert_eq!(frames.registration().1, 8 * FRAME as u64);
        let address = all.remove(3).into_address();
        // SAFETY: the only one of this frame was given away.
        let (frame, place) = unsafe { Frame::from_address(address + 256) };
        assert_eq!((frames.bytes(&frame)[place], place), (3, 256));
    }

    #[test]
    #[should_panic(expected = "a place in the mapping")]
    fn a_frame_beyond_the_memory_has_no_bytes() {
        let (frames, _) = Frames::new(2).unwrap();
        frames.bytes(&Frame(2));
    }
}
