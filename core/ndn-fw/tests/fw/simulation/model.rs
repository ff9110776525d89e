//! Model of a forwarder: lists that are searched from end to end, without hashes, timers or shared code
//! except the parsers.
//!
//! Tokens and digests between neighbours are left out: they must not change the outcome.
//!
//! The next hops of an Interest are the strategy's choice, and copied from the forwarder, except for the
//! strategy `access`, which [`Access`] predicts. The model predicts the downstreams of Data and Nacks.

mod next_hops;

use super::access::Access;
use crate::support::Sent;
use hashlane_name::component::IMPLICIT_SHA256_DIGEST;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest, LpPacket, NackReason};
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason, MAX_LIFETIME};
use std::collections::{BTreeMap, BTreeSet};

/// A component: its type and its value.
pub type Part = (u16, Vec<u8>);

pub fn parts(name: NdnName<'_>) -> Vec<Part> {
    name.components().map(|part| (part.typ, part.value.to_vec())).collect()
}

/// Key of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    name: Vec<Part>,
    can_be_prefix: bool,
    must_be_fresh: bool,
    hint: Vec<u8>,
}

impl Question {
    /// Of an Interest, at a forwarder of these regions.
    pub fn of(interest: &Interest<'_>, regions: &[NdnName<'_>]) -> Self {
        let arrived = interest.hints().any(|hint| {
            let hint = parts(hint);
            regions.iter().any(|region| parts(*region).starts_with(&hint))
        });
        Self {
            name: parts(interest.name()),
            can_be_prefix: interest.can_be_prefix(),
            must_be_fresh: interest.must_be_fresh(),
            hint: if arrived { Vec::new() } else { interest.forwarding_hint().to_vec() },
        }
    }

    fn is_answered_by(&self, data: &Data<'_>) -> bool {
        let mut name = parts(data.name());
        if self.name == name || self.can_be_prefix && name.starts_with(&self.name) {
            return true;
        }
        name.push((IMPLICIT_SHA256_DIGEST, data.implicit_digest().to_vec()));
        self.name == name
    }
}

#[derive(Clone, Debug)]
struct In {
    face: FaceId,
    token: Vec<u8>,
    nonce: u32,
    expires: Time,
    /// Number of the Interest: the record with the lowest one is the oldest.
    age: usize,
}

#[derive(Clone, Debug)]
struct Out {
    face: FaceId,
    nonce: u32,
    sent: Time,
    expires: Time,
    nack: Option<NackReason>,
}

#[derive(Clone, Debug)]
struct Entry {
    question: Question,
    /// The first Interest.
    packet: Vec<u8>,
    ins: Vec<In>,
    outs: Vec<Out>,
    expires: Time,
    /// Time of the retry.
    retry: Retry,
}

/// Time at which an Interest goes to other next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    Never,
    At(Time),
    /// At a time that the model does not know.
    Sometime,
}

impl Entry {
    /// Next hops that have not been used.
    fn unused(&self, eligible: BTreeSet<FaceId>, now: Time) -> BTreeSet<FaceId> {
        let used = |face: &FaceId| self.outs.iter().any(|out| out.face == *face && out.expires > now);
        eligible.into_iter().filter(|face| !used(face)).collect()
    }
}

/// Copies of one Interest from the face that sent the first one: how many came, and how many went on.
#[derive(Clone, Debug)]
struct Passed {
    at: Time,
    came: usize,
    went: BTreeMap<FaceId, usize>,
    answered: bool,
}

/// A packet that came, and when.
#[derive(Clone, Copy)]
pub struct Arrival<'a> {
    pub from: FaceId,
    pub packet: &'a LpPacket<'a>,
    pub now: Time,
}

/// Outcome of a packet at the forwarder.
#[derive(Clone, Copy)]
pub struct Done<'a> {
    pub result: Result<(), DropReason>,
    pub sent: &'a [Sent],
}

#[derive(Debug, Default)]
pub struct Model {
    entries: Vec<Entry>,
    /// Interests that went on, by what they ask and their Nonce.
    passed: BTreeMap<(Question, u32), Passed>,
    /// Data that came, and until when it was fresh.
    kept: BTreeMap<Vec<u8>, Time>,
    /// When Interests went out: the dead nonce list may hold each.
    sent: Vec<Time>,
    faces: BTreeMap<FaceId, Scope>,
    /// Limit of the PIT, which all local faces and all others share: they are two holders here.
    pit_entries: usize,
    /// Longest lifetime of an Interest of another host.
    remote_lifetime: u64,
    regions: Vec<hashlane_name::build::OwnedName<hashlane_name::ndn::Ndn>>,
    /// True if Data may leave the content store before the next request.
    evicts: bool,
    pub access: Access,
    pub packets_in: usize,
    pub interests_in: usize,
    pub interests_out: usize,
    pub answers_out: usize,
}

impl Model {
    pub fn new(config: &Config, evicts: bool) -> Self {
        let Config { pit_entries, remote_lifetime, regions, .. } = config.clone();
        Self { regions, evicts, pit_entries, remote_lifetime, ..Self::default() }
    }

    pub fn face_added(&mut self, face: FaceId, scope: Scope) {
        assert_eq!(self.faces.insert(face, scope), None, "a face's number was given out twice");
    }

    /// Removes a face and its records.
    pub fn face_removed(&mut self, face: FaceId) {
        self.faces.remove(&face);
        for entry in &mut self.entries {
            let had = entry.ins.len() + entry.outs.len();
            entry.ins.retain(|record| record.face != face);
            entry.outs.retain(|record| record.face != face);
            if entry.ins.len() + entry.outs.len() < had {
                let last = entry.ins.iter().map(|record| record.expires).max();
                entry.expires = last.unwrap_or_default();
            }
        }
        self.entries.retain(|entry| !entry.ins.is_empty());
    }

    /// Removes the records that have to go from a PIT that is too full, and returns them: the oldest of the
    /// holder that has more. Remote faces have at most three quarters, and local ones keep the last quarter.
    fn relieve(&mut self) -> Vec<In> {
        let mut gone = Vec::new();
        loop {
            let is_remote = |record: &&In| self.faces.get(&record.face) == Some(&Scope::NonLocal);
            let records = || self.entries.iter().flat_map(|entry| &entry.ins);
            let remote = records().filter(is_remote).count();
            let local = records().count() - remote;
            let reserve = self.pit_entries / 4;
            let too_remote = remote > self.pit_entries - reserve;
            if !too_remote && remote + local <= self.pit_entries {
                return gone;
            }
            let side = too_remote || local <= reserve || local <= remote;
            let oldest = records().filter(|record| is_remote(record) == side).min_by_key(|record| record.age);
            let age = oldest.expect("a record").age;
            for entry in &mut self.entries {
                gone.extend(entry.ins.extract_if(.., |record| record.age == age));
            }
            self.entries.retain(|entry| !entry.ins.is_empty());
        }
    }

    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    pub fn records(&self) -> usize {
        self.entries.iter().map(|entry| entry.ins.len()).sum()
    }

    /// Largest number of dead nonces that there may be.
    pub fn dead_nonces(&self, now: Time) -> usize {
        let oldest = now.0.saturating_sub(Time::from_millis(MAX_LIFETIME.min(8000) + 2 * 12_000).0);
        self.sent.iter().rev().take_while(|sent| sent.0 >= oldest).count()
    }

    fn question(&self, interest: &Interest<'_>) -> Question {
        let regions: Vec<NdnName<'_>> = self.regions.iter().map(|region| region.view()).collect();
        Question::of(interest, &regions)
    }

    fn entry(&mut self, question: &Question) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.question == *question)
    }

    /// Compares the PIT after a timeout. A missing entry must have expired, and an expired one must be
    /// missing a tick later.
    pub fn turned(&mut self, now: Time, left: &[Question]) {
        self.entries.retain(|entry| {
            let is_left = left.contains(&entry.question);
            let ended = entry.expires <= now;
            let late = entry.expires.0.div_ceil(1_000_000) < now.millis();
            assert!(is_left || ended, "an entry left the PIT before its end: {entry:?} at {now:?}");
            assert!(!(is_left && late), "an entry outlived its lifetime: {entry:?} at {now:?}");
            is_left
        });
        assert_eq!(self.entries.len(), left.len(), "entries that nobody asked for");
    }

    /// Compares the outcome of an incoming packet.
    pub fn arrived(&mut self, arrival: Arrival<'_>, done: Done<'_>) {
        self.packets_in += 1;
        for sent in done.sent {
            assert!(self.faces.contains_key(&sent.face), "sent to an unknown face: {sent:?}");
        }
        let fragment = arrival.packet.fragment;
        match (fragment.first(), arrival.packet.header.nack) {
            (Some(5), None) => self.interest(arrival, done),
            (Some(5), Some(reason)) => self.nack(arrival, reason, done),
            _ => self.data(arrival, done),
        }
        let interests = done.sent.iter().filter(|sent| sent.brief().1 == "interest").count();
        self.interests_out += interests;
        self.answers_out += done.sent.len() - interests;
        assert!(self.answers_out <= self.interests_in, "more answers than questions");
    }

    fn interest(&mut self, arrival: Arrival<'_>, done: Done<'_>) {
        self.interests_in += 1;
        let Arrival { from, packet, now } = arrival;
        let interest = Interest::parse(packet.fragment).expect("the Interest of an application");
        let nonce = interest.nonce().expect("a Nonce");
        let question = self.question(&interest);
        if let Err(reason) = done.result
            && reason != DropReason::PitFull
        {
            return self.refused(arrival, reason, &question, nonce, done.sent);
        }
        assert_ne!(interest.hop_limit(), Some(0), "an Interest went further than it may");
        // The store answers.
        if done.result.is_ok()
            && let [sent] = done.sent
            && sent.brief().1 == "data"
        {
            assert_eq!((sent.face, &sent.token[..]), (from, packet.header.pit_token));
            assert!(question.is_answered_by(&sent.data()), "Data that does not answer");
            let fresh_until = self.kept.get(&sent.packet).expect("Data that came");
            assert!(!question.must_be_fresh || *fresh_until > now, "Data that is not fresh");
            return;
        }
        self.must_be_new(from, now, &question, nonce);
        let longest = match self.faces[&from] {
            Scope::Local => MAX_LIFETIME,
            Scope::NonLocal => self.remote_lifetime,
        };
        let expires = now.after_millis(interest.lifetime().min(longest));
        let age = self.interests_in;
        let record = In { face: from, token: packet.header.pit_token.to_vec(), nonce, expires, age };
        match self.entry(&question) {
            Some(entry) => {
                entry.expires = entry.expires.max(expires);
                match entry.ins.iter_mut().find(|record| record.face == from) {
                    Some(old) => *old = record,
                    None => entry.ins.push(record),
                }
            }
            None => self.entries.push(Entry {
                question: question.clone(),
                packet: packet.fragment.to_vec(),
                ins: vec![record],
                outs: Vec::new(),
                expires,
                retry: Retry::Never,
            }),
        }
        let gone = self.relieve();
        let told: Vec<_> = gone.iter().filter(|record| record.expires > now).collect();
        let (nacks, rest) = done.sent.split_at(told.len());
        for (record, nack) in told.iter().zip(nacks) {
            assert_eq!((nack.face, nack.nack), (record.face, Some(NackReason::CONGESTION)), "{gone:?}");
            assert_eq!((&nack.token, nack.interest().nonce()), (&record.token, Some(record.nonce)));
        }
        let refused = gone.iter().any(|record| record.age == age);
        assert_eq!(done.result, if refused { Err(DropReason::PitFull) } else { Ok(()) });
        if refused {
            return assert_eq!(rest, []);
        }
        let plan = self.plan(&interest, &question, from, expires, now);
        if let [sent] = rest
            && sent.nack.is_some()
        {
            assert!(plan.is_none_or(|(faces, _)| faces.is_empty()), "refused, though there are next hops");
            assert_eq!((sent.face, &sent.token[..]), (from, packet.header.pit_token));
            assert_eq!(sent.packet, packet.fragment, "another Interest came back than was asked");
            let entry = self.entry(&question).expect("it was put there");
            entry.ins.retain(|record| record.face != from);
            self.entries.retain(|entry| !entry.ins.is_empty());
            return;
        }
        let probes = rest.iter().filter(|sent| sent.interest().nonce() != Some(nonce)).count();
        assert!(probes <= 1, "an Interest went on under more than one other Nonce");
        if let Some((faces, retry)) = plan {
            let went: BTreeSet<FaceId> = rest.iter().map(|sent| sent.face).collect();
            assert_eq!(went, faces, "where {question:?} {nonce} from {from:?} goes");
            if let Some(retry) = retry {
                self.entry(&question).expect("it was put there").retry = retry;
            }
        } else if self.access.has(&question.name) {
            self.may_go(&interest, &question, from, rest, now);
        }
        for sent in rest {
            self.went(&interest, from, &question, nonce, sent, expires, now);
        }
    }

    /// An Interest must not be taken for new twice, from any face; a face may retransmit a pending one.
    fn must_be_new(&mut self, from: FaceId, now: Time, question: &Question, nonce: u32) {
        let entry = self.entry(question);
        let again = entry
            .as_ref()
            .is_some_and(|entry| entry.ins.iter().any(|record| record.face == from && record.nonce == nonce));
        let others = entry
            .is_some_and(|entry| entry.ins.iter().any(|record| record.face != from && record.nonce == nonce));
        assert!(!others, "{from:?} brought a Nonce that another face asks with: {question:?} {nonce}");
        let evicts = self.evicts;
        let Some(passed) = self.passed.get_mut(&(question.clone(), nonce)) else { return };
        // The dead nonce list keeps it for at least six seconds. Answered Interests are answered by the
        // store, unless that is too small.
        let forgotten = now.since(passed.at).as_millis() >= 6000 || passed.answered && evicts;
        assert!(
            again || forgotten,
            "{from:?} brought round what went before, {passed:?}: {question:?} {nonce}"
        );
        if again {
            passed.came += 1;
        } else {
            self.passed.remove(&(question.clone(), nonce));
        }
    }

    /// An Interest went on.
    #[allow(clippy::too_many_arguments, reason = "all of them are one packet's")]
    fn went(
        &mut self,
        interest: &Interest<'_>,
        from: FaceId,
        question: &Question,
        nonce: u32,
        sent: &Sent,
        expires: Time,
        now: Time,
    ) {
        let other = sent.interest();
        assert_ne!(sent.face, from, "an Interest went back where it came from");
        assert!(sent.nack.is_none());
        assert_eq!(parts(other.name()), question.name);
        assert_eq!(
            (other.can_be_prefix(), other.must_be_fresh()),
            (question.can_be_prefix, question.must_be_fresh)
        );
        assert_eq!((other.forwarding_hint(), other.lifetime()), (&question.hint[..], interest.lifetime()));
        assert_eq!(other.hop_limit(), interest.hop_limit().map(|hops| hops - 1));
        let out_nonce = other.nonce().expect("a Nonce");
        let entry = self.entry(question).expect("it was put there");
        entry.outs.retain(|out| out.face != sent.face);
        entry.outs.push(Out { face: sent.face, nonce: out_nonce, sent: now, expires, nack: None });
        self.sent.push(now);
        // A probe has its own Nonce, and must be known when it comes round, too.
        let new = || Passed { at: now, came: 1, went: BTreeMap::new(), answered: false };
        let passed = self.passed.entry((question.clone(), out_nonce)).or_insert_with(new);
        passed.at = now;
        *passed.went.entry(sent.face).or_default() += 1;
        assert!(
            passed.went[&sent.face] <= passed.came,
            "one Interest went over one way too often: {question:?} {nonce}"
        );
    }

    fn refused(
        &mut self,
        arrival: Arrival<'_>,
        reason: DropReason,
        question: &Question,
        nonce: u32,
        sent: &[Sent],
    ) {
        let Arrival { from, packet, .. } = arrival;
        match reason {
            DropReason::Loop => {
                let seen =
                    self.passed.keys().any(|(other, seen)| *seen == nonce && other.name == question.name)
                        || self.entries.iter().any(|entry| {
                            entry.question == *question
                                && entry.ins.iter().any(|record| record.nonce == nonce)
                        });
                assert!(seen, "wrongly taken for a loop: {question:?} {nonce}");
                let [nack] = sent else { panic!("a loop that the neighbour is not told of") };
                assert_eq!((nack.face, nack.nack), (from, Some(NackReason::DUPLICATE)));
                assert_eq!((&nack.token[..], &nack.packet[..]), (packet.header.pit_token, packet.fragment));
            }
            DropReason::HopLimit => {
                let interest = Interest::parse(packet.fragment).expect("it was read before");
                assert_eq!((interest.hop_limit(), sent.len()), (Some(0), 0));
            }
            other => panic!("an Interest was dropped: {other:?}"),
        }
    }

    fn data(&mut self, arrival: Arrival<'_>, done: Done<'_>) {
        let Arrival { from, packet, now } = arrival;
        let data = Data::parse(packet.fragment).expect("the Data of an application");
        let (asked, others): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(&mut self.entries).into_iter().partition(|entry| {
                entry.outs.iter().any(|out| out.face == from) && entry.question.is_answered_by(&data)
            });
        self.entries = others;
        let wanted = asked.iter().flat_map(|entry| &entry.ins);
        let wanted = wanted.filter(|record| record.expires > now && record.face != from);
        let mut expected: Vec<_> = wanted.map(|record| (record.face, record.token.clone())).collect();
        expected.sort();
        expected.dedup();
        let mut served: Vec<_> = done.sent.iter().map(|sent| (sent.face, sent.token.clone())).collect();
        served.sort();
        assert_eq!(served, expected, "who got {} from {from:?}", data.name());
        assert!(done.sent.iter().all(|sent| sent.packet == packet.fragment && sent.nack.is_none()));
        let result = if asked.is_empty() { Err(DropReason::Unsolicited) } else { Ok(()) };
        assert_eq!(done.result, result);
        if asked.is_empty() {
            return;
        }
        let sent = |entry: &Entry| entry.outs.iter().find(|out| out.face == from).expect("an Interest").sent;
        let samples: Vec<_> =
            asked.iter().map(|entry| (entry.question.name.clone(), now.since(sent(entry)))).collect();
        self.access.measure(&parts(data.name()), &samples, from, now);
        self.kept.insert(packet.fragment.to_vec(), now.after_millis(data.freshness().unwrap_or(0)));
        for entry in &asked {
            for ((question, _), passed) in &mut self.passed {
                passed.answered |= *question == entry.question;
            }
        }
    }

    fn nack(&mut self, arrival: Arrival<'_>, reason: NackReason, done: Done<'_>) {
        let Arrival { from, packet, now } = arrival;
        let interest = Interest::parse(packet.fragment).expect("the Interest of a Nack");
        let question = self.question(&interest);
        let out = self.entry(&question).and_then(|entry| {
            let nonce = interest.nonce();
            let mut outs = entry.outs.iter_mut();
            outs.find(|out| out.face == from && Some(out.nonce) == nonce && out.expires > now)
        });
        let Some(out) = out else {
            assert_eq!((done.result, done.sent), (Err(DropReason::UnexpectedNack), &[][..]));
            return;
        };
        out.nack = Some(reason);
        assert_eq!(done.result, Ok(()));
        let entry = self.entry(&question).expect("it was there");
        let waiting: Vec<FaceId> = entry
            .outs
            .iter()
            .filter(|out| out.nack.is_none() && out.expires > now)
            .map(|out| out.face)
            .collect();
        if waiting.is_empty() && self.access.has(&question.name) && self.tries_others(&question, &done, now) {
            return;
        }
        let entry = self.entry(&question).expect("it was there");
        let told: Vec<In> = match waiting[..] {
            [] => std::mem::take(&mut entry.ins),
            [last] => {
                let told = entry.ins.iter().filter(|record| record.face == last).cloned().collect();
                entry.ins.retain(|record| record.face != last);
                told
            }
            _ => Vec::new(),
        };
        let reasons: Vec<Option<NackReason>> = entry.outs.iter().map(|out| out.nack).collect();
        let told = told.iter().filter(|record| record.expires > now);
        let mut expected: Vec<_> =
            told.map(|record| (record.face, record.token.clone(), record.nonce)).collect();
        expected.sort();
        let sent = done.sent.iter();
        let mut sent: Vec<_> = sent
            .map(|sent| {
                assert!(sent.nack.is_some() && reasons.contains(&sent.nack), "a reason that nobody gave");
                (sent.face, sent.token.clone(), sent.interest().nonce().expect("a Nonce"))
            })
            .collect();
        sent.sort();
        assert_eq!(sent, expected, "who was told that {} came back", interest.name());
        // Nobody waits for it any more.
        self.entries.retain(|entry| !entry.ins.is_empty());
    }
}
