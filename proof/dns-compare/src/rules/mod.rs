//! Differences between our answers and other servers' that have a reason.

mod table;
pub(crate) mod verdicts;

pub(crate) use table::RULES;

use crate::answer::{Answer, NS, TC};
use crate::compare::Difference::{self, Missing, Rcode};
use crate::query::Query;
use crate::servers::Maker;
use crate::zone::{Zone, folded, parent};
use hashlane_name::dns::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the zones, in lower case.
pub(crate) struct World {
    /// The apex of each zone, with its number.
    pub(crate) apexes: BTreeMap<Vec<u8>, usize>,
    /// Owners of NSEC3 records.
    pub(crate) hashed: BTreeSet<Vec<u8>>,
}

impl World {
    pub(crate) fn new(zones: &[Zone]) -> Self {
        let apexes = zones.iter().map(|zone| folded(zone.apex_name().view())).zip(0..).collect();
        let hashed = zones.iter().flat_map(|zone| &zone.hashed).map(|name| folded(name.view())).collect();
        Self { apexes, hashed }
    }

    /// Number of the zone that holds a name.
    pub(crate) fn zone(&self, name: &[u8]) -> Option<usize> {
        suffixes(name).find_map(|suffix| self.apexes.get(suffix).copied())
    }
}

/// A name in wire form and the names above it.
pub(crate) fn suffixes(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut next = Name::parse(name).ok();
    std::iter::from_fn(move || {
        let name = next?;
        next = (!name.is_root()).then(|| parent(name));
        Some(name.as_bytes())
    })
}

/// A difference and what belongs to it.
pub(crate) struct Case<'a> {
    pub(crate) zones: &'a [Zone],
    pub(crate) world: &'a World,
    pub(crate) query: &'a Query,
    /// Name of the question in lower case.
    pub(crate) name: &'a [u8],
    pub(crate) is_udp: bool,
    pub(crate) ours: &'a Answer,
    pub(crate) theirs: &'a Answer,
    /// Differences between our answer and the other server's.
    pub(crate) other: &'a [Difference],
    pub(crate) maker: Maker,
}

impl Case<'_> {
    /// True if our answer differs from both other servers' in this point.
    pub(crate) fn is_alone(&self, difference: &Difference) -> bool {
        use Difference::{EdnsVersion, Opcode};
        self.other.iter().any(|other| match (difference, other) {
            (Rcode(..), Rcode(..)) | (Opcode(..), Opcode(..)) | (EdnsVersion(..), EdnsVersion(..)) => true,
            (one, other) => one == other,
        })
    }

    fn is_bind(&self) -> bool {
        self.maker == Maker::Bind
    }

    fn is_nsd(&self) -> bool {
        self.maker == Maker::Nsd
    }

    /// True if the answer of the other server is a referral.
    fn is_referral(&self) -> bool {
        self.theirs.sections[1]
            .iter()
            .any(|record| record.rtype == NS && !self.world.apexes.contains_key(&record.owner))
    }
}

/// Number of the first rule that excuses a difference. No rule excuses the want of a record of a proof that
/// both other servers give, unless the answer is truncated.
pub(crate) fn excuse(case: &Case<'_>, difference: &Difference) -> Option<usize> {
    let is_truncated = case.is_udp && case.ours.flags & TC > 0;
    let is_lack = difference.is_proof() && matches!(difference, Missing(..)) && case.is_alone(difference);
    if is_lack && !is_truncated {
        return None;
    }
    RULES.iter().position(|rule| (rule.excuses)(case, difference))
}

/// A reason for differences.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// Sentence of the documentation.
    pub(crate) why: &'static str,
    pub(crate) excuses: fn(&Case<'_>, &Difference) -> bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{AA, NSEC3, Record};
    use crate::compare::Difference::Flag;
    use crate::zone::{Signed, parse};

    fn record(owner: &str, rtype: u16) -> Record {
        Record { owner: folded(parse(owner).view()), rtype, class: 1, ttl: 300, data: vec![0; 30] }
    }

    /// The rule for a difference from NSD, where BIND differs in `other`.
    fn rule(name: &str, difference: &Difference, other: &[Difference], flags: u16) -> Option<&'static str> {
        let mut zone = Zone::new("example.", Signed::Nsec3(0, "-", false));
        zone.hashed.push(parse("hash.example."));
        let zones = [zone];
        let answer = Answer { flags, ..Answer::parse(&[0; 12]).unwrap() };
        let query = Query::plain(parse(name), 1);
        let case = Case {
            zones: &zones,
            world: &World::new(&zones),
            query: &query,
            name: &folded(query.name.view()),
            is_udp: true,
            ours: &answer,
            theirs: &answer,
            other,
            maker: Maker::Nsd,
        };
        excuse(&case, difference).map(|number| RULES[number].name)
    }

    #[test]
    fn no_rule_excuses_the_want_of_a_proof_that_both_give() {
        let name = "x.hash.example.";
        let lack = Missing(1, record("hash.example.", NSEC3));
        assert_eq!(rule(name, &lack, &[], 0), Some("names below owners of NSEC3 records"));
        assert_eq!(rule(name, &lack, std::slice::from_ref(&lack), 0), None);
        // It is given over TCP.
        assert_eq!(
            rule(name, &lack, std::slice::from_ref(&lack), TC),
            Some("sections of a truncated answer")
        );
    }

    #[test]
    fn a_record_of_an_answer_has_no_excuse() {
        for difference in [Missing(0, record("y.example.", 1)), Rcode(0, 2), Flag(AA, false)] {
            assert_eq!(rule("y.example.", &difference, &[], 0), None);
        }
    }
}
