//! The rules of all lists, and the lookup of one name.

use crate::filter::Filter;
use crate::groups::{Receiver, Suffix};
use crate::lists::{Inherited, Lists, Match, Verdict};
use crate::reversed::Reversed;
use crate::search::{Search, Walk};
use crate::table::Table;
use alloc::vec::Vec;
use hashlane_hash::scheme::{BytesHash as _, Key, PrefixHash as _};
use hashlane_hash::siphash::SipHash13;

/// Rules of up to 64 lists, by name. They do not change; [`Builder`](crate::Builder) makes them.
///
/// A lookup hashes the last labels of a name, as many as all but few rules have, and reads a filter, which
/// tells most names that match nothing. Rules with these labels are next to each other, and are compared with
/// the name byte by byte: no wrong rule matches. If there are many, they are looked up with one label more;
/// if there are many again, with as many as a binary search of the name says. The hash is SipHash-1-3 under a
/// secret key, so that names which were chosen to collide cost no more than others.
#[derive(Clone)]
pub struct Rules {
    pub(crate) key: Key,
    pub(crate) hash: SipHash13,
    pub(crate) table: Table,
    pub(crate) filter: Filter,
    /// Labels of the suffixes in the filter.
    pub(crate) pivot: usize,
    /// A bit for each number of labels below the pivot that a rule has.
    pub(crate) short: u128,
    /// By the numbers of the table.
    pub(crate) lists: Vec<Lists>,
    /// Rules of shorter suffixes, by the numbers of the table.
    pub(crate) inherited: Vec<Inherited>,
    /// Lists in which the closest name wins.
    pub(crate) closest_wins: u64,
    pub(crate) names: usize,
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Rules {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rules").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Rules {
    /// Number of names that have rules.
    pub const fn len(&self) -> usize {
        self.names
    }

    /// True without rules.
    pub const fn is_empty(&self) -> bool {
        self.names == 0
    }

    /// Lists that a verdict may have: a bit for each, the lowest for list 0. Rules that were read from bytes
    /// may have more than those that were written.
    pub fn used_lists(&self) -> u64 {
        let own = self.lists.iter().map(Lists::having);
        own.chain(self.inherited.iter().map(Inherited::lists)).fold(0, |all, lists| all | lists)
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.table.memory()
            + self.filter.memory()
            + size_of::<Lists>() * self.lists.capacity()
            + size_of::<Inherited>() * self.inherited.capacity()
    }

    /// The rules that cover a name.
    #[inline]
    pub fn verdict(&self, name: &Reversed) -> Verdict {
        let mut adding = Adding { rules: self, name, verdict: Verdict::default() };
        self.find(name, &mut adding, Walk::Search);
        adding.verdict
    }

    /// Passes the rules that cover a name to `each`, the longest first, but for rules that an exception of
    /// their list overrides. It is for names with a [verdict](Self::verdict) that needs its reason.
    pub fn matches(&self, name: &Reversed, mut each: impl FnMut(Match)) {
        let mut found = Found(Vec::new());
        self.find(name, &mut found, Walk::Every);
        let mut lists = self.verdict(name).lists();
        for (number, end) in found.0.into_iter().rev() {
            let Some(own) = self.lists.get(number as usize) else { continue };
            let depth = name.labels_within(end);
            for found in own.matches(lists, depth, name.labels() - depth) {
                lists &= !(self.closest_wins & 1 << found.list);
                each(found);
            }
        }
    }

    /// Passes the rules on the suffixes of a name to `to`, the shortest first.
    #[inline(always)]
    fn find(&self, name: &Reversed, to: &mut impl Receiver, walk: Walk) {
        for depth in self.short_depths() {
            let Some(end) = name.end(depth) else { break };
            self.table.find(self.hash_of(name, end), name, Suffix { end, inherits: false }, to);
        }
        let Some(end) = name.end(self.pivot) else { return };
        let mut state = self.hash.start();
        self.hash.extend_within(&mut state, name.bytes(), 0, end);
        let hash = self.hash.finish(&state);
        if !self.filter.may_have(hash) {
            return;
        }
        let group = self.table.find(hash, name, Suffix { end, inherits: false }, to);
        let Some(next) = group.filter(|group| group.deeper).and_then(|_| name.end_after(end)) else { return };
        let mut search = Search::new(next, (state, end), walk);
        loop {
            let hash = search.hash(&self.hash, name);
            let group = self.table.find(hash, name, search.suffix(), to);
            if !search.advance(name, group) {
                return;
            }
        }
    }

    fn hash_of(&self, name: &Reversed, end: usize) -> u64 {
        self.hash.hash(name.bytes().get(..end).unwrap_or_default())
    }

    /// The numbers of labels below the pivot that rules have, the smallest first.
    #[inline(always)]
    pub(crate) fn short_depths(&self) -> impl Iterator<Item = usize> {
        let mut short = self.short;
        core::iter::from_fn(move || {
            let depth = (short != 0).then(|| short.trailing_zeros() as usize)?;
            short &= short - 1;
            Some(depth)
        })
    }
}

/// A verdict, to which rules are added.
pub(crate) struct Adding<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) name: &'a Reversed,
    pub(crate) verdict: Verdict,
}

impl Receiver for Adding<'_> {
    #[inline(always)]
    fn take(&mut self, number: u32, end: usize) {
        if let Some(lists) = self.rules.lists.get(number as usize) {
            let depth = self.name.labels_within(end);
            self.verdict.add(lists, depth, self.name.labels(), self.rules.closest_wins);
        }
    }

    #[inline(always)]
    fn inherit(&mut self, number: u32) {
        if let Some(inherited) = self.rules.inherited.get(number as usize) {
            self.verdict.inherit(inherited);
        }
    }
}

/// Rules as they are found: the number of their lists, and the bytes of their name.
struct Found(Vec<(u32, usize)>);

impl Receiver for Found {
    fn take(&mut self, number: u32, end: usize) {
        self.0.push((number, end));
    }

    /// The groups of all suffixes were visited.
    fn inherit(&mut self, _number: u32) {}
}
