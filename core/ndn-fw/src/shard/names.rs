//! Names as the choice of shards sees them.

use super::buckets::MAX_COMPONENTS;
use hashlane_name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_name::walk::{Encoding as _, Walk as _};

/// Ends of the first components of a name.
#[derive(Clone, Copy)]
pub(super) struct Prefixes<'a> {
    components: &'a [u8],
    /// Ends of the prefixes with one component and more.
    ends: [u16; MAX_COMPONENTS],
    /// Number of components, at most [`MAX_COMPONENTS`].
    len: u8,
}

impl<'a> Prefixes<'a> {
    /// The prefixes of a name, given with its type and length, without an implicit digest at its end if
    /// `is_interest`. `None` if the name is malformed.
    #[inline(always)]
    pub(super) fn new(name: &'a [u8], is_interest: bool) -> Option<Self> {
        let walk = Ndn::walk(name).ok()?;
        let components = walk.bytes();
        let mut prefixes = Self { components, ends: [0; MAX_COMPONENTS], len: 0 };
        let (mut count, mut start, mut last) = (0, 0, 0);
        walk.for_each_end(|end| {
            if let Some(place) = prefixes.ends.get_mut(count) {
                *place = end as u16;
            }
            (count, start, last) = (count + 1, last, end);
        })
        .ok()?;
        // Data of the Interest has the name without it.
        let has_digest = is_interest
            && last - start == 2 + DIGEST_LEN
            && components.get(start).is_some_and(|typ| u16::from(*typ) == IMPLICIT_SHA256_DIGEST);
        count -= usize::from(has_digest);
        prefixes.len = count.min(MAX_COMPONENTS) as u8;
        Some(prefixes)
    }

    /// Number of components, at most [`MAX_COMPONENTS`].
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len.into()
    }

    /// Shortens the name to `len` components.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u8);
    }

    /// Encoded components of the prefix with `len` components, or of the whole name if that is shorter.
    #[inline(always)]
    pub(super) fn prefix(&self, len: usize) -> &'a [u8] {
        let end = len.min(self.len()).checked_sub(1).and_then(|at| self.ends.get(at)).copied();
        self.components.get(..end.unwrap_or(0).into()).unwrap_or_default()
    }
}
