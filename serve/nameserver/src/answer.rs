//! From a batch of messages to responses: the stages of `hashlane-dns` in order, for both transports.

use crate::counters::Counters;
use crate::dnstap::Tap;
use crate::limit::{self, LimitKey};
use crate::transfers::peers::Origin;
use crate::view::View;
use hashlane_dns::MAX_MESSAGE_LEN;
use hashlane_dns::query::{Batch, Decode, Hash, Outcome, Suffixes};
use hashlane_dns::respond::{Asker, Reply, Responder, ResponseKind, Transport};
use hashlane_dns::slices::Parts as _;
use hashlane_dns::wire::RecordType;
use hashlane_hash::scheme::Key;
use hashlane_table::stage::Stage as _;
use std::net::SocketAddr;

/// Stages and buffers of one thread.
pub(crate) struct Answerer {
    hash: Hash,
    suffixes: Suffixes,
    responder: Responder,
    out: Vec<u8>,
    /// Number of the thread in the counters of the zones.
    thread: usize,
    /// Queries since the last one that was logged.
    unlogged: u32,
    /// Takes all queries and responses.
    tap: Option<Tap>,
}

/// A response.
pub(crate) struct Response<'a> {
    /// The message; empty if nothing is sent.
    pub(crate) message: &'a mut [u8],
    pub(crate) reply: Reply,
    /// Hashes of the name of the question and of the names above it.
    suffixes: &'a [u64],
}

impl Answerer {
    /// Stages for zones under `key`.
    pub(crate) fn new(key: &Key, thread: usize, tap: Option<Tap>) -> Self {
        let out = vec![0; MAX_MESSAGE_LEN];
        let (hash, suffixes, responder) = (Hash::new(key), Suffixes::new(), Responder::new(key));
        Self { hash, suffixes, responder, out, thread, unlogged: 0, tap }
    }

    /// The stage that hashes names under the key of the zones.
    pub(crate) fn hash(&mut self) -> &mut Hash {
        &mut self.hash
    }

    /// Answers messages, each with its source, at most [`BATCH`](hashlane_dns::query::BATCH) of them, in
    /// order. `each` gets the number of the message, counted from 0, and its response; after it returns
    /// false, no more responses are made. `now` is in seconds since 1970, modulo 2³².
    #[inline]
    pub(crate) fn run(
        &mut self,
        view: &View,
        counters: &Counters,
        (now, origin): (u32, Origin<'_>),
        messages: &[(SocketAddr, &[u8])],
        mut each: impl FnMut(usize, Response<'_>) -> bool,
    ) {
        let mut batch = Batch::new(&mut self.suffixes);
        for (number, (_, message)) in messages.iter().enumerate() {
            if !batch.push(number, message) {
                debug_assert!(false, "the caller has at most as many messages as a batch");
                break;
            }
        }
        Decode.run(&mut batch);
        self.hash.run(&mut batch);
        let mut responses = self.responder.locate(&view.zones, &view.settings, &batch);
        for (number, (from, message)) in messages.iter().enumerate() {
            let asker = Asker { address: from.ip(), transport: counters.transport, now };
            let reply = match responses.restricted(number) {
                Some(zone) if !view.permits_query(zone, *from, origin) => {
                    responses.prohibit(number, zone, &asker, &mut self.out)
                }
                _ => responses.write(number, &asker, &mut self.out),
            };
            counters.received.add(1);
            counters.received_bytes.add(message.len() as u64);
            if reply.len == 0 {
                counters.ignored.add(1);
            } else {
                counters.query(reply.rtype);
                counters.cookies.add(u64::from(reply.is_known));
                if let Some(counter) = reply.zone.and_then(|zone| view.counter(self.thread, zone)) {
                    counter.add(1);
                }
            }
            if view.query_log > 0 {
                self.unlogged += 1;
                if self.unlogged >= view.query_log {
                    self.unlogged = 0;
                    log(*from, counters.transport, batch.outcomes().get(number), &reply);
                }
            }
            debug_assert!(reply.len <= self.out.len(), "a response is written into the buffer");
            if let Some(tap) = &self.tap {
                tap.record(counters.transport, *from, message, self.out.part(..reply.len));
            }
            let message = self.out.part_mut(..reply.len);
            if !each(number, Response { message, reply, suffixes: batch.suffixes(number) }) {
                break;
            }
        }
    }
}

/// Logs a query and its response.
#[cold]
fn log(from: SocketAddr, transport: Transport, outcome: Option<&Outcome<'_>>, reply: &Reply) {
    let transport = match transport {
        Transport::Udp => "udp",
        Transport::Tcp => "tcp",
    };
    let (rcode, bytes) = (reply.rcode, reply.len);
    match outcome {
        Some(Outcome::Answer(query)) => {
            let (name, rtype, dnssec) =
                (query.name, query.rtype, query.edns.is_some_and(|edns| edns.dnssec_ok));
            tracing::info!(%from, transport, %name, %rtype, dnssec, %rcode, bytes, "query");
        }
        _ => tracing::info!(%from, transport, %rcode, bytes, "no query"),
    }
}

impl Response<'_> {
    /// Kind and name by which the response is counted for the rate limit: the name that the records belong
    /// to, so that other names below it are no other subject.
    pub(crate) fn subject(&self) -> LimitKey {
        let Reply { kind, below, rtype, zone, .. } = self.reply;
        // Errors may have no name, and do not use it.
        debug_assert!(
            below < self.suffixes.len() || kind == ResponseKind::Error,
            "the name has {below} labels more"
        );
        let name = self.suffixes.get(below).copied().unwrap_or_default();
        match kind {
            ResponseKind::Positive if below == 0 => {
                let RecordType(rtype) = rtype.unwrap_or(RecordType::ANY);
                LimitKey {
                    kind: limit::ResponseClass::Records,
                    name: name.rotate_left(16) ^ u64::from(rtype),
                }
            }
            ResponseKind::Positive | ResponseKind::Referral => {
                LimitKey { kind: limit::ResponseClass::Below, name }
            }
            ResponseKind::Wildcard => LimitKey { kind: limit::ResponseClass::Wildcard, name },
            ResponseKind::NoData => LimitKey { kind: limit::ResponseClass::NoData, name },
            ResponseKind::NxDomain => {
                let name = zone.map_or(0, |zone| zone as u64 + 1);
                LimitKey { kind: limit::ResponseClass::NxDomain, name }
            }
            _ => LimitKey { kind: limit::ResponseClass::Error, name: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The question `www.sub.example`, type A, and what follows it.
    fn message(counts: [u8; 4], records: &[u8]) -> Vec<u8> {
        let [a, b, c, d] = counts;
        let header = [0, 1, 0x84, 0, 0, a, 0, b, 0, c, 0, d];
        [&header[..], b"\x03www\x03sub\x07example\0\0\x01\0\x01", records].concat()
    }

    const A: &[u8] = b"\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
    fn response(message: &mut [u8], kind: ResponseKind, below: usize) -> Response<'_> {
        let reply = Reply {
            len: message.len(),
            rcode: hashlane_dns::wire::Rcode::NO_ERROR,
            kind,
            below,
            zone: Some(4),
            rtype: Some(RecordType::A),
            truncated: false,
            is_known: false,
            is_special: false,
        };
        Response { message, reply, suffixes: &[10, 11, 12, 13] }
    }

    #[test]
    fn a_response_counts_by_the_name_that_its_kind_asks_for() {
        let subject = |kind, below| {
            let mut bytes = message([1, 1, 0, 0], &[b"\xc0\x0c", A].concat());
            let subject = response(&mut bytes, kind, below).subject();
            (subject.kind, subject.name)
        };
        let own = subject(ResponseKind::Positive, 0);
        assert_eq!(own.0, limit::ResponseClass::Records);
        assert_ne!(own.1, 10, "the type counts, too");
        // The owner of a DNAME record, or of the servers of a delegation.
        assert_eq!(subject(ResponseKind::Positive, 1), (limit::ResponseClass::Below, 11));
        assert_eq!(subject(ResponseKind::Referral, 2), (limit::ResponseClass::Below, 12));
        assert_eq!(subject(ResponseKind::Referral, 0), (limit::ResponseClass::Below, 10));
        assert_eq!(subject(ResponseKind::NoData, 0), (limit::ResponseClass::NoData, 10));
        assert_eq!(subject(ResponseKind::NoData, 1), (limit::ResponseClass::NoData, 11));
        assert_eq!(subject(ResponseKind::Wildcard, 1), (limit::ResponseClass::Wildcard, 11));
        assert_eq!(subject(ResponseKind::NxDomain, 1), (limit::ResponseClass::NxDomain, 5), "by the zone");
        assert_eq!(subject(ResponseKind::Error, 0), (limit::ResponseClass::Error, 0));
    }
}
