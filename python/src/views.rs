//! The rows of arrays of views, as engines have their text.

use arrow_array::GenericByteViewArray;
use arrow_array::types::ByteViewType;
use hashlane_sketch::{Error, Keys};
use std::ops::Range;

/// Bytes of a view: a length, and up to [`INLINE`] bytes, or a prefix, the number of a buffer, and an offset
/// in it.
const VIEW: usize = size_of::<u128>();

/// Bytes of the longest row that is in its view.
const INLINE: usize = VIEW - 4;

/// Rows that are copied, at most: copies that leave the cache cost more than they save.
const COPIED: usize = 4096;

type View = [u8; VIEW];

/// Room for keys that are not one after the other in memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch<'r> {
    /// Keys anywhere.
    pub(crate) slices: Vec<&'r [u8]>,
    /// Copies of keys, one after the other.
    bytes: Vec<u8>,
    /// Offsets of keys one after the other, and the end of the last one.
    offsets: Vec<i32>,
}

impl<'r> Scratch<'r> {
    /// The rows in `range` as keys. Keys one after the other are hashed in less time than keys anywhere, so
    /// a few rows that all lie in their views are copied, and others are taken from their buffer if they lie
    /// there in order, as in a column that an engine has read or built.
    ///
    /// # Errors
    /// As [`Keys::offsets32`].
    pub(crate) fn views<'s, T: ByteViewType>(
        &'s mut self,
        array: &'r GenericByteViewArray<T>,
        range: Range<usize>,
    ) -> Result<Keys<'s>, Error> {
        let views = views_of(array).get(range.clone()).unwrap_or_default();
        if views.len() <= COPIED && views.iter().all(|view| len(view) <= INLINE) {
            self.copy(views);
            return Keys::offsets32(&self.offsets, &self.bytes);
        }
        if let Some(bytes) = self.in_order(array, views) {
            return Keys::offsets32(&self.offsets, bytes);
        }
        self.slices.clear();
        gather_views(array, range, &mut self.slices);
        Ok(Keys::slices(&self.slices))
    }

    /// Copies rows that are in their views. Each takes all of its view with it, which the next one replaces:
    /// a copy of known length.
    fn copy(&mut self, views: &[View]) {
        self.bytes.resize(views.len() * INLINE, 0);
        self.offsets.clear();
        self.offsets.push(0);
        let mut end = 0;
        self.offsets.extend(views.iter().map(|view| {
            let [_, _, _, _, text @ ..] = view;
            if let Some(place) = self.bytes.get_mut(end..end + INLINE) {
                place.copy_from_slice(text);
            }
            end += len(view);
            end as i32
        }));
    }

    /// The bytes of rows that lie in one buffer, one after the other; empty ones may be between them.
    fn in_order<T: ByteViewType>(
        &mut self,
        array: &'r GenericByteViewArray<T>,
        views: &[View],
    ) -> Option<&'r [u8]> {
        let (number, start) = views.iter().find(|view| len(view) > 0).map(place)?;
        let mut end = start;
        self.offsets.clear();
        self.offsets.push(0);
        for view in views {
            let len = len(view);
            if len > 0 && (len <= INLINE || place(view) != (number, end)) {
                return None;
            }
            end += len;
            self.offsets.push(i32::try_from(end - start).ok()?);
        }
        array.data_buffers().get(number)?.as_slice().get(start..end)
    }
}

/// Appends the bytes of the rows in `range`. The view of a null may point anywhere: beyond its
/// buffer it stands for no bytes.
pub(crate) fn gather_views<'r, T: ByteViewType>(
    array: &'r GenericByteViewArray<T>,
    range: Range<usize>,
    out: &mut Vec<&'r [u8]>,
) {
    let buffers = array.data_buffers();
    out.extend(views_of(array).get(range).unwrap_or_default().iter().map(|view| {
        let len = len(view);
        if let Some(inline) = view.get(4..4 + len) {
            return inline;
        }
        let (number, from) = place(view);
        buffers.get(number).and_then(|buffer| buffer.as_slice().get(from..from + len)).unwrap_or_default()
    }));
}

fn views_of<T: ByteViewType>(array: &GenericByteViewArray<T>) -> &[View] {
    array.views().inner().as_slice().as_chunks().0
}

/// Bytes of a row.
fn len([l0, l1, l2, l3, ..]: &View) -> usize {
    u32::from_ne_bytes([*l0, *l1, *l2, *l3]) as usize
}

/// The number of the buffer that a row longer than [`INLINE`] lies in, and its offset there.
fn place([.., b0, b1, b2, b3, o0, o1, o2, o3]: &View) -> (usize, usize) {
    let number = u32::from_ne_bytes([*b0, *b1, *b2, *b3]) as usize;
    (number, u32::from_ne_bytes([*o0, *o1, *o2, *o3]) as usize)
}
