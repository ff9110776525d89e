//! Rules one after the other, and the table of all.

use crate::filter::Filter;
use crate::lists::{Lists, MAX_LISTS, Target};
use crate::reversed::{MAX_LABELS, NameError, Reversed};
use crate::rules::Rules;
use crate::table::{Table, order};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;

/// Of as many rules, one may be shorter than those that the filter has.
const FEW: usize = 256;

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
    /// The names of all rules take more than 4 GiB.
    #[error("the names of the rules take more than 4 GiB; use fewer rules")]
    TooLarge,
}

/// A rule.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The order of the hash of its name.
    order: u64,
    /// Of its name.
    offset: u32,
    list: u8,
    target: Target,
    exception: bool,
}

impl Rule {
    /// Its name, out of those of all rules.
    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        let from = names.get(self.offset as usize..).and_then(<[u8]>::split_first);
        from.and_then(|(len, rest)| rest.get(..usize::from(*len))).unwrap_or_default()
    }

    fn lists(&self) -> Lists {
        Lists::one(self.list.into(), self.target, self.exception)
    }
}

/// Builder of [`Rules`]. It takes 16 bytes a rule besides the names.
#[derive(Clone)]
pub struct Builder {
    hash: SipHash13,
    rules: Vec<Rule>,
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
        Self { hash: SipHash13::new(key), rules: Vec::new(), names: Vec::new(), name: Reversed::new() }
    }

    /// Adds a rule of list number `list` for a name in dotted text.
    ///
    /// # Errors
    /// The fault of the rule; nothing was added.
    pub fn block(&mut self, list: usize, target: Target, name: &[u8]) -> Result<(), BuildError> {
        self.add(list, target, false, name)
    }

    /// Adds an exception from the rules of list number `list`, whatever their length.
    ///
    /// # Errors
    /// The fault of the rule; nothing was added.
    pub fn except(&mut self, list: usize, target: Target, name: &[u8]) -> Result<(), BuildError> {
        self.add(list, target, true, name)
    }

    fn add(&mut self, list: usize, target: Target, exception: bool, name: &[u8]) -> Result<(), BuildError> {
        if list >= MAX_LISTS {
            return Err(BuildError::List { list });
        }
        self.name.set(name)?;
        let bytes = self.name.bytes();
        let offset = u32::try_from(self.names.len()).map_err(|_| BuildError::TooLarge)?;
        self.names.push(bytes.len() as u8);
        self.names.extend_from_slice(bytes);
        let order = order(self.hash.hash(bytes));
        self.rules.push(Rule { order, offset, list: list as u8, target, exception });
        Ok(())
    }

    /// Number of rules, the same rule as often as it was added.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// True without rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Builds the table of the rules.
    pub fn build(self) -> Rules {
        let Self { hash, mut rules, names, .. } = self;
        // The buckets are then filled one after the other, and rules of one name are neighbours.
        rules.sort_unstable_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name(&names).cmp(b.name(&names))));
        let (mut depths, mut entries, mut bytes) = ([0_usize; MAX_LABELS + 1], 0, 0);
        for (_, name, _) in by_name(&rules, &names) {
            (entries, bytes) = (entries + 1, bytes + name.len() + 2);
            if let Some(depth) = depths.get_mut(labels(name)) {
                *depth += 1;
            }
        }
        let pivot = pivot(&depths, entries);
        let mut table = Table::with_capacity(entries, bytes);
        let mut filter = Filter::with_capacity(entries - depths.iter().take(pivot).sum::<usize>());
        let (mut lists, mut numbers) = (Vec::new(), BTreeMap::new());
        for (order, name, own) in by_name(&rules, &names) {
            let number = *numbers.entry(own).or_insert_with(|| {
                lists.push(own);
                lists.len() as u32 - 1
            });
            // The names took fewer than 4 GiB before.
            if table.add(order.rotate_left(32), name, number).is_none() {
                break;
            }
            if labels(name) >= pivot {
                filter.add(hash.hash(first(name, pivot)));
            }
        }
        let used = depths.iter().enumerate().filter(|(_, names)| **names > 0);
        let used = used.fold(0_u128, |used, (depth, _)| used | 1 << depth);
        Rules { hash, table, filter, pivot, depths: used, lists, names: entries }
    }
}

/// The rules of each name together, in order: the order of its hash, the name, its lists.
fn by_name<'a>(rules: &'a [Rule], names: &'a [u8]) -> impl Iterator<Item = (u64, &'a [u8], Lists)> {
    let of_one = |a: &Rule, b: &Rule| a.order == b.order && a.name(names) == b.name(names);
    rules.chunk_by(of_one).filter_map(|rules| {
        let first = rules.first()?;
        let lists = rules.iter().fold(Lists::default(), |lists, rule| lists.union(rule.lists()));
        Some((first.order, first.name(names), lists))
    })
}

/// Labels of a reversed name.
fn labels(name: &[u8]) -> usize {
    let (mut labels, mut at) = (0, 0);
    while let Some(len) = name.get(at) {
        (labels, at) = (labels + 1, at + 1 + usize::from(*len));
    }
    labels
}

/// The first `labels` labels of a reversed name.
fn first(name: &[u8], labels: usize) -> &[u8] {
    let mut at = 0;
    for _ in 0..labels {
        let Some(len) = name.get(at) else { break };
        at += 1 + usize::from(*len);
    }
    name.get(..at).unwrap_or(name)
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
