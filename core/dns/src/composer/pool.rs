//! Tables of suffixes that targets use one after the other.

use crate::render::{CompressedName, Compressor, SuffixTable};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name};
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread_local;

/// Unused tables that a thread keeps for itself.
const OWN: usize = 4;

/// Unused tables that all threads keep together, for targets that end on another thread than they start on.
const SHARED: usize = 64;

/// Maximum size in bytes of an unused table.
const LARGEST: usize = 64 * 1024;

thread_local! {
    static UNUSED: RefCell<Vec<Box<SuffixTable>>> = const { RefCell::new(Vec::new()) };
}

static UNUSED_SHARED: Mutex<Vec<Box<SuffixTable>>> = Mutex::new(Vec::new());

/// The first table of the process. Others are copies: making a key's words takes longer than copying them.
static FIRST: LazyLock<SuffixTable> = LazyLock::new(|| SuffixTable::new(&random_key()));

/// A [`SuffixTable`] that targets use one after the other.
///
/// [`default`](Self::default) takes an unused table of the process, or makes one under a random key, drawn
/// once for the process; dropping it gives the table back. So a target for each message costs neither a new
/// table nor a copy. Each thread keeps at most 4 unused tables and all together 64 more, each of at most
/// 64 KiB.
pub struct PooledTable {
    /// `None` only while it is dropped.
    table: Option<Box<SuffixTable>>,
    /// False for a table made by [`new`](Self::new), whose key no other table has.
    pooled: bool,
}

impl PooledTable {
    /// A new table under `key`, a secret random key; it never joins the pool.
    pub fn new(key: &Key) -> Self {
        Self { table: Some(Box::new(SuffixTable::new(key))), pooled: false }
    }
}

impl Default for PooledTable {
    fn default() -> Self {
        // A thread that is ending has lost its unused tables.
        let own = UNUSED.try_with(|unused| unused.try_borrow_mut().ok()?.pop()).ok().flatten();
        let table = own.or_else(|| UNUSED_SHARED.lock().unwrap_or_else(PoisonError::into_inner).pop());
        Self { table: table.or_else(|| Some(Box::new(FIRST.clone()))), pooled: true }
    }
}

/// A clone is at the same point of the same message.
impl Clone for PooledTable {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), pooled: self.pooled }
    }
}

impl fmt::Debug for PooledTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledTable").field("pooled", &self.pooled).finish_non_exhaustive()
    }
}

impl Drop for PooledTable {
    fn drop(&mut self) {
        let Some(table) = self.table.take().filter(|table| self.pooled && table.memory() <= LARGEST) else {
            return;
        };
        let mut table = Some(table);
        let _ = UNUSED.try_with(|unused| {
            if let Ok(mut unused) = unused.try_borrow_mut()
                && unused.len() < OWN
            {
                unused.extend(table.take());
            }
        });
        if table.is_some() {
            let mut unused = UNUSED_SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if unused.len() < SHARED {
                unused.extend(table);
            }
        }
    }
}

impl Compressor for PooledTable {
    #[inline(always)]
    fn start(&mut self, case: Case) {
        if let Some(table) = &mut self.table {
            table.start(case);
        }
    }

    // Never: with a copy of it for first names, a target's appends become calls.
    #[inline(never)]
    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        self.table.as_mut().map_or_else(|| CompressedName::whole(name), |table| table.place(written, name))
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        if let Some(table) = &mut self.table {
            table.truncate(len);
        }
    }
}

/// Key from the random numbers that the standard library keys its hash tables with: `Default` cannot return
/// the error of `Key::random`.
fn random_key() -> Key {
    let source = RandomState::new();
    let mut bytes = [0; 16];
    for (number, half) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *half = source.hash_one(number).to_le_bytes();
    }
    Key::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    /// The address of a table.
    fn address(table: &PooledTable) -> *const SuffixTable {
        ptr::from_ref(table.table.as_deref().unwrap())
    }

    #[test]
    fn targets_that_follow_each_other_have_the_same_table() {
        let first = PooledTable::default();
        let table = address(&first);
        let other = PooledTable::default();
        assert_ne!(address(&other), table);
        drop(first);
        for _ in 0..10 {
            assert_eq!(address(&PooledTable::default()), table);
        }
    }

    #[test]
    fn a_table_with_its_own_key_is_not_given_to_others() {
        let own = PooledTable::new(&Key::VECTOR);
        let table = address(&own);
        let copy = own.clone();
        drop((own, copy));
        let unused =
            UNUSED.with(|unused| unused.borrow().iter().map(|t| ptr::from_ref(&**t)).collect::<Vec<_>>());
        assert!(!unused.contains(&table));
        assert!(unused.is_empty());
    }

    #[test]
    fn unused_tables_are_few() {
        let many: Vec<PooledTable> = (0..OWN + SHARED + 10).map(|_| PooledTable::default()).collect();
        drop(many);
        assert_eq!(UNUSED.with(|unused| unused.borrow().len()), OWN);
        assert!(UNUSED_SHARED.lock().unwrap().len() <= SHARED);
    }
}
