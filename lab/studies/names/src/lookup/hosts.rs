//! Host names and suffix rules, generated: label lengths and depths as under the public suffixes.

use super::strings::Strings;
use crate::shape::gamma;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

/// Public suffixes, and how many of 1,000 names each has: an assumption, as no list is bundled. They are
/// entries of the public suffix list, and have 1.18 labels and 3.4 bytes on average.
const SUFFIXES: [(&[u8], u32); 20] = [
    (b"com", 460),
    (b"net", 70),
    (b"org", 60),
    (b"de", 50),
    (b"ru", 40),
    (b"top", 30),
    (b"xyz", 30),
    (b"info", 20),
    (b"io", 20),
    (b"nl", 20),
    (b"online", 10),
    (b"app", 10),
    (b"co.uk", 50),
    (b"com.br", 40),
    (b"com.au", 30),
    (b"co.jp", 20),
    (b"com.cn", 10),
    (b"co.in", 10),
    (b"github.io", 10),
    (b"pages.dev", 10),
];

/// Of 1,000 rules, how many have 0, 1, 2 labels below the registered one.
const BELOW_OF_RULES: [u32; 3] = [700, 250, 50];

/// Of 1,000 names in queries, how many have 0, 1, 2, 3 labels below the registered one.
const BELOW_OF_NAMES: [u32; 4] = [250, 550, 150, 50];

/// Bytes of the longest label.
const MAX_LABEL: usize = 63;

/// A generator of host names.
///
/// A name is a public suffix, a registered label before it, and labels before that one. The lengths of
/// registered labels have a mean of 10.5 bytes and a deviation of 4.9, labels below 6.2 and 4.7: the
/// published figures of 100,000 web domains (chavoosh/TrieGranularity). Letters are drawn evenly.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Xoshiro256PlusPlus);

impl Hosts {
    /// The names that belong to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Writes the next rule.
    pub(crate) fn rule(&mut self, name: &mut Vec<u8>) {
        let below = self.among(&BELOW_OF_RULES);
        self.name_with(below, name);
    }

    /// Writes the next name of a query.
    #[cfg(test)]
    fn name(&mut self, name: &mut Vec<u8>) {
        let below = self.among(&BELOW_OF_NAMES);
        self.name_with(below, name);
    }

    /// Writes a name that no generated rule covers: its registered label has a digit.
    pub(crate) fn unlisted(&mut self, name: &mut Vec<u8>) {
        let below = self.among(&BELOW_OF_NAMES);
        let registered = self.name_with(below, name);
        name.get_mut(registered).into_iter().for_each(|byte| *byte = b'0');
    }

    /// Writes a name; returns the place of its registered label.
    fn name_with(&mut self, below: usize, name: &mut Vec<u8>) -> usize {
        name.clear();
        self.labels_below(below, name);
        let registered = name.len();
        self.label(10.5, 4.9, name);
        name.push(b'.');
        let suffix = self.among(&SUFFIXES.map(|(_, names)| names));
        name.extend_from_slice(SUFFIXES.get(suffix).map_or(b"com", |(suffix, _)| suffix));
        registered
    }

    /// Writes labels, each with a dot after it.
    pub(crate) fn labels_below(&mut self, labels: usize, name: &mut Vec<u8>) {
        for _ in 0..labels {
            self.label(6.2, 4.7, name);
            name.push(b'.');
        }
    }

    fn label(&mut self, mean: f64, deviation: f64, name: &mut Vec<u8>) {
        let len = gamma(mean, deviation, &mut self.0).min(MAX_LABEL);
        name.extend((0..len).map(|_| b'a' + (self.0.next_u64() % 26) as u8));
    }

    /// An index drawn by weights whose sum is 1,000.
    fn among(&mut self, weights: &[u32]) -> usize {
        let mut drawn = (self.0.next_u64() % 1000) as u32;
        for (at, weight) in weights.iter().enumerate() {
            match drawn.checked_sub(*weight) {
                Some(rest) => drawn = rest,
                None => return at,
            }
        }
        0
    }
}

/// `count` rules, all different.
pub(crate) fn rules(count: usize, seed: u64) -> Strings {
    let (mut hosts, mut rules, mut name) = (Hosts::new(seed), Strings::default(), Vec::new());
    let mut seen: HashSet<Box<[u8]>> = HashSet::with_capacity(count);
    while rules.len() < count {
        hosts.rule(&mut name);
        if seen.insert(name.as_slice().into()) {
            rules.push(&name);
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    fn labels(name: &[u8]) -> f64 {
        name.split(|byte| *byte == b'.').count() as f64
    }

    /// The statistics that the README of the study states.
    #[test]
    fn rules_and_names_have_their_statistics() {
        let rules = rules(20_000, 1);
        let bytes: Vec<f64> = rules.iter().map(|name| name.len() as f64).collect();
        let depths: Vec<f64> = rules.iter().map(labels).collect();
        assert!((moments(&bytes).0 - 17.5).abs() < 0.2, "{:?}", moments(&bytes));
        assert!((moments(&depths).0 - 2.53).abs() < 0.02, "{:?}", moments(&depths));
        let (mut hosts, mut name, mut lengths, mut depths) =
            (Hosts::new(2), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..20_000 {
            hosts.name(&mut name);
            depths.push(labels(&name));
            lengths.push(name.len() as f64);
        }
        assert!((moments(&depths).0 - 3.18).abs() < 0.02, "{:?}", moments(&depths));
        assert!((moments(&lengths).0 - 22.1).abs() < 0.3, "{:?}", moments(&lengths));
        let registered: Vec<f64> = (0..20_000)
            .map(|_| {
                name.clear();
                hosts.label(10.5, 4.9, &mut name);
                name.len() as f64
            })
            .collect();
        let (mean, deviation) = moments(&registered);
        assert!((mean - 10.5).abs() < 0.1 && (deviation - 4.9).abs() < 0.1, "{mean}, {deviation}");
    }

    #[test]
    fn one_seed_gives_one_list_of_different_rules() {
        let (a, b) = (rules(2000, 7), rules(1000, 7));
        assert!(a.iter().zip(b.iter()).all(|(a, b)| a == b) && a != rules(2000, 8));
        assert_eq!(a.iter().collect::<HashSet<_>>().len(), 2000);
        assert!(a.iter().all(|name| name.len() <= 253 && !name.is_empty()));
        assert_eq!(SUFFIXES.iter().map(|(_, names)| names).sum::<u32>(), 1000);
    }
}
