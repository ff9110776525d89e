//! The audit of one function with one table.

mod attempts;
mod conclude;
mod report;
mod worst_pair;

pub use report::{Epsilon, Outcome, Report};

use crate::attack::{USUAL_LENGTH, Unhashed};
use crate::blind::Blind;
use crate::draw::Draw;
use crate::epsilon::vectors::Pair;
use crate::identity::{self, Evidence, Identity, WorstPair};
use crate::library::behaviour::{Behaviour, check, witness};
use crate::narrowed::{Narrowed, narrowed_seed};
use crate::subject::{AuditedHash, Fault, Lengths};
use crate::table::Geometry;
use crate::verdict::{Flaw, Verdict};
use conclude::verdict;
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;

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
}

#[cfg(test)]
mod tests;
