//! Checks of Arrow's layouts of strings, which a file or another library may have broken.

use crate::error::Error;

/// Bytes of a string that lies in its view itself, at most.
const INLINE: u32 = 12;

/// Checks the offsets of strings in `len` bytes; the first need not be 0.
///
/// # Errors
/// An offset is negative, lower than the one before it, or beyond the end of the bytes.
pub fn check_offsets<O: Copy + Ord + Into<i64>>(offsets: &[O], len: usize) -> Result<(), Error> {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let is_place = |offset: O| usize::try_from(offset.into()).is_ok_and(|offset| offset <= len);
    // All neighbours at once first, which takes vectors; then the offset that breaks the rule.
    let pairs = offsets.iter().zip(offsets.iter().skip(1));
    if pairs.fold(true, |sorted, (one, next)| sorted & (one <= next)) && is_place(*first) && is_place(*last) {
        return Ok(());
    }
    let mut before = *first;
    for (at, offset) in offsets.iter().enumerate() {
        if *offset < before || !is_place(*offset) {
            return Err(Error::Offset { at });
        }
        before = *offset;
    }
    Err(Error::Offset { at: offsets.len() })
}

/// Checks the views of strings (Utf8View, BinaryView) in buffers of these lengths. Views of rows that are
/// null may be anything.
///
/// # Errors
/// The string of a view is not in its buffer.
pub fn check_views(views: &[u128], lengths: &[usize], is_null: impl Fn(usize) -> bool) -> Result<(), Error> {
    let is_within = |view: u128| {
        let [bytes, _, buffer, from] = [0, 32, 64, 96].map(|bit| (view >> bit) as u32);
        bytes <= INLINE
            || lengths
                .get(buffer as usize)
                .is_some_and(|len| u64::from(from) + u64::from(bytes) <= *len as u64)
    };
    match views.iter().enumerate().position(|(row, view)| !is_within(*view) && !is_null(row)) {
        Some(at) => Err(Error::View { at }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_offsets_out_of_order_or_out_of_the_bytes() {
        for (offsets, at) in [(&[0, 3, 2][..], 2), (&[-1, 2], 0), (&[0, 9], 1), (&[0, 9, 3], 1)] {
            assert_eq!(check_offsets::<i32>(offsets, 4), Err(Error::Offset { at }));
            let wide: Vec<i64> = offsets.iter().copied().map(i64::from).collect();
            assert_eq!(check_offsets(&wide, 4), Err(Error::Offset { at }));
        }
        assert_eq!(check_offsets(&[i64::MIN, 0], 0), Err(Error::Offset { at: 0 }));
        assert_eq!(check_offsets::<i64>(&[], 0), Ok(()));
        assert_eq!(check_offsets(&[2, 2, 4], 4), Ok(()));
    }

    #[test]
    fn rejects_views_that_are_not_in_their_buffer() {
        let view = |bytes: u128, buffer: u128, from: u128| bytes | buffer << 64 | from << 96;
        let last = u128::from(u32::MAX);
        let check = |view| check_views(&[0, view], &[20, 0], |_| false);
        for good in [view(12, last, last), view(13, 0, 7), view(20, 0, 0)] {
            assert_eq!(check(good), Ok(()), "{good:x}");
        }
        for bad in [view(13, 0, 8), view(21, 0, 0), view(13, 1, 0), view(13, 2, 0), view(last, 0, last)] {
            assert_eq!(check(bad), Err(Error::View { at: 1 }), "{bad:x}");
            assert_eq!(check_views(&[bad], &[20], |row| row == 0), Ok(()));
        }
    }
}
