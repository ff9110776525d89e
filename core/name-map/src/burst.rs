//! The lookup of a burst of names: its cache misses overlap.

use crate::lists::{Match, Verdict};
use crate::reversed::{NameError, Reversed};
use crate::rules::{Adding, Rules};
use crate::table::Candidate;
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
    /// Names to look up with the same number of labels.
    suffixes: Suffixes,
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
            suffixes: Suffixes::default(),
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
    /// As [`matches`](Self::matches), of name number `at` of a burst.
    pub fn matches_in(&self, burst: &Burst, at: usize, each: impl FnMut(Match)) {
        if let Some(name) = burst.names.get(..burst.len).and_then(|names| names.get(at)) {
            self.matches(name, each);
        }
    }

    /// The rules that cover each name of a burst, in its order.
    #[inline]
    pub fn verdicts<'b>(&self, burst: &'b mut Burst) -> &'b [Verdict] {
        self.hash.run_every(Lookup { burst, rules: self });
        burst.verdicts.get(..burst.len).unwrap_or_default()
    }
}

/// Suffixes of names of a burst, a name at most once.
#[derive(Clone, Debug, Default)]
struct Suffixes {
    len: usize,
    /// The place of the name in the burst, and the bytes of the suffix.
    places: [(u8, u8); Burst::NAMES],
    hashes: [u64; Burst::NAMES],
}

impl Suffixes {
    /// All names of a burst that have so many labels.
    #[inline(always)]
    fn all(&mut self, names: &[Reversed], labels: usize) {
        self.len = 0;
        for (place, name) in (0..).zip(names) {
            self.push_if(place, name.end(labels));
        }
    }

    #[inline(always)]
    fn push_if(&mut self, place: u8, end: Option<usize>) {
        // There are no more names than places.
        if let Some(to) = self.places.get_mut(self.len) {
            *to = (place, end.unwrap_or(0) as u8);
            self.len += usize::from(end.is_some());
        }
    }

    /// Hashes the suffixes.
    #[inline(always)]
    fn hash<H: EveryPrefix>(&mut self, hash: &H, names: &[Reversed], group: &mut Group) {
        let places = self.places.get(..self.len).unwrap_or_default();
        for (some, hashes) in places.chunks(Group::NAMES).zip(self.hashes.chunks_mut(Group::NAMES)) {
            group.clear();
            for (place, end) in some {
                let Some(name) = names.get(usize::from(*place)) else { continue };
                // A name is shorter than the longest of a group, and has one prefix here.
                let Some(mut prefixes) = group.push(hash, name.bytes()) else { continue };
                prefixes.push((*end).into());
                let _one = prefixes.add();
            }
            hash.every_prefix(group, hashes);
        }
    }

    /// Keeps the suffixes that pass the filter.
    #[inline(always)]
    fn filter(&mut self, rules: &Rules) {
        let Self { len, places, hashes } = self;
        hashes.iter().take(*len).for_each(|hash| rules.filter.prefetch(*hash));
        let mut kept = 0;
        for at in 0..*len {
            let (place, hash) = (places[at], hashes[at]);
            (places[kept], hashes[kept]) = (place, hash);
            kept += usize::from(rules.filter.may_have(hash));
        }
        *len = kept;
    }
}

/// Rounds of lookups: names together, with one label more in each round.
struct Lookup<'a> {
    burst: &'a mut Burst,
    rules: &'a Rules,
}

impl EveryKernel for Lookup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { burst: Burst { names, len, group, suffixes, verdicts }, rules } = self;
        let names = names.get(..*len).unwrap_or_default();
        *verdicts = [Verdict::default(); Burst::NAMES];
        for labels in rules.short_depths() {
            suffixes.all(names, labels);
            suffixes.hash(hash, names, group);
            look_up(rules, names, suffixes, verdicts);
        }
        suffixes.all(names, rules.pivot);
        suffixes.hash(hash, names, group);
        suffixes.filter(rules);
        look_up(rules, names, suffixes, verdicts);
        if suffixes.len > 0 {
            suffixes.hash(hash, names, group);
            look_up(rules, names, suffixes, verdicts);
        }
        if suffixes.len > 0 {
            look_up_deep(hash, rules, names, suffixes, verdicts);
        }
    }
}

/// Looks suffixes up, and leaves those with one label more that are to be looked up.
#[inline(always)]
fn look_up(
    rules: &Rules,
    names: &[Reversed],
    suffixes: &mut Suffixes,
    verdicts: &mut [Verdict; Burst::NAMES],
) {
    let Suffixes { len, places, hashes } = *suffixes;
    let hashes = hashes.get(..len).unwrap_or_default();
    hashes.iter().for_each(|hash| rules.table.prefetch(*hash));
    let mut candidates = [Candidate::NONE; Burst::NAMES];
    for (hash, candidate) in hashes.iter().zip(&mut candidates) {
        *candidate = rules.table.candidate(*hash);
        rules.table.prefetch_group(*candidate);
    }
    suffixes.len = 0;
    for (((place, end), hash), candidate) in places.into_iter().zip(hashes).zip(candidates) {
        let at = usize::from(place);
        let (Some(name), Some(verdict)) = (names.get(at), verdicts.get_mut(at)) else { continue };
        let mut covering = Adding { rules, name, verdict: *verdict };
        let deeper = rules.table.find_candidate(candidate, *hash, name, end.into(), &mut covering);
        *verdict = covering.verdict;
        suffixes.push_if(place, if deeper { name.end_after(end.into()) } else { None });
    }
}

/// Looks names up with more labels, one pass over the bytes of each: few names of common lists have as many.
#[cold]
#[inline(never)]
fn look_up_deep<H: EveryPrefix>(
    hash: &H,
    rules: &Rules,
    names: &[Reversed],
    suffixes: &mut Suffixes,
    verdicts: &mut [Verdict; Burst::NAMES],
) {
    let mut states: [_; Burst::NAMES] = core::array::from_fn(|_| (hash.start(), 0));
    while suffixes.len > 0 {
        let places = suffixes.places.iter().zip(&mut suffixes.hashes).take(suffixes.len);
        for ((place, end), to) in places {
            let at = usize::from(*place);
            let (Some(name), Some((state, hashed))) = (names.get(at), states.get_mut(at)) else { continue };
            hash.extend_within(state, name.bytes(), *hashed, (*end).into());
            *hashed = usize::from(*end);
            *to = hash.finish(state);
        }
        look_up(rules, names, suffixes, verdicts);
    }
}
