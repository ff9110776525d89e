//! Verdicts of a validating resolver that have a reason: answers that it does not validate, and differences
//! between the servers.

use super::{World, suffixes};
use crate::answer::{Answer, DNAME, DS, NS, NSEC3, Record};
use crate::query::Query;
use crate::verdict::{State, Verdict};
use crate::zone::Zone;
use hashlane_name::dns::Name;
use std::collections::BTreeMap;
use std::fmt;

const CNAME: u16 = 5;

/// Aliases that unbound 1.17 follows for one question.
const MAX_ALIASES: usize = 11;

/// A query, and the verdicts on the answers of the servers: ours, NSD's, BIND's.
pub(crate) struct Trial<'a> {
    pub(crate) zones: &'a [Zone],
    pub(crate) world: &'a World,
    pub(crate) query: &'a Query,
    /// Name of the question in lower case.
    pub(crate) name: &'a [u8],
    /// Our answer over TCP, without the resolver.
    pub(crate) answer: &'a Answer,
    pub(crate) verdicts: [&'a Verdict; 3],
}

impl Trial<'_> {
    /// Servers whose verdict needs a reason: ours if the resolver does not pass our answer on, the others if
    /// their verdict differs from ours.
    pub(crate) fn deviations(&self) -> impl Iterator<Item = usize> {
        let [ours, others @ ..] = self.verdicts;
        let differ = others.into_iter().zip(1..).filter(move |(theirs, _)| *theirs != ours).map(|(_, at)| at);
        (!ours.is_validated()).then_some(0).into_iter().chain(differ)
    }

    /// Number of the first reason for the verdict on a server.
    pub(crate) fn reason(&self, server: usize) -> Option<usize> {
        REASONS.iter().position(|reason| (reason.explains)(self, server))
    }

    /// True if the verdicts on the two servers other than `server` are the same.
    fn is_alone(&self, server: usize) -> bool {
        let [ours, nsd, bind] = self.verdicts;
        let others = [(nsd, bind), (ours, bind), (ours, nsd)][server];
        others.0 == others.1
    }

    fn is_common(&self, state: State) -> bool {
        self.verdicts.iter().all(|verdict| verdict.state == state)
    }

    /// The aliases of our answer, made ones among them: owners and targets.
    fn aliases(&self) -> BTreeMap<&[u8], &[u8]> {
        let records = self.answer.sections[0].iter().filter(|record| record.rtype == CNAME);
        records.map(|record| (&record.owner[..], &record.data[..])).collect()
    }

    /// The last target of the aliases from the name of the question on; `None` if they are a circle.
    fn target(&self) -> Option<&[u8]> {
        let aliases = self.aliases();
        let mut name = self.name;
        for _ in 0..=aliases.len() {
            match aliases.get(name) {
                Some(target) => name = target,
                None => return Some(name),
            }
        }
        None
    }
}

/// A reason for the verdict on a server, given by its index in [`Trial::verdicts`].
pub(crate) struct Reason {
    pub(crate) name: &'static str,
    /// Sentence of the documentation.
    pub(crate) why: &'static str,
    pub(crate) explains: fn(&Trial<'_>, usize) -> bool,
}

/// All reasons; the first one that explains a verdict is counted.
pub(crate) const REASONS: [Reason; 10] = [
    Reason {
        name: "delegations to servers that do not exist",
        why: "SERVFAIL: the name, or the target of its aliases, is below a delegation whose \
              servers have addresses of documentation (RFC 5737), to which the resolver sends nothing.",
        explains: |trial, server| {
            let is_cut =
                |record: &Record| record.rtype == NS && !trial.world.apexes.contains_key(&record.owner);
            trial.verdicts[server].state == State::Failed && trial.answer.sections[1].iter().any(is_cut)
        },
    },
    Reason {
        name: "targets in no zone",
        why: "SERVFAIL: aliases lead to a name without a known server, or to the DS records of \
              a zone whose parent is not served.",
        explains: |trial, server| {
            let holder = |name| suffixes(name).nth(usize::from(trial.query.rtype == DS));
            trial.verdicts[server].state == State::Failed
                && trial.target().and_then(holder).is_some_and(|name| trial.world.zone(name).is_none())
        },
    },
    Reason {
        name: "more aliases than are followed",
        why: "Aliases in a circle, or more than 11 of them, which is where unbound 1.17 gives up. The \
              verdict depends on the part of the chain that it has in its cache.",
        explains: |trial, _| trial.target().is_none() || trial.aliases().len() > MAX_ALIASES,
    },
    Reason {
        name: "questions for CNAME or DNAME below a DNAME",
        why: "Bogus: unbound 1.17 wants a signature of the CNAME record that is made of the \
              DNAME record, and has none (RFC 6672 §5.3.1), if the question is for one of these types.",
        explains: |trial, _| {
            let is_made = |alias: &[u8]| {
                let mut records = trial.answer.sections[0].iter().filter(|record| record.rtype == DNAME);
                records.any(|record| suffixes(alias).skip(1).any(|name| name == record.owner))
            };
            matches!(trial.query.rtype, CNAME | DNAME) && trial.aliases().into_keys().any(is_made)
        },
    },
    Reason {
        name: "names that begin with * and are made by a wildcard",
        why: "Bogus from all: unbound 1.17 takes the name for the wildcard's, which it is not.",
        explains: |trial, _| {
            trial.is_common(State::Bogus)
                && trial.name.starts_with(b"\x01*")
                && !trial.answer.sections[0].is_empty()
        },
    },
    Reason {
        name: "empty wildcards above a delegation",
        why: "Bogus from all: unbound 1.17 does not accept the proof of NODATA at a wildcard whose only \
              record below is a delegation.",
        explains: |trial, _| {
            trial.is_common(State::Bogus) && suffixes(trial.name).any(|name| name.starts_with(b"\x07starcut"))
        },
    },
    Reason {
        name: "NSD below owners of NSEC3 records",
        why: "Bogus from NSD alone, which takes the owner of an NSEC3 record for the closest encloser \
              (see below).",
        explains: |trial, server| {
            server == NSD
                && trial.is_alone(server)
                && suffixes(trial.name).any(|name| trial.world.hashed.contains(name))
        },
    },
    Reason {
        name: "NSD below opted-out empty non-terminals",
        why: "Bogus from NSD alone, which proves the wrong closest encloser (see below).",
        explains: |trial, server| {
            let opts_out = trial.zones.iter().any(|zone| {
                let apex = zone.apex_name();
                zone.opts_out() && Name::parse(trial.name).is_ok_and(|name| name.is_within(apex.view()))
            });
            server == NSD && trial.is_alone(server) && opts_out
        },
    },
    Reason {
        name: "BIND at empty wildcards",
        why: "Bogus from BIND alone, which leaves out the NSEC record of a wildcard that is an empty \
              non-terminal (see below).",
        explains: |trial, server| {
            server == BIND
                && trial.is_alone(server)
                && trial.answer.rcode == 0
                && trial.answer.sections[0].is_empty()
        },
    },
    Reason {
        name: "types that may stand beside an alias",
        why: "Bogus from BIND alone for KEY, SIG and NXT, from NSD alone for NSEC3: they do not follow an \
              alias for these types (see below).",
        explains: |trial, server| {
            let types: &[u16] = if server == BIND { &[24, 25, 30] } else { &[NSEC3] };
            trial.is_alone(server) && types.contains(&trial.query.rtype) && !trial.aliases().is_empty()
        },
    },
];

/// Numbers of the other servers among [`Trial::verdicts`].
const NSD: usize = 1;
const BIND: usize = 2;

impl fmt::Display for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "query: {} (zone {})", self.query, self.zones[self.query.zone].apex)?;
        for (name, verdict) in ["ours", "NSD", "BIND"].iter().zip(self.verdicts) {
            writeln!(f, "  {name}: {}", verdict.kind())?;
            for record in verdict.records.iter().take(8) {
                writeln!(f, "    {record}")?;
            }
        }
        write!(f, "  our answer: {}", self.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::{Signed, folded, parse};
    use State::{Bogus, Failed, Secure, Silent};

    /// Servers whose verdict needs a reason, with the reason.
    fn reasons(name: &str, states: [State; 3]) -> Vec<(usize, Option<&'static str>)> {
        let mut zone = Zone::new("example.", Signed::Nsec3(0, "-", false));
        zone.hashed.push(parse("hash.example."));
        let zones = [zone];
        let query = Query::plain(parse(name), 1);
        let verdicts = states.map(|state| Verdict { state, rcode: 0, records: Default::default() });
        let trial = Trial {
            zones: &zones,
            world: &World::new(&zones),
            query: &query,
            name: &folded(query.name.view()),
            answer: &Answer::parse(&[0; 12]).unwrap(),
            verdicts: verdicts.each_ref(),
        };
        trial.deviations().map(|at| (at, trial.reason(at).map(|number| REASONS[number].name))).collect()
    }

    #[test]
    fn a_verdict_without_a_reason_is_reported() {
        assert_eq!(reasons("www.example.", [Secure; 3]), []);
        assert_eq!(reasons("www.example.", [Bogus; 3]), [(0, None)]);
        assert_eq!(reasons("www.example.", [Silent, Secure, Secure]), [(0, None), (1, None), (2, None)]);
        assert_eq!(reasons("www.example.", [Failed; 3]), [(0, None)]);
        assert_eq!(reasons("www.elsewhere.", [Failed; 3]), [(0, Some("targets in no zone"))]);
    }

    #[test]
    fn the_fault_of_another_server_excuses_that_server_alone() {
        let reason = Some("NSD below owners of NSEC3 records");
        assert_eq!(reasons("x.hash.example.", [Secure, Bogus, Secure]), [(1, reason)]);
        assert_eq!(reasons("x.hash.example.", [Bogus, Secure, Secure])[0], (0, None));
        assert_eq!(reasons("www.example.", [Secure, Bogus, Secure]), [(1, None)]);
    }
}
