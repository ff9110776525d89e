//! Memory of the process.
#![allow(unsafe_code, reason = "a call of the C library; its use says why it is sound")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns freed memory of the heap to the system. Without it, the allocator of glibc keeps most of what was
/// freed for later allocations. It takes about 1 ms for 10 MB, during which other threads that allocate wait,
/// so call it once after much memory was freed. Does nothing with another C library.
pub fn release_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function has no preconditions, and locks each heap while it trims it.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has the allocator of glibc map each block of 256 KiB or more by itself, so that the system gets its memory
/// back when it is freed. By default the allocator does so only until the first such block is freed, and
/// keeps the memory of later ones. Should be called once, before threads start. Does nothing with another C
/// library.
pub fn map_large_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function has no preconditions; it sets two limits of the allocator, which are numbers.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
        // Less free memory at the end of a heap stays there. The default would make a system call each time
        // that 128 KiB are freed.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 << 20);
    }
}

/// Size in bytes from which on a block gets huge pages.
const HUGE: usize = 4 << 20;

/// Becomes true with [`Allocator::use_huge_pages`].
static HUGE_PAGES: AtomicBool = AtomicBool::new(false);

/// The allocator of the system, for `#[global_allocator]`, which can ask for huge pages.
///
/// Packets reach the entries of a large table in random order. With pages of 4 KiB most of them miss the
/// translation buffer, too, and the first use of each page is a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

impl Allocator {
    /// Has the system back blocks of 4 MiB or more, allocated from now on, by huge pages (`MADV_HUGEPAGE`,
    /// madvise(2)). A block that is used here and there then takes more memory: 2 MiB for each place. Does
    /// nothing where the system has none.
    pub fn use_huge_pages() {
        HUGE_PAGES.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn advise(block: *mut u8, size: usize) {
        if size >= HUGE && HUGE_PAGES.load(Ordering::Relaxed) && !block.is_null() {
            advise_pages(block, size);
        }
    }
}

#[cfg(target_os = "linux")]
#[cold]
fn advise_pages(block: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    // All pages that the block has a part of, its head among them: the kernel moves a mapping that grows only
    // if it is advised as a whole, and the allocator would else copy it.
    let before = block.addr() % PAGE;
    let whole = (before + size).next_multiple_of(PAGE);
    // SAFETY: each page holds bytes of a block that was just allocated, so it is mapped, and the advice
    // changes no content. An error (a kernel without huge pages) changes nothing.
    unsafe {
        libc::madvise(block.wrapping_sub(before).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_pages(_: *mut u8, _: usize) {}

// SAFETY: each call is passed to the allocator of the system with the arguments it came with; the advice
// changes neither the content of blocks nor the allocator's own data.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { System.alloc(layout) };
        Self::advise(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { System.alloc_zeroed(layout) };
        Self::advise(block, layout.size());
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { System.realloc(block, layout, size) };
        Self::advise(block, size);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    use std::ops::Range;

    /// The mapping that holds an address, and its flags.
    fn mapping(address: usize) -> Option<(Range<usize>, String)> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut here = None;
        maps.lines().find_map(|line| {
            if let Some((range, _)) = line.split_once(' ')
                && let Some((start, end)) = range.split_once('-')
                && let (Ok(start), Ok(end)) =
                    (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
            {
                here = Some(start..end).filter(|range| range.contains(&address));
            }
            Some((here.clone()?, line.strip_prefix("VmFlags")?.to_owned()))
        })
    }

    #[test]
    fn large_blocks_get_the_advice_once_it_is_wanted() {
        map_large_blocks();
        let layout = Layout::from_size_align(HUGE + 100, 8).expect("a layout");
        let flags = |zeroed: bool| {
            // SAFETY: the layout is the allocation's, and its size is not 0.
            unsafe {
                let block = if zeroed { Allocator.alloc_zeroed(layout) } else { Allocator.alloc(layout) };
                let last = |size| (mapping(block.addr()), mapping(block.addr() + size - 1));
                let (first, end) = last(layout.size());
                assert_eq!(first, end, "a block in parts cannot be moved by the kernel when it grows");
                let block = Allocator.realloc(block, layout, 2 * HUGE);
                let (_, flags) = mapping(block.addr() + HUGE).expect("a mapping");
                let grown = Layout::from_size_align(2 * HUGE, 8).expect("a layout");
                Allocator.dealloc(block, grown);
                flags
            }
        };
        assert!(!flags(false).contains(" hg"), "before: {}", flags(false));
        Allocator::use_huge_pages();
        if std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            assert!(flags(false).contains(" hg"), "after: {}", flags(false));
            assert!(flags(true).contains(" hg"), "after: {}", flags(true));
        }
    }
}
