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

/// Why a name is not in the group.
enum Refused {
    /// The group is full.
    Full,
    /// The name is longer than any group takes.
    Long,
    /// It is no name.
    Broken(ParseError),
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
        match self.stage(name) {
            Ok(_) => {
                self.hash.every_prefix(&mut self.group);
                Ok(self.group.hashes())
            }
            Err(Refused::Broken(error)) => Err(error),
            Err(Refused::Full | Refused::Long) => self.long(name),
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
            if staged.len == Group::NAMES {
                self.flush(&mut staged, &mut sink);
            }
            let outcome = match self.stage(name) {
                Err(Refused::Full) => {
                    self.flush(&mut staged, &mut sink);
                    self.stage(name)
                }
                outcome => outcome,
            };
            match outcome {
                Ok(prefixes) => staged.push(number, prefixes),
                Err(refused) => {
                    self.flush(&mut staged, &mut sink);
                    sink(
                        number,
                        match refused {
                            Refused::Broken(error) => Err(error),
                            Refused::Full | Refused::Long => self.long(name),
                        },
                    );
                }
            }
        }
        self.flush(&mut staged, &mut sink);
    }

    /// Walks `name` into the group; returns which of the group's prefixes are its own.
    #[inline(always)]
    fn stage(&mut self, name: &[u8]) -> Result<Range<usize>, Refused> {
        let mut walk = E::walk(name).map_err(Refused::Broken)?;
        let first = self.group.prefixes();
        if walk.bytes().len() > Group::OCTETS {
            return Err(Refused::Long);
        }
        if !self.group.push_name(walk.bytes()) {
            return Err(Refused::Full);
        }
        loop {
            match walk.next_end() {
                Ok(Some(end)) if self.group.push_prefix(end) => {}
                Ok(None) => return Ok(first..self.group.prefixes()),
                outcome => {
                    self.group.truncate(first);
                    return Err(outcome.err().map_or(Refused::Full, Refused::Broken));
                }
            }
        }
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
