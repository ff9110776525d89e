//! Primaries: honest ones, ones that lag behind, and ones that lie.

use crate::Dice;
use crate::versions::{KEY, Versions, apex};
use hashlane_dns::wire::{
    Class, Content, Flags, Header, Message, Question, Rcode, Record, RecordType, Section,
};
use hashlane_dns::zone::{Zone, is_before};
use hashlane_name::dns::text;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::outgoing::{Outgoing, Writers};
use hashlane_transfer::soa::Soa;
use hashlane_transfer::tsig::{Checked, Key, Keys, Signer};
use std::collections::VecDeque;
use std::sync::Arc;

/// Lies that a secondary notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// The stream ends early.
    Cut,
    /// A name of another zone.
    Foreign,
    /// A record of another class.
    Class,
    /// Records without an end.
    Endless,
    /// The last SOA record is of another version.
    WrongEnd,
    /// A difference adds a record that the zone has; the whole zone is the truth.
    WrongDelta,
    /// Records after the end.
    Trailing,
    /// A response to another query.
    WrongId,
    /// REFUSED.
    Refused,
    /// Bytes that are no message.
    Garbage,
    /// Nothing at all.
    Silent,
    /// A later serial number than any version has, and then an old version.
    Old,
    /// A bit that differs from what was signed.
    Flipped,
}

impl Lie {
    pub(crate) const ALL: [Self; 13] = [
        Self::Cut,
        Self::Foreign,
        Self::Class,
        Self::Endless,
        Self::WrongEnd,
        Self::WrongDelta,
        Self::Trailing,
        Self::WrongId,
        Self::Refused,
        Self::Garbage,
        Self::Silent,
        Self::Old,
        Self::Flipped,
    ];
}

/// A primary.
pub(crate) struct Primary {
    /// Versions that it has not seen yet.
    behind: usize,
    pub(crate) lie: Option<Lie>,
    /// Versions that its differences go back.
    history: usize,
}

/// The key that the secondary and all primaries have.
pub(crate) fn key() -> Key {
    let name = text::parse(b"key.example").unwrap();
    Key::new(name.view(), "hmac-sha256", "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0").unwrap()
}

/// A response: messages, and one that follows them without an end.
#[derive(Default)]
pub(crate) struct Stream {
    messages: VecDeque<Vec<u8>>,
    endless: Option<(Vec<u8>, Box<Signer>, u64)>,
}

impl Stream {
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let Self { messages, endless } = self;
        messages.pop_front().or_else(|| {
            let (message, signer, now) = endless.as_mut()?;
            let mut message = message.clone();
            signer.sign(&mut message, *now);
            Some(message)
        })
    }
}

impl Primary {
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let mut primary = Self { history: dice.below(20), ..Self::honest() };
        primary.change(dice);
        primary
    }

    pub(crate) fn honest() -> Self {
        Self { behind: 0, lie: None, history: usize::MAX }
    }

    /// Lags behind, lies, or stops to.
    pub(crate) fn change(&mut self, dice: &mut Dice) {
        (self.behind, self.lie) = match dice.below(4) {
            0 => (0, None),
            1 => (dice.below(4), None),
            _ => (dice.below(2), Some(Lie::ALL[dice.below(Lie::ALL.len())])),
        };
    }

    /// Has all versions from now on. An honest one does not lie any more.
    pub(crate) fn settle(&mut self, is_honest: bool) {
        self.behind = 0;
        if is_honest {
            self.lie = None;
        }
    }

    /// The response to a query.
    pub(crate) fn respond(
        &self,
        mut query: Vec<u8>,
        versions: &Versions,
        now: u64,
        dice: &mut Dice,
    ) -> Stream {
        let keys: Keys = [key()].into_iter().collect();
        let Checked::Signed(mut signer) = keys.check(&mut query, now) else { panic!("not signed") };
        let parsed = Content::parse(&query).unwrap();
        let question = parsed.questions[0].clone();
        let at = versions.zones.len().saturating_sub(1 + self.behind);
        let is_transfer = question.rtype != RecordType::SOA;
        let mut records = match question.rtype {
            RecordType::SOA => vec![soa(&versions.zones[at], self.lie)],
            RecordType::AXFR => whole(self.older(versions, at)),
            _ => {
                let ours = Soa::parse(&parsed.records[0].data).unwrap().serial;
                self.since(ours, versions, at, dice)
            }
        };
        let is_refused = self.lie == Some(Lie::Refused)
            || (self.lie == Some(Lie::Old) && question.rtype == RecordType::IXFR);
        let mut stream = Stream::default();
        if self.lie == Some(Lie::Silent) {
            return stream;
        }
        if is_transfer {
            self.bend(&mut records, dice);
        }
        let mut header = Header { id: parsed.header.id, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
        if is_refused {
            header.flags = header.flags.with_rcode(Rcode::REFUSED);
            records.clear();
        }
        if self.lie == Some(Lie::WrongId) {
            header.id ^= 1;
        }
        stream.messages = messages(header, question, &records, dice);
        let last = stream.messages.back().cloned().filter(|_| is_transfer && self.lie == Some(Lie::Endless));
        for message in &mut stream.messages {
            if self.lie == Some(Lie::Garbage) {
                *message = (0..dice.below(60)).map(|_| dice.below(256) as u8).collect();
            }
            if message.len() >= 12 && self.lie != Some(Lie::Garbage) {
                signer.sign(message, now);
            }
            if self.lie == Some(Lie::Flipped) {
                // Not in the signature, where a letter's case is free.
                let at = dice.below(message.len() - key().room());
                message[at] ^= 1 << dice.below(8);
            }
        }
        stream.endless = last.map(|message| (message, signer, now));
        stream
    }

    /// Version of the whole zone that is sent.
    fn older<'v>(&self, versions: &'v Versions, at: usize) -> &'v Arc<Zone> {
        let at = if self.lie == Some(Lie::Old) { at.saturating_sub(3) } else { at };
        &versions.zones[at]
    }

    /// The response to IXFR.
    fn since(&self, ours: u32, versions: &Versions, at: usize, dice: &mut Dice) -> Vec<Record> {
        let newest = &versions.zones[at];
        let outgoing = |deltas| Outgoing::deltas(0, apex().view(), Arc::clone(newest), deltas);
        if !is_before(ours, newest.serial()) {
            return records(outgoing(Vec::new()));
        }
        let oldest = at.saturating_sub(self.history);
        let first = (oldest..at).find(|at| versions.deltas[*at].from() == ours);
        let Some(first) = first else { return whole(newest) };
        let deltas = versions.deltas[first..at].to_vec();
        match dice.once_in(2) {
            true => records(outgoing(vec![Arc::new(Delta::condense(&deltas, &KEY).unwrap())])),
            false => records(outgoing(deltas)),
        }
    }

    /// Makes a lie of the records of a transfer.
    fn bend(&self, records: &mut Vec<Record>, dice: &mut Dice) {
        let (first, last) = (records[0].clone(), records.len() - 1);
        let host =
            Record { owner: text::parse(b"new.example").unwrap(), rtype: RecordType::A, ..first.clone() };
        let host = Record { data: vec![192, 0, 2, 1], ..host };
        match self.lie {
            // The answer that there is nothing new has one record.
            _ if last == 0 => {}
            Some(Lie::Cut) => records.truncate(1 + dice.below(last)),
            Some(Lie::Foreign) => {
                let owner = text::parse(b"host.other").unwrap();
                records.insert(1 + dice.below(last), Record { owner, ..host });
            }
            Some(Lie::Class) => records.insert(1 + dice.below(last), Record { class: Class::CH, ..host }),
            Some(Lie::Endless) => {
                records.truncate(last);
                records.extend(std::iter::repeat_n(host, 50));
            }
            Some(Lie::WrongEnd) => {
                let data = &mut records[last].data;
                let serial = data.len() - 17;
                data[serial] ^= 1;
            }
            Some(Lie::WrongDelta) if records[1].rtype == RecordType::SOA => {
                // Among the records that are added, as the difference before the end.
                let data = b"\x02ns\x07example\0".to_vec();
                records.insert(last, Record { owner: apex(), rtype: RecordType::NS, data, ..host });
            }
            Some(Lie::Trailing) => records.push(host),
            _ => {}
        }
    }
}

/// The answer to a query for the SOA record.
fn soa(zone: &Arc<Zone>, lie: Option<Lie>) -> Record {
    let outgoing = Outgoing::deltas(0, apex().view(), Arc::clone(zone), Vec::new());
    let mut record = records(outgoing).remove(0);
    if lie == Some(Lie::Old) {
        let place = record.data.len() - 20;
        let later = zone.serial().wrapping_add(1000);
        record.data[place..place + 4].copy_from_slice(&later.to_be_bytes());
    }
    record
}

fn whole(zone: &Arc<Zone>) -> Vec<Record> {
    records(Outgoing::whole(0, (apex().view(), RecordType::AXFR), Arc::clone(zone)))
}

/// All records of a response.
fn records(mut outgoing: Outgoing) -> Vec<Record> {
    let (mut writers, mut all) = (Writers::new(&KEY), Vec::new());
    while let Some(message) = outgoing.write(&mut writers, 0).unwrap() {
        let (_, records) = Message::parse(message).unwrap().questions().unwrap();
        all.extend(records.map(|record| Record { section: Section::Answer, ..record.unwrap() }));
    }
    all
}

/// Records in messages of random lengths; the last one keeps what follows the end.
fn messages(header: Header, question: Question, records: &[Record], dice: &mut Dice) -> VecDeque<Vec<u8>> {
    let (mut rest, mut all) = (records, VecDeque::new());
    loop {
        let len = (1 + dice.below(40)).min(rest.len());
        let len = if rest.len() - len < 2 { rest.len() } else { len };
        let (now, later) = rest.split_at(len);
        let questions = if all.is_empty() { vec![question.clone()] } else { Vec::new() };
        let content = Content { header, questions, records: now.to_vec() };
        all.push_back(content.uncompressed().unwrap());
        if later.is_empty() {
            return all;
        }
        rest = later;
    }
}
