//! Copies of arrays with changes.

use crate::slices::Parts as _;
use alloc::vec::Vec;

/// A copy of `old` without the elements at the places `removed`, and with the elements of `added` before
/// their places; both are in ascending order of the places.
pub(super) fn spliced<T: Copy>(old: &[T], removed: &[usize], added: &[(usize, T)]) -> Vec<T> {
    let mut new = Vec::with_capacity(old.len() + added.len() - removed.len());
    let (mut from, mut added) = (0, added.iter().peekable());
    for stop in removed.iter().copied().chain([old.len()]) {
        while let Some((at, element)) = added.next_if(|(at, _)| *at <= stop) {
            new.extend_from_slice(old.part(from..*at));
            new.push(*element);
            from = *at;
        }
        new.extend_from_slice(old.part(from..stop));
        from = stop + 1;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_sorted_array_stays_sorted(old: BTreeSet<u8>, gone: BTreeSet<u8>, come: BTreeSet<u8>) {
            let mut expected = old.clone();
            expected.retain(|number| !gone.contains(number));
            let added: Vec<u8> = come.difference(&old).copied().collect();
            expected.extend(&added);
            let old: Vec<u8> = old.into_iter().collect();
            let removed: Vec<usize> = gone.iter().filter_map(|number| old.binary_search(number).ok()).collect();
            let added: Vec<(usize, u8)> =
                added.iter().map(|number| (old.partition_point(|other| other < number), *number)).collect();
            prop_assert_eq!(spliced(&old, &removed, &added), Vec::from_iter(expected));
        }
    }
}
