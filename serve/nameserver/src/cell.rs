//! A value that one thread replaces while others use it.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A value that is replaced as a whole.
#[derive(Debug)]
pub(crate) struct Cell<T> {
    /// Number of replacements.
    version: AtomicU64,
    value: Mutex<Arc<T>>,
}

impl<T> Cell<T> {
    pub(crate) fn new(value: T) -> Arc<Self> {
        Arc::new(Self { version: AtomicU64::new(0), value: Mutex::new(Arc::new(value)) })
    }

    /// The value.
    pub(crate) fn load(&self) -> Arc<T> {
        Arc::clone(&self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value, and returns the old one, which readers may still use.
    pub(crate) fn swap(&self, value: T) -> Arc<T> {
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *place, Arc::new(value));
        self.version.fetch_add(1, Ordering::Release);
        old
    }
}

/// The value as one thread has seen it last. Reading it again costs a load of a cache line that is written
/// only by a replacement.
#[derive(Debug)]
pub(crate) struct Reader<T> {
    cell: Arc<Cell<T>>,
    seen: u64,
    value: Arc<T>,
}

impl<T> Reader<T> {
    pub(crate) fn new(cell: &Arc<Cell<T>>) -> Self {
        let seen = cell.version.load(Ordering::Acquire);
        Self { cell: Arc::clone(cell), seen, value: cell.load() }
    }

    /// Takes the newest value. Returns true if it was replaced.
    #[inline]
    pub(crate) fn refresh(&mut self) -> bool {
        let version = self.cell.version.load(Ordering::Acquire);
        if version == self.seen {
            return false;
        }
        // A value that is newer than the version is taken once more at the next call.
        (self.seen, self.value) = (version, self.cell.load());
        true
    }
}

impl<T> Deref for Reader<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_the_newest_value_and_hold_the_old_one_until_then() {
        let cell = Cell::new(1);
        let mut reader = Reader::new(&cell);
        assert!(!reader.refresh());
        let old = cell.swap(2);
        assert_eq!((*old, *reader, Arc::strong_count(&old)), (1, 1, 2));
        assert!(reader.refresh() && *reader == 2 && Arc::strong_count(&old) == 1);
        assert!(!reader.refresh());
    }
}
