//! The stage that hashes the suffixes of the names of a batch.

use super::batch::{Batch, Suffixes};
use super::parse::Outcome;
use crate::slices::Parts as _;
use alloc::vec::Vec;
use core::fmt;
use hashlane_hash::prefix::{EveryKernel, EveryPrefix, Group};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::dns::{Case, MAX_NAME_LEN, Name};
use hashlane_table::stage::Stage;

/// Stage: hashes every suffix of the name of every query to answer, under a key, ignoring the case of letters
/// (RFC 4343).
///
/// The labels are hashed from the last to the first, each with its length before it, so that a suffix of the
/// name is a prefix of the bytes: one pass over a name gives all its hashes, and [`Group`] takes several
/// names at once. SipHash keeps clients, and owners of zones, from choosing names that collide.
#[derive(Clone)]
pub struct Hash<H = SipHash24> {
    hash: H,
    group: Group,
    /// The hashes of a single name.
    name: [u64; Group::PREFIXES],
}

impl Hash {
    /// Uses SipHash-2-4 under `key`, a secret random key.
    pub fn new(key: &Key) -> Self {
        Self::with(key)
    }
}

impl<H: EveryPrefix + Scheme> Hash<H> {
    /// Uses a hash of the caller's choice under `key`.
    pub fn with(key: &Key) -> Self {
        Self { hash: H::new(key), group: Group::new(), name: [0; Group::PREFIXES] }
    }

    /// The hashes of one name, as [`Batch::suffixes`] gives them: for the names of a table.
    pub fn name(&mut self, name: Name<'_>) -> &[u64] {
        let Self { hash, group, name: hashes } = self;
        let count = hash.run_every(Single { group, name, hashes });
        hashes.part(..count)
    }

    /// Adds the hashes of several names to `hashes`, for each name as [`name`](Self::name) gives them. Takes
    /// less time than one after the other.
    pub fn names<'n>(&mut self, names: impl IntoIterator<Item = Name<'n>>, hashes: &mut Vec<u64>) {
        let Self { hash, group, .. } = self;
        hash.run_every(Several { group, names, hashes });
    }
}

/// Keeps keys out of logs.
impl<H> fmt::Debug for Hash<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash(..)")
    }
}

impl<H: EveryPrefix> Stage<Batch<'_>> for Hash<H> {
    #[inline]
    fn run(&mut self, batch: &mut Batch<'_>) {
        self.hash.run_every(Many { group: &mut self.group, batch });
    }
}

/// The names of a batch, group after group.
struct Many<'a, 'd> {
    group: &'a mut Group,
    batch: &'a mut Batch<'d>,
}

impl EveryKernel for Many<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { group, batch } = self;
        let len = batch.datagrams().len();
        let Batch { outcomes, suffixes, .. } = batch;
        suffixes.clear();
        group.clear();
        let mut first = 0;
        for (number, outcome) in outcomes.iter().take(len).enumerate() {
            let Outcome::Answer(query) = outcome else { continue };
            if group.is_full() {
                flush(hash, group, suffixes);
            }
            let count = stage(hash, group, query.name);
            suffixes.reserve(number, first, count);
            first += count;
        }
        flush(hash, group, suffixes);
    }
}

/// Hashes a group, and empties it.
#[inline(always)]
fn flush<H: EveryPrefix>(hash: &H, group: &mut Group, suffixes: &mut Suffixes) {
    hash.every_prefix(group, suffixes.room());
    suffixes.extend(group.counts().sum());
    group.clear();
}

/// One name.
struct Single<'a, 'n> {
    group: &'a mut Group,
    name: Name<'n>,
    hashes: &'a mut [u64],
}

impl EveryKernel for Single<'_, '_> {
    /// Hashes of the name.
    type Output = usize;

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) -> usize {
        self.group.clear();
        let count = stage(hash, self.group, self.name);
        hash.every_prefix(self.group, self.hashes);
        count
    }
}

/// Several names, group after group.
struct Several<'a, I> {
    group: &'a mut Group,
    names: I,
    hashes: &'a mut Vec<u64>,
}

impl<'n, I: IntoIterator<Item = Name<'n>>> EveryKernel for Several<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { group, names, hashes } = self;
        group.clear();
        for name in names {
            if group.is_full() {
                append(hash, group, hashes);
            }
            stage(hash, group, name);
        }
        append(hash, group, hashes);
    }
}

/// Adds the hashes of a group, and empties it.
#[inline(always)]
fn append<H: EveryPrefix>(hash: &H, group: &mut Group, hashes: &mut Vec<u64>) {
    let from = hashes.len();
    hashes.resize(from + group.room(), 0);
    hash.every_prefix(group, hashes.part_mut(from..));
    hashes.truncate(from + group.counts().sum::<usize>());
    group.clear();
}

/// Adds a name to the group, which is not full; returns how many suffixes it has, the root among them.
#[inline(always)]
fn stage<H: EveryPrefix>(hash: &H, group: &mut Group, name: Name<'_>) -> usize {
    let mut reversed = [0; MAX_NAME_LEN];
    let len = name.len() - 1;
    let reversed = reversed.part_mut(..len);
    reverse(name, reversed);
    let Some(mut prefixes) = group.push(hash, reversed) else { return 0 };
    let (mut end, mut count) = (len, 1);
    for label in name.labels() {
        prefixes.push(end);
        end -= 1 + label.len();
        count += 1;
    }
    prefixes.push(0);
    if prefixes.add() { count } else { 0 }
}

/// Writes the labels of `name` from the last to the first to `out`, in lower case, each with its length
/// before it. `out` has room for all labels without the root.
#[inline(always)]
fn reverse(name: Name<'_>, out: &mut [u8]) {
    let mut rest = out;
    for label in name.labels() {
        let start = rest.len().saturating_sub(1 + label.len());
        let (before, place) = rest.split_at_mut(start);
        if let Some((len, bytes)) = place.split_first_mut() {
            *len = label.len() as u8;
            for (byte, of_label) in bytes.iter_mut().zip(label) {
                *byte = Case::Ignored.fold(*of_label);
            }
        }
        rest = before;
    }
}
