//! The checked view of one encoded name.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;

use crate::component::Component;
use crate::error::ParseError;
use crate::layout::Layout;
use crate::walk::Walk;

/// One encoded name, checked to its last byte.
///
/// Two names are equal if their bytes are, which is if their components are: no list of components has two
/// encodings. The order is NDN's canonical one: the first component that differs decides, and a prefix comes
/// before longer names.
pub struct Name<'a, E> {
    bytes: &'a [u8],
    count: u8,
    encoding: PhantomData<E>,
}

impl<'a, E: Layout> Name<'a, E> {
    /// Checks `bytes`, which must be exactly one name.
    ///
    /// # Errors
    /// The first rule that the bytes break, with its offset.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut walk = E::walk(bytes)?;
        let mut count = 0;
        while walk.next_end()?.is_some() {
            count += 1;
        }
        Ok(Self::checked(bytes, count))
    }

    /// The name that `bytes` are, with `count` components; for bytes that were checked or built here.
    #[inline]
    pub(crate) fn checked(bytes: &'a [u8], count: u8) -> Self {
        Self { bytes, count, encoding: PhantomData }
    }

    /// The encoded name, all of it.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The walk over the name, from its start.
    ///
    /// # Panics
    /// Never: the name's frame has been checked.
    #[inline]
    pub fn walk(&self) -> E::Walk<'a> {
        E::walk(self.bytes).expect("the frame of a checked name")
    }

    /// Number of components.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Returns true if the name has no components.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The components, first to last.
    #[inline]
    pub fn components(&self) -> Components<'a, E> {
        Components { spans: self.spans() }
    }

    /// The place of each component in the [walk's bytes](Walk::bytes), first to last.
    #[inline]
    pub fn spans(&self) -> Spans<'a, E> {
        Spans { walk: self.walk(), end: 0, left: self.count }
    }
}

impl<E> Clone for Name<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Name<'_, E> {}

impl<E: Layout> fmt::Debug for Name<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", E::ID)
    }
}

impl<E: Layout> PartialEq for Name<'_, E> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<E: Layout> Eq for Name<'_, E> {}

impl<E: Layout> Ord for Name<'_, E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.components().cmp(other.components())
    }
}

impl<E: Layout> PartialOrd for Name<'_, E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E: Layout> Hash for Name<'_, E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// The places of a name's components, from [`Name::spans`].
pub struct Spans<'a, E: Layout> {
    walk: E::Walk<'a>,
    end: usize,
    left: u8,
}

impl<E: Layout> Iterator for Spans<'_, E> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        // The name was checked, so the walk has no error.
        let end = self.walk.next_end().ok()??;
        let start = core::mem::replace(&mut self.end, end);
        self.left = self.left.saturating_sub(1);
        Some(start..end)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl<E: Layout> ExactSizeIterator for Spans<'_, E> {}
impl<E: Layout> FusedIterator for Spans<'_, E> {}

impl<E: Layout> Clone for Spans<'_, E> {
    fn clone(&self) -> Self {
        Self { walk: self.walk.clone(), end: self.end, left: self.left }
    }
}

/// The components of a name, from [`Name::components`].
pub struct Components<'a, E: Layout> {
    spans: Spans<'a, E>,
}

impl<'a, E: Layout> Iterator for Components<'a, E> {
    type Item = Component<'a>;

    #[inline]
    fn next(&mut self) -> Option<Component<'a>> {
        let span = self.spans.next()?;
        Some(E::component(&self.spans.walk, span))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl<E: Layout> ExactSizeIterator for Components<'_, E> {}
impl<E: Layout> FusedIterator for Components<'_, E> {}

impl<E: Layout> Clone for Components<'_, E> {
    fn clone(&self) -> Self {
        Self { spans: self.spans.clone() }
    }
}
