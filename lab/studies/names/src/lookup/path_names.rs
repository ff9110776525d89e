//! The prefixes of a workload of hierarchical names, and the names that are looked up.

use super::corpus::Corpus;
use super::host_names::below;
use super::paths::{Depth, Path, Paths, prefixes};
use super::strings::Strings;
use super::workload::{Kind, Operation};
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Prefixes that an attacker registers, and the components of each.
const ATTACKS: u64 = 1000;
const DEEP: usize = 32;

pub(crate) struct PathNames {
    prefixes: Strings,
    /// Number of the name of each generated prefix.
    names: Vec<u64>,
    paths: Paths,
    kind: Kind,
}

impl PathNames {
    pub(crate) fn new(kind: Kind, entries: usize, seed: u64) -> Self {
        let depth = if let Kind::Paths(depth) = kind { depth } else { Depth::Mixed };
        let paths = Paths { depth, seed };
        let (mut prefixes, names) = prefixes(&paths, entries);
        if kind == Kind::Backtrack {
            let (mut path, mut bytes) = (Path::default(), Vec::new());
            for number in 0..ATTACKS {
                attack(&paths, number, DEEP, number, &mut path);
                path.encode(DEEP, &mut bytes);
                prefixes.push(&bytes);
            }
        }
        Self { prefixes, names, paths, kind }
    }

    fn name(&self, operation: Operation, random: &mut Xoshiro256PlusPlus, path: &mut Path) {
        let ranks = self.names.len();
        let named =
            |at: usize, path: &mut Path| self.paths.name(self.names.get(at).copied().unwrap_or(0), path);
        match (self.kind, operation) {
            (Kind::Backtrack, Operation::Hostile) => {
                let shared = 2 + below(random, DEEP - 2);
                attack(&self.paths, random.next_u64() % ATTACKS, shared, random.next_u64(), path);
            }
            (Kind::Backtrack, _) => {
                self.paths.unlisted(random.next_u64() | 1 << 63, path);
                path.renew(2, DEEP, random.next_u64());
            }
            (_, Operation::Zipf(exponent)) => {
                let rank = Zipf::new(ranks as f64, exponent).map_or(1.0, |zipf| zipf.sample(random)) as usize;
                named(rank - 1, path);
            }
            (_, Operation::Miss) => self.paths.unlisted(random.next_u64(), path),
            _ => named(below(random, ranks), path),
        }
    }
}

/// A name of [`DEEP`] components that shares the first `shared` with the attacker's prefix `number`.
fn attack(paths: &Paths, number: u64, shared: usize, seed: u64, path: &mut Path) {
    paths.unlisted(number, path);
    path.renew(2, DEEP, number);
    path.renew(shared, DEEP, seed);
}

impl Corpus for PathNames {
    fn entries(&self) -> &Strings {
        &self.prefixes
    }

    fn draw(&self, operation: Operation, count: usize, random: &mut Xoshiro256PlusPlus, names: &mut Strings) {
        let (mut path, mut bytes) = (Path::default(), Vec::new());
        for _ in 0..count {
            self.name(operation, random, &mut path);
            path.encode(path.len(), &mut bytes);
            names.push(&bytes);
        }
    }

    fn matching(&self, operation: Operation, count: usize) -> Option<u64> {
        match operation {
            Operation::Hit(_) | Operation::Zipf(_) => Some(count as u64),
            _ => Some(0),
        }
    }
}
