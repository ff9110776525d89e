//! The audit of one function with one table.

mod conclude;

use crate::attack::{
    About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH, Unhashed, attacks, pairs,
    start_pairs, unhashed,
};
use crate::bias::{self, Bias};
use crate::blind::{self, Blind, Scope, Searched};
use crate::draw::Draw;
use crate::epsilon::vectors::{Origin, Pair};
use crate::epsilon::{self, Proved, Share, proved, search};
use crate::flood::{self, Flood};
use crate::identity::{self, Evidence, Identity, WorstPair};
use crate::library::behaviour::{Behaviour, check, witness};
use crate::narrowed::{Narrowed, narrowed_seed};
use crate::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use crate::table::Geometry;
use crate::verdict::{Flaw, Verdict, power_of_two};
use conclude::{of_attacks, verdict};
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme};
use hashlane_hash::siphash::SipHash24;
use std::collections::BTreeSet;

/// Choices of an audit.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The table.
    pub geometry: Geometry,
    /// Bytes of a key, and of every key that is hashed; `None` leaves it to each attack.
    pub length: Option<usize>,
    /// Bits of the seed, the lowest ones, if they are fewer than its type has: the others are 0.
    pub seed_bits: Option<u32>,
    /// Keys that an attack makes, at most.
    pub count: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Settings {
    /// Seed of a table.
    pub(crate) fn table_seed(&self, draw: &mut Draw) -> Key {
        narrowed_seed(&self.geometry.seed(draw), self.seed_bits)
    }
}

/// Seeds under which keys are tried that need no seed.
const TABLES: usize = 5;

/// Fresh seeds under which keys are tried again that were made with the seed or with results.
const FRESH: usize = 16;

/// Fresh seeds of these under which such keys may fail, and still need nothing.
const MISSES: usize = 1;

/// Seeds by which the share of a pair is measured.
const PAIR_SEEDS: u64 = 1 << 16;

/// Keys whose pairs bear out the share of a flood.
const FLOOD_SEEDS: u64 = 1 << 10;

/// Seeds by which a pair for a random start is noticed: it collides for one in 256 at least.
const START_SEEDS: u64 = 1 << 11;

/// Result of one attack.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It floods the table.
    Flood(Box<Flood>),
    /// Its keys do no harm to the table.
    Harmless,
    /// It does not apply: the reason.
    NotApplicable(String),
    /// It needs a key that is declared secret.
    NotTried,
}

/// ε of a function: the share of seeds for which the worst pair known collides.
#[derive(Clone, Debug)]
pub enum Epsilon {
    /// A bound is proved, and no pair is known that exceeds it.
    Proved(Proved),
    /// A pair collides for more seeds than it should.
    Broken {
        /// The keys.
        keys: [Vec<u8>; 2],
        /// Thread, paper or search.
        source: String,
        /// Origin of the pair.
        origin: Origin,
        /// Share as measured here.
        measured: Share,
        /// Binary logarithm of the share: as measured, or as its source states it where the seeds tried here
        /// are too few.
        log2: f64,
    },
    /// No pair of this many keys collided twice under this many seeds.
    Measured {
        /// Keys compared with each other.
        keys: usize,
        /// Seeds tried.
        seeds: usize,
    },
    /// The function has failed.
    Unknown,
}

/// Result of an audit.
#[derive(Clone, Debug)]
pub struct Report {
    /// The function.
    pub info: SubjectInfo,
    /// Bits of its keys that do not move the hash.
    pub unhashed: Unhashed,
    /// Random keys, if they flood the table by themselves. No attack is tried then.
    pub crowding: Option<Box<Flood>>,
    /// Each attack and its outcome.
    pub attempts: Vec<(About, Outcome)>,
    /// The worst pair in buckets instead of whole hashes; `None` if it was not searched.
    pub bias: Option<Bias>,
    /// Share of seeds for which the worst pair collides.
    pub epsilon: Epsilon,
    /// Work to make two keys of one hash; `None` if it was not computed.
    pub identity: Option<Identity>,
    /// Work of the search without priors; `None` if it was not asked for, or an attack floods the table
    /// without the seed.
    pub searched: Option<Searched>,
    /// Fault of the function, or wrong treatment of its arguments.
    pub flaw: Option<Flaw>,
    /// Lengths of which many keys were hashed.
    pub lengths: Vec<usize>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Report {
    /// The verdict in a sentence, with the worst pair or the flaw where the verdict does not say it.
    pub fn sentence(&self) -> String {
        let sentence = self.sentence_of_verdict();
        match &self.bias {
            Some(bias) if bias.is_biased() && !self.verdict.is_floodable() && !self.verdict.is_faulty() => {
                format!("{sentence}; biased: {bias}")
            }
            _ => sentence,
        }
    }

    fn sentence_of_verdict(&self) -> String {
        match (&self.verdict, &self.epsilon, &self.flaw) {
            (Verdict::IfSeedLeaks(..), Epsilon::Broken { log2, .. }, _) => {
                let share = power_of_two(*log2);
                format!("{}; without it, a fixed pair collides for {share} of all seeds", self.verdict)
            }
            (Verdict::Partial(unhashed, _), ..) if self.info.id.starts_with("ehash/") => {
                format!("{}; unhashed: {}", self.verdict, unhashed.words_of_tuple())
            }
            (verdict, _, Some(flaw)) if !verdict.is_faulty() => format!("{verdict}; {flaw}"),
            (Verdict::NoneKnown, ..) if matches!(self.info.keying, Keying::Secret(_)) => {
                let untried = "the key is declared secret: attacks that need it were not tried";
                format!("{}; {untried}", self.verdict)
            }
            _ => self.verdict.to_string(),
        }
    }
}

/// Audits a function: its contract, its unhashed bits, each attack, ε. `pairs` are known collisions;
/// `tell` is called with the id of each attack before it runs.
pub fn audit(
    subject: &mut dyn AuditedHash,
    settings: &Settings,
    pairs: &[Pair],
    tell: &mut dyn FnMut(&str),
) -> Report {
    audit_and_search(subject, settings, pairs, None, tell)
}

/// [`audit`], and afterwards a search without priors for keys that flood the table, if it is given and no
/// attack floods the table without the seed.
pub fn audit_and_search(
    subject: &mut dyn AuditedHash,
    settings: &Settings,
    pairs: &[Pair],
    blind: Option<Blind<'_>>,
    tell: &mut dyn FnMut(&str),
) -> Report {
    let subject = &mut Narrowed::new(subject, settings.length, settings.seed_bits);
    // Known collisions of keys of other lengths say nothing about this one.
    let fits = |pair: &&Pair| match subject.info().lengths {
        Lengths::Any => true,
        Lengths::Exactly(length) => pair.keys.iter().all(|key| key.len() == length),
    };
    let is_alone = blind.as_ref().is_some_and(|blind| blind.alone);
    let fits = |pair: &&Pair| !is_alone && fits(pair);
    let pairs: &[Pair] = &pairs.iter().filter(fits).cloned().collect::<Vec<_>>();
    let mut audit = Audit {
        report: Report {
            info: subject.info().clone(),
            unhashed: Unhashed::default(),
            crowding: None,
            attempts: Vec::new(),
            bias: None,
            epsilon: Epsilon::Unknown,
            identity: None,
            searched: None,
            flaw: None,
            lengths: Vec::new(),
            verdict: Verdict::NoneKnown,
        },
        subject,
        settings,
        is_alone,
    };
    audit.report.flaw = match audit.run(pairs, blind, tell) {
        Ok(flaw) => flaw,
        Err(fault) => Some(Flaw::Fault(fault)),
    };
    let mut report = audit.report;
    report.lengths = subject.lengths();
    report.verdict = verdict(&report);
    report
}

struct Audit<'a> {
    subject: &'a mut dyn AuditedHash,
    settings: &'a Settings,
    /// True if the search without priors is all of the audit.
    is_alone: bool,
    report: Report,
}

impl Audit<'_> {
    fn run(
        &mut self,
        pairs: &[Pair],
        blind: Option<Blind<'_>>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Option<Flaw>, Fault> {
        tell("contract");
        let flaw = self.contract()?;
        if matches!(flaw, Some(Flaw::Behaviour(Behaviour::NotDeterministic))) {
            return Ok(flaw);
        }
        let seed = self.draw("witness").key();
        let first = witness(self.subject, &seed)?;
        self.attack_all(pairs, blind, tell)?;
        tell("contract, again");
        if witness(self.subject, &seed)? == first {
            return Ok(flaw);
        }
        // A function that changes after many calls makes the outcomes worthless.
        self.report.attempts.clear();
        (self.report.crowding, self.report.bias, self.report.epsilon) = (None, None, Epsilon::Unknown);
        (self.report.identity, self.report.searched) = (None, None);
        Ok(Some(Flaw::Behaviour(Behaviour::NotDeterministic)))
    }

    fn attack_all(
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

    /// The work to make two keys of one hash.
    fn identity(&mut self) -> Result<Identity, Fault> {
        let mut draw = self.draw("identity");
        let floods = self.report.attempts.iter().filter_map(|(about, outcome)| match outcome {
            Outcome::Flood(flood) => Some((about.knowledge, about.id, &**flood)),
            _ => None,
        });
        let worst = match &self.report.epsilon {
            Epsilon::Broken { keys, source, measured, log2, .. } => {
                Some(WorstPair { keys, source, measured: *measured, log2: *log2 })
            }
            _ => None,
        };
        let evidence = Evidence { floods: floods.collect(), worst, unhashed: &self.report.unhashed };
        identity::identity(self.subject, &evidence, self.settings.length, &mut draw)
    }

    /// True if an attack that needs no more than `knowledge` floods the table.
    fn is_flooded_with(&self, knowledge: Knowledge) -> bool {
        let mut attempts = self.report.attempts.iter();
        attempts.any(|(about, outcome)| about.knowledge <= knowledge && matches!(outcome, Outcome::Flood(_)))
    }

    /// Buckets up to which the keys of a flood that needs nothing meet; 0 if there is none.
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

    /// Bytes of the keys whose bits are probed and whose pairs are searched.
    fn length(&self) -> usize {
        match self.report.info.lengths {
            Lengths::Exactly(length) => length,
            Lengths::Any => self.settings.length.unwrap_or(USUAL_LENGTH),
        }
    }

    /// Random choices of one step, which depend on the seed, the function and the step alone.
    fn draw(&self, step: &str) -> Draw {
        let name = format!("{} {step}", self.report.info.id);
        Draw::new(SipHash24::new(&Key::VECTOR).hash(name.as_bytes()) ^ self.settings.seed)
    }

    /// The treatment of its arguments.
    fn contract(&mut self) -> Result<Option<Flaw>, Fault> {
        let seed = self.draw("contract").key();
        Ok(check(self.subject, &seed)?.into_iter().next().map(Flaw::Behaviour))
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

    /// The worst pair: of the floods that need no seed, of the known collisions, of a search.
    fn epsilon(&mut self, pairs: &[Pair]) -> Result<Epsilon, Fault> {
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
        // Random choices of its own: its outcome depends on no attack.
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

#[cfg(test)]
mod tests;
