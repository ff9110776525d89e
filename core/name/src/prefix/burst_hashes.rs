//! Hashes of the prefixes of a burst of names.

use crate::error::ParseError;
use alloc::vec::Vec;

/// The hashes of all prefixes of each name of a burst. Reusable.
///
/// The kernels write the hashes here, one name's after the other's, so that nothing copies them. It keeps the
/// memory of the largest burst so far: 8 bytes for each prefix, 8 for each name.
#[derive(Clone, Debug, Default)]
pub struct BurstHashes {
    /// A vector may have written unspecified values after the hashes of the last name.
    hashes: Vec<u64>,
    /// Hashes of all names so far.
    len: usize,
    /// Places of the hashes of each name: from, to.
    names: Vec<(u32, u32)>,
    /// Numbers of the names that break a rule, in order.
    errors: Vec<(usize, ParseError)>,
}

impl BurstHashes {
    /// Hashes of no name.
    pub const fn new() -> Self {
        Self { hashes: Vec::new(), len: 0, names: Vec::new(), errors: Vec::new() }
    }

    /// Names of the burst.
    #[inline]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True for a burst without names.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The hashes of all prefixes of name `number`, the shortest prefix first; empty for a number beyond the
    /// burst.
    ///
    /// # Errors
    /// The rule of the encoding that the name breaks.
    #[inline(always)]
    pub fn name(&self, number: usize) -> Result<&[u64], ParseError> {
        if !self.errors.is_empty() {
            self.check(number)?;
        }
        let (from, to) = self.names.get(number).copied().unwrap_or_default();
        Ok(self.hashes.get(from as usize..to as usize).unwrap_or_default())
    }

    #[cold]
    fn check(&self, number: usize) -> Result<(), ParseError> {
        match self.errors.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => self.errors.get(at).map_or(Ok(()), |(_, error)| Err(*error)),
            Err(_) => Ok(()),
        }
    }

    /// Names that break a rule.
    #[inline]
    pub fn errors(&self) -> usize {
        self.errors.len()
    }

    /// The result of each name, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = Result<&[u64], ParseError>> {
        (0..self.len()).map(|number| self.name(number))
    }

    /// Forgets the names.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.names.clear();
        self.errors.clear();
    }

    /// Room for the hashes of the names that come next, at least this many places.
    #[inline(always)]
    pub(super) fn room(&mut self, places: usize) -> &mut [u64] {
        let end = self.len + places;
        if end > self.hashes.len() {
            self.grow(end);
        }
        self.hashes.get_mut(self.len..).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, places: usize) {
        self.hashes.resize(places.next_power_of_two().max(256), 0);
    }

    /// Adds a name, whose hashes are the next in the [room](Self::room).
    #[inline(always)]
    pub(super) fn push(&mut self, hashes: usize) {
        let from = self.len;
        self.len += hashes;
        self.names.push((from as u32, self.len as u32));
    }

    /// Adds a name that breaks a rule.
    #[inline(always)]
    pub(super) fn push_error(&mut self, error: ParseError) {
        self.errors.push((self.len(), error));
        self.push(0);
    }
}
