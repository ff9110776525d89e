//! The rules.

use super::{Rule, World, suffixes};
use crate::answer::{AA, Answer, CD, DNAME, NS, RRSIG, Record, TC};
use crate::compare::Difference::{EdnsFlag, EdnsOption, Flag, Missing, More, Opt, Question, Rcode};
use crate::query::{AD, RD};
use crate::servers::Maker;
use std::collections::BTreeMap;

/// All rules; the first one that excuses a difference is counted.
pub(crate) const RULES: [Rule; 30] = [
    Rule {
        name: "sections of a truncated answer",
        why: "One of the answers has TC. The query is repeated over TCP, and the answers there are \
              compared.",
        excuses: |case, difference| {
            case.is_udp
                && (case.ours.flags | case.theirs.flags) & TC > 0
                && matches!(difference, Missing(..) | More(..))
        },
    },
    Rule {
        name: "NS of the zone in positive answers",
        why: "NSD and BIND add the NS records of the zone and their addresses to positive answers. \
              RFC 1034 §4.3.2 does not ask for them, and they make answers larger.",
        excuses: |case, difference| match difference {
            Missing(1, record) => {
                record.about() == NS
                    && case.world.apexes.contains_key(&record.owner)
                    && !case.theirs.sections[0].is_empty()
            }
            Missing(2, record) => is_address_of_server(case.ours, case.theirs, record) && !case.is_referral(),
            _ => false,
        },
    },
    Rule {
        name: "TC for want of room for the NS of the zone",
        why: "BIND sets TC where those records have no room.",
        excuses: |case, difference| {
            let limit = case.query.limit();
            // BIND does not compress a name of the zone against a question in another case.
            let len = case.ours.len + NS_OF_ZONE + case.name.len();
            case.is_bind() && *difference == Flag(TC, false) && len > limit
        },
    },
    Rule {
        name: "TC after a DNAME",
        why: "We and BIND compress the target of the made CNAME against the data of the DNAME record. \
              NSD needs more room.",
        excuses: |case, difference| {
            case.is_nsd()
                && *difference == Flag(TC, false)
                && case.theirs.sections[0].iter().any(|record| record.rtype == DNAME)
        },
    },
    Rule {
        name: "AD in truncated answers",
        why: "BIND sets AD in some truncated answers to queries with AD. An authoritative server \
              clears it (RFC 4035 §3.1.6).",
        excuses: |case, difference| {
            case.is_bind() && *difference == Flag(AD, false) && case.theirs.flags & TC > 0
        },
    },
    Rule {
        name: "CD in answers",
        why: "We clear CD in all answers, as RFC 4035 §3.1.6 recommends. BIND copies it from the \
              query, NSD in errors.",
        excuses: |case, difference| {
            *difference == Flag(CD, false) && (case.is_bind() || !matches!(case.theirs.rcode, 0 | 3))
        },
    },
    Rule {
        name: "names below owners of NSEC3 records",
        why: "NSD takes the owner of an NSEC3 record for a name of the zone, and answers for names \
              below it from there. That owner does not exist (RFC 5155 §7.2.8), and we and BIND \
              answer so.",
        excuses: |case, difference| {
            case.is_nsd()
                && matches!(difference, Missing(..) | More(..) | Rcode(0, 3) | Flag(TC, _))
                && suffixes(case.name).any(|name| case.world.hashed.contains(name))
        },
    },
    Rule {
        name: "NODATA at a wildcard itself",
        why: "To a question for the name of a wildcard NSD adds NSEC3 records that it does not need: \
              the name exists, so its own record is the proof (RFC 5155 §7.2.3).",
        excuses: |case, difference| {
            case.is_nsd()
                && (case.name.starts_with(b"\x01*")
                    || alias_targets(case.ours).any(|name| name.starts_with(b"\x01*")))
                && (*difference == Flag(TC, false)
                    || matches!(difference, Missing(..)) && difference.is_proof())
                && !case.is_alone(difference)
        },
    },
    Rule {
        name: "NODATA at an empty wildcard",
        why: "Where a name matches a wildcard that is an empty non-terminal, BIND leaves out the NSEC \
              record that proves that the wildcard has no records (RFC 4035 §3.1.3.4). We and NSD \
              give it.",
        excuses: |case, difference| {
            case.is_bind()
                && (*difference == Flag(TC, true) || matches!(difference, More(..)) && difference.is_proof())
                && !case.is_alone(difference)
                && case.ours.rcode == 0
                && case.ours.sections[0].is_empty()
        },
    },
    Rule {
        name: "proofs after a DNAME",
        why: "After a DNAME NSD proves another name than the target: its NSEC record does not cover \
              the target. Where BIND follows the DNAME, too, we give the same records as BIND.",
        excuses: |case, difference| {
            case.is_nsd()
                && difference.is_proof()
                && case.ours.sections[0].iter().any(|record| record.rtype == DNAME)
        },
    },
    Rule {
        name: "opted-out empty non-terminals",
        why: "Below an empty non-terminal that exists by an opted-out delegation alone, NSD takes the \
              wrong closest encloser: there is no NSEC3 record for it (RFC 5155 §7.2.1). We and BIND \
              prove the next one above.",
        excuses: |case, difference| {
            case.is_nsd()
                && (*difference == Flag(TC, true) || difference.is_proof())
                && case.zones[case.query.zone].opts_out()
        },
    },
    Rule {
        name: "required glue",
        why: "A referral whose glue has no room gets TC (RFC 9471 §3.1). NSD 4.6 and BIND 9.18 leave \
              glue out; NSD sets TC for want of room for the addresses of servers elsewhere in the \
              zone.",
        excuses: |case, difference| {
            case.is_udp
                && case.is_referral()
                && (*difference == Flag(TC, true) || case.is_nsd() && *difference == Flag(TC, false))
        },
    },
    Rule {
        name: "addresses in a referral",
        why: "BIND gives the addresses of servers below the cut only; we and NSD also those elsewhere \
              in the zone.",
        excuses: |case, difference| match difference {
            More(2, record) => {
                case.is_bind()
                    && case.is_referral()
                    && case.ours.sections[1].iter().any(|ns| ns.rtype == NS && ns.data == record.owner)
            }
            _ => false,
        },
    },
    Rule {
        name: "addresses for types other than NS, MX and SRV",
        why: "Additional addresses are optional. We and BIND add those for AFSDB, RT and KX, NSD for \
              RT and KX; BIND adds SRV records for NAPTR (RFC 3403 §4.2).",
        excuses: |case, difference| match difference {
            Missing(2, record) | More(2, record) => {
                matches!(record.about(), 1 | 28 | 33)
                    && matches!(case.query.rtype, 17 | 18 | 21 | 26 | 35 | 36 | 64 | 65)
            }
            _ => false,
        },
    },
    Rule {
        name: "addresses of more than 13 servers",
        why: "BIND adds no addresses for a set of more than 13 records.",
        excuses: |case, difference| {
            case.is_bind()
                && matches!(difference, More(2, record) if matches!(record.about(), 1 | 28))
                && case.ours.sections[0].iter().filter(|record| record.rtype == case.query.rtype).count() > 13
        },
    },
    Rule {
        name: "addresses that have no room",
        why: "Where the room is scarce, servers fill it differently: BIND adds a set without its \
              signature (RFC 4035 §3.1.1) and none to a client that takes 512 bytes; the NS records \
              of the zone take what we give to addresses.",
        excuses: |case, difference| {
            let full = |answer: &Answer| answer.len + ROOM_OF_ADDRESS > case.query.limit();
            case.is_udp
                && match difference {
                    Missing(2, record) => matches!(record.about(), 1 | 28) && full(case.ours),
                    More(2, record) => {
                        let is_small = case.is_bind() && case.query.limit() == 512;
                        matches!(record.about(), 1 | 28) && (is_small || full(case.theirs))
                    }
                    _ => false,
                }
        },
    },
    Rule {
        name: "aliases into another zone",
        why: "BIND does not follow an alias to a name of another zone that it serves. We and NSD do \
              (RFC 1034 §4.3.2, step 3a).",
        excuses: |case, difference| {
            case.is_bind()
                && leaves_zone(case.world, case.theirs)
                && !(difference.is_proof() && matches!(difference, Missing(..)))
                && matches!(difference, More(..) | Rcode(_, 0) | Missing(1 | 2, _) | Flag(TC, true))
        },
    },
    Rule {
        name: "aliases without an end",
        why: "For aliases in a circle, or more than 16 of them, BIND answers with SERVFAIL and an \
              extended error. We and NSD answer with the aliases.",
        excuses: |case, difference| {
            case.is_bind()
                && case.theirs.rcode == 2
                && (is_endless(case.ours) || case.ours.flags & TC > 0)
                && matches!(difference, More(..) | Rcode(_, 2) | EdnsOption(15, false) | Flag(TC, _))
        },
    },
    Rule {
        name: "16 aliases and more",
        why: "We follow 16 aliases and then answer with them. NSD follows as many as the message has \
              room for, but a DNAME that leads below itself once.",
        excuses: |case, difference| {
            let is_below = |dname: &Record| suffixes(&dname.data).skip(1).any(|name| name == dname.owner);
            let is_growing =
                || case.theirs.sections[0].iter().any(|record| record.rtype == DNAME && is_below(record));
            (aliases(case.ours) > 15 || *difference == Flag(TC, true) && is_growing())
                && matches!(difference, Missing(..) | Rcode(0, _) | Flag(TC, _) | More(0, _))
        },
    },
    Rule {
        name: "TTL of SOA in negative answers",
        why: "BIND answers a question for the SOA record of a name that has none with the TTL 0. We \
              and NSD take the smaller one of its TTL and its last field (RFC 2308 §3).",
        excuses: |case, difference| match difference {
            Missing(1, record) => {
                case.is_bind() && case.query.rtype == 6 && record.about() == 6 && record.ttl == 0
            }
            More(1, record) => case.is_bind() && case.query.rtype == 6 && record.about() == 6,
            _ => false,
        },
    },
    Rule {
        name: "ANY",
        why: "The answer to ANY is a choice of the server (RFC 8482 §4). Over UDP, we give one set of \
              records, and signatures if DO is set; over TCP all.",
        excuses: |case, difference| {
            case.query.rtype == 255
                && !difference.is_proof()
                && match difference {
                    Missing(..) | More(0, _) | Flag(TC, _) => true,
                    // NSD follows aliases for ANY.
                    Rcode(0, 3) => case.is_nsd() && !case.ours.sections[0].is_empty(),
                    _ => false,
                }
        },
    },
    Rule {
        name: "RRSIG",
        why: "As to ANY, one set of signatures answers a question for RRSIG (RFC 8482 §7).",
        excuses: |case, difference| {
            case.query.rtype == RRSIG && matches!(difference, Missing(0 | 2, _) | More(0, _) | Flag(TC, _))
        },
    },
    Rule {
        name: "NSEC, NSEC3, RRSIG, KEY, SIG, NXT at an alias",
        why: "Some of these types may stand beside a CNAME (RFC 4035 §2.5). BIND does not follow it \
              for NSEC, KEY, SIG and NXT, NSD not for NSEC3, and we not for RRSIG.",
        excuses: |case, difference| {
            let follows = match (case.maker, case.query.rtype) {
                (Maker::Bind, 24 | 25 | 30 | 47) | (Maker::Nsd, 50) => case.ours,
                (Maker::Nsd, RRSIG) => case.theirs,
                _ => return false,
            };
            aliases(follows) > 0 && matches!(difference, Missing(..) | More(..) | Rcode(..) | Flag(TC, _))
        },
    },
    Rule {
        name: "NSEC at a cut",
        why: "BIND answers for the NSEC record of a delegation with authority. We and NSD refer to \
              the child, which has another one.",
        excuses: |case, difference| {
            case.is_bind()
                && case.query.rtype == 47
                && case.ours.sections[1].iter().any(|record| record.rtype == NS && record.owner == case.name)
                && case.theirs.sections[0].iter().any(|record| record.rtype == 47)
                && matches!(difference, Flag(AA | TC, _) | Missing(..) | More(..))
        },
    },
    Rule {
        name: "types that no record has",
        why: "We answer FORMERR to OPT, TSIG and TKEY, and to others as to unknown types. NSD answers \
              to all of them as to unknown types; BIND has FORMERR and NOTIMP for more of them.",
        excuses: |case, difference| match (case.maker, case.query.rtype) {
            (Maker::Nsd, 41 | 249 | 250) => case.ours.rcode == 1 && !matches!(difference, More(..)),
            (Maker::Bind, 0 | 41 | 128..=254) => {
                matches!(case.theirs.rcode, 1 | 4) && !matches!(difference, Missing(..))
            }
            _ => false,
        },
    },
    Rule {
        name: "transfers",
        why: "Without `allow_transfer`, transfers are refused: REFUSED. The others choose NOTAUTH below an \
              apex, NOTIMP and FORMERR over UDP.",
        excuses: |case, difference| {
            matches!(case.query.rtype, 251 | 252) && case.ours.rcode == 5 && !matches!(difference, More(..))
        },
    },
    Rule {
        name: "classes",
        why: "NSD leaves the question out of its answer to a class that it does not serve, BIND \
              chooses FORMERR and NOTIMP. In class CH, BIND has whole zones, and NSD answers without \
              AA.",
        excuses: |case, difference| {
            case.query.class == 3 && (case.is_bind() || *difference == Flag(AA, true))
                || case.query.class != 1
                    && match difference {
                        Question => case.is_nsd() && case.ours.rcode == 5,
                        EdnsOption(15, _) => true,
                        Rcode(_, 1 | 4) | Rcode(1, 5) => case.is_bind(),
                        More(..) | Flag(TC, true) => case.query.class == 255 && case.is_bind(),
                        _ => false,
                    }
        },
    },
    Rule {
        name: "opcodes",
        why: "BIND answers NOTIMP with an OPT record and without copies of RD and CD; NSD and we with \
              a header.",
        excuses: |case, difference| {
            case.query.opcode != 0
                && case.is_bind()
                && case.ours.rcode == 4
                && matches!(difference, Opt(false) | Flag(RD | CD, true) | Rcode(4, 16))
        },
    },
    Rule {
        name: "options of EDNS",
        why: "BIND copies the client's subnet (RFC 7871). Cookies (RFC 7873) and the timeout of a \
              connection (RFC 7828) are given by us and BIND. It has no extended error for names of \
              no zone; NSD has one for YXDOMAIN, too.",
        excuses: |case, difference| {
            let has = |code| {
                case.query.edns.as_ref().is_some_and(|edns| edns.options.iter().any(|(c, _)| *c == code))
            };
            match difference {
                EdnsOption(10, true) | Flag(TC, true) => case.is_nsd() && has(10),
                EdnsOption(11, true) => case.is_nsd() && has(11) && !case.is_udp,
                EdnsOption(code @ (8 | 10 | 11), false) => case.is_bind() && has(*code),
                EdnsOption(15, true) => case.is_bind() && case.ours.rcode == 5,
                EdnsOption(15, false) => case.is_nsd() && case.ours.rcode == 6,
                _ => false,
            }
        },
    },
    Rule {
        name: "DO in BADVERS",
        why: "BIND copies DO into the answer to an unknown version of EDNS. We and NSD do not.",
        excuses: |case, difference| {
            case.is_bind() && case.theirs.rcode == 16 && *difference == EdnsFlag(false)
        },
    },
];

/// Bytes of a set of addresses and its signature at most.
const ROOM_OF_ADDRESS: usize = 200;

/// Bytes of the NS records of a zone and their signature at most.
const NS_OF_ZONE: usize = 250;

/// True for an address of a server that their authority section names, and ours does not.
fn is_address_of_server(ours: &Answer, theirs: &Answer, address: &Record) -> bool {
    matches!(address.about(), 1 | 28)
        && theirs.sections[1].iter().any(|record| {
            record.rtype == NS && record.data == address.owner && !ours.sections[1].contains(record)
        })
}

/// True if an alias of the answer leads into another zone of the server, and the answer ends there.
fn leaves_zone(world: &World, answer: &Answer) -> bool {
    let section = &answer.sections[0];
    section.iter().filter(|record| record.rtype == 5).any(|alias| {
        let target = world.zone(&alias.data);
        target.is_some()
            && target != world.zone(&alias.owner)
            && !section.iter().any(|record| record.owner == alias.data)
    })
}

/// Targets of the aliases of an answer.
fn alias_targets(answer: &Answer) -> impl Iterator<Item = &[u8]> {
    answer.sections[0].iter().filter(|record| record.rtype == 5).map(|record| &record.data[..])
}

/// Number of aliases of an answer.
fn aliases(answer: &Answer) -> usize {
    answer.sections[0].iter().filter(|record| record.rtype == 5).count()
}

/// True for an answer with more than 16 aliases, or aliases in a circle.
fn is_endless(answer: &Answer) -> bool {
    let next: BTreeMap<&[u8], &[u8]> = answer.sections[0]
        .iter()
        .filter(|record| record.rtype == 5)
        .map(|record| (&record.owner[..], &record.data[..]))
        .collect();
    aliases(answer) > 11
        || next.keys().any(|start| {
            let mut at = *start;
            (0..next.len()).any(|_| match next.get(at) {
                Some(target) => {
                    at = target;
                    at == *start
                }
                None => false,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::{folded, parse};

    #[test]
    fn aliases_in_a_circle_have_no_end() {
        let alias = |owner: &str, target: &str| Record {
            owner: folded(parse(owner).view()),
            rtype: 5,
            class: 1,
            ttl: 300,
            data: folded(parse(target).view()),
        };
        let mut answer = Answer::parse(&[0; 12]).unwrap();
        answer.sections[0].insert(alias("a.", "b."));
        assert!(!is_endless(&answer));
        answer.sections[0].insert(alias("b.", "a."));
        assert!(is_endless(&answer));
    }
}
