//! Checked, walked and hashed in one pass.

use super::{Kept, one_by_one};
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use core::marker::PhantomData;
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
        if !self.stage(name)? {
            return self.long(name);
        }
        self.hash.every_prefix(&mut self.group);
        Ok(self.group.hashes())
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
        self.group.clear();
        // The number of the group's first name. The others follow it without a gap.
        let mut first = 0;
        for (number, name) in names.into_iter().enumerate() {
            let staged = self.stage(name);
            if let Ok(true) = staged {
                if self.group.is_full() {
                    self.flush(first, &mut sink);
                    first = number + 1;
                }
            } else {
                self.flush(first, &mut sink);
                first = number + 1;
                sink(number, staged.and_then(|_| self.long(name)));
            }
        }
        self.flush(first, &mut sink);
    }

    /// Walks `name` into the group, which must not be full; `false` where it is too long for any group.
    #[inline(always)]
    fn stage(&mut self, name: &[u8]) -> Result<bool, ParseError> {
        let walk = E::walk(name)?;
        let Some(mut prefixes) = self.group.push(walk.bytes()) else { return Ok(false) };
        walk.for_each_end(|end| prefixes.push(end))?;
        Ok(prefixes.add())
    }

    /// Hashes what is staged, hands it out, and empties the group.
    #[inline(always)]
    fn flush(&mut self, first: usize, sink: &mut impl FnMut(usize, Result<&[u64], ParseError>)) {
        if self.group.names() > 0 {
            self.hash.every_prefix(&mut self.group);
            for (n, hashes) in self.group.hashes_by_name().enumerate() {
                sink(first + n, Ok(hashes));
            }
            self.group.clear();
        }
    }

    #[cold]
    fn long(&mut self, name: &[u8]) -> Result<&[u64], ParseError> {
        one_by_one::<E, H>(&self.hash, name, &mut self.kept)?;
        Ok(self.kept.hashes())
    }
}
