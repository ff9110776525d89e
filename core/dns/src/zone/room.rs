//! Room for more elements of arrays that may be large, and entries into tables that are.

use alloc::vec::Vec;

/// Bytes from which on an array is large.
const LARGE: usize = 256 << 10;

/// Share of its length by which a large array grows.
const SHARE: usize = 8;

/// Makes room for `more` elements. A large array grows by an eighth: doubled, half of its room may stay
/// without use. Allocators move the pages of such a block, and do not copy them.
#[inline(always)]
pub(super) fn reserve<T>(array: &mut Vec<T>, more: usize) {
    if array.capacity() - array.len() < more {
        grow(array, more);
    }
}

#[cold]
fn grow<T>(array: &mut Vec<T>, more: usize) {
    if array.len() * size_of::<T>() < LARGE {
        array.reserve(more);
    } else {
        array.reserve_exact(more.max(array.len() / SHARE));
    }
}

/// Entries that are prefetched while those before them are made.
const AHEAD: usize = 16;

/// Makes all entries of a table, each some time after it was prefetched.
pub(super) fn enter_all<S, T: Copy>(
    table: &mut S,
    entries: impl Iterator<Item = T>,
    prefetch: impl Fn(&S, T),
    enter: impl Fn(&mut S, T),
) {
    let (mut ahead, mut next) = ([None; AHEAD], 0);
    for entry in entries {
        prefetch(table, entry);
        let before = ahead.get_mut(next).and_then(|place| place.replace(entry));
        before.into_iter().for_each(|entry| enter(table, entry));
        next = (next + 1) % AHEAD;
    }
    // The oldest one is next.
    ahead.rotate_left(next);
    ahead.into_iter().flatten().for_each(|entry| enter(table, entry));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_array_has_little_room_without_use() {
        let mut array = Vec::new();
        for number in 0..LARGE {
            reserve(&mut array, 1);
            array.push(number);
            let used = array.len() * size_of::<usize>();
            let most = if used < LARGE { 2 * LARGE } else { used + used / SHARE + size_of::<usize>() };
            assert!(array.capacity() * size_of::<usize>() <= most.max(2 * LARGE), "{used} bytes");
        }
        reserve(&mut array, LARGE);
        assert!(array.capacity() >= 2 * LARGE);
    }

    #[test]
    fn all_entries_are_made_in_their_order() {
        for count in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD + 5] {
            let mut entered = Vec::new();
            enter_all(&mut entered, 0..count, |_, _| {}, Vec::push);
            assert!(entered.into_iter().eq(0..count), "{count}");
        }
    }
}
