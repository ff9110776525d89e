//! The lookup of a burst of names: its cache misses overlap.

use crate::lists::Verdict;
use crate::reversed::{NameError, Reversed};
use crate::rules::{Rules, next};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::prefix::{EveryKernel, EveryPrefix, Group};

/// Room for up to [`NAMES`](Self::NAMES) names that are looked up together. Reusable; it takes about 45 KiB.
#[derive(Clone, Debug)]
pub struct Burst {
    names: Vec<Reversed>,
    len: usize,
    group: Box<Group>,
    /// Hashes of the suffixes of all names, the shortest suffix of each first.
    hashes: Vec<u64>,
    /// Numbers of labels to look up.
    probed: [u128; Self::NAMES],
    verdicts: [Verdict; Self::NAMES],
}

impl Default for Burst {
    fn default() -> Self {
        Self::new()
    }
}

impl Burst {
    /// Names of a full burst.
    pub const NAMES: usize = 32;

    /// Room without names.
    pub fn new() -> Self {
        Self {
            names: vec![Reversed::new(); Self::NAMES],
            len: 0,
            group: Box::new(Group::new()),
            hashes: Vec::new(),
            probed: [0; Self::NAMES],
            verdicts: [Verdict::default(); Self::NAMES],
        }
    }

    /// Forgets the names.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Number of names.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without names.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if no further name fits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == Self::NAMES
    }

    /// Adds a name in dotted text, as [`Reversed::set`] takes it. A full burst drops it.
    ///
    /// # Errors
    /// The rule that the name breaks; the burst is as before.
    #[inline(always)]
    pub fn push(&mut self, text: &[u8]) -> Result<(), NameError> {
        let Some(name) = self.names.get_mut(self.len) else { return Ok(()) };
        name.set(text)?;
        self.len += 1;
        Ok(())
    }
}

impl Rules {
    /// The rules that cover each name of a burst, in its order.
    #[inline]
    pub fn verdicts<'b>(&self, burst: &'b mut Burst) -> &'b [Verdict] {
        self.hash.run_every(Lookup { burst, rules: self });
        burst.verdicts.get(..burst.len).unwrap_or_default()
    }
}

/// Hashes of all suffixes, then the filter, the buckets, the names.
struct Lookup<'a> {
    burst: &'a mut Burst,
    rules: &'a Rules,
}

impl EveryKernel for Lookup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { burst: Burst { names, len, group, hashes, probed, verdicts }, rules } = self;
        let names = names.get(..*len).unwrap_or_default();
        hash_suffixes(hash, names, group, hashes);
        let hashes = hashes.as_slice();
        // A name has at most 127 labels, so that the sums stay small.
        let mut from = 0;
        let mut starts = [0; Burst::NAMES];
        for (name, start) in names.iter().zip(&mut starts) {
            (*start, from) = (from, from + name.labels());
        }
        let hash_of = |start: usize, depth: usize| hashes.get(start + depth - 1).copied().unwrap_or(0);
        for (name, start) in names.iter().zip(starts) {
            if name.labels() >= rules.pivot {
                rules.filter.prefetch(hash_of(start, rules.pivot));
            }
        }
        for ((name, start), probed) in names.iter().zip(starts).zip(probed.iter_mut()) {
            let labels = name.labels();
            let passes = labels >= rules.pivot && rules.filter.may_have(hash_of(start, rules.pivot));
            *probed = rules.probed(labels, passes);
            let mut depths = *probed;
            while let Some(depth) = next(&mut depths) {
                rules.table.prefetch(hash_of(start, depth));
            }
        }
        for (start, probed) in starts.into_iter().zip(probed.iter_mut()).take(names.len()) {
            let mut depths = *probed;
            while let Some(depth) = next(&mut depths) {
                if !rules.table.prefetch_name(hash_of(start, depth)) {
                    *probed &= !(1 << depth);
                }
            }
        }
        let places = probed.iter().zip(verdicts);
        for ((name, start), (probed, verdict)) in names.iter().zip(starts).zip(places) {
            *verdict = Verdict::default();
            let mut depths = *probed;
            while let Some(depth) = next(&mut depths) {
                rules.add(verdict, hash_of(start, depth), name.suffix(depth), depth, name.labels());
            }
        }
    }
}

#[inline(always)]
fn hash_suffixes<H: EveryPrefix>(hash: &H, names: &[Reversed], group: &mut Group, hashes: &mut Vec<u64>) {
    let labels: usize = names.iter().map(Reversed::labels).sum();
    let room = labels + Group::NAMES;
    if hashes.len() < room {
        hashes.resize(room, 0);
    }
    let mut at = 0;
    for some in names.chunks(Group::NAMES) {
        group.clear();
        let mut count = 0;
        for name in some {
            // A name is shorter than the longest of a group, and has fewer suffixes.
            let Some(mut prefixes) = group.push(hash, name.bytes()) else { continue };
            name.ends().iter().for_each(|end| prefixes.push(usize::from(*end)));
            if prefixes.add() {
                count += name.labels();
            }
        }
        if let Some(out) = hashes.get_mut(at..) {
            hash.every_prefix(group, out);
        }
        at += count;
    }
}
