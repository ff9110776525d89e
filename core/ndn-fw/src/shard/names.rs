//! Names as the choice of shards sees them.

use super::buckets::MAX_COMPONENTS;
use hashlane_name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_name::walk::{Encoding, Walk as _};

/// Ends of the first components of a name, read as far as a choice needs them.
#[derive(Clone)]
pub(super) struct Prefixes<'a> {
    /// The components that are not read yet.
    walk: <Ndn as Encoding>::Walk<'a>,
    components: &'a [u8],
    /// Ends of the prefixes with one component and more.
    ends: [u16; MAX_COMPONENTS + 1],
    /// Components that were read.
    len: u8,
    is_interest: bool,
    /// True if all components were read.
    is_whole: bool,
}

impl<'a> Prefixes<'a> {
    /// The prefixes of a name, given with its type and length; none is read yet. An implicit digest at the
    /// end does not count if `is_interest`: Data of the Interest has the name without it. `None` if the
    /// name's length is wrong.
    #[inline(always)]
    pub(super) fn new(name: &'a [u8], is_interest: bool) -> Option<Self> {
        let walk = Ndn::walk(name).ok()?;
        let (components, ends) = (walk.bytes(), [0; MAX_COMPONENTS + 1]);
        Some(Self { walk, components, ends, len: 0, is_interest, is_whole: false })
    }

    /// Reads `count` components, at most [`MAX_COMPONENTS`], and of an Interest one more, to see if the last
    /// one is a digest. `None` if one of them is malformed.
    #[inline(always)]
    pub(super) fn read(&mut self, count: usize) -> Option<()> {
        while !self.is_whole && self.len() < count + usize::from(self.is_interest) {
            if let Some(end) = self.walk.next_end().ok()? {
                *self.ends.get_mut(usize::from(self.len))? = end as u16;
                self.len += 1;
            } else {
                self.is_whole = true;
                self.len -= u8::from(self.is_interest && self.ends_with_digest());
            }
        }
        Some(())
    }

    fn ends_with_digest(&self) -> bool {
        let start = self.prefix(self.len().saturating_sub(1)).len();
        let last = self.prefix(self.len()).get(start..).unwrap_or_default();
        last.len() == 2 + DIGEST_LEN
            && last.first().is_some_and(|typ| u16::from(*typ) == IMPLICIT_SHA256_DIGEST)
    }

    /// Number of components that were read.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len.into()
    }

    /// Shortens the name to `len` of the components that were read.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u8);
        self.is_whole = true;
    }

    /// Encoded components of the prefix with `len` components, or of all that were read if these are fewer.
    #[inline(always)]
    pub(super) fn prefix(&self, len: usize) -> &'a [u8] {
        let end = len.min(self.len()).checked_sub(1).and_then(|at| self.ends.get(at)).copied();
        self.components.get(..end.unwrap_or(0).into()).unwrap_or_default()
    }
}
