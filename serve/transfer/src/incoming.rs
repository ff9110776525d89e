//! The messages of a response to AXFR or IXFR, as a state machine (RFC 5936 §2.2, RFC 1995 §4).

use crate::delta::Delta;
use crate::records::{Record, Records};
use crate::soa::Soa;
use hashlane_dns::wire::{self, Class, Flags, Message, Opcode, ParseError, Rcode, RecordType, Section};
use hashlane_dns::zone::is_before;
use hashlane_name::dns::{Name, NameBuf};

/// A query for a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The whole zone: AXFR.
    Whole,
    /// The changes since a serial number: IXFR.
    Since(u32),
}

/// The result of the messages so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More messages follow.
    More,
    /// The zone has not changed.
    Unchanged,
    /// The whole zone with this serial number: its records were passed on.
    Whole(u32),
    /// The differences, in order, each beginning where the one before ends.
    Deltas(Vec<Delta>),
}

/// Reasons for which a transfer is given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The message is malformed.
    #[error("{0}")]
    Message(#[from] ParseError),
    /// The message is not a response to the query.
    #[error("a message that is no response to the query")]
    NoResponse,
    /// The primary refuses the transfer.
    #[error("the primary answers with {0}")]
    Rcode(Rcode),
    /// The transfer does not begin with the SOA record of the zone, or the message has no record.
    #[error("the response does not begin with the zone's SOA record")]
    NoSoa,
    /// The primary does not answer for the zone.
    #[error("the primary has no authority for the zone: it answers with {0}")]
    NoAuthority(Rcode),
    /// The zone of the primary is older.
    #[error("the primary has serial {theirs}, before {ours}; `dns control retransfer` takes it")]
    Older {
        /// Serial number of the primary.
        theirs: u32,
        /// Serial number of this server.
        ours: u32,
    },
    /// The primary has announced a newer version than it sends.
    #[error(
        "the primary announces a newer version, and sends serial {theirs}; another server may answer there"
    )]
    Announced {
        /// Serial number that it sends.
        theirs: u32,
    },
    /// Differences do not follow each other.
    #[error("a difference from serial {from}, but the one before it ends at {expected}")]
    Chain {
        /// Serial number before the difference.
        from: u32,
        /// Serial number after the difference before.
        expected: u32,
    },
    /// A record of another class, or outside of the zone.
    #[error("{owner} {rtype}: a record that the zone cannot have")]
    Foreign {
        /// Owner of the record.
        owner: Box<NameBuf>,
        /// Type of the record.
        rtype: RecordType,
    },
    /// Records follow the last one.
    #[error("records follow the SOA record that ends the transfer")]
    Trailing,
    /// The transfer has more bytes than it may have.
    #[error("more than {0} bytes of records; raise `transfer.max_bytes` if the zone is that large")]
    TooLong(u64),
    /// The receiver of the records refuses one.
    #[error("{0}")]
    Refused(String),
}

/// Receives the records of a whole zone, the SOA record once.
pub type Sink<'s> = &'s mut dyn FnMut(&Record<'_>) -> Result<(), String>;

/// A transfer that is being received.
#[derive(Debug)]
pub struct Incoming {
    apex: NameBuf,
    id: u16,
    query: Query,
    state: State,
    /// Bytes of records that may still come, and of all.
    left: u64,
    most: u64,
}

#[derive(Debug)]
enum State {
    /// Nothing has come.
    Start,
    /// The SOA record has come, and nothing else: the response may have either form.
    First(Soa, Records),
    /// A whole zone.
    Whole(Soa),
    /// Differences up to the first SOA record.
    Deltas {
        last: u32,
        all: Vec<Delta>,
        removed: Records,
        added: Records,
        is_adding: bool,
    },
    Ended,
}

impl Incoming {
    /// A transfer of the zone `apex` that was asked for with `id`, of at most `most` bytes of records.
    pub fn new(apex: Name<'_>, id: u16, query: Query, most: u64) -> Self {
        Self { apex: apex.into(), id, query, state: State::Start, left: most, most }
    }

    /// Takes the next message, without its length and its signature, and passes the records of a whole zone
    /// to `sink`.
    ///
    /// # Errors
    /// The transfer has failed; what `sink` has received is of no use.
    pub fn message(&mut self, bytes: &[u8], sink: Sink<'_>) -> Result<Progress, TransferError> {
        let is_first = matches!(self.state, State::Start);
        let mut records = check(bytes, (self.apex.view(), self.id, self.rtype()), is_first)?;
        let (mut count, mut done) = (0, None);
        for record in records.by_ref() {
            let record = record?;
            match record.section {
                Section::Answer if done.is_some() => return Err(TransferError::Trailing),
                Section::Answer => {
                    count += 1;
                    done = self.record(&record, sink)?;
                }
                // An OPT record.
                _ => {}
            }
        }
        if records.at() < bytes.len() {
            return Err(ParseError::TrailingBytes { at: records.at() }.into());
        }
        match (&self.state, self.query, done) {
            (.., Some(done)) => {
                self.state = State::Ended;
                Ok(done)
            }
            _ if count == 0 => Err(TransferError::NoSoa),
            // The SOA record of this version alone: there is nothing new. A newer one begins a transfer with
            // a record in each message.
            (State::First(soa, _), Query::Since(ours), None) if is_first && soa.serial == ours => {
                self.state = State::Ended;
                Ok(Progress::Unchanged)
            }
            _ => Ok(Progress::More),
        }
    }

    fn rtype(&self) -> RecordType {
        match self.query {
            Query::Whole => RecordType::AXFR,
            Query::Since(_) => RecordType::IXFR,
        }
    }

    fn record(&mut self, record: &wire::Record, sink: Sink<'_>) -> Result<Option<Progress>, TransferError> {
        let owner = record.owner.view();
        if record.class != Class::IN || !owner.is_within(self.apex.view()) {
            return Err(TransferError::Foreign { owner: Box::new(record.owner), rtype: record.rtype });
        }
        // Owner, type, TTL, length and data, as they are kept.
        let bytes = (owner.len() + 8 + record.data.len()) as u64;
        self.left = self.left.checked_sub(bytes).ok_or(TransferError::TooLong(self.most))?;
        let flat = Record { owner, rtype: record.rtype, ttl: record.ttl, data: &record.data };
        let soa = match record.rtype {
            RecordType::SOA if owner.eq_ignore_case(self.apex.view()) => {
                Some(Soa::parse(&record.data).ok_or(TransferError::NoSoa)?)
            }
            _ => None,
        };
        self.step(&flat, soa, &mut |record| sink(record).map_err(TransferError::Refused))
    }

    /// Takes a record; `soa` has the numbers of the zone's SOA record if it is one.
    fn step(
        &mut self,
        record: &Record<'_>,
        soa: Option<Soa>,
        sink: &mut dyn FnMut(&Record<'_>) -> Result<(), TransferError>,
    ) -> Result<Option<Progress>, TransferError> {
        match (std::mem::replace(&mut self.state, State::Ended), soa) {
            (State::Start, Some(soa)) => {
                if let Query::Since(ours) = self.query
                    && is_before(soa.serial, ours)
                {
                    return Err(TransferError::Older { theirs: soa.serial, ours });
                }
                let mut first = Records::default();
                first.push(record);
                self.state = State::First(soa, first);
            }
            (State::Start, None) => return Err(TransferError::NoSoa),
            (State::First(first, kept), Some(soa)) => match self.query {
                _ if soa.serial == first.serial => {
                    kept.iter().try_for_each(|record| sink(&record))?;
                    return Ok(Some(Progress::Whole(soa.serial)));
                }
                Query::Since(ours) if soa.serial == ours => {
                    let (mut removed, all) = (Records::default(), Vec::new());
                    removed.push(record);
                    let added = Records::default();
                    self.state = State::Deltas { last: first.serial, all, removed, added, is_adding: false };
                }
                Query::Since(expected) => return Err(TransferError::Chain { from: soa.serial, expected }),
                Query::Whole => {
                    return Err(TransferError::Chain { from: soa.serial, expected: first.serial });
                }
            },
            (State::First(soa, kept), None) => {
                kept.iter().try_for_each(|record| sink(&record))?;
                sink(record)?;
                self.state = State::Whole(soa);
            }
            (State::Whole(first), Some(soa)) => {
                let (from, expected) = (soa.serial, first.serial);
                return match from == expected {
                    true => Ok(Some(Progress::Whole(from))),
                    false => Err(TransferError::Chain { from, expected }),
                };
            }
            (State::Whole(soa), None) => {
                sink(record)?;
                self.state = State::Whole(soa);
            }
            (State::Deltas { last, all, mut removed, mut added, is_adding }, None) => {
                if is_adding { &mut added } else { &mut removed }.push(record);
                self.state = State::Deltas { last, all, removed, added, is_adding };
            }
            (State::Deltas { last, all, removed, mut added, is_adding: false }, Some(_)) => {
                added.push(record);
                self.state = State::Deltas { last, all, removed, added, is_adding: true };
            }
            (State::Deltas { last, mut all, removed, added, is_adding: true }, Some(soa)) => {
                let delta = Delta::new(removed, added).map_err(|_| TransferError::NoSoa)?;
                let (from, expected) = (soa.serial, delta.to());
                if from != expected {
                    return Err(TransferError::Chain { from, expected });
                }
                all.push(delta);
                if from == last {
                    return Ok(Some(Progress::Deltas(all)));
                }
                let mut removed = Records::default();
                removed.push(record);
                self.state =
                    State::Deltas { last, all, removed, added: Records::default(), is_adding: false };
            }
            (State::Ended, _) => return Err(TransferError::Trailing),
        }
        Ok(None)
    }
}

/// Checks a message of the response, and returns its records.
fn check<'m>(
    bytes: &'m [u8],
    (apex, id, rtype): (Name<'_>, u16, RecordType),
    is_first: bool,
) -> Result<wire::Records<'m>, TransferError> {
    let message = Message::parse(bytes)?;
    let header = message.header();
    let flags = header.flags;
    if header.id != id || !flags.contains(Flags::RESPONSE) || flags.opcode() != Opcode::QUERY {
        return Err(TransferError::NoResponse);
    }
    if flags.rcode() != Rcode::NO_ERROR {
        return Err(TransferError::Rcode(flags.rcode()));
    }
    let (questions, records) = message.questions()?;
    // The first message has the question (RFC 5936 §2.2.1).
    let is_ours = match &questions[..] {
        [] => !is_first,
        [one] => one.name.view().eq_ignore_case(apex) && one.rtype == rtype && one.class == Class::IN,
        _ => false,
    };
    if !is_ours || flags.contains(Flags::TRUNCATED) {
        return Err(TransferError::NoResponse);
    }
    Ok(records)
}
