//! Checked, walked and hashed in one pass.

use super::{BurstHashes, HashBuffer, one_by_one};
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use core::marker::PhantomData;
use hashlane_hash::prefix::{EveryKernel, EveryPrefix, Group};

/// Hashes every prefix of names of encoding `E` with `H`, from their bytes, in one pass. Reusable; it takes
/// about 28 KiB; names of common length touch a few of them.
///
/// The walk checks a name and reports the errors of its parser. Names of up to [`Group::MAX_LEN`] bytes go
/// through a [`Group`]; longer ones one by one, with the same results.
#[derive(Clone, Debug)]
pub struct OnePass<E, H> {
    hash: H,
    group: Group,
    buffer: HashBuffer,
    encoding: PhantomData<E>,
}

impl<E: Encoding, H: EveryPrefix> OnePass<E, H> {
    /// Uses `hash`.
    pub const fn new(hash: H) -> Self {
        Self { hash, group: Group::new(), buffer: HashBuffer::new(), encoding: PhantomData }
    }

    /// The hashes of all prefixes of `name`, the shortest first.
    ///
    /// # Errors
    /// The rule of the encoding that `name` breaks.
    #[inline]
    pub fn name(&mut self, name: &[u8]) -> Result<&[u64], ParseError> {
        let Self { hash, group, buffer, .. } = self;
        if !hash.run_every(Name::<E> { group, buffer, name, encoding: PhantomData })? {
            long::<E, H>(hash, name, buffer)?;
        }
        Ok(buffer.hashes())
    }

    /// The hashes of all prefixes of the name that [`name`](Self::name) took last, the shortest first; after
    /// an error, those before it.
    #[inline]
    pub fn hashes(&self) -> &[u64] {
        self.buffer.hashes()
    }

    /// Hashes all prefixes of each of `names`, any number of them, in groups of [`Group::NAMES`]. Replaces
    /// the content of `out` with the result of each name.
    #[inline]
    pub fn burst<'n>(&mut self, names: impl IntoIterator<Item = &'n [u8]>, out: &mut BurstHashes) {
        let Self { hash, group, buffer, encoding } = self;
        hash.run_every(Burst::<E, _> { group, buffer, names: names.into_iter(), out, encoding: *encoding });
    }
}

/// Walks `name` into the group, which must not be full; `false` if it is too long for any group.
#[inline(always)]
fn stage<E: Encoding, H: EveryPrefix>(hash: &H, group: &mut Group, name: &[u8]) -> Result<bool, ParseError> {
    let walk = E::walk(name)?;
    let Some(mut prefixes) = group.push(hash, walk.bytes()) else { return Ok(false) };
    walk.for_each_end(|end| prefixes.push(end))?;
    Ok(prefixes.add())
}

/// A name that is too long for a group.
#[cold]
#[inline(never)]
fn long<E: Encoding, H: EveryPrefix>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    one_by_one::<E, H>(hash, name, buffer)
}

/// One name through a group; `false` if it is too long.
struct Name<'a, E> {
    group: &'a mut Group,
    buffer: &'a mut HashBuffer,
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
        let hashes = self.group.counts().next().unwrap_or_default();
        hash.every_prefix(self.group, self.buffer.room(hashes));
        Ok(true)
    }
}

/// A burst through one group after the other.
struct Burst<'a, E, I> {
    group: &'a mut Group,
    buffer: &'a mut HashBuffer,
    names: I,
    out: &'a mut BurstHashes,
    encoding: PhantomData<E>,
}

impl<'n, E: Encoding, I: Iterator<Item = &'n [u8]>> EveryKernel for Burst<'_, E, I> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { group, buffer, names, out, .. } = self;
        group.clear();
        out.clear();
        for name in names {
            match stage::<E, H>(hash, group, name) {
                Ok(true) if group.is_full() => flush(hash, group, out),
                Ok(true) => {}
                // The names of the group come before it.
                Ok(false) => {
                    flush(hash, group, out);
                    push_long::<E, H>(hash, name, buffer, out);
                }
                Err(error) => {
                    flush(hash, group, out);
                    out.push_error(error);
                }
            }
        }
        flush(hash, group, out);
    }
}

/// Adds a name that is too long for a group.
#[cold]
#[inline(never)]
fn push_long<E: Encoding, H: EveryPrefix>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
    out: &mut BurstHashes,
) {
    match long::<E, H>(hash, name, buffer) {
        Ok(()) => {
            let hashes = buffer.hashes();
            for (place, hash) in out.room(hashes.len()).iter_mut().zip(hashes) {
                *place = *hash;
            }
            out.push(hashes.len());
        }
        Err(error) => out.push_error(error),
    }
}

/// Hashes the staged names, adds them to `out`, and empties the group.
#[inline(always)]
fn flush<H: EveryPrefix>(hash: &H, group: &mut Group, out: &mut BurstHashes) {
    if group.names() > 0 {
        hash.every_prefix(group, out.room(group.room()));
        for hashes in group.counts() {
            out.push(hashes);
        }
        group.clear();
    }
}
