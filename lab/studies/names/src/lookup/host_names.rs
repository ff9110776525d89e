//! The rules of a workload of host names, and the names that are looked up.

use super::corpus::Corpus;
use super::fx_collisions;
use super::hosts::{self, Hosts};
use super::strings::Strings;
use super::workload::{Kind, Operation};
use rand_distr::{Distribution, Uniform, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Labels of the deepest name.
const LABELS: usize = 127;

/// Domain below which an attacker has rules with every number of labels.
const ATTACKER: [&[u8]; 2] = [b"e", b"z"];

/// Of names drawn by Zipf's law, one in so many matches.
const ONE_MATCHES_IN: u64 = 10;

/// Rules, and a part of them that collide.
pub(crate) struct HostNames {
    rules: Strings,
    /// Names that have one FxHash with rules, and are none.
    colliding: Vec<Vec<u8>>,
    kind: Kind,
    seed: u64,
}

impl HostNames {
    pub(crate) fn new(kind: Kind, entries: usize, seed: u64) -> Self {
        Self::of(hosts::rules(entries, seed), kind, seed)
    }

    /// These rules, and those that belong to the kind.
    pub(crate) fn of(mut rules: Strings, kind: Kind, seed: u64) -> Self {
        let mut colliding = Vec::new();
        match kind {
            Kind::Deep => (ATTACKER.len() + 1..=LABELS).for_each(|labels| {
                rules.push(&deep_rule(labels));
                rules.push(&side_rule(labels));
            }),
            Kind::Chosen => {
                colliding = fx_collisions::names(seed);
                colliding.drain(..fx_collisions::NAMES / 2).for_each(|name| rules.push(&name));
            }
            _ => {}
        }
        Self { rules, colliding, kind, seed }
    }

    /// A name that no generated rule covers.
    fn miss(&self, number: u64, name: &mut Vec<u8>) {
        Hosts::new(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unlisted(name);
    }

    /// A name so many labels below a rule.
    fn hit(&self, rule: usize, below: usize, random: &mut Xoshiro256PlusPlus, name: &mut Vec<u8>) {
        name.clear();
        match below {
            0 => {}
            1 => name.extend_from_slice(b"www."),
            _ => Hosts::new(random.next_u64()).labels_below(below, name),
        }
        name.extend_from_slice(self.rules.get(rule));
    }

    fn name(&self, operation: Operation, random: &mut Xoshiro256PlusPlus, name: &mut Vec<u8>) {
        let rules = self.rules.len();
        match (self.kind, operation) {
            (Kind::Deep, Operation::Hostile) => deep_hostile(random, name),
            (Kind::Deep, _) => deep_miss(random, name),
            (Kind::Chosen, Operation::Hostile) => {
                name.clear();
                name.extend_from_slice(
                    self.colliding.get(below(random, self.colliding.len())).map_or(b"", |n| n),
                );
            }
            (_, Operation::Hit(labels)) => self.hit(below(random, rules), labels, random, name),
            (_, Operation::Reload) => self.hit(below(random, rules), 1, random, name),
            (_, Operation::Zipf(exponent)) => {
                let rank = Zipf::new(rules as f64, exponent).map_or(1.0, |zipf| zipf.sample(random)) as u64;
                match rank % ONE_MATCHES_IN {
                    0 => self.hit(rank as usize % rules, 1, random, name),
                    _ => self.miss(rank, name),
                }
            }
            _ => self.miss(random.next_u64(), name),
        }
    }
}

impl Corpus for HostNames {
    fn entries(&self) -> &Strings {
        &self.rules
    }

    fn draw(&self, operation: Operation, count: usize, random: &mut Xoshiro256PlusPlus, names: &mut Strings) {
        let mut name = Vec::new();
        for _ in 0..count {
            self.name(operation, random, &mut name);
            names.push(&name);
        }
    }

    fn matching(&self, operation: Operation, count: usize) -> Option<u64> {
        match operation {
            Operation::Hit(_) | Operation::Reload => Some(count as u64),
            Operation::Zipf(_) => None,
            _ => Some(0),
        }
    }
}

/// A number below `bound`.
pub(super) fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    Uniform::new(0, bound.max(1)).map_or(0, |uniform| uniform.sample(random))
}

/// Joins labels, given from the last to the first, as text.
fn join(labels: &[u8], end: &[&[u8]], name: &mut Vec<u8>) {
    name.clear();
    for label in labels.iter().rev() {
        name.extend_from_slice(&[*label, b'.']);
    }
    name.extend_from_slice(&end.join(&b"."[..]));
}

/// The label of one byte that the attacker's rule with so many labels consists of; not ASCII, so that no
/// other name has it.
const fn deep_label(labels: usize) -> u8 {
    0x80 | labels as u8
}

/// First label of the attacker's rules that branch off; no other name has it.
const SIDE: u8 = deep_label(0);

/// The attacker's rule with so many labels.
fn deep_rule(labels: usize) -> Vec<u8> {
    let mut name = Vec::new();
    join(&vec![deep_label(labels); labels - ATTACKER.len()], &ATTACKER, &mut name);
    name
}

/// The attacker's rule with so many labels that branches off the longest one, so that many rules are below
/// each of that one's suffixes.
fn side_rule(labels: usize) -> Vec<u8> {
    let mut own = vec![deep_label(LABELS); labels - ATTACKER.len()];
    own.last_mut().into_iter().for_each(|label| *label = SIDE);
    let mut name = Vec::new();
    join(&own, &ATTACKER, &mut name);
    name
}

/// A name of 127 labels below the attacker's domain, which shares some of them with the attacker's longest
/// rule. No rule covers it, and rules have every number of labels.
fn deep_hostile(random: &mut Xoshiro256PlusPlus, name: &mut Vec<u8>) {
    let mut labels = [0; LABELS - ATTACKER.len()];
    let shared = below(random, labels.len());
    for (at, label) in labels.iter_mut().enumerate() {
        *label = if at < shared { deep_label(LABELS) } else { letter(random) };
    }
    join(&labels, &ATTACKER, name);
}

/// A name of 127 labels below a domain without rules.
fn deep_miss(random: &mut Xoshiro256PlusPlus, name: &mut Vec<u8>) {
    let labels = [(); LABELS - 1].map(|()| letter(random));
    join(&labels, &[b"y"], name);
}

fn letter(random: &mut Xoshiro256PlusPlus) -> u8 {
    b'a' + (random.next_u64() % 26) as u8
}
