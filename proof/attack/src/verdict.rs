//! Criteria of a row, and its verdict.

use crate::stats::{Tally, percent};
use serde::Serialize;

/// Phase of an attack, by the time at which an Interest was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    During,
    /// The first two seconds after the attack.
    Settling,
    After,
    End,
}

impl Phase {
    pub(crate) const COUNT: usize = 4;

    pub(crate) fn of(number: u8) -> Self {
        [Self::Before, Self::During, Self::Settling, Self::After]
            .get(usize::from(number))
            .copied()
            .unwrap_or(Self::End)
    }
}

/// Service of one innocent in all phases.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Service {
    pub(crate) who: &'static str,
    pub(crate) tallies: [Tally; Phase::COUNT],
}

impl Service {
    pub(crate) fn of(&self, phase: Phase) -> &Tally {
        static NONE: std::sync::OnceLock<Tally> = std::sync::OnceLock::new();
        self.tallies.get(phase as usize).unwrap_or_else(|| NONE.get_or_init(Tally::default))
    }

    /// Adds the counts of another one.
    pub(crate) fn add(&mut self, other: Self) {
        for (own, other) in self.tallies.iter_mut().zip(other.tallies) {
            own.add(other);
        }
    }
}

/// Resources of a process: before, at the peak, and at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Use {
    pub(crate) before: u64,
    pub(crate) peak: u64,
    pub(crate) after: u64,
}

/// A criterion, and the finding that meets it or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) met: bool,
    /// Finding, with its numbers.
    pub(crate) found: String,
}

impl Check {
    pub(crate) fn new(met: bool, found: impl Into<String>) -> Self {
        Self { met, found: found.into() }
    }
}

/// Service that innocents must get during an attack; after it, none may lose anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Criteria {
    /// Part that each may lose. Range: 0..=1.
    pub(crate) loss: f64,
    /// True if half of the answers must be prompt, too.
    pub(crate) prompt: bool,
    /// Innocent that shares its link with the attack: its loss meanwhile is reported, and not judged.
    pub(crate) beside: Option<&'static str>,
}

impl Criteria {
    pub(crate) const USUAL: Self = Self { loss: 0.01, prompt: false, beside: None };
    /// While the line is full.
    pub(crate) const FLOOD: Self = Self { loss: 0.05, prompt: true, beside: None };

    /// Checks of the service of innocents.
    pub(crate) fn check(self, services: &[Service]) -> Vec<Check> {
        let phases = [
            (Phase::Before, self.loss, "before the attack"),
            (Phase::During, self.loss, "during"),
            (Phase::After, 0.0, "after"),
        ];
        let mut checks = Vec::new();
        for service in services {
            let is_judged = |phase| phase != Phase::During || self.beside != Some(service.who);
            for (phase, limit, words) in phases.into_iter().filter(|(phase, ..)| is_judged(*phase)) {
                let tally = service.of(phase);
                // Part of an Interest is not lost: few Interests have a rougher criterion.
                let most = (limit * tally.sent as f64).floor() as u64;
                if tally.sent > 0 && tally.lost() > most {
                    let (who, lost, sent) = (service.who, tally.lost(), tally.sent);
                    let loss = percent(tally.loss());
                    checks.push(Check::new(false, format!("{who} lost {lost} of {sent} {words} ({loss})")));
                }
            }
        }
        if self.prompt {
            let judged = services.iter().filter(|service| self.beside != Some(service.who));
            checks.extend(check_prompt(judged));
        }
        checks
    }
}

/// Round-trip time, in milliseconds, that at least half of the answers must not exceed under a full line: far
/// above that on a busy machine, and below that behind a queue that everyone shares.
const PROMPT: f64 = 250.0;

/// Fewest answers for which losing half of them is a finding.
const FEW: u64 = 20;

/// Checks that at least half of the answers of each innocent were prompt.
pub(crate) fn check_prompt<'s>(services: impl IntoIterator<Item = &'s Service>) -> Vec<Check> {
    let slow = services.into_iter().filter_map(|service| {
        let tally = service.of(Phase::During);
        let (prompt, answered) = (tally.within(PROMPT), tally.answered);
        let found = format!("{}: only {prompt} of {answered} answers within {PROMPT} ms", service.who);
        (answered >= FEW && 2 * prompt < answered).then(|| Check::new(false, found))
    });
    slow.collect()
}

/// Measurements and verdict of a row, or of a part of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) attack: String,
    pub(crate) services: Vec<Service>,
    pub(crate) rss: Use,
    pub(crate) fds: Use,
    pub(crate) checks: Vec<Check>,
    /// Reason why the row does not apply.
    pub(crate) not_applicable: Option<String>,
}

impl Line {
    /// A line without innocents.
    pub(crate) fn of(id: &str, attack: &str, checks: Vec<Check>) -> Self {
        let (rss, fds) = (Use::default(), Use::default());
        let (id, attack) = (id.to_owned(), attack.to_owned());
        Self { id, attack, services: Vec::new(), rss, fds, checks, not_applicable: None }
    }

    /// A line that does not apply.
    pub(crate) fn not_applicable(id: &str, attack: &str, why: impl Into<String>) -> Self {
        Self { not_applicable: Some(why.into()), ..Self::of(id, attack, Vec::new()) }
    }

    pub(crate) fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.met)
    }

    /// Findings, those that miss their criterion first.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Check> {
        let missed = self.checks.iter().filter(|check| !check.met);
        missed.chain(self.checks.iter().filter(|check| check.met))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(lost: [u64; 4]) -> Service {
        let tally = |lost| {
            let mut tally = Tally { sent: 200, ..Tally::default() };
            (lost..200).for_each(|_| tally.add_answer(std::time::Duration::from_millis(1)));
            tally
        };
        Service { who: "neighbour", tallies: lost.map(tally) }
    }

    #[test]
    fn a_criterion_is_missed_by_counts() {
        let missed = |lost| {
            let checks = Criteria::USUAL.check(&[service(lost)]);
            checks.into_iter().map(|check| check.found).collect::<Vec<_>>()
        };
        assert!(missed([2, 2, 200, 0]).is_empty(), "1 % may be lost, and all of it while it settles");
        assert_eq!(missed([0, 3, 0, 0]), ["neighbour lost 3 of 200 during (1.5 %)"]);
        assert_eq!(missed([0, 0, 0, 1]), ["neighbour lost 1 of 200 after (0.5 %)"]);
        assert!(Criteria::FLOOD.check(&[service([0, 10, 0, 0])]).is_empty());
    }

    #[test]
    fn who_shares_the_link_of_the_attack_is_judged_before_and_after_it() {
        let criteria = Criteria { beside: Some("neighbour"), ..Criteria::FLOOD };
        let missed = |lost| criteria.check(&[service(lost)]).len();
        assert_eq!([missed([0, 200, 0, 0]), missed([0, 0, 0, 1]), missed([11, 0, 0, 0])], [0, 1, 1]);
        let other = Criteria { beside: Some("local"), ..Criteria::FLOOD };
        assert_eq!(other.check(&[service([0, 11, 0, 0])]).len(), 1);
    }

    #[test]
    fn under_a_full_line_half_of_the_answers_are_prompt() {
        let of = |millis: [u64; 3]| {
            let mut during = Tally { sent: 30, ..Tally::default() };
            let repeated = millis.iter().cycle().take(30);
            repeated.for_each(|millis| during.add_answer(std::time::Duration::from_millis(*millis)));
            let [before, settling, after] = [Tally::default(), Tally::default(), Tally::default()];
            let service = Service { who: "WebSocket", tallies: [before, during, settling, after] };
            Criteria::FLOOD.check(&[service])
        };
        assert!(of([10, 20, 900]).is_empty());
        assert_eq!(of([10, 600, 900])[0].found, "WebSocket: only 10 of 30 answers within 250 ms");
    }

    #[test]
    fn a_line_passes_if_all_its_criteria_are_met() {
        let line = Line::of("1", "x", vec![Check::new(true, "a"), Check::new(false, "b")]);
        assert!(!line.passed());
        assert_eq!(line.findings().next().unwrap().found, "b");
        assert!(Line::not_applicable("1", "x", "no WebSocket").passed());
    }
}
