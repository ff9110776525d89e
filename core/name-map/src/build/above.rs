//! Names without a rule that stop rules, in lists of which the closest name wins.
//!
//! A name above others, such as `b.a` of `c.b.a`, keeps the rules above it from all other names that end with
//! it. One such name for each rule is enough: the one a label below the longest wildcard above the rule.
//! Longer names above the rule end with this one, and a shorter wildcard is stopped by the name that the
//! longer wildcard adds. All names above a deep rule would take a hundred times its bytes.

use super::{Rule, first};
use crate::filter::Filter;
use crate::lists::{MAX_LISTS, Target};
use alloc::vec::Vec;
use hashlane_hash::scheme::BytesHash as _;
use hashlane_hash::siphash::SipHash13;

/// Names above the rules of `lists` that stop rules: at most one for each rule.
pub(super) fn names_above(rules: &[Rule], names: &[u8], lists: u64, hash: &SipHash13) -> Vec<Rule> {
    let own = || rules.iter().filter(|rule| lists >> (rule.list % 64) & 1 == 1);
    // By the hash of their names and their lists.
    let wildcard = |rule: &Rule| ((hash.hash(rule.name(names)), rule.list), *rule);
    let mut wildcards: Vec<_> = own().filter(|rule| is_wildcard(rule)).map(wildcard).collect();
    wildcards.sort_unstable_by_key(|(key, _)| *key);
    // A bit for each number of labels that wildcards of a list have.
    let mut depths = [0_u128; MAX_LISTS];
    for (_, rule) in &wildcards {
        depths[usize::from(rule.list) % MAX_LISTS] |= 1_u128 << rule.labels;
    }
    let filter = Filter::new(wildcards.iter().map(|((hash, _), _)| *hash));
    let has_wildcard = |list: u8, name: &[u8]| {
        let key = (hash.hash(name), list);
        if !filter.may_have(key.0) {
            return false;
        }
        let from = wildcards.partition_point(|(other, _)| *other < key);
        let same = wildcards.iter().skip(from).take_while(|(other, _)| *other == key);
        same.map(|(_, rule)| rule.name(names)).any(|other| other == name)
    };
    let above = |rule: &Rule| {
        let name = rule.name(names);
        let mut shorter = depths[usize::from(rule.list) % MAX_LISTS] & ((1_u128 << rule.labels) - 1);
        while shorter != 0 {
            let labels = shorter.ilog2();
            if has_wildcard(rule.list, first(name, labels as usize)) {
                let labels = labels as u8 + 1;
                return (labels < rule.labels).then_some(Rule { labels, target: None, ..*rule });
            }
            shorter &= !(1_u128 << labels);
        }
        None
    };
    own().filter_map(above).collect()
}

/// Tests if a rule covers names below its own.
fn is_wildcard(rule: &Rule) -> bool {
    !rule.exception && rule.target.is_some_and(|target| target != Target::Exact)
}
