//! The lookup of a burst of names: its cache misses overlap.

use crate::groups::{Group, Suffix};
use crate::lists::{Match, Verdict};
use crate::reversed::{NameError, Reversed};
use crate::rules::{Adding, Rules};
use crate::search::{Search, Walk};
use crate::table::Candidate;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::prefix::{self, EveryKernel, EveryPrefix};

/// Room for up to [`NAMES`](Self::NAMES) names that are looked up together. Reusable; it takes about 45 KiB.
#[derive(Clone, Debug)]
pub struct Burst {
    names: Vec<Reversed>,
    len: usize,
    group: Box<prefix::Group>,
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
            group: Box::new(prefix::Group::new()),
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
    fn hash<H: EveryPrefix>(&mut self, hash: &H, names: &[Reversed], group: &mut prefix::Group) {
        let places = self.places.get(..self.len).unwrap_or_default();
        for (some, hashes) in
            places.chunks(prefix::Group::NAMES).zip(self.hashes.chunks_mut(prefix::Group::NAMES))
        {
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
            look_up(rules, names, suffixes, verdicts, &mut OneMore);
        }
        suffixes.all(names, rules.pivot);
        suffixes.hash(hash, names, group);
        suffixes.filter(rules);
        look_up(rules, names, suffixes, verdicts, &mut OneMore);
        if suffixes.len > 0 {
            suffixes.hash(hash, names, group);
            look_up(rules, names, suffixes, verdicts, &mut OneMore);
        }
        if suffixes.len > 0 {
            look_up_deep(hash, rules, names, suffixes, verdicts);
        }
    }
}

/// Suffixes of a name that are visited one after the other.
trait Steps {
    /// The suffix of `end` bytes of name number `at`.
    fn suffix(&self, at: usize, end: usize) -> Suffix;

    /// Bytes of the suffix to visit after the one of `end` bytes, which has this group.
    fn next(&mut self, at: usize, name: &Reversed, end: usize, group: Option<Group>) -> Option<usize>;
}

/// One label more, if groups are there.
struct OneMore;

impl Steps for OneMore {
    #[inline(always)]
    fn suffix(&self, _at: usize, end: usize) -> Suffix {
        Suffix { end, inherits: false }
    }

    #[inline(always)]
    fn next(&mut self, _at: usize, name: &Reversed, end: usize, group: Option<Group>) -> Option<usize> {
        if matches!(group, Some(Group { deeper: true })) { name.end_after(end) } else { None }
    }
}

/// Searches of names, each at its place in the burst.
impl<S: Clone> Steps for [Option<Search<S>>; Burst::NAMES] {
    #[inline(always)]
    fn suffix(&self, at: usize, end: usize) -> Suffix {
        let search = self.get(at).and_then(Option::as_ref);
        search.map_or(Suffix { end, inherits: false }, Search::suffix)
    }

    #[inline(always)]
    fn next(&mut self, at: usize, name: &Reversed, _end: usize, group: Option<Group>) -> Option<usize> {
        let search = self.get_mut(at)?.as_mut()?;
        search.advance(name, group).then(|| search.suffix().end)
    }
}

/// Looks suffixes up, and leaves those that are to be looked up next.
#[inline(always)]
fn look_up(
    rules: &Rules,
    names: &[Reversed],
    suffixes: &mut Suffixes,
    verdicts: &mut [Verdict; Burst::NAMES],
    steps: &mut impl Steps,
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
        let (at, end) = (usize::from(place), usize::from(end));
        let (Some(name), Some(verdict)) = (names.get(at), verdicts.get_mut(at)) else { continue };
        let mut covering = Adding { rules, name, verdict: *verdict };
        let suffix = steps.suffix(at, end);
        let group = rules.table.find_candidate(candidate, *hash, name, suffix, &mut covering);
        *verdict = covering.verdict;
        suffixes.push_if(place, steps.next(at, name, end, group));
    }
}

/// Looks names up with more labels: few names of common lists have as many.
#[cold]
#[inline(never)]
fn look_up_deep<H: EveryPrefix>(
    hash: &H,
    rules: &Rules,
    names: &[Reversed],
    suffixes: &mut Suffixes,
    verdicts: &mut [Verdict; Burst::NAMES],
) {
    let mut searches: [_; Burst::NAMES] = core::array::from_fn(|_| None);
    for (place, end) in suffixes.places.iter().take(suffixes.len) {
        if let Some(search) = searches.get_mut(usize::from(*place)) {
            *search = Some(Search::new((*end).into(), (hash.start(), 0), Walk::Search));
        }
    }
    while suffixes.len > 0 {
        let places = suffixes.places.iter().zip(&mut suffixes.hashes).take(suffixes.len);
        for ((place, _), to) in places {
            let at = usize::from(*place);
            if let (Some(name), Some(Some(search))) = (names.get(at), searches.get_mut(at)) {
                *to = search.hash(hash, name);
            }
        }
        look_up(rules, names, suffixes, verdicts, &mut searches);
    }
}
