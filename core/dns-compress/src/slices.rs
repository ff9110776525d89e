//! Parts of slices whose bounds cannot be wrong, and copies of a few bytes.

use core::slice::SliceIndex;

/// Access with bounds that an invariant of the caller keeps within the slice. A debug build panics at the
/// caller if they are not; a release build, which must survive what nobody thought of, takes an empty part.
pub trait Parts<T> {
    /// A part of the slice.
    fn part<R: SliceIndex<[T], Output = [T]>>(&self, range: R) -> &[T];

    /// A part of the slice, to change it.
    fn part_mut<R: SliceIndex<[T], Output = [T]>>(&mut self, range: R) -> &mut [T];
}

impl<T> Parts<T> for [T] {
    #[inline(always)]
    #[track_caller]
    fn part<R: SliceIndex<[T], Output = [T]>>(&self, range: R) -> &[T] {
        let part = self.get(range);
        debug_assert!(part.is_some(), "bounds beyond a slice of {}", self.len());
        part.unwrap_or_default()
    }

    #[inline(always)]
    #[track_caller]
    fn part_mut<R: SliceIndex<[T], Output = [T]>>(&mut self, range: R) -> &mut [T] {
        let len = self.len();
        let part = self.get_mut(range);
        debug_assert!(part.is_some(), "bounds beyond a slice of {len}");
        part.unwrap_or_default()
    }
}

/// Copies bytes that are mostly few: two copies of a fixed number of them, which may overlap, take less than
/// a call.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> Option<()> {
        let (first, last) = (*from.first_chunk::<N>()?, *from.last_chunk::<N>()?);
        *to.first_chunk_mut()? = first;
        *to.last_chunk_mut()? = last;
        Some(())
    }
    let done = match from.len() {
        0 => Some(()),
        1 => both_ends::<1>(to, from),
        2..=4 => both_ends::<2>(to, from),
        5..=8 => both_ends::<4>(to, from),
        9..=16 => both_ends::<8>(to, from),
        17..=32 => both_ends::<16>(to, from),
        _ => None,
    };
    if done.is_none() {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_within_the_slice() {
        let mut bytes = [1, 2, 3];
        assert_eq!((bytes.part(1..), bytes.part(3..)), (&[2, 3][..], &[][..]));
        bytes.part_mut(..1).fill(7);
        assert_eq!(bytes, [7, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "bounds beyond a slice of 3")]
    #[cfg(debug_assertions)]
    fn bounds_beyond_the_slice_are_a_defect() {
        let _ = [1, 2, 3].part(2..4);
    }
}
