//! States of aggregates in DuckDB's memory.

use super::functions::Handle;
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::{process, ptr, slice};

/// Place of a state in DuckDB's memory. DuckDB may move it, and need not align it.
#[repr(C)]
pub(super) struct Slot<A> {
    /// A `Box`; null without rows.
    pub(super) state: *mut A,
    /// [`seal`] of the function; 0 after the state was freed.
    seal: u64,
}

impl<A> Slot<A> {
    /// The place of a state without rows.
    pub(super) const fn empty(seal: u64) -> Self {
        Self { state: ptr::null_mut(), seal }
    }
}

impl<A> Clone for Slot<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Slot<A> {}

/// Number in each slot of the function with this name (FNV-1a).
pub(super) const fn seal(name: &str) -> u64 {
    let (mut seal, mut at) = (0xcbf2_9ce4_8422_2325, 0);
    while at < name.len() {
        seal = (seal ^ name.as_bytes()[at] as u64).wrapping_mul(0x100_0000_01b3);
        at += 1;
    }
    seal
}

/// States after the first of a call that are looked at.
const TRIED: usize = 7;

/// Bytes of a pointer.
const POINTER: usize = size_of::<usize>();

/// The states of the rows of a call.
pub(super) enum RowStates<'a, A> {
    /// A state for each row.
    Each(&'a [*mut Slot<A>]),
    /// One state for all rows.
    One(*mut Slot<A>),
}

impl<A> RowStates<'_, A> {
    /// The states of `rows` rows of the function with this seal.
    ///
    /// DuckDB documents a state for each row. For windows over a whole partition, as `OVER (PARTITION BY x)`,
    /// and for aggregates with an `ORDER BY` of their own, 1.2.0 to 2.0.1 pass an array of one state and do
    /// not say so (duckdb/duckdb#21537). Other memory follows it: the first words are read as pointers, and a
    /// copy of the memory at each shows if there is a slot of this function.
    ///
    /// # Safety
    /// `states` is such an array, and lives as long as the result.
    pub(super) unsafe fn of(states: *mut Handle, rows: usize, seal: u64) -> Self {
        let states: *const *mut Slot<A> = states.cast();
        if rows == 0 || states.is_null() {
            return Self::Each(&[]);
        }
        // SAFETY: there is a state at least.
        let first = unsafe { states.read() };
        if is_one(states.addr(), first.addr(), rows, seal) {
            return Self::One(first);
        }
        // SAFETY: the caller's promise; there is a state for each row.
        Self::Each(unsafe { slice::from_raw_parts(states, rows) })
    }

    /// The slot of a row; null beyond the last one.
    pub(super) fn slot(&self, row: usize) -> *mut Slot<A> {
        match self {
            Self::Each(slots) => slots.get(row).copied().unwrap_or(ptr::null_mut()),
            Self::One(slot) => *slot,
        }
    }
}

/// Tests if the array at `states`, which begins with `first`, has no state for the second of several rows.
fn is_one(states: usize, first: usize, rows: usize, seal: u64) -> bool {
    let tried = rows.min(TRIED + 1);
    if tried < 2 {
        return false;
    }
    Memory::with(|memory| {
        let mut array = [0; (TRIED + 1) * POINTER];
        let array = array.get_mut(..tried * POINTER).unwrap_or_default();
        if !memory.copy(states, array) {
            return true;
        }
        let (pointers, _) = array.as_chunks();
        let mut others = pointers.iter().map(|pointer| usize::from_ne_bytes(*pointer)).skip(1);
        let is_slot = |slot: usize| slot == first || memory.seal(slot) == Some(seal);
        let is_one = !others.all(is_slot) || (rows == tried && memory.is_beside(states, rows));
        if is_one {
            memory.remember(states);
        }
        is_one
    })
    // Without this file, as DuckDB documents it.
    .unwrap_or(false)
}

/// Arrays of one state that are remembered.
const REMEMBERED: usize = 32;

/// The memory of this process, read as a file: an address need not exist.
struct Memory {
    /// The file is that of the process that opened it: a child has its own.
    process: u32,
    file: File,
    /// Arrays of one state. Those of several windows of a query stand side by side: the pointer behind one of
    /// them is that of a state, too.
    ones: [usize; REMEMBERED],
}

impl Memory {
    fn with<T>(work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        thread_local! {
            static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
        }
        MEMORY.with_borrow_mut(|memory| {
            let process = process::id();
            if memory.as_ref().is_none_or(|memory| memory.process != process) {
                let file = File::open("/proc/self/mem").ok()?;
                *memory = Some(Self { process, file, ones: [0; REMEMBERED] });
            }
            memory.as_mut().map(work)
        })
    }

    /// Copies memory. Returns false if a part of it does not exist.
    fn copy(&self, address: usize, out: &mut [u8]) -> bool {
        self.file.read_exact_at(out, address as u64).is_ok()
    }

    /// The seal of a slot at an address; `None` if there is no memory.
    fn seal(&self, slot: usize) -> Option<u64> {
        let mut seal = [0; 8];
        self.copy(slot.checked_add(POINTER)?, &mut seal).then(|| u64::from_ne_bytes(seal))
    }

    /// Tests if another array of one state stands where the states of the rows after the first would.
    fn is_beside(&self, states: usize, rows: usize) -> bool {
        let behind = states + POINTER..states + rows * POINTER;
        self.ones.iter().any(|one| behind.contains(one))
    }

    fn remember(&mut self, states: usize) {
        if !self.ones.contains(&states) {
            self.ones.rotate_right(1);
            self.ones[0] = states;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL: u64 = seal("test");

    fn slots(count: usize) -> Vec<Slot<u8>> {
        vec![Slot::empty(SEAL); count]
    }

    fn states(slots: &mut [Slot<u8>]) -> Vec<*mut Slot<u8>> {
        slots.iter_mut().map(ptr::from_mut).collect()
    }

    fn one(states: &[*mut Slot<u8>]) -> bool {
        is_one(states.as_ptr().addr(), states[0].addr(), states.len(), SEAL)
    }

    #[test]
    fn a_state_for_each_row_is_found_whatever_the_number_of_rows_and_groups() {
        for rows in [1, 2, 3, TRIED, TRIED + 1, TRIED + 2, 2048] {
            for groups in [1, 2, rows] {
                let mut slots = slots(groups);
                let all = states(&mut slots);
                let states: Vec<_> = (0..rows).map(|row| all[row % groups]).collect();
                assert!(!one(&states), "{rows} rows of {groups} groups");
            }
        }
    }

    #[test]
    fn other_memory_behind_the_only_state_is_no_state() {
        let mut slots = slots(2);
        let first = states(&mut slots)[0];
        let (mut words, mut freed) = ([0_u64; 4], Slot::empty(0));
        let (none, words) = (ptr::without_provenance_mut(1 << 20), ptr::from_mut(&mut words).cast());
        for next in [ptr::null_mut(), none, words, ptr::from_mut(&mut freed)] {
            for rows in [2, 3, 2048] {
                let mut states = vec![next; rows];
                states[0] = first;
                assert!(one(&states), "{next:?}");
            }
        }
        assert!(one(&[first, ptr::without_provenance_mut(usize::MAX)]));
    }

    #[test]
    fn arrays_of_one_state_stand_side_by_side() {
        let mut slots = slots(2);
        let pair = states(&mut slots);
        let beside = [pair[0], pair[1], ptr::null_mut()];
        assert!(!one(&beside[..2]));
        assert!(one(&beside[1..]));
        assert!(one(&beside[..2]));
    }
}
