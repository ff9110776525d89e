//! Memory of a ring, which the kernel and the process own block by block.
#![allow(unsafe_code, reason = "memory shared with the kernel; each use says why it is sound")]

use libc::{TP_STATUS_KERNEL, TP_STATUS_USER, tpacket_block_desc, tpacket_hdr_v1};
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// Mapping of all blocks.
#[derive(Debug)]
pub(super) struct Map {
    start: NonNull<u8>,
    block: usize,
    blocks: usize,
}

// SAFETY: the mapping belongs to this value alone; the kernel does not care which thread uses it.
unsafe impl Send for Map {}

impl Map {
    /// Maps the ring of a socket that has this many blocks of this size.
    pub(super) fn new(socket: BorrowedFd<'_>, block: usize, blocks: usize) -> io::Result<Self> {
        let length = block * blocks;
        // SAFETY: a new mapping at an address that the kernel chooses; the result is checked.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { start, block, blocks }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Start of a block.
    fn block(&self, number: usize) -> *mut u8 {
        assert!(number < self.blocks, "a block of this ring");
        self.start.as_ptr().wrapping_add(number * self.block)
    }

    /// Word by which kernel and process hand a block to each other.
    fn status(&self, number: usize) -> &AtomicU32 {
        let status = offset_of!(tpacket_block_desc, hdr) + offset_of!(tpacket_hdr_v1, block_status);
        let at = self.block(number).wrapping_add(status).cast();
        // SAFETY: the word is within the block (a block is at least a page), aligned to 4 as blocks are to
        // pages, and lives as long as `self`. Kernel and process only access it atomically.
        unsafe { AtomicU32::from_ptr(at) }
    }

    /// Returns `true` if the process owns the block.
    pub(super) fn is_ready(&self, number: usize) -> bool {
        self.status(number).load(Ordering::Acquire) & TP_STATUS_USER != 0
    }

    /// Gives a block to the kernel.
    pub(super) fn release(&mut self, number: usize) {
        self.status(number).store(TP_STATUS_KERNEL, Ordering::Release);
    }

    /// Packets of a block that the process owns: from the header of the first one on, and their number.
    pub(super) fn packets(&mut self, number: usize) -> (&mut [u8], u32) {
        let head = size_of::<tpacket_block_desc>();
        if !self.is_ready(number) {
            return (&mut [], 0);
        }
        let start = self.block(number);
        // SAFETY: the range is within the block, in a mapping that lives as long as `self`; `&mut self`
        // excludes other users in this process, and the kernel writes nothing there while the status, which
        // was loaded with Acquire, is the process's. The head with the status is not part of it.
        let bytes = unsafe { slice::from_raw_parts_mut(start.wrapping_add(head), self.block - head) };
        // SAFETY: the head is at the start of the block, aligned to a page, and plain numbers.
        let header = unsafe { start.cast::<tpacket_block_desc>().read() };
        // SAFETY: the union has one field, of plain numbers.
        let header = unsafe { header.hdr.bh1 };
        let first = (header.offset_to_first_pkt as usize).checked_sub(head);
        match first.and_then(|first| bytes.get_mut(first..)) {
            Some(packets) => (packets, header.num_pkts),
            None => (&mut [], 0),
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and no reference into it is left.
        let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.block * self.blocks) };
    }
}
