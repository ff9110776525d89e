//! Checked, walked and hashed in one pass.

use super::{Kept, one_by_one};
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use core::marker::PhantomData;
use core::ops::Range;
use hash::prefix::{EveryPrefix, Group};

/// Hashes every prefix of names of encoding `E` with `H`, from their octets, in one pass. Made once and reused; holds
/// about 28 KiB.
///
/// A name is checked as it is walked, and what is wrong with it is reported as its parser would. Names of up to
/// [`Group::OCTETS`] octets go through a [`Group`]; longer ones one by one, to the same values.
#[derive(Clone, Debug)]
pub struct OnePass<E, H> {
    hash: H,
    group: Group,
    kept: Kept,
    encoding: PhantomData<E>,
}

impl<E: Encoding, H: EveryPrefix> OnePass<E, H> {
    /// With `hash`, under its key.
    pub const fn new(hash: H) -> Self {
        Self { hash, group: Group::new(), kept: Kept::new(), encoding: PhantomData }
    }

    /// The hashes of all prefixes of `name`, the shortest first.
    ///
    /// # Errors
    /// The rule of the encoding that `name` breaks.
    #[inline]
    pub fn name(&mut self, name: &[u8]) -> Result<&[u64], ParseError> {
        self.group.clear();
        match self.stage(name)? {
            Some(_) => {
                self.hash.every_prefix(&mut self.group);
                Ok(self.group.hashes())
            }
            None => self.long(name),
        }
    }

    /// The hashes of all prefixes of each of `names`, given to `sink` with the name's number, in the names' order:
    /// the shortest prefix first, or the rule of the encoding that the name breaks.
    ///
    /// Any number of names; they are hashed side by side in groups of [`Group::NAMES`].
    #[inline]
    pub fn burst<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n [u8]>,
        mut sink: impl FnMut(usize, Result<&[u64], ParseError>),
    ) {
        let mut staged = Staged::new();
        for (number, name) in names.into_iter().enumerate() {
            if self.group.is_full() {
                self.flush(&mut staged, &mut sink);
            }
            match self.stage(name) {
                Ok(Some(prefixes)) => staged.push(number, prefixes),
                Ok(None) => {
                    self.flush(&mut staged, &mut sink);
                    sink(number, self.long(name));
                }
                Err(error) => {
                    self.flush(&mut staged, &mut sink);
                    sink(number, Err(error));
                }
            }
        }
        self.flush(&mut staged, &mut sink);
    }

    /// Walks `name` into the group, which must not be full; returns which of the group's prefixes are its own, or
    /// nothing where it is too long for any group.
    #[inline(always)]
    fn stage(&mut self, name: &[u8]) -> Result<Option<Range<usize>>, ParseError> {
        let mut walk = E::walk(name)?;
        self.group.push(walk.bytes(), || walk.next_end())
    }

    /// Hashes what is staged and hands it out.
    #[inline(always)]
    fn flush(&mut self, staged: &mut Staged, sink: &mut impl FnMut(usize, Result<&[u64], ParseError>)) {
        self.hash.every_prefix(&mut self.group);
        for (number, prefixes) in staged.drain() {
            sink(number, Ok(self.group.hashes().get(prefixes).unwrap_or_default()));
        }
        self.group.clear();
    }

    #[cold]
    fn long(&mut self, name: &[u8]) -> Result<&[u64], ParseError> {
        one_by_one::<E, H>(&self.hash, name, &mut self.kept)?;
        Ok(self.kept.hashes())
    }
}

/// The names in the group: their numbers, and which prefixes are theirs.
struct Staged {
    names: [(usize, usize, usize); Group::NAMES],
    len: usize,
}

impl Staged {
    const fn new() -> Self {
        Self { names: [(0, 0, 0); Group::NAMES], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, number: usize, prefixes: Range<usize>) {
        if let Some(place) = self.names.get_mut(self.len) {
            *place = (number, prefixes.start, prefixes.end);
            self.len += 1;
        }
    }

    #[inline(always)]
    fn drain(&mut self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let len = core::mem::take(&mut self.len);
        self.names.iter().take(len).map(|&(number, start, end)| (number, start..end))
    }
}
