//! ε of an audit: the pair of keys that collides under most seeds.

use super::{Audit, Epsilon, Outcome};
use crate::attack::{Knowledge, start_pairs};
use crate::epsilon::vectors::{Origin, Pair};
use crate::epsilon::{self, proved, search};
use crate::subject::Fault;

/// Seeds by which the share of a pair is measured.
const PAIR_SEEDS: u64 = 1 << 16;

/// Keys whose pairs bear out the share of a flood.
const FLOOD_SEEDS: u64 = 1 << 10;

/// Seeds by which a pair for a random start is noticed: it collides for one in 256 at least.
const START_SEEDS: u64 = 1 << 11;

impl Audit<'_> {
    /// The worst pair: of the floods that need no seed, of the known collisions, of a search.
    pub(super) fn epsilon(&mut self, pairs: &[Pair]) -> Result<Epsilon, Fault> {
        let mut draw = self.draw("pairs");
        let mut worst: Option<(f64, Epsilon)> = None;
        let mut consider = |log2: f64, keys, source, origin, measured| {
            if worst.as_ref().is_none_or(|(before, _)| *before < log2) {
                worst = Some((log2, Epsilon::Broken { keys, source, origin, measured, log2 }));
            }
        };
        let floods = self.report.attempts.iter().filter_map(|(about, outcome)| match outcome {
            Outcome::Flood(flood) if about.knowledge == Knowledge::Nothing => Some((about, flood)),
            _ => None,
        });
        for (about, flood) in floods {
            let Some(keys) = flood.worst_pair() else { continue };
            let share = epsilon::measure(self.subject, &keys, FLOOD_SEEDS, &mut draw)?;
            if share.collisions > 0 {
                let (source, origin) = match about.aims_at.contains(&self.report.info.id.as_str()) {
                    true => (about.source.to_owned(), Origin::Published),
                    false => (format!("keys of the attack {}", about.id), Origin::Found),
                };
                consider(share.value().log2(), keys, source, origin, share);
            }
        }
        for pair in pairs.iter().filter(|pair| pair.scheme == self.report.info.id) {
            let mut hashes = Vec::new();
            self.subject.hash_all(&pair.seed, &pair.keys.iter().collect(), &mut hashes)?;
            // A pair of another release, which no longer collides, says nothing.
            if hashes.first() == hashes.get(1) {
                let share = epsilon::measure(self.subject, &pair.keys, PAIR_SEEDS, &mut draw)?;
                let log2 = if share.collisions > 9 { share.value().log2() } else { pair.log2_share };
                consider(log2, pair.keys.clone(), pair.source.clone(), pair.origin, share);
            }
        }
        let mut of_starts = self.draw("starts");
        let of_known_starts = start_pairs(self.report.info.lengths, self.settings.length, &mut of_starts);
        for pair in of_known_starts.into_iter().filter(|_| !self.is_alone) {
            if epsilon::measure(self.subject, &pair.keys, START_SEEDS, &mut of_starts)?.collisions > 1 {
                let share = epsilon::measure(self.subject, &pair.keys, PAIR_SEEDS, &mut of_starts)?;
                consider(share.value().log2(), pair.keys, pair.source.to_owned(), Origin::Found, share);
            }
        }
        // Two keys of a biased difference, if these two collide again and again.
        if let Some(keys) = self.report.bias.as_ref().and_then(|bias| bias.colliding.clone()) {
            let share = epsilon::measure(self.subject, &keys, PAIR_SEEDS, &mut draw)?;
            if share.collisions > 1 {
                let source = "two keys of the most biased difference".to_owned();
                consider(share.value().log2(), keys, source, Origin::Found, share);
            }
        }
        // Separate random choices: its outcome depends on no attack.
        let (length, mut draw) = (self.length(), self.draw("search of pairs"));
        if let Some(suspect) = search::search(self.subject, length, &mut draw)? {
            let share = epsilon::measure(self.subject, &suspect.keys, FLOOD_SEEDS, &mut draw)?;
            if share.collisions > 0 {
                let source = format!("search of this audit, seed {}", self.settings.seed);
                consider(share.value().log2(), suspect.keys, source, Origin::Found, share);
            }
        }
        Ok(match (worst, proved(&self.report.info.id)) {
            (Some((log2, broken)), Some(proved)) if log2 > proved.log2 => broken,
            (_, Some(proved)) => Epsilon::Proved(proved),
            (Some((_, broken)), None) => broken,
            (None, None) => Epsilon::Measured { keys: search::keys_of(length), seeds: search::SEEDS },
        })
    }
}
