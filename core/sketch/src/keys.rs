//! Batches of keys, borrowed from columns.

use crate::arrow::check_offsets;
use crate::error::Error;
use core::ops::Sub;

/// Keys of one batch: rows of one width, the strings of an Arrow array, or slices.
///
/// Rows that are null are left out by the caller, who passes the runs of rows between them.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a>(Layout<'a>);

/// Places of the keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout<'a> {
    /// Rows one after another.
    Rows { bytes: &'a [u8], width: usize },
    /// Key `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    Short { offsets: &'a [i32], bytes: &'a [u8] },
    /// The same with offsets of 64 bits.
    Long { offsets: &'a [i64], bytes: &'a [u8] },
    /// Keys anywhere.
    Slices(&'a [&'a [u8]]),
}

impl<'a> Keys<'a> {
    /// Rows of `width` bytes, one after another.
    ///
    /// # Errors
    /// The width is 0, or `bytes` is not a whole number of rows.
    pub fn rows(bytes: &'a [u8], width: usize) -> Result<Self, Error> {
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(Error::Ragged { len: bytes.len(), width });
        }
        Ok(Self(Layout::Rows { bytes, width }))
    }

    /// Strings with offsets of 32 bits, as an Arrow array of type Binary or Utf8 has them: one offset more
    /// than there are keys, or none at all. The first need not be 0.
    ///
    /// # Errors
    /// An offset is negative, lower than the one before it, or beyond the end of `bytes`.
    pub fn offsets32(offsets: &'a [i32], bytes: &'a [u8]) -> Result<Self, Error> {
        check_offsets(offsets, bytes.len())?;
        Ok(Self(Layout::Short { offsets, bytes }))
    }

    /// Strings with offsets of 64 bits, as an Arrow array of type LargeBinary or LargeUtf8 has them; compare
    /// [`offsets32`](Self::offsets32).
    ///
    /// # Errors
    /// An offset is negative, lower than the one before it, or beyond the end of `bytes`.
    pub fn offsets64(offsets: &'a [i64], bytes: &'a [u8]) -> Result<Self, Error> {
        check_offsets(offsets, bytes.len())?;
        Ok(Self(Layout::Long { offsets, bytes }))
    }

    /// Keys in several places.
    pub fn slices(keys: &'a [&'a [u8]]) -> Self {
        Self(Layout::Slices(keys))
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        match self.0 {
            Layout::Rows { bytes, width } => bytes.len() / width,
            Layout::Short { offsets, .. } => offsets.len().saturating_sub(1),
            Layout::Long { offsets, .. } => offsets.len().saturating_sub(1),
            Layout::Slices(keys) => keys.len(),
        }
    }

    /// Bytes of all keys.
    pub fn bytes(&self) -> usize {
        match self.0 {
            Layout::Rows { bytes, .. } => bytes.len(),
            Layout::Short { offsets, .. } => extent(offsets),
            Layout::Long { offsets, .. } => extent(offsets),
            Layout::Slices(keys) => keys.iter().map(|key| key.len()).sum(),
        }
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of a row, or nothing beyond the last one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self.0 {
            Layout::Rows { bytes, width } => {
                let from = row.checked_mul(width)?;
                bytes.get(from..from.checked_add(width)?)
            }
            Layout::Short { offsets, bytes } => span(offsets, row).and_then(|span| bytes.get(span)),
            Layout::Long { offsets, bytes } => span(offsets, row).and_then(|span| bytes.get(span)),
            Layout::Slices(keys) => keys.get(row).copied(),
        }
    }

    /// The keys, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map_while(|row| self.get(row))
    }

    /// Batches of at most `most` keys, in order.
    pub fn chunks(self, most: usize) -> impl Iterator<Item = Self> {
        let most = most.max(1);
        (0..self.len().div_ceil(most)).map(move |chunk| self.part(chunk * most, most))
    }

    /// At most `most` keys from row `from` on.
    fn part(self, from: usize, most: usize) -> Self {
        let rows = from..self.len().min(from.saturating_add(most));
        Self(match self.0 {
            Layout::Rows { bytes, width } => Layout::Rows {
                bytes: bytes.get(rows.start * width..rows.end * width).unwrap_or_default(),
                width,
            },
            Layout::Short { offsets, bytes } => {
                Layout::Short { offsets: offsets.get(rows.start..=rows.end).unwrap_or_default(), bytes }
            }
            Layout::Long { offsets, bytes } => {
                Layout::Long { offsets: offsets.get(rows.start..=rows.end).unwrap_or_default(), bytes }
            }
            Layout::Slices(keys) => Layout::Slices(keys.get(rows).unwrap_or_default()),
        })
    }

    pub(crate) fn layout(&self) -> Layout<'a> {
        self.0
    }

    /// The same keys as rows, if they are strings of one length: digests, identifiers, dates.
    pub(crate) fn as_rows(self) -> Self {
        let rows = match self.0 {
            Layout::Short { offsets, bytes } => rows(offsets, bytes),
            Layout::Long { offsets, bytes } => rows(offsets, bytes),
            Layout::Rows { .. } | Layout::Slices(_) => None,
        };
        rows.map_or(self, Self)
    }

    /// Checks that another column has as many rows.
    pub(crate) fn check_rows(&self, column: &'static str, rows: usize) -> Result<(), Error> {
        let keys = self.len();
        if rows == keys { Ok(()) } else { Err(Error::Rows { column, rows, keys }) }
    }
}

/// Offsets that are compared without a branch.
const COMPARED: usize = 64;

/// The keys as rows if they have one length, above 0. The offsets were checked.
fn rows<'a, O: Copy + Eq + Sub<Output = O> + TryInto<usize>>(
    offsets: &[O],
    bytes: &'a [u8],
) -> Option<Layout<'a>> {
    let ((first, ends), (last, starts)) = (offsets.split_first()?, offsets.split_last()?);
    let width = *ends.first()? - *first;
    let has_width = |(starts, ends): (&[O], &[O])| {
        starts.iter().zip(ends).fold(true, |even, (start, end)| even & (*end - *start == width))
    };
    if !starts.chunks(COMPARED).zip(ends.chunks(COMPARED)).all(has_width) {
        return None;
    }
    let bytes = bytes.get((*first).try_into().ok()?..(*last).try_into().ok()?)?;
    let width = width.try_into().ok().filter(|width| *width > 0)?;
    Some(Layout::Rows { bytes, width })
}

/// Bytes between the first offset and the last, which were checked.
fn extent<O: Copy + TryInto<usize>>(offsets: &[O]) -> usize {
    let at = |offset: Option<&O>| offset.and_then(|offset| (*offset).try_into().ok()).unwrap_or(0);
    at(offsets.last()) - at(offsets.first())
}

#[inline]
fn span<O: Copy + TryInto<usize>>(offsets: &[O], row: usize) -> Option<core::ops::Range<usize>> {
    let [from, to] = *offsets.get(row..)?.first_chunk()?;
    Some(from.try_into().ok()?..to.try_into().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_strings_between_offsets_that_start_anywhere() {
        let keys = Keys::offsets32(&[2, 2, 5, 6], b"xxabcdyy").unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [b"".as_slice(), b"abc", b"d"]);
        let parts: Vec<Vec<_>> = keys.chunks(2).map(|part| part.iter().collect()).collect();
        assert_eq!(parts, [vec![b"".as_slice(), b"abc"], vec![b"d"]]);
        assert_eq!((keys.get(3), keys.get(usize::MAX)), (None, None));
        let long = Keys::offsets64(&[2, 2, 5, 6], b"xxabcdyy").unwrap();
        assert_eq!(long.iter().collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
        let slices: Vec<&[u8]> = keys.iter().collect();
        assert_eq!([keys.bytes(), long.bytes(), Keys::slices(&slices).bytes()], [4; 3]);
        assert_eq!(Keys::offsets32(&[], b"abc").unwrap().bytes(), 0);
        let parts: Vec<Vec<_>> = Keys::slices(&slices).chunks(2).map(|part| part.iter().collect()).collect();
        assert_eq!(parts, [vec![b"".as_slice(), b"abc"], vec![b"d"]]);
    }

    #[test]
    fn only_strings_of_one_length_are_rows() {
        for count in 1..4 * COMPARED {
            let even: Vec<i32> = (0..=count as i32).map(|at| 5 + 3 * at).collect();
            let bytes = vec![7; 5 + 3 * count];
            let rows = Keys::offsets32(&even, &bytes).unwrap().as_rows();
            assert!(matches!(rows.layout(), Layout::Rows { bytes, width: 3 } if bytes.len() == 3 * count));
            // An end that is earlier shortens one string, and lengthens the next.
            for at in 1..=count {
                let mut offsets = even.clone();
                offsets[at] -= 1;
                let keys = Keys::offsets32(&offsets, &bytes).unwrap();
                let is_row = count == 1;
                assert_eq!(matches!(keys.as_rows().layout(), Layout::Rows { .. }), is_row, "{at} of {count}");
            }
        }
        let empty = Keys::offsets64(&[3; 9], b"abc").unwrap().as_rows();
        assert!(matches!(empty.layout(), Layout::Long { .. }));
    }

    #[test]
    fn rejects_offsets_out_of_order_or_out_of_the_bytes() {
        assert_eq!(Keys::offsets32(&[0, 9, 3], b"abcd").unwrap_err(), Error::Offset { at: 1 });
        assert_eq!(Keys::offsets64(&[0, 3, 2], b"abcd").unwrap_err(), Error::Offset { at: 2 });
    }

    #[test]
    fn no_offsets_are_no_keys() {
        assert!(Keys::offsets32(&[], b"abc").unwrap().is_empty());
        assert!(Keys::offsets32(&[3], b"abc").unwrap().is_empty());
        assert_eq!(Keys::offsets32(&[], b"abc").unwrap().chunks(7).count(), 0);
    }

    #[test]
    fn rows_are_whole() {
        assert_eq!(Keys::rows(b"abcdef", 2).unwrap().get(2), Some(b"ef".as_slice()));
        assert_eq!(Keys::rows(b"abcdef", 4).unwrap_err(), Error::Ragged { len: 6, width: 4 });
        assert_eq!(Keys::rows(b"", 0).unwrap_err(), Error::Ragged { len: 0, width: 0 });
        let rows: Vec<_> = Keys::rows(b"abcdef", 2).unwrap().chunks(2).map(|part| part.len()).collect();
        assert_eq!(rows, [2, 1]);
    }
}
