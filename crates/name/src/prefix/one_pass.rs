//! Checked, walked and hashed in one pass.

use super::{Kept, one_by_one};
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use core::marker::PhantomData;
use hash::prefix::{EveryKernel, EveryPrefix, Group};

/// Hashes every prefix of names of encoding `E` with `H`, from their octets, in one pass. Made once and reused; holds
/// about 44 KiB, of which names of common length touch a few.
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
        if self.hash.run_every(Name::<E> { group: &mut self.group, name, encoding: PhantomData })? {
            return Ok(self.group.hashes());
        }
        long::<E, H>(&self.hash, name, &mut self.kept)
    }

    /// The hashes of all prefixes of each of `names`, given to `sink` with the name's number, in the names' order:
    /// the shortest prefix first, or the rule of the encoding that the name breaks.
    ///
    /// Any number of names; they are hashed side by side in groups of [`Group::NAMES`].
    #[inline]
    pub fn burst<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n [u8]>,
        sink: impl FnMut(usize, Result<&[u64], ParseError>),
    ) {
        let Self { hash, group, kept, encoding } = self;
        hash.run_every(Burst::<E, _, _, _> {
            group,
            names: names.into_iter(),
            sink,
            long: |name: &[u8], sink: &mut Sink<'_>| sink(long::<E, H>(hash, name, kept)),
            encoding: *encoding,
        });
    }
}

/// Walks `name` into the group, which must not be full; `false` where it is too long for any group.
#[inline(always)]
fn stage<E: Encoding, H: EveryPrefix>(hash: &H, group: &mut Group, name: &[u8]) -> Result<bool, ParseError> {
    let walk = E::walk(name)?;
    let Some(mut prefixes) = group.push(hash, walk.bytes()) else { return Ok(false) };
    walk.for_each_end(|end| prefixes.push(end))?;
    Ok(prefixes.add())
}

/// A name that is too long for a group.
#[cold]
fn long<'k, E: Encoding, H: EveryPrefix>(
    hash: &H,
    name: &[u8],
    kept: &'k mut Kept,
) -> Result<&'k [u64], ParseError> {
    one_by_one::<E, H>(hash, name, kept)?;
    Ok(kept.hashes())
}

/// One name through a group; `false` where it is too long.
struct Name<'a, E> {
    group: &'a mut Group,
    name: &'a [u8],
    encoding: PhantomData<E>,
}

impl<E: Encoding> EveryKernel for Name<'_, E> {
    type Output = Result<bool, ParseError>;

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) -> Self::Output {
        self.group.clear();
        if !stage::<E, H>(hash, self.group, self.name)? {
            return Ok(false);
        }
        hash.every_prefix(self.group);
        Ok(true)
    }
}

/// What takes the hashes of one name.
type Sink<'s> = dyn FnMut(Result<&[u64], ParseError>) + 's;

/// A burst through one group after the other.
struct Burst<'a, E, I, S, L> {
    group: &'a mut Group,
    names: I,
    sink: S,
    long: L,
    encoding: PhantomData<E>,
}

impl<'n, E, I, S, L> EveryKernel for Burst<'_, E, I, S, L>
where
    E: Encoding,
    I: Iterator<Item = &'n [u8]>,
    S: FnMut(usize, Result<&[u64], ParseError>),
    L: FnMut(&[u8], &mut Sink<'_>),
{
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { group, names, mut sink, mut long, .. } = self;
        group.clear();
        // The number of the group's first name. The others follow it without a gap.
        let mut first = 0;
        for (number, name) in names.enumerate() {
            let staged = stage::<E, H>(hash, group, name);
            if let Ok(true) = staged {
                if group.is_full() {
                    flush(hash, group, first, &mut sink);
                    first = number + 1;
                }
            } else {
                flush(hash, group, first, &mut sink);
                first = number + 1;
                match staged {
                    Ok(_) => long(name, &mut |hashes| sink(number, hashes)),
                    Err(error) => sink(number, Err(error)),
                }
            }
        }
        flush(hash, group, first, &mut sink);
    }
}

/// Hashes what is staged, hands it out, and empties the group.
#[inline(always)]
fn flush<H: EveryPrefix>(
    hash: &H,
    group: &mut Group,
    first: usize,
    sink: &mut impl FnMut(usize, Result<&[u64], ParseError>),
) {
    if group.names() > 0 {
        hash.every_prefix(group);
        for (n, hashes) in group.hashes_by_name().enumerate() {
            sink(first + n, Ok(hashes));
        }
        group.clear();
    }
}
