//! Comparison of names with the bytes of a message.

use hashlane_name::dns::Case;

/// Number of bytes at the end of `a` and `b` that are equal.
#[inline(always)]
pub(super) fn common_end(case: Case, a: &[u8], b: &[u8]) -> usize {
    let (mut left_a, mut left_b, mut same) = (a, b, 0);
    while let (Some((rest_a, end_a)), Some((rest_b, end_b))) =
        (left_a.split_last_chunk(), left_b.split_last_chunk())
    {
        let differ = case.fold8(u64::from_le_bytes(*end_a)) ^ case.fold8(u64::from_le_bytes(*end_b));
        if differ != 0 {
            return same + differ.leading_zeros() as usize / 8;
        }
        (left_a, left_b, same) = (rest_a, rest_b, same + 8);
    }
    let ends = left_a.iter().rev().zip(left_b.iter().rev());
    same + ends.take_while(|(a, b)| case.fold(**a) == case.fold(**b)).count()
}

/// The target of the pointer at `at`, if one is there.
#[inline(always)]
pub(super) fn pointer_at(written: &[u8], at: usize) -> Option<usize> {
    match *written.get(at..)? {
        [high @ 0xc0..=0xff, low, ..] => Some(usize::from(u16::from_be_bytes([high & 0x3f, low]))),
        _ => None,
    }
}

/// True if the name at `at` is the one at `target` (the root if that is 0): itself, or a pointer to it.
#[inline(always)]
pub(super) fn follows(written: &[u8], at: usize, target: usize) -> bool {
    if target == 0 {
        return written.get(at) == Some(&0);
    }
    at == target || pointer_at(written, at) == Some(target)
}

/// True if a reader finds `suffix` at offset `at`, label by label, up to an offset at which `known` decides
/// for the bytes that are left; false for anything that no writer of names writes.
#[inline(always)]
pub(super) fn reads_suffix(
    written: &[u8],
    mut at: usize,
    mut suffix: &[u8],
    case: Case,
    known: impl Fn(usize, &[u8]) -> Option<bool>,
) -> bool {
    loop {
        if let Some(target) = pointer_at(written, at) {
            // Pointers lead neither to pointers nor forward.
            if target >= at || pointer_at(written, target).is_some() {
                return false;
            }
            at = target;
        }
        if let Some(equal) = known(at, suffix) {
            return equal;
        }
        let len = 1 + usize::from(suffix.first().copied().unwrap_or_default());
        let (Some(here), Some((label, rest))) = (written.get(at..at + len), suffix.split_at_checked(len))
        else {
            return false;
        };
        if !case.eq(here, label) {
            return false;
        }
        if len == 1 {
            return true;
        }
        (at, suffix) = (at + len, rest);
    }
}
