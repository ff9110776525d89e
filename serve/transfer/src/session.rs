//! The questions that a secondary asks one primary about a zone, as a state machine: its SOA record, then the
//! differences from the version in service, and the whole zone if they fail (RFC 1995 §4, RFC 5936 §6).

use crate::incoming::{Incoming, Progress, Query, Sink, TransferError};
use crate::notify::{soa_query, transfer_query};
use crate::soa::Soa;
use hashlane_dns::wire::{Flags, Message, Opcode, Rcode, RecordType, Section};
use hashlane_dns::zone::is_before;
use hashlane_name::dns::{Name, NameBuf};

/// A secondary and one of its primaries.
#[derive(Debug)]
pub struct Session {
    apex: NameBuf,
    /// Serial number in service; `None` to take the whole zone whatever its number.
    ours: Option<u32>,
    /// Serial number that a NOTIFY has named.
    announced: Option<u32>,
    /// Most bytes of the records of one transfer.
    most: u64,
    question: Question,
    asked: Option<Asked>,
}

/// The next question, or the one that was asked last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Soa(u32),
    Transfer(Query),
}

/// The response that is awaited.
#[derive(Debug)]
enum Asked {
    Soa { id: u16, ours: u32 },
    Transfer(Box<Incoming>),
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Further messages of the response follow.
    More,
    /// Send the next [query](Session::query), on the same connection.
    Ask,
    /// The primary does not have the [announced](Session::announced) version; another may.
    Behind,
    /// The outcome; never [`Progress::More`].
    Done(Progress),
}

impl Session {
    /// A session about the zone `apex`. `ours` is the serial number in service; without it, the whole zone is
    /// asked for, and taken whatever its number. A transfer has at most `most` bytes of records.
    pub fn new(apex: Name<'_>, ours: Option<u32>, most: u64) -> Self {
        let question = ours.map_or(Question::Transfer(Query::Whole), Question::Soa);
        Self { apex: apex.into(), ours, announced: None, most, question, asked: None }
    }

    /// A primary with an earlier version than a NOTIFY named, if it is newer than ours, is
    /// [behind](Step::Behind).
    pub fn announced(self, announced: Option<u32>) -> Self {
        Self { announced, ..self }
    }

    /// The query to send now. What was received of a response before is of no use. `id` should be random.
    pub fn query(&mut self, id: u16) -> Vec<u8> {
        let apex = self.apex.view();
        match self.question {
            Question::Soa(ours) => {
                self.asked = Some(Asked::Soa { id, ours });
                soa_query(apex, id)
            }
            Question::Transfer(query) => {
                let incoming = Incoming::new(apex, id, query, self.most);
                self.asked = Some(Asked::Transfer(Box::new(incoming)));
                transfer_query(apex, id, query)
            }
        }
    }

    /// Takes the next message, without its length and its signature, and passes the records of a whole zone
    /// to `sink`.
    ///
    /// # Errors
    /// The response is refused. [`fall_back`](Self::fall_back) tells if the whole zone should be asked for.
    pub fn message(&mut self, bytes: &[u8], sink: Sink<'_>) -> Result<Step, TransferError> {
        match &mut self.asked {
            None => Err(TransferError::NoResponse),
            Some(Asked::Soa { id, ours }) => {
                let (ours, theirs) = (*ours, answered_serial(bytes, self.apex.view(), *id)?);
                self.asked = None;
                let is_awaited = |announced| is_before(ours, announced) && is_before(theirs, announced);
                if self.announced.is_some_and(is_awaited) {
                    return Ok(Step::Behind);
                }
                if theirs == ours {
                    return Ok(Step::Done(Progress::Unchanged));
                }
                if is_before(theirs, ours) {
                    return Err(TransferError::Older { theirs, ours });
                }
                self.question = Question::Transfer(Query::Since(ours));
                Ok(Step::Ask)
            }
            Some(Asked::Transfer(incoming)) => {
                let theirs = match (incoming.message(bytes, sink)?, self.ours) {
                    (Progress::More, _) => return Ok(Step::More),
                    (Progress::Unchanged, Some(ours)) => ours,
                    (Progress::Whole(theirs), Some(ours)) if !is_before(ours, theirs) => theirs,
                    (progress, _) => return Ok(Step::Done(progress)),
                };
                // Several servers behind one address, or a lie: the whole zone would not be newer.
                (self.question, self.asked) = (Question::Soa(self.ours.unwrap_or(theirs)), None);
                Err(TransferError::Announced { theirs })
            }
        }
    }

    /// Has the whole zone asked for if differences were asked for: they were refused, did not apply, or the
    /// connection was cut. Returns false if there is nothing else to ask.
    pub fn fall_back(&mut self) -> bool {
        let falls = matches!(self.question, Question::Transfer(Query::Since(_)));
        if falls {
            (self.question, self.asked) = (Question::Transfer(Query::Whole), None);
        }
        falls
    }
}

/// The serial number in a response to the question for the SOA record.
fn answered_serial(bytes: &[u8], apex: Name<'_>, id: u16) -> Result<u32, TransferError> {
    let message = Message::parse(bytes)?;
    let header = message.header();
    let flags = header.flags;
    if header.id != id || !flags.contains(Flags::RESPONSE) || flags.opcode() != Opcode::QUERY {
        return Err(TransferError::NoResponse);
    }
    if flags.rcode() != Rcode::NO_ERROR || !flags.contains(Flags::AUTHORITATIVE) {
        return Err(TransferError::NoAuthority(flags.rcode()));
    }
    let (_, records) = message.questions()?;
    for record in records {
        let record = record?;
        if (record.section, record.rtype) == (Section::Answer, RecordType::SOA)
            && record.owner.view().eq_ignore_case(apex)
        {
            return Soa::parse(&record.data).map(|soa| soa.serial).ok_or(TransferError::NoSoa);
        }
    }
    Err(TransferError::NoSoa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::dns::text;

    /// A response to a query for the SOA record.
    fn answer(query: &[u8], serial: u32) -> Vec<u8> {
        let mut message = query.to_vec();
        (message[2], message[7]) = (0x84, 1);
        let data = [&[0, 0][..], &serial.to_be_bytes(), &[0; 16]].concat();
        message.extend_from_slice(&[0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        message.extend_from_slice(&data);
        message
    }

    fn step(ours: u32, theirs: u32) -> Result<Step, TransferError> {
        let apex = text::parse(b"example").unwrap();
        let mut session = Session::new(apex.view(), Some(ours), 1000);
        let query = session.query(7);
        session.message(&answer(&query, theirs), &mut |_| Ok(()))
    }

    #[test]
    fn differences_are_asked_for_if_the_primary_is_ahead() {
        assert_eq!(step(5, 5), Ok(Step::Done(Progress::Unchanged)));
        assert_eq!(step(5, 6), Ok(Step::Ask));
        assert_eq!(step(u32::MAX, 0), Ok(Step::Ask), "serial numbers go round");
        assert_eq!(step(5, 4), Err(TransferError::Older { theirs: 4, ours: 5 }));
    }

    #[test]
    fn a_primary_without_the_announced_version_is_behind() {
        let apex = text::parse(b"example").unwrap();
        for (announced, theirs, expected) in [
            (7, 6, Step::Behind),
            (7, 5, Step::Behind),
            (7, 7, Step::Ask),
            // An announcement that is old.
            (5, 5, Step::Done(Progress::Unchanged)),
        ] {
            let mut session = Session::new(apex.view(), Some(5), 1000).announced(Some(announced));
            let query = session.query(7);
            let step = session.message(&answer(&query, theirs), &mut |_| Ok(())).unwrap();
            assert_eq!(step, expected, "{announced}, {theirs}");
        }
    }

    #[test]
    fn the_whole_zone_is_asked_for_once_after_differences() {
        let apex = text::parse(b"example").unwrap();
        let mut session = Session::new(apex.view(), Some(5), 1000);
        assert!(!session.fall_back(), "the SOA record was not answered");
        let query = session.query(7);
        session.message(&answer(&query, 6), &mut |_| Ok(())).unwrap();
        assert_eq!(session.query(8), transfer_query(apex.view(), 8, Query::Since(5)));
        assert!(session.message(b"", &mut |_| Ok(())).is_err());
        assert!(session.fall_back());
        assert_eq!(session.query(9), transfer_query(apex.view(), 9, Query::Whole));
        assert!(!session.fall_back());
    }

    #[test]
    fn a_message_without_a_question_is_refused() {
        let apex = text::parse(b"example").unwrap();
        let mut session = Session::new(apex.view(), None, 1000);
        assert_eq!(session.message(&[0; 12], &mut |_| Ok(())), Err(TransferError::NoResponse));
        let query = session.query(7);
        assert_eq!(query, transfer_query(apex.view(), 7, Query::Whole));
        assert_eq!(session.message(&answer(&query, 1), &mut |_| Ok(())), Ok(Step::More));
    }
}
