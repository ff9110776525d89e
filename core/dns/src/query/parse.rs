//! Parsing of one datagram, and the response it calls for.

use super::opt::Opt;
use crate::render::Edns;
use crate::wire::{Class, Flags, HEADER_LEN, Header, Message, Opcode, Rcode, RecordType, Section};
use core::ops::Range;
use hashlane_name::dns::Name;

/// Bytes of a UDP response at most, unless the query's OPT record allows more (RFC 1035 §4.2.1).
const PLAIN_LIMIT: u16 = 512;

/// Answer, refusal or silence: the response of a name server to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'d> {
    /// Answers it.
    Answer(Query<'d>),
    /// Answers with an error alone.
    Refuse(Refusal<'d>),
    /// Sends nothing.
    Drop(DropReason),
}

/// A query with one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'d> {
    /// Identifier, flags and opcode, which is QUERY.
    pub header: Header,
    /// The name of the question, in the spelling of the datagram.
    pub name: Name<'d>,
    /// The type of the question.
    pub rtype: RecordType,
    /// The class.
    pub class: Class,
    /// The OPT record, of version 0. Its payload is as it was sent; see [`limit`](Self::limit).
    pub edns: Option<Edns<'d>>,
    /// The last record is a TSIG record (RFC 8945), which is not verified.
    pub is_signed: bool,
}

impl Query<'_> {
    /// Bytes of a UDP response at most: 512, or the payload size of the OPT record if that is more (RFC 6891
    /// §6.2.3).
    pub fn limit(&self) -> usize {
        usize::from(self.edns.map_or(PLAIN_LIMIT, |edns| edns.payload.max(PLAIN_LIMIT)))
    }
}

/// A message that is answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal<'d> {
    /// Identifier, flags and opcode of the message.
    pub header: Header,
    /// [`FORMAT_ERROR`](Rcode::FORMAT_ERROR), [`NOT_IMPLEMENTED`](Rcode::NOT_IMPLEMENTED) or
    /// [`BAD_VERSION`](Rcode::BAD_VERSION).
    pub rcode: Rcode,
    /// True if the response must have an OPT record, as the message has one (RFC 6891 §6.1.1).
    pub edns: bool,
    /// The question, if the message has no other fault than its version of EDNS: name, type and class.
    pub question: Option<(Name<'d>, RecordType, Class)>,
}

/// Reasons why a datagram gets no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// Fewer bytes than a header: there is nothing to put into a response's header (RFC 1035 §4.1.1).
    TooShort,
    /// A response. Answering it could start a loop between two servers.
    Response,
}

/// Parses a datagram.
///
/// - Opcodes other than QUERY are refused with NOTIMP (RFC 1035 §4.1.1); nothing after the header is read.
/// - A QUERY must have one question (RFC 9619 §4), whose name is whole: a pointer in the first name of a
///   message could only lead into its header. Queries without a question, which may ask for a cookie (RFC
///   7873 §5.4), are refused, as from a server without cookies.
/// - Records are skipped, to the last byte of the datagram. The additional section may have one OPT record,
///   owned by the root (RFC 6891 §6.1.1 and §6.1.2). Other records are not read.
/// - A version of EDNS other than 0 is refused with BADVERS (RFC 6891 §6.1.3). The options of version 0 must
///   fill the OPT record.
/// - All other errors are refused with FORMERR.
#[inline]
pub fn parse(datagram: &[u8]) -> Outcome<'_> {
    let Ok(message) = Message::parse(datagram) else { return Outcome::Drop(DropReason::TooShort) };
    let header = message.header();
    if header.flags.contains(Flags::RESPONSE) {
        return Outcome::Drop(DropReason::Response);
    }
    let refuse = |rcode, edns| Outcome::Refuse(Refusal { header, rcode, edns, question: None });
    if header.flags.opcode() != Opcode::QUERY {
        return refuse(Rcode::NOT_IMPLEMENTED, false);
    }
    let mut rest = Rest { datagram, at: HEADER_LEN };
    let [questions, records @ ..] = Section::ALL.map(|section| message.count(section));
    let Some((name, rtype, class)) = rest.question().filter(|_| questions == 1) else {
        return refuse(Rcode::FORMAT_ERROR, false);
    };
    let mut opt = None;
    let Some(last) = rest.records(records, &mut opt).filter(|_| rest.at == datagram.len()) else {
        return refuse(Rcode::FORMAT_ERROR, opt.is_some());
    };
    let is_signed = last.is_some_and(|(rtype, _)| rtype == RecordType::TSIG);
    match opt.map(Opt::edns).transpose() {
        Ok(edns) => Outcome::Answer(Query { header, name, rtype, class, edns, is_signed }),
        Err(rcode) => {
            let question = (rcode == Rcode::BAD_VERSION).then_some((name, rtype, class));
            Outcome::Refuse(Refusal { header, rcode, edns: true, question })
        }
    }
}

/// Makes a response empty but for its questions and its OPT record, and sets TC.
/// Returns its length; `None`, and nothing is changed, if the message is malformed.
pub fn truncate(response: &mut [u8]) -> Option<usize> {
    let (end, opt) = parts(response)?;
    let len = end + opt.len();
    response.copy_within(opt.clone(), end);
    if let Some([_, _, flags, _, _, _, counts @ ..]) = response.first_chunk_mut::<HEADER_LEN>() {
        *flags |= (Flags::TRUNCATED.0 >> 8) as u8;
        *counts = [0, 0, 0, 0, 0, u8::from(!opt.is_empty())];
    }
    Some(len)
}

/// Offset of the TSIG record of a message (RFC 8945 §5.1), its last one; `None` if the message has none, or
/// is malformed.
pub fn signature(message: &[u8]) -> Option<usize> {
    let counts = Message::parse(message).ok()?;
    let [questions, records @ ..] = Section::ALL.map(|section| counts.count(section));
    let mut rest = Rest { datagram: message, at: HEADER_LEN };
    for _ in 0..questions {
        rest.skip_name()?;
        rest.take::<4>()?;
    }
    let (rtype, start) = rest.records(records, &mut None)??;
    (rtype == RecordType::TSIG && rest.at == message.len()).then_some(start)
}

/// The offset after the questions of a message, and the place of its OPT record, empty if it has none.
fn parts(message: &[u8]) -> Option<(usize, Range<usize>)> {
    let counts = Message::parse(message).ok()?;
    let [questions, records @ ..] = Section::ALL.map(|section| counts.count(section));
    let mut rest = Rest { datagram: message, at: HEADER_LEN };
    for _ in 0..questions {
        rest.question()?;
    }
    let (end, mut opt) = (rest.at, None);
    rest.records(records, &mut opt)?;
    // The root, ten bytes, and the options.
    let place = opt.map_or(end..end, |opt| opt.start..opt.start + 11 + opt.options.len());
    Some((end, place))
}

/// The part of a datagram that was not read yet.
struct Rest<'d> {
    datagram: &'d [u8],
    at: usize,
}

impl<'d> Rest<'d> {
    /// Empty beyond the end, as after a label that is longer than the datagram: what comes next is missing
    /// then, which is an error.
    #[inline(always)]
    fn bytes(&self) -> &'d [u8] {
        self.datagram.get(self.at..).unwrap_or_default()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.bytes().first_chunk()?;
        self.at += N;
        Some(*bytes)
    }

    #[inline(always)]
    fn question(&mut self) -> Option<(Name<'d>, RecordType, Class)> {
        let name = Name::parse_first(self.bytes()).ok()?;
        self.at += name.len();
        let [a, b, c, d] = self.take()?;
        Some((name, RecordType(u16::from_be_bytes([a, b])), Class(u16::from_be_bytes([c, d]))))
    }

    /// Skips `counts` records of each section, and returns the one OPT record in `opt`. Returns the type and
    /// the offset of the last additional record, if there is one; `None` if a rule is broken.
    #[inline]
    fn records(
        &mut self,
        counts: [usize; 3],
        opt: &mut Option<Opt<'d>>,
    ) -> Option<Option<(RecordType, usize)>> {
        let mut last = None;
        for (section, count) in Section::ALL.into_iter().skip(1).zip(counts) {
            for _ in 0..count {
                let (start, root) = (self.at, self.bytes().first() == Some(&0));
                self.skip_name()?;
                let [a, b, c, d, ttl @ .., e, f] = self.take::<10>()?;
                let len = usize::from(u16::from_be_bytes([e, f]));
                let data = self.bytes().get(..len)?;
                self.at += len;
                let rtype = RecordType(u16::from_be_bytes([a, b]));
                last = (section == Section::Additional).then_some((rtype, start));
                if rtype == RecordType::OPT {
                    if section != Section::Additional || !root || opt.is_some() {
                        return None;
                    }
                    *opt = Some(Opt { start, payload: u16::from_be_bytes([c, d]), ttl, options: data });
                }
            }
        }
        Some(last)
    }

    /// Walks over a name, which may end in a pointer.
    #[inline]
    fn skip_name(&mut self) -> Option<()> {
        loop {
            match *self.bytes() {
                [0, ..] => {
                    self.at += 1;
                    return Some(());
                }
                [len @ 1..=63, ..] => self.at += 1 + usize::from(len),
                [0xc0..=0xff, _, ..] => {
                    self.at += 2;
                    return Some(());
                }
                _ => return None,
            }
        }
    }
}
