//! From a batch of messages to responses: the stages of `hashlane-dns` in order, for both transports.

use crate::counters::{Counters, Transport};
use crate::limit::{self, Subject};
use crate::view::View;
use hashlane_dns::MAX_MESSAGE_LEN;
use hashlane_dns::query::{Batch, Decode, Hash, Suffixes};
use hashlane_dns::respond::{self, Asker, Kind, Reply, Responder};
use hashlane_dns::wire::{HEADER_LEN, RecordType};
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
}

/// A response.
pub(crate) struct Response<'a> {
    /// The message; empty if there is none.
    pub(crate) message: &'a mut [u8],
    pub(crate) reply: Reply,
    /// Hashes of the name of the question and of the names above it.
    suffixes: &'a [u64],
}

impl Answerer {
    /// Stages for zones under `key`.
    pub(crate) fn new(key: &Key, thread: usize) -> Self {
        let out = vec![0; MAX_MESSAGE_LEN];
        Self { hash: Hash::new(key), suffixes: Suffixes::new(), responder: Responder::new(key), out, thread }
    }

    /// Answers messages, each with its source, at most [`BATCH`](hashlane_dns::query::BATCH) of them, in
    /// order. `each` gets the
    /// number of the message, counted from 0, and its response; after it returns false, no more responses are
    /// made. `now` is in seconds since 1970, modulo 2³².
    #[inline]
    pub(crate) fn run(
        &mut self,
        view: &View,
        counters: &Counters,
        now: u32,
        messages: &[(SocketAddr, &[u8])],
        mut each: impl FnMut(usize, Response<'_>) -> bool,
    ) {
        let transport = match counters.transport {
            Transport::Udp => respond::Transport::Udp,
            Transport::Tcp => respond::Transport::Tcp,
        };
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
            let asker = Asker { address: from.ip(), transport, now };
            let reply = responses.write(number, &asker, &mut self.out);
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
            let message = self.out.get_mut(..reply.len).unwrap_or_default();
            if !each(number, Response { message, reply, suffixes: batch.suffixes(number) }) {
                break;
            }
        }
    }
}

impl Response<'_> {
    /// Kind and name by which the response is counted for the rate limit.
    pub(crate) fn subject(&self) -> Subject {
        let zone = self.reply.zone.map_or(0, |zone| zone as u64 + 1);
        let own = self.suffixes.first().copied().unwrap_or_default();
        let of_zone = |kind| Subject { kind, name: zone };
        match self.reply.kind {
            Kind::Positive | Kind::Referral => match self.first_owner() {
                Some(labels @ 1..) => {
                    let name = self.suffixes.get(labels).copied().unwrap_or_default();
                    Subject { kind: limit::Kind::Below, name }
                }
                _ => {
                    let RecordType(rtype) = self.reply.rtype.unwrap_or(RecordType::ANY);
                    Subject { kind: limit::Kind::Records, name: own.rotate_left(16) ^ u64::from(rtype) }
                }
            },
            Kind::Wildcard => of_zone(limit::Kind::Wildcard),
            Kind::NoData => of_zone(limit::Kind::NoData),
            Kind::NxDomain => of_zone(limit::Kind::NxDomain),
            _ => Subject { kind: limit::Kind::Error, name: 0 },
        }
    }

    /// Labels of the question's name that the owner of the first record lacks, if that owner is a pointer to
    /// the question.
    fn first_owner(&self) -> Option<usize> {
        let question = self.message.get(HEADER_LEN..)?;
        let end = question_end(self.message)?;
        let [a @ 0xc0..=0xff, b] = *self.message.get(end..)?.first_chunk::<2>()? else { return None };
        let target = usize::from(u16::from_be_bytes([a & 0x3f, b])).checked_sub(HEADER_LEN)?;
        let (mut at, mut labels) = (0, 0);
        while at < target {
            match *question.get(at)? {
                0 => return None,
                len => at += 1 + usize::from(len),
            }
            labels += 1;
        }
        (at == target).then_some(labels)
    }

    /// Makes the response empty but for its question and OPT record, with TC set. Returns its length.
    pub(crate) fn truncate(&mut self) -> usize {
        let end = question_end(self.message).unwrap_or(self.message.len());
        let opt = opt_record(self.message, end);
        let len = match &opt {
            Some(opt) if opt.end <= self.message.len() => {
                self.message.copy_within(opt.clone(), end);
                end + opt.len()
            }
            _ => end,
        };
        if let Some([_, _, flags, _, _, _, counts @ ..]) = self.message.first_chunk_mut::<HEADER_LEN>() {
            *flags |= 0x02;
            *counts = [0, 0, 0, 0, 0, u8::from(opt.is_some())];
        }
        len
    }
}

/// Offset after the question.
fn question_end(message: &[u8]) -> Option<usize> {
    let questions = message.get(5).copied()?;
    if questions == 0 { Some(HEADER_LEN) } else { Some(name_end(message, HEADER_LEN)? + 4) }
}

/// Offset after a name.
fn name_end(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            0xc0.. => return Some(at + 2),
            len => at += 1 + usize::from(len),
        }
    }
}

/// Place of the OPT record, with the offset of the first record.
fn opt_record(message: &[u8], mut at: usize) -> Option<std::ops::Range<usize>> {
    while at < message.len() {
        let start = at;
        let head = name_end(message, at)?;
        let [a, b, .., c, d] = *message.get(head..)?.first_chunk::<10>()?;
        at = head + 10 + usize::from(u16::from_be_bytes([c, d]));
        if u16::from_be_bytes([a, b]) == RecordType::OPT.0 {
            return Some(start..at);
        }
    }
    None
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
    const OPT: &[u8] = b"\0\0\x29\x04\xd0\0\0\x80\0\0\x06\0\x0a\0\x02ab";

    fn response(message: &mut [u8], kind: Kind) -> Response<'_> {
        let reply = Reply {
            len: message.len(),
            rcode: hashlane_dns::wire::Rcode::NO_ERROR,
            kind,
            zone: Some(4),
            rtype: Some(RecordType::A),
            truncated: false,
            is_known: false,
        };
        Response { message, reply, suffixes: &[10, 11, 12, 13] }
    }

    #[test]
    fn a_truncated_response_keeps_its_question_and_its_opt_record() {
        let records = [b"\xc0\x0c", A, b"\xc0\x10", A, OPT].concat();
        let mut whole = message([1, 1, 1, 1], &records);
        let len = response(&mut whole, Kind::Positive).truncate();
        let mut expected = message([1, 0, 0, 1], OPT);
        expected[2] |= 0x02;
        assert_eq!(whole[..len], expected);

        let mut plain = message([1, 1, 0, 0], &[b"\xc0\x0c", A].concat());
        let len = response(&mut plain, Kind::Positive).truncate();
        let mut expected = message([1, 0, 0, 0], &[]);
        expected[2] |= 0x02;
        assert_eq!(plain[..len], expected);

        let mut header = vec![0, 1, 0x84, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(response(&mut header, Kind::Error).truncate(), HEADER_LEN);
    }

    #[test]
    fn a_response_counts_by_the_name_that_its_kind_asks_for() {
        let subject = |first: &[u8], kind| {
            let mut bytes = message([1, 1, 0, 0], &[first, A].concat());
            let subject = response(&mut bytes, kind).subject();
            (subject.kind, subject.name)
        };
        let own = subject(b"\xc0\x0c", Kind::Positive);
        assert_eq!(own.0, limit::Kind::Records);
        assert_ne!(own.1, 10, "the type counts, too");
        assert_eq!(subject(b"\x01a\0", Kind::Positive), own, "no pointer");
        // The owner of a DNAME record, or of the servers of a delegation.
        assert_eq!(subject(b"\xc0\x10", Kind::Positive), (limit::Kind::Below, 11));
        assert_eq!(subject(b"\xc0\x14", Kind::Referral), (limit::Kind::Below, 12));
        assert_eq!(subject(b"\xc0\x11", Kind::Referral).0, limit::Kind::Records, "not the start of a label");
        for (kind, expected) in [
            (Kind::NxDomain, limit::Kind::NxDomain),
            (Kind::NoData, limit::Kind::NoData),
            (Kind::Wildcard, limit::Kind::Wildcard),
        ] {
            assert_eq!(subject(b"\xc0\x0c", kind), (expected, 5));
        }
        assert_eq!(subject(b"\xc0\x0c", Kind::Error), (limit::Kind::Error, 0));
    }
}
