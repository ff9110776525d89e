//! Rules one after the other, and the table of all.

mod above;

use crate::filter::Filter;
use crate::groups::{Groups, MAX_RULES};
use crate::lists::{Inherited, Lists, MAX_LISTS, Target};
use crate::reversed::{MAX_LABELS, NameError, Reversed};
use crate::rules::Rules;
use crate::table::{Candidate, Table};
use above::names_above;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;

/// Of as many rules, one may be shorter than those that the filter has.
const FEW: usize = 256;

/// Rules whose names are prefetched, and the bytes of each.
const AHEAD: usize = 32;
const PREFETCHED: usize = 32;

/// A rule that was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The number of the list is too large.
    #[error("list {list}; lists have numbers below 64")]
    List {
        /// Number of the list.
        list: usize,
    },
    /// The names of all rules take more than 4 GiB, or their table.
    #[error("the rules take more than 4 GiB; use fewer rules")]
    TooLarge,
}

/// A rule, or a name without one.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Of its name, or of a longer one.
    offset: u32,
    labels: u8,
    list: u8,
    /// `None` for a name without a rule: above one, or added alone.
    target: Option<Target>,
    exception: bool,
}

impl Rule {
    /// Its name, out of all rules' names.
    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        let from = names.get(self.offset as usize..).and_then(<[u8]>::split_first);
        let name = from.and_then(|(len, rest)| rest.get(..usize::from(*len))).unwrap_or_default();
        if self.target.is_none() { first(name, self.labels.into()) } else { name }
    }

    fn lists(&self) -> Lists {
        match self.target {
            Some(target) => Lists::one(self.list.into(), target, self.exception),
            None => Lists::above(self.list.into()),
        }
    }
}

/// Builder of [`Rules`]. It takes 8 bytes a rule besides the names, and 44 more while it builds the table.
#[derive(Clone)]
pub struct Builder {
    key: Key,
    closest_wins: u64,
    hash: SipHash13,
    rules: Vec<Rule>,
    /// Names without rules of their own.
    bare: Vec<Rule>,
    /// Length and bytes of each name.
    names: Vec<u8>,
    name: Reversed,
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Builder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Builder").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

impl Builder {
    /// A builder without rules. `key` is a secret random key; names chosen without it cannot be made to
    /// collide.
    pub fn new(key: &Key) -> Self {
        Self {
            key: *key,
            closest_wins: 0,
            hash: SipHash13::new(key),
            rules: Vec::new(),
            bare: Vec::new(),
            names: Vec::new(),
            name: Reversed::new(),
        }
    }

    /// Adds a rule of list number `list` for a name in dotted text.
    ///
    /// # Errors
    /// The fault of the rule; nothing was added.
    pub fn block(&mut self, list: usize, target: Target, name: &[u8]) -> Result<(), BuildError> {
        let rule = self.rule(list, Some(target), false, name)?;
        self.rules.push(rule);
        Ok(())
    }

    /// Adds an exception from the rules of list number `list`, whatever their length.
    ///
    /// # Errors
    /// The fault of the rule; nothing was added.
    pub fn except(&mut self, list: usize, target: Target, name: &[u8]) -> Result<(), BuildError> {
        let rule = self.rule(list, Some(target), true, name)?;
        self.rules.push(rule);
        Ok(())
    }

    /// Lets the closest name of list number `list` win, as wildcards of the DNS do (RFC 4592 §3.3.1) and so
    /// response policy zones: of the names that have rules, and those above them, the longest that the name
    /// ends with. If none of its rules covers the name, or one of its exceptions does, the list does not
    /// match. Otherwise an exception wins whatever its length. [`add_name`](Self::add_name) adds names without
    /// rules.
    ///
    /// # Errors
    /// The number of the list is too large.
    pub fn closest_wins(&mut self, list: usize) -> Result<(), BuildError> {
        if list >= MAX_LISTS {
            return Err(BuildError::List { list });
        }
        self.closest_wins |= 1 << list;
        Ok(())
    }

    /// Adds a name that list number `list` has without a rule, as a zone has names with other records. If the
    /// [closest name wins](Self::closest_wins), rules above it cover neither it nor the names below it;
    /// otherwise it changes nothing.
    ///
    /// # Errors
    /// The fault of the name; nothing was added.
    pub fn add_name(&mut self, list: usize, name: &[u8]) -> Result<(), BuildError> {
        let bare = self.rule(list, None, false, name)?;
        self.bare.push(bare);
        Ok(())
    }

    /// A rule, whose name is added to those of all rules.
    fn rule(
        &mut self,
        list: usize,
        target: Option<Target>,
        exception: bool,
        name: &[u8],
    ) -> Result<Rule, BuildError> {
        if list >= MAX_LISTS {
            return Err(BuildError::List { list });
        }
        self.name.set(name)?;
        let bytes = self.name.bytes();
        let offset = u32::try_from(self.names.len()).map_err(|_| BuildError::TooLarge)?;
        self.names.push(bytes.len() as u8);
        self.names.extend_from_slice(bytes);
        Ok(Rule { offset, labels: self.name.labels() as u8, list: list as u8, target, exception })
    }

    /// Number of rules, the same rule as often as it was added; without [names](Self::add_name) alone.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// True without rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Builds the table of the rules.
    ///
    /// # Errors
    /// The table takes more than 4 GiB. It has a name once for each number of labels that more than eight
    /// rules share with it, and so may be larger than the names.
    pub fn build(self) -> Result<Rules, BuildError> {
        self.build_within(Candidate::MOST)
    }

    /// Builds the table, with groups at offsets up to `most`.
    fn build_within(self, most: u32) -> Result<Rules, BuildError> {
        let Self { key, closest_wins, hash, mut rules, bare, names, .. } = self;
        let mut depths = [0_usize; MAX_LABELS + 1];
        for rule in &rules {
            if let Some(depth) = depths.get_mut(usize::from(rule.labels)) {
                *depth += 1;
            }
        }
        let pivot = pivot(&depths, rules.len());
        rules.extend(bare);
        rules.extend(names_above(&rules, &names, closest_wins, &hash));
        let mut writer = Writer { names: &names, most, closest_wins, ..Writer::default() };
        let mut short = 0;
        for depth in 1..pivot {
            let own = || rules.iter().filter(|rule| usize::from(rule.labels) == depth);
            short |= u128::from(own().next().is_some()) << depth;
            writer.write(&hash, own().map(|rule| (*rule, ())), depth, |()| None);
        }
        let before = writer.places.len();
        rules.retain(|rule| usize::from(rule.labels) >= pivot);
        let mut left = writer.write(&hash, rules.iter().map(|rule| (*rule, ())), pivot, |()| None);
        let places = writer.places.get(before..).unwrap_or_default();
        let filter = Filter::new(places.iter().map(|(hash, _)| *hash));
        for depth in pivot + 1..=MAX_LABELS {
            if left.is_empty() {
                break;
            }
            left = writer.write(&hash, left.into_iter(), depth, |inherited| inherited);
        }
        let Writer { mut groups, places, lists, inherited, distinct, is_full, .. } = writer;
        if is_full {
            return Err(BuildError::TooLarge);
        }
        groups.end();
        Ok(Rules {
            key,
            hash,
            table: Table::new(groups, &places),
            filter,
            pivot,
            short,
            lists,
            inherited,
            closest_wins,
            names: distinct,
        })
    }
}

/// Writer of groups.
#[derive(Default)]
struct Writer<'a> {
    /// Names of the rules.
    names: &'a [u8],
    groups: Groups,
    /// The largest offset of a group; and true if a group has found no place.
    most: u32,
    is_full: bool,
    /// The hash of the suffix of each group, and its offset.
    places: Vec<(u64, u32)>,
    closest_wins: u64,
    lists: Vec<Lists>,
    numbers: BTreeMap<Lists, u32>,
    inherited: Vec<Inherited>,
    inherited_numbers: BTreeMap<Inherited, u32>,
    /// Names with rules.
    distinct: usize,
}

impl<'a> Writer<'a> {
    /// Writes groups of the rules that have the same `depth` last labels. The rules come with what they
    /// inherit; `number` numbers it. The result has the rules that are left for longer suffixes.
    fn write<I: Copy>(
        &mut self,
        hash: &SipHash13,
        rules: impl Iterator<Item = (Rule, I)>,
        depth: usize,
        number: impl Fn(I) -> Option<u32>,
    ) -> Vec<(Rule, Option<u32>)> {
        let names = self.names;
        let suffix = |rule: &Rule| first(rule.name(names), depth);
        let with_hash = |(rule, inherited)| (order(hash.hash(suffix(&rule))), rule, inherited);
        let mut rules: Vec<(u64, Rule, I)> = rules.map(with_hash).collect();
        // The buckets are then filled one after the other.
        rules.sort_unstable_by_key(|(order, ..)| *order);
        // Names are then read in the order of their hashes: each is a cache miss, unless it was prefetched.
        let offsets: Vec<u32> = rules.iter().map(|(_, rule, _)| rule.offset).collect();
        let mut ahead = offsets.iter().filter_map(|offset| names.get(*offset as usize..)).map(|name| {
            let bytes = name.get(..PREFETCHED).unwrap_or(name);
            hashlane_table::prefetch_bytes(bytes);
        });
        ahead.by_ref().take(AHEAD).for_each(drop);
        let mut left = Vec::new();
        for rules in rules.chunk_by_mut(|a, b| a.0 == b.0) {
            ahead.by_ref().take(rules.len()).for_each(drop);
            // Rules of one suffix are then neighbours, a name before those below it.
            if rules.len() > 1 {
                rules.sort_unstable_by(|a, b| a.1.name(names).cmp(b.1.name(names)));
            }
            for rules in rules.chunk_by(|a, b| suffix(&a.1) == suffix(&b.1)) {
                // Rules with the same suffix inherit the same.
                let inherited = rules.first().and_then(|(.., inherited)| number(*inherited));
                self.write_group(rules, inherited, depth, &mut left);
            }
        }
        left
    }

    /// Writes the group of rules with one suffix, in the order of their names.
    fn write_group<I>(
        &mut self,
        rules: &[(u64, Rule, I)],
        inherited: Option<u32>,
        depth: usize,
        left: &mut Vec<(Rule, Option<u32>)>,
    ) {
        let names = self.names;
        let Some((order, one, _)) = rules.first() else { return };
        let Some(offset) = self.groups.offset().filter(|offset| *offset <= self.most) else {
            self.is_full = true;
            return;
        };
        self.places.push((order.rotate_left(32), offset));
        let suffix = first(one.name(names), depth);
        let by_name = || rules.chunk_by(|a, b| a.1.name(names) == b.1.name(names));
        let distinct = by_name().count();
        let deeper = distinct > MAX_RULES;
        let here = if deeper { usize::from(usize::from(one.labels) == depth) } else { distinct };
        self.groups.begin(suffix, here, deeper, inherited);
        let mut own = Lists::default();
        for rules in by_name().take(here) {
            let lists = rules.iter().fold(Lists::default(), |lists, (_, rule, _)| lists.union(rule.lists()));
            self.distinct += usize::from(lists.has_rules());
            let number = self.number(lists);
            let name = rules.first().map_or(&[][..], |(_, rule, _)| rule.name(names));
            self.groups.push(name.get(suffix.len()..).unwrap_or_default(), number);
            own = lists;
        }
        if deeper {
            let inherited = self.inherited(inherited, &own, depth);
            left.extend(by_name().skip(here).flatten().map(|(_, rule, _)| (*rule, inherited)));
        }
    }

    fn number(&mut self, lists: Lists) -> u32 {
        *self.numbers.entry(lists).or_insert_with(|| {
            self.lists.push(lists);
            self.lists.len() as u32 - 1
        })
    }

    /// The number of what longer suffixes inherit from one that inherits number `from` and has its own rules.
    fn inherited(&mut self, from: Option<u32>, own: &Lists, depth: usize) -> Option<u32> {
        let before = from.and_then(|from| self.inherited.get(from as usize)).copied().unwrap_or_default();
        let inherited = before.with(own, depth, self.closest_wins);
        if inherited == Inherited::default() {
            return None;
        }
        Some(*self.inherited_numbers.entry(inherited).or_insert_with(|| {
            self.inherited.push(inherited);
            self.inherited.len() as u32 - 1
        }))
    }
}

/// Order in which groups are added: by their buckets.
const fn order(hash: u64) -> u64 {
    hash.rotate_left(32)
}

/// The first `labels` labels of a reversed name.
fn first(name: &[u8], labels: usize) -> &[u8] {
    let mut dots = name.iter().enumerate().filter(|(_, byte)| **byte == b'.');
    let end = labels.checked_sub(1).and_then(|last| dots.nth(last)).map_or(name.len(), |(at, _)| at);
    name.get(..end).unwrap_or(name)
}

/// The most labels that all but few names have. The filter has as many of each name.
fn pivot(depths: &[usize], names: usize) -> usize {
    let mut shorter = 0;
    for (depth, here) in depths.iter().enumerate() {
        shorter += here;
        if shorter * FEW > names {
            return depth.max(1);
        }
    }
    1
}

#[cfg(test)]
mod tests;
