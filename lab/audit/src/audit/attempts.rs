//! The attacks of an audit, one after the other, and their outcomes.

use super::conclude::of_attacks;
use super::{Audit, Epsilon, Outcome, Settings};
use crate::attack::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, attacks, pairs, unhashed};
use crate::bias;
use crate::blind::{self, Blind, Scope};
use crate::epsilon::vectors::Pair;
use crate::flood::{self, Flood};
use crate::subject::{Fault, Lengths};
use crate::verdict::Verdict;
use hashlane_hash::scheme::{Key, Keying};
use std::collections::BTreeSet;

/// Seeds under which keys are tried that need no seed.
const TABLES: usize = 5;

/// Fresh seeds under which keys are tried again that were made with the seed or with results.
const FRESH: usize = 16;

/// Fresh seeds of these under which such keys may fail, and still need nothing.
const MISSES: usize = 1;

impl Audit<'_> {
    /// The attacks, the bias, the search without priors, ε and identity.
    pub(super) fn attack_all(
        &mut self,
        pairs: &[Pair],
        blind: Option<Blind<'_>>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), Fault> {
        let length = self.length();
        let mut draw = self.draw("unhashed");
        self.report.unhashed = unhashed(self.subject, length, &mut draw)?;
        if (self.report.info.lengths, self.settings.length) == (Lengths::Any, None) {
            // Too few bits for a flood.
            if 1_usize.checked_shl(self.report.unhashed.bits.len() as u32).is_some_and(|keys| keys < FEWEST) {
                let longer = unhashed(self.subject, LONGER, &mut draw)?;
                if longer.bits.len() > self.report.unhashed.bits.len() {
                    self.report.unhashed = longer;
                }
            }
            self.report.unhashed.is_of_one_length = true;
            if !self.report.unhashed.is_empty() {
                self.report.unhashed.find_lengths(self.subject, &mut draw)?;
            }
        }
        self.report.crowding = self.crowding()?.map(Box::new);
        if self.report.crowding.is_some() {
            return Ok(());
        }
        if !self.is_alone {
            for attack in attacks() {
                let about = attack.about();
                tell(about.id);
                let is_secret = matches!(self.report.info.keying, Keying::Secret(_));
                let attempt = if self.is_flooded_with(about.knowledge) && attack.is_last_resort() {
                    let why = "another attack floods the table, and needs no more".to_owned();
                    (about, Outcome::NotApplicable(why))
                } else {
                    // Its keys may hold for every seed, as where the function ignores its seed.
                    match self.attempt(attack, about)? {
                        (about, _) if is_secret && about.knowledge == Knowledge::Seed => {
                            (about, Outcome::NotTried)
                        }
                        attempt => attempt,
                    }
                };
                self.report.attempts.push(attempt);
            }
            tell("bias");
            self.bias()?;
        }
        if let Some(blind) = blind.filter(|_| !of_attacks(&self.report).is_floodable()) {
            tell("search without priors");
            self.search(blind)?;
        }
        tell("pairs");
        self.report.epsilon = self.epsilon(pairs)?;
        if !self.is_alone && matches!(of_attacks(&self.report), Verdict::PairAlways) {
            tell(pairs::about().id);
            self.repeat_pair()?;
        }
        if !self.is_alone {
            tell("identity");
            self.report.identity = Some(self.identity()?);
        }
        Ok(())
    }

    /// The flood by the worst pair at several places, if the function allows it.
    fn repeat_pair(&mut self) -> Result<(), Fault> {
        let Epsilon::Broken { keys: pair, .. } = &self.report.epsilon else { return Ok(()) };
        let mut draw = self.draw(pairs::about().id);
        let mut target = Target {
            subject: self.subject,
            key: draw.key(),
            geometry: &self.settings.geometry,
            length: self.settings.length,
            count: self.settings.count,
            draw: &mut draw,
            note: None,
            pair: None,
        };
        let Some(keys) = pairs::repeated(&mut target, pair)? else { return Ok(()) };
        let seeds: Vec<Key> = (0..TABLES).map(|_| self.settings.table_seed(&mut draw)).collect();
        if let Some(flood) = flood::flood(self.subject, &self.settings.geometry, keys, &seeds, &mut draw)? {
            self.report.attempts.push((pairs::about(), Outcome::Flood(Box::new(flood))));
        }
        Ok(())
    }

    /// The search without priors.
    fn search(&mut self, blind: Blind<'_>) -> Result<(), Fault> {
        let draw = self.draw("search without priors");
        let Settings { geometry, seed_bits, count, .. } = self.settings;
        let scope = Scope { geometry, seed_bits: *seed_bits, count: *count };
        let (searched, floods) = blind::search(self.subject, scope, draw, blind.goes_on)?;
        self.report.searched = Some(searched);
        let none = || Outcome::NotApplicable("the search has found no keys in its budget".to_owned());
        let outcome = |flood: Option<Flood>| flood.map_or_else(none, |flood| Outcome::Flood(Box::new(flood)));
        self.report.attempts.extend(floods.into_iter().map(|(about, flood)| (about, outcome(flood))));
        Ok(())
    }

    /// True if an attack that needs no more than `knowledge` floods the table.
    fn is_flooded_with(&self, knowledge: Knowledge) -> bool {
        let mut attempts = self.report.attempts.iter();
        attempts.any(|(about, outcome)| about.knowledge <= knowledge && matches!(outcome, Outcome::Flood(_)))
    }

    /// Buckets up to which the keys of a flood that needs nothing meet; 0 without such a flood.
    fn reach(&self) -> usize {
        let floods = self.report.attempts.iter().filter_map(|(about, outcome)| match outcome {
            Outcome::Flood(flood) if about.knowledge == Knowledge::Nothing => Some(flood.reach()),
            _ => None,
        });
        floods.max().unwrap_or(0)
    }

    /// The bias of buckets, and the attack by it.
    fn bias(&mut self) -> Result<(), Fault> {
        let (Settings { geometry, length, count, .. }, mut draw) = (self.settings, self.draw("bias"));
        self.report.bias = bias::bias(self.subject, geometry, *length, *count, &mut draw)?;
        if let Some(bias) = &self.report.bias {
            let outcome = match &bias.effect {
                None => Outcome::NotApplicable("no difference is biased".to_owned()),
                Some(effect) if effect.seeds == 0 => Outcome::Harmless,
                Some(effect) if self.reach() >= effect.reach().min(1 << bias::BITS.end()) => {
                    Outcome::NotApplicable("another attack floods the table, and needs no more".to_owned())
                }
                Some(effect) => Outcome::Flood(effect.clone()),
            };
            self.report.attempts.push((bias::about(), outcome));
        }
        Ok(())
    }

    /// Random keys that flood the table.
    fn crowding(&mut self) -> Result<Option<Flood>, Fault> {
        let mut draw = self.draw("random keys");
        let (length, geometry) = (self.length(), &self.settings.geometry);
        // Of short keys, random ones repeat.
        let distinct: BTreeSet<Vec<u8>> = (0..self.settings.count).map(|_| draw.bytes(length)).collect();
        if distinct.len() < FEWEST {
            return Ok(None);
        }
        let seeds: Vec<Key> = (0..TABLES).map(|_| self.settings.table_seed(&mut draw)).collect();
        flood::crowding(self.subject, geometry, distinct.iter().collect(), &seeds, &mut draw)
    }

    /// Tries an attack. Its knowledge is less than it states if its keys turn out to need less.
    fn attempt(&mut self, attack: &dyn Attack, mut about: About) -> Result<(About, Outcome), Fault> {
        let mut draw = self.draw(about.id);
        let geometry = &self.settings.geometry;
        let (own, of_table) = (draw.key(), self.settings.table_seed(&mut draw));
        let mut target = Target {
            subject: self.subject,
            key: if about.knowledge == Knowledge::Nothing { own } else { of_table },
            geometry,
            length: self.settings.length,
            count: self.settings.count,
            draw: &mut draw,
            note: None,
            pair: None,
        };
        let is_free = (self.report.info.lengths, self.settings.length) == (Lengths::Any, None);
        let longer = attack.longer().filter(|_| is_free);
        let mut keys = attack.keys(&mut target);
        if let (Err(Miss::NotApplicable(_)), Some(_)) = (&keys, longer) {
            target.length = longer;
            keys = attack.keys(&mut target).map_err(|miss| match (miss, &keys) {
                (Miss::NotApplicable(_), Err(usual)) => usual.clone(),
                (miss, _) => miss,
            });
        }
        let keys = match keys {
            Ok(keys) => keys,
            Err(Miss::NotApplicable(why)) => return Ok((about, Outcome::NotApplicable(why))),
            Err(Miss::Fault(fault)) => return Err(fault),
        };
        let (note, pair) = (target.note.take(), target.pair.take());
        let mut seeds = vec![of_table];
        if about.knowledge == Knowledge::Nothing {
            seeds.extend((1..TABLES).map(|_| self.settings.table_seed(&mut draw)));
        }
        let Some(mut flood) = flood::flood(self.subject, geometry, keys, &seeds, &mut draw)? else {
            return Ok((about, Outcome::Harmless));
        };
        (flood.note, flood.pair) = (note, pair);
        // Without a seed there are no others.
        if about.knowledge != Knowledge::Nothing && self.report.info.keying != Keying::None {
            let fresh: Vec<Key> = (0..FRESH).map(|_| self.settings.table_seed(&mut draw)).collect();
            if flood::holds(self.subject, geometry, &flood.keys, (&fresh, MISSES), &mut draw)? {
                flood.made_with = Some(about.knowledge);
                about.knowledge = Knowledge::Nothing;
            }
        }
        Ok((about, Outcome::Flood(Box::new(flood))))
    }
}
