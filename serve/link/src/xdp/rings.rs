//! The four rings of a socket, by which the kernel and the process hand frames to each other.
//!
//! A ring is an array with two running numbers: its producer writes entries and then the producer's number,
//! its consumer reads entries and then writes the consumer's number (Linux,
//! `Documentation/networking/af_xdp.rst`).
#![allow(unsafe_code, reason = "memory shared with the kernel; each use says why it is sound")]

use super::memory::{FRAME, Frame, Map};
use libc::{xdp_desc, xdp_ring_offset};
use std::io;
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// A ring with entries of type `T`, plain numbers.
#[derive(Debug)]
struct Ring<T> {
    map: Map,
    producer: usize,
    consumer: usize,
    flags: usize,
    entries: usize,
    /// Number of entries, a power of two.
    size: u32,
    entry: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    fn new(socket: BorrowedFd<'_>, page: i64, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        let place = |offset: u64| usize::try_from(offset).map_err(io::Error::other);
        let entries = place(offsets.desc)?;
        let map = Map::shared(socket, page, entries + size as usize * size_of::<T>())?;
        let (producer, consumer) = (place(offsets.producer)?, place(offsets.consumer)?);
        let ring =
            Self { map, producer, consumer, flags: place(offsets.flags)?, entries, size, entry: PhantomData };
        debug_assert!(size.is_power_of_two() && entries % align_of::<T>() == 0);
        Ok(ring)
    }

    #[inline]
    fn word(&self, at: usize) -> &AtomicU32 {
        let word = self.map.at(at, size_of::<AtomicU32>()).cast::<u32>();
        // SAFETY: within the mapping, as `at` checks, and aligned to 4, as the kernel's structure is; the
        // kernel and the process only access it atomically.
        unsafe { AtomicU32::from_ptr(word.as_ptr()) }
    }

    /// Place of the entry with this running number.
    #[inline]
    fn entry(&self, number: u32) -> *mut T {
        let index = (number & (self.size - 1)) as usize;
        self.map.at(self.entries + index * size_of::<T>(), size_of::<T>()).cast().as_ptr()
    }
}

/// The process's side of a ring that the kernel reads.
#[derive(Debug)]
struct Producer<T> {
    ring: Ring<T>,
    /// Number of the next entry.
    next: u32,
    /// Number of the first entry that has no room.
    end: u32,
}

impl<T: Copy> Producer<T> {
    fn new(ring: Ring<T>) -> Self {
        Self { ring, next: 0, end: 0 }
    }

    /// Returns `true` if there is room for an entry.
    #[inline]
    fn has_room(&mut self) -> bool {
        if self.next == self.end {
            // Acquire: entries are overwritten after the kernel has read them.
            let consumed = self.ring.word(self.ring.consumer).load(Ordering::Acquire);
            self.end = consumed.wrapping_add(self.ring.size);
        }
        self.next != self.end
    }

    /// Writes an entry, for which there [is room](Self::has_room).
    #[inline]
    fn write(&mut self, entry: T) {
        debug_assert!(self.next != self.end, "a ring with room");
        // SAFETY: the place is within the ring and aligned. The kernel does not read it before `publish`, and
        // has read its last value, as `has_room` has seen.
        unsafe { self.ring.entry(self.next).write(entry) };
        self.next = self.next.wrapping_add(1);
    }

    /// Hands the entries to the kernel.
    #[inline]
    fn publish(&mut self) {
        self.ring.word(self.ring.producer).store(self.next, Ordering::Release);
    }

    /// Entries that the kernel has not read.
    #[inline]
    fn unread(&self) -> u32 {
        self.next.wrapping_sub(self.ring.word(self.ring.consumer).load(Ordering::Acquire))
    }

    /// Returns `true` if the kernel reads entries only after a system call.
    #[inline]
    fn needs_wakeup(&self) -> bool {
        self.ring.word(self.ring.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The process's side of a ring that the kernel writes.
#[derive(Debug)]
struct Consumer<T> {
    ring: Ring<T>,
    /// Number of the next entry.
    next: u32,
    /// Number after the last entry that was seen.
    end: u32,
}

impl<T: Copy> Consumer<T> {
    fn new(ring: Ring<T>) -> Self {
        Self { ring, next: 0, end: 0 }
    }

    /// The next entry.
    #[inline]
    fn read(&mut self) -> Option<T> {
        if self.next == self.end {
            self.end = self.ring.word(self.ring.producer).load(Ordering::Acquire);
            if self.next == self.end {
                return None;
            }
        }
        // SAFETY: the place is within the ring and aligned; the kernel has written it before the number that
        // was loaded with Acquire, and writes it no more before `release`.
        let entry = unsafe { self.ring.entry(self.next).read() };
        self.next = self.next.wrapping_add(1);
        Some(entry)
    }

    /// Gives the places of the entries back to the kernel.
    #[inline]
    fn release(&mut self) {
        self.ring.word(self.ring.consumer).store(self.next, Ordering::Release);
    }
}

/// Frames that the kernel may receive into.
#[derive(Debug)]
pub(super) struct Fill(Producer<u64>);

/// Frames that the kernel has received.
#[derive(Debug)]
pub(super) struct Receive(Consumer<xdp_desc>);

/// Frames that the kernel shall send.
#[derive(Debug)]
pub(super) struct Transmit(Producer<xdp_desc>);

/// Frames that the kernel has sent.
#[derive(Debug)]
pub(super) struct Completion(Consumer<u64>);

impl Fill {
    pub(super) fn new(socket: BorrowedFd<'_>, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        const PAGE: i64 = libc::XDP_UMEM_PGOFF_FILL_RING as i64;
        Ok(Self(Producer::new(Ring::new(socket, PAGE, offsets, size)?)))
    }

    /// Gives frames to the kernel, from the last one on, as many as there is room for.
    #[inline]
    pub(super) fn give(&mut self, frames: &mut Vec<Frame>) {
        while self.0.has_room()
            && let Some(frame) = frames.pop()
        {
            self.0.write(frame.into_address());
        }
        self.0.publish();
    }

    #[inline]
    pub(super) fn needs_wakeup(&self) -> bool {
        self.0.needs_wakeup()
    }
}

impl Receive {
    pub(super) fn new(socket: BorrowedFd<'_>, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        Ok(Self(Consumer::new(Ring::new(socket, libc::XDP_PGOFF_RX_RING, offsets, size)?)))
    }

    /// The next frame, with the place of its first byte and the number of its bytes.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(Frame, usize, usize)> {
        let entry = self.0.read()?;
        // SAFETY: the kernel hands over a frame that was in the fill ring, and was given away for it.
        let (frame, place) = unsafe { Frame::from_address(entry.addr) };
        Some((frame, place, entry.len as usize))
    }

    #[inline]
    pub(super) fn release(&mut self) {
        self.0.release();
    }
}

impl Transmit {
    pub(super) fn new(socket: BorrowedFd<'_>, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        Ok(Self(Producer::new(Ring::new(socket, libc::XDP_PGOFF_TX_RING, offsets, size)?)))
    }

    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        self.0.has_room()
    }

    /// Queues a frame, for which there [is room](Self::has_room), with its first `length` bytes.
    #[inline]
    pub(super) fn give(&mut self, frame: Frame, length: usize) {
        debug_assert!(length <= FRAME);
        self.0.write(xdp_desc { addr: frame.into_address(), len: length as u32, options: 0 });
    }

    #[inline]
    pub(super) fn publish(&mut self) {
        self.0.publish();
    }

    #[inline]
    pub(super) fn unsent(&self) -> u32 {
        self.0.unread()
    }

    #[inline]
    pub(super) fn needs_wakeup(&self) -> bool {
        self.0.needs_wakeup()
    }
}

impl Completion {
    pub(super) fn new(socket: BorrowedFd<'_>, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        const PAGE: i64 = libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64;
        Ok(Self(Consumer::new(Ring::new(socket, PAGE, offsets, size)?)))
    }

    /// Takes the frames back that were sent.
    #[inline]
    pub(super) fn take(&mut self, frames: &mut Vec<Frame>) {
        while let Some(address) = self.0.read() {
            // SAFETY: the kernel hands back a frame that was in the transmit ring, and was given away for it.
            let (frame, _) = unsafe { Frame::from_address(address) };
            frames.push(frame);
        }
        self.0.release();
    }
}
