//! Hierarchical names, generated: paths whose first components are shared, and prefixes of them.

use super::strings::Strings;
use crate::shape::{gamma, normal_count};
use hashlane_name::build::encode_into;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Words of the first and the second component. A word is drawn by Zipf's law with exponent 1; components
/// below are drawn anew for each name.
const WORDS: [u64; 2] = [1000, 20_000];

/// Components of the shortest name, and of the shortest prefix.
const SHORTEST: usize = 2;

/// Mean and deviation of the bytes of a component's value. With a type and a length of a byte each, 7.3
/// components take 67 bytes.
const BYTES: (f64, f64) = (7.18, 3.5);

/// Components of generated names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// 7.3 on average, with a deviation of 2; 2 to 16.
    Mixed,
    /// So many in each name.
    Fixed(usize),
}

/// A generator of names by number: a name is the same whenever it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths {
    pub(crate) depth: Depth,
    pub(crate) seed: u64,
}

/// A generated name in components.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Components of its prefix in a table.
    pub(crate) prefix: usize,
}

impl Path {
    /// Number of components.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Writes the encoded name of the first `len` components.
    pub(crate) fn encode(&self, len: usize, out: &mut Vec<u8>) {
        out.clear();
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let parts = starts.zip(&self.ends).take(len);
        let components =
            parts.map(|(from, to)| Component::generic(self.bytes.get(from..*to).unwrap_or_default()));
        // Generated names break no rule; a name that did would be empty, which a run finds.
        let _ = encode_into::<Ndn>(out, components);
    }

    fn push(&mut self, random: &mut Xoshiro256PlusPlus) {
        let len = gamma(BYTES.0, BYTES.1, random);
        self.bytes.extend((0..len).map(|_| b'a' + (random.next_u64() % 26) as u8));
        self.ends.push(self.bytes.len());
    }

    /// Adds fresh components up to `len`, after its first `from`.
    pub(crate) fn renew(&mut self, from: usize, len: usize, seed: u64) {
        self.ends.truncate(from);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        while self.ends.len() < len {
            self.push(&mut random);
        }
    }
}

impl Paths {
    /// Writes name number `number`.
    pub(crate) fn name(&self, number: u64, path: &mut Path) {
        self.write(number, path);
    }

    /// Writes a name whose first component no name of [`name`](Self::name) has.
    pub(crate) fn unlisted(&self, number: u64, path: &mut Path) {
        self.write(number, path);
        // Generated components have letters alone.
        path.bytes.first_mut().into_iter().for_each(|byte| *byte = b'0');
    }

    fn write(&self, number: u64, path: &mut Path) {
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let count = match self.depth {
            Depth::Mixed => normal_count(7.3, 2.0, SHORTEST..=16, &mut random),
            Depth::Fixed(count) => count,
        };
        path.bytes.clear();
        path.ends.clear();
        for (level, words) in WORDS.iter().enumerate().take(count) {
            let word = Zipf::new(*words as f64, 1.0).map_or(1.0, |zipf| zipf.sample(&mut random)) as u64;
            path.push(&mut Xoshiro256PlusPlus::seed_from_u64(self.seed ^ !(word << 8 | level as u64)));
        }
        while path.len() < count {
            path.push(&mut random);
        }
        let lengths = count.saturating_sub(SHORTEST).max(1) as u64;
        path.prefix = SHORTEST.min(count) + (random.next_u64() % lengths) as usize;
    }
}

/// Prefixes of generated names, all different, and the number of the name of each.
pub(crate) fn prefixes(paths: &Paths, count: usize) -> (Strings, Vec<u64>) {
    let (mut prefixes, mut names) = (Strings::default(), Vec::with_capacity(count));
    let (mut path, mut bytes) = (Path::default(), Vec::new());
    // Hashes in place of the prefixes, which take a gigabyte for ten million.
    let hash = BuildHasherDefault::<DefaultHasher>::new();
    let mut seen = HashSet::with_capacity(count);
    for number in 0.. {
        if prefixes.len() == count {
            break;
        }
        paths.name(number, &mut path);
        path.encode(path.prefix, &mut bytes);
        if seen.insert(hash.hash_one(&bytes)) {
            prefixes.push(&bytes);
            names.push(number);
        }
    }
    (prefixes, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: impl ExactSizeIterator<Item = usize>) -> f64 {
        let count = values.len() as f64;
        values.sum::<usize>() as f64 / count
    }

    /// The statistics that the README of the study states.
    #[test]
    fn names_have_their_statistics() {
        let all = |depth| -> Vec<Path> {
            let paths = Paths { depth, seed: 1 };
            let name = |number| {
                let mut path = Path::default();
                paths.name(number, &mut path);
                path
            };
            (0..20_000).map(name).collect()
        };
        let names = all(Depth::Mixed);
        let components = mean(names.iter().map(Path::len));
        let bytes = mean(names.iter().map(|path| path.bytes.len() + 2 * path.len()));
        let prefixes = mean(names.iter().map(|path| path.prefix));
        assert!((components - 7.3).abs() < 0.1, "{components}");
        assert!((bytes - 67.0).abs() < 1.0, "{bytes}");
        assert!((prefixes - 4.16).abs() < 0.1, "{prefixes}");
        let names = all(Depth::Fixed(11));
        assert!(names.iter().all(|path| path.len() == 11 && (2..=10).contains(&path.prefix)));
        assert!((mean(names.iter().map(|path| path.prefix)) - 6.0).abs() < 0.1);
        let words: HashSet<&[u8]> = names.iter().map(|path| &path.bytes[..path.ends[0]]).collect();
        assert!((900..=1000).contains(&words.len()), "{}", words.len());
    }

    #[test]
    fn prefixes_differ_and_lead_to_their_names() {
        let paths = Paths { depth: Depth::Mixed, seed: 7 };
        let (list, names) = prefixes(&paths, 3000);
        assert_eq!(list.iter().collect::<HashSet<_>>().len(), 3000);
        let (mut path, mut bytes) = (Path::default(), Vec::new());
        let mut first_components = HashSet::new();
        for (prefix, name) in list.iter().zip(&names) {
            paths.name(*name, &mut path);
            path.encode(path.prefix, &mut bytes);
            assert_eq!(bytes, prefix);
            path.encode(1, &mut bytes);
            first_components.insert(bytes.clone());
        }
        for number in 0..2000 {
            paths.unlisted(number, &mut path);
            path.encode(1, &mut bytes);
            assert!(!first_components.contains(&bytes), "{number}");
        }
    }
}
