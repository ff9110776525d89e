//! Queries prepared before a measurement, and the answers that they must get.

use crate::zone::{APEX, Zone, mix, push_label};

/// Length of the header of a message (RFC 1035 §4.1.1).
pub(crate) const HEADER: usize = 12;

/// Types of records.
pub(crate) const A: u16 = 1;
pub(crate) const SOA: u16 = 6;
const AAAA: u16 = 28;

/// Response codes.
pub(crate) const NOERROR: u8 = 0;
const NXDOMAIN: u8 = 3;

/// UDP payload size in EDNS.
const PAYLOAD: u16 = 1232;

/// Queries of a kind that repeat; random subdomains do not.
const DISTINCT: u32 = 1 << 16;

/// An answer to expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expect {
    pub(crate) rcode: u8,
    /// Records in the answer section.
    pub(crate) answers: u16,
    /// Fewest records in the authority section.
    pub(crate) authority: u16,
    /// The flag AA.
    pub(crate) is_authoritative: bool,
}

const POSITIVE: Expect = Expect { rcode: NOERROR, answers: 1, authority: 0, is_authoritative: true };
const MISSING: Expect = Expect { rcode: NXDOMAIN, answers: 0, authority: 1, is_authoritative: true };
const REFERRAL: Expect = Expect { rcode: NOERROR, answers: 0, authority: 2, is_authoritative: false };

/// Kinds of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// Addresses of hosts.
    Positive,
    /// Names that do not exist, which repeat.
    NxDomain,
    /// Names below delegations.
    Referral,
    /// Of ten queries six are positive, two of missing names and two of delegations.
    Mix,
    /// Names that do not exist, each asked once.
    Random,
    /// Addresses of hosts, with DO, of a signed zone.
    SignedPositive,
    /// Names that do not exist, with DO, of a signed zone.
    SignedNxDomain,
}

/// A query, and the answer to expect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'a> {
    /// The message, with an id of 0.
    pub(crate) message: &'a [u8],
    pub(crate) expect: Expect,
    /// `true` if its time counts.
    pub(crate) is_timed: bool,
}

impl Query<'_> {
    /// The question section.
    pub(crate) fn question(&self) -> &[u8] {
        // The OPT record takes the last 11 bytes.
        self.message.get(HEADER..self.message.len().saturating_sub(OPT)).unwrap_or_default()
    }
}

/// Bytes of an OPT record without options.
const OPT: usize = 11;

/// Queries in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queries {
    bytes: Vec<u8>,
    list: Vec<(u32, Expect, bool)>,
}

impl Queries {
    /// `count` queries of a kind for a zone.
    pub(crate) fn of(zone: Zone, kind: QueryKind, count: u32) -> Self {
        Self::by(zone, count, |_| (kind, false))
    }

    /// `count` queries: each fifth is positive and timed, and the others are of `kind`.
    pub(crate) fn timed_among(zone: Zone, kind: QueryKind, count: u32) -> Self {
        Self::by(zone, count, |at| if at % 5 == 0 { (QueryKind::Positive, true) } else { (kind, false) })
    }

    /// `count` queries of a kind, all timed.
    pub(crate) fn all_timed(zone: Zone, kind: QueryKind, count: u32) -> Self {
        Self::by(zone, count, |_| (kind, true))
    }

    /// `count` queries, of the kind for each place, timed or not.
    fn by(zone: Zone, count: u32, kind: impl Fn(u32) -> (QueryKind, bool)) -> Self {
        let mut queries = Self::default();
        for at in 0..count {
            let (kind, timed) = kind(at);
            queries.push_kind(zone, kind, at, timed);
        }
        queries
    }

    /// The query for the SOA record of the zone.
    pub(crate) fn soa() -> Self {
        let mut queries = Self::default();
        queries.push(&[], SOA, false, POSITIVE, false);
        queries
    }

    /// Number of queries.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// A query.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<Query<'_>> {
        let (end, expect, is_timed) = *self.list.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.list.get(before)).map_or(0, |query| query.0);
        let message = self.bytes.get(start as usize..end as usize)?;
        Some(Query { message, expect, is_timed })
    }

    fn push_kind(&mut self, zone: Zone, kind: QueryKind, at: u32, timed: bool) {
        let hash = mix(u64::from(at % DISTINCT) ^ 0x7175_6572_7900);
        let mut label = Vec::with_capacity(24);
        match kind {
            QueryKind::Positive => self.push_host(zone, hash, false, timed),
            QueryKind::SignedPositive => self.push_host(zone, hash, true, timed),
            QueryKind::Referral => {
                label.extend_from_slice(b"www.");
                push_label(&mut label, pick(zone, hash, true));
                self.push(&label, A, false, REFERRAL, timed);
            }
            QueryKind::NxDomain | QueryKind::SignedNxDomain => {
                let is_signed = kind == QueryKind::SignedNxDomain;
                push_missing(&mut label, hash);
                // Signed: SOA and NSEC with their signatures at least.
                let expect = if is_signed { Expect { authority: 4, ..MISSING } } else { MISSING };
                self.push(&label, A, is_signed, expect, timed);
            }
            QueryKind::Random => {
                push_missing(&mut label, mix(u64::from(at) ^ 0x7261_6e64_6f6d));
                self.push(&label, A, false, MISSING, timed);
            }
            QueryKind::Mix => {
                let kind = match at % 10 {
                    2 | 7 => QueryKind::NxDomain,
                    4 | 9 => QueryKind::Referral,
                    _ => QueryKind::Positive,
                };
                self.push_kind(zone, kind, at, timed);
            }
        }
    }

    fn push_host(&mut self, zone: Zone, hash: u64, dnssec: bool, timed: bool) {
        let number = pick(zone, hash, false);
        let mut label = Vec::with_capacity(24);
        push_label(&mut label, number);
        let rtype = if Zone::has_ipv6(number) && hash >> 63 == 1 { AAAA } else { A };
        // Signed: the record and its signature.
        let expect = if dnssec { Expect { answers: 2, ..POSITIVE } } else { POSITIVE };
        self.push(&label, rtype, dnssec, expect, timed);
    }

    /// Adds a query for the labels, with dots between them, below the apex.
    fn push(&mut self, labels: &[u8], rtype: u16, dnssec: bool, expect: Expect, timed: bool) {
        let out = &mut self.bytes;
        // An id, no flags, one question, one additional record.
        out.extend_from_slice(&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
        for label in labels.split(|byte| *byte == b'.').chain(APEX.as_bytes().split(|byte| *byte == b'.')) {
            if !label.is_empty() {
                // Generated labels are short.
                out.push(label.len() as u8);
                out.extend_from_slice(label);
            }
        }
        out.push(0);
        out.extend_from_slice(&rtype.to_be_bytes());
        out.extend_from_slice(&[0, 1]);
        // OPT (RFC 6891 §6.1.2): the root, the type, the payload size, the flag DO, no options.
        out.extend_from_slice(&[0, 0, 41]);
        out.extend_from_slice(&PAYLOAD.to_be_bytes());
        out.extend_from_slice(&[0, 0, if dnssec { 0x80 } else { 0 }, 0, 0, 0]);
        self.list.push((out.len() as u32, expect, timed));
    }
}

/// A delegation or a host of the zone.
fn pick(zone: Zone, hash: u64, delegation: bool) -> u32 {
    let mut number = (hash % u64::from(zone.names.max(1))) as u32;
    // Four names in a row have both, where the zone has both.
    for _ in 0..4 {
        if zone.is_delegation(number) == delegation {
            break;
        }
        number = (number + 1) % zone.names.max(1);
    }
    number
}

/// Adds a label that no zone has, as none has a hyphen.
fn push_missing(to: &mut Vec<u8>, hash: u64) {
    push_label(to, hash as u32);
    to.push(b'-');
    to.extend((0..6).map(|at| b'a' + ((hash >> (32 + 5 * at)) % 26) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Shape;
    use domain::base::Message;
    use std::collections::{HashMap, HashSet};

    const ZONE: Zone = Zone { names: 400, shape: Shape::Mixed };

    /// The question of a query: name and type, as another project parses it.
    fn question(query: Query<'_>) -> (String, u16) {
        let message = Message::from_octets(query.message).unwrap();
        let question = message.sole_question().unwrap();
        assert_eq!(message.opt().unwrap().udp_payload_size(), PAYLOAD);
        (question.qname().to_string(), question.qtype().to_int())
    }

    /// Labels of the zone: `true` for delegations.
    fn labels() -> HashMap<String, bool> {
        let label = |number| {
            let mut label = Vec::new();
            push_label(&mut label, number);
            String::from_utf8(label).unwrap()
        };
        (0..ZONE.names).map(|number| (label(number), ZONE.is_delegation(number))).collect()
    }

    fn each(queries: &Queries) -> impl Iterator<Item = Query<'_>> {
        (0..queries.len()).map(|at| queries.get(at).unwrap())
    }

    #[test]
    fn queries_are_for_names_of_the_zone_or_for_none() {
        let labels = labels();
        let all = |kind| Queries::of(ZONE, kind, 500);
        for query in each(&all(QueryKind::Positive)).chain(each(&all(QueryKind::SignedPositive))) {
            let (name, rtype) = question(query);
            let label = name.strip_suffix(".bench.test").unwrap();
            assert_eq!(labels.get(label), Some(&false), "{name}");
            assert!([A, AAAA].contains(&rtype) && query.expect.answers >= 1);
        }
        for query in each(&all(QueryKind::Referral)) {
            let (name, _) = question(query);
            let label = name.strip_prefix("www.").unwrap().strip_suffix(".bench.test").unwrap();
            assert_eq!(labels.get(label), Some(&true), "{name}");
            assert_eq!(query.expect, REFERRAL);
        }
        for kind in [QueryKind::NxDomain, QueryKind::Random, QueryKind::SignedNxDomain] {
            for query in each(&all(kind)) {
                let (name, _) = question(query);
                assert!(!labels.contains_key(name.strip_suffix(".bench.test").unwrap()), "{name}");
                assert_eq!(query.expect.rcode, NXDOMAIN);
            }
        }
    }

    #[test]
    fn a_mix_has_its_shares() {
        let queries = Queries::of(ZONE, QueryKind::Mix, 1_000);
        let count = |expect: Expect| each(&queries).filter(|query| query.expect == expect).count();
        assert_eq!([POSITIVE, MISSING, REFERRAL].map(count), [600, 200, 200]);
    }

    #[test]
    fn random_subdomains_do_not_repeat() {
        let queries = Queries::of(ZONE, QueryKind::Random, 200_000);
        let names: HashSet<&[u8]> = (0..queries.len()).map(|at| queries.get(at).unwrap().message).collect();
        assert_eq!(names.len(), 200_000);
    }

    #[test]
    fn dnssec_is_requested_of_signed_zones_only() {
        for (kind, wanted) in [(QueryKind::Positive, false), (QueryKind::SignedPositive, true)] {
            let queries = Queries::of(ZONE, kind, 1);
            let message = Message::from_octets(queries.get(0).unwrap().message).unwrap();
            assert_eq!(message.opt().unwrap().dnssec_ok(), wanted);
        }
    }

    #[test]
    fn each_fifth_query_is_timed() {
        let queries = Queries::timed_among(ZONE, QueryKind::Random, 100);
        let timed: Vec<Query<'_>> = each(&queries).filter(|query| query.is_timed).collect();
        assert!(timed.iter().all(|query| query.expect == POSITIVE));
        assert_eq!(timed.len(), 20);
        assert_eq!(Queries::all_timed(ZONE, QueryKind::Positive, 3).len(), 3);
    }
}
