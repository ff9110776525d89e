//! Check of an answer: a server that answers wrongly must not look fast.

use crate::queries::{HEADER, Query};

/// Rule that an answer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("shorter than a header")]
    Short,
    /// Not a response, or truncated.
    #[error("flags {0:#06x}")]
    Flags(u16),
    #[error("rcode {0}")]
    Rcode(u8),
    /// The flag AA.
    #[error("{}", if *.0 { "authoritative, for a delegation" } else { "not authoritative" })]
    Authority(bool),
    #[error("{0} records in the answer section")]
    Answers(u16),
    #[error("{0} records in the authority section")]
    Referral(u16),
    #[error("another question")]
    Question,
    #[error("not an echo")]
    Echo,
}

/// Manner of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// A name server.
    Answers,
    /// A server that sends back each datagram.
    Echoes,
}

/// Id of a message.
#[inline]
pub(crate) fn id(message: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(*message.first_chunk()?))
}

/// Checks the answer to a query, whose id led to the query.
///
/// # Errors
/// The first rule broken.
#[inline]
pub(crate) fn check(answer: &[u8], query: &Query<'_>, manner: Manner) -> Result<(), Wrong> {
    if manner == Manner::Echoes {
        return if answer.get(2..) == query.message.get(2..) { Ok(()) } else { Err(Wrong::Echo) };
    }
    let Some(&[_, _, high, low, _, _, a, b, c, d, _, _]) = answer.first_chunk::<HEADER>() else {
        return Err(Wrong::Short);
    };
    let expect = query.expect;
    // QR set, TC clear (RFC 1035 §4.1.1).
    if high & 0x82 != 0x80 {
        return Err(Wrong::Flags(u16::from_be_bytes([high, low])));
    }
    if low & 15 != expect.rcode {
        return Err(Wrong::Rcode(low & 15));
    }
    if (high & 4 != 0) != expect.is_authoritative {
        return Err(Wrong::Authority(high & 4 != 0));
    }
    let (answers, authority) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    if answers != expect.answers {
        return Err(Wrong::Answers(answers));
    }
    if authority < expect.authority {
        return Err(Wrong::Referral(authority));
    }
    match answer.get(HEADER..) {
        Some(rest) if rest.starts_with(query.question()) => Ok(()),
        _ => Err(Wrong::Question),
    }
}

/// Serial number in the answer to a query for the SOA record; `None` of another message.
pub(crate) fn serial(answer: &[u8]) -> Option<u32> {
    let &[_, _, high, low, _, _, answers, count, ..] = answer.first_chunk::<HEADER>()?;
    // An authoritative answer without an error, of one record.
    if high & 0x84 != 0x84 || low & 15 != 0 || (answers, count) != (0, 1) {
        return None;
    }
    let rest = skip_name(answer.get(HEADER..)?)?.get(4..)?;
    // Type, class, TTL and length, then two names.
    let data = skip_name(rest)?.get(10..)?;
    let numbers = skip_name(skip_name(data)?)?;
    Some(u32::from_be_bytes(*numbers.first_chunk()?))
}

/// The bytes after a name, whose labels may end in a pointer.
fn skip_name(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        match *bytes.first()? {
            0 => return bytes.get(1..),
            pointer if pointer >= 0xc0 => return bytes.get(2..),
            length => bytes = bytes.get(1 + usize::from(length)..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::{Queries, QueryKind};
    use crate::zone::{Shape, Zone};
    use domain::base::iana::Rcode;
    use domain::base::{Message, MessageBuilder, Name, Rtype, Ttl};
    use domain::rdata::{A, Soa};
    use std::str::FromStr as _;

    const ZONE: Zone = Zone { names: 40, shape: Shape::Mixed };

    /// The answer to a query with so many address records.
    fn answer(query: &Query<'_>, rcode: Rcode, records: usize) -> Vec<u8> {
        let message = Message::from_octets(query.message).unwrap();
        let mut answer = MessageBuilder::new_vec().start_answer(&message, rcode).unwrap();
        answer.header_mut().set_aa(true);
        let name = message.sole_question().unwrap().qname().to_string();
        for at in 0..records {
            let data = A::from_octets(10, 0, 0, at as u8);
            answer.push((Name::<Vec<u8>>::from_str(&name).unwrap(), 60, data)).unwrap();
        }
        answer.finish()
    }

    #[test]
    fn right_answers_pass_and_wrong_ones_are_named() {
        let queries = Queries::of(ZONE, QueryKind::Positive, 2);
        let (query, other) = (queries.get(0).unwrap(), queries.get(1).unwrap());
        let verdict = |message: &[u8]| check(message, &query, Manner::Answers);
        let right = answer(&query, Rcode::NOERROR, 1);
        assert_eq!(verdict(&right), Ok(()));
        assert_eq!(verdict(&right[..11]), Err(Wrong::Short));
        assert_eq!(verdict(&right[..20]), Err(Wrong::Question));
        assert_eq!(verdict(&answer(&other, Rcode::NOERROR, 1)), Err(Wrong::Question));
        assert_eq!(verdict(&answer(&query, Rcode::NOERROR, 0)), Err(Wrong::Answers(0)));
        assert_eq!(verdict(&answer(&query, Rcode::SERVFAIL, 1)), Err(Wrong::Rcode(2)));
        assert!(matches!(verdict(query.message), Err(Wrong::Flags(0))));
        let with = |bit: u8| {
            let mut message = right.clone();
            message[2] ^= bit;
            verdict(&message)
        };
        assert!(matches!(with(2), Err(Wrong::Flags(_))));
        assert_eq!(with(4), Err(Wrong::Authority(false)));
        let missing = Queries::of(ZONE, QueryKind::NxDomain, 1);
        let missing = missing.get(0).unwrap();
        let message = answer(&missing, Rcode::NXDOMAIN, 0);
        assert_eq!(check(&message, &missing, Manner::Answers), Err(Wrong::Referral(0)));
    }

    #[test]
    fn an_echo_is_the_query_with_another_id() {
        let queries = Queries::of(ZONE, QueryKind::Positive, 1);
        let query = queries.get(0).unwrap();
        let mut echo = query.message.to_vec();
        echo[0] = 9;
        assert_eq!(check(&echo, &query, Manner::Echoes), Ok(()));
        echo[14] ^= 1;
        assert_eq!(check(&echo, &query, Manner::Echoes), Err(Wrong::Echo));
        assert_eq!((id(&echo), id(&[1])), (Some(0x0900), None));
    }

    #[test]
    fn reads_the_serial_number() {
        let queries = Queries::soa();
        let message = Message::from_octets(queries.get(0).unwrap().message).unwrap();
        let name = || Name::<Vec<u8>>::from_str("bench.test").unwrap();
        assert_eq!(message.sole_question().unwrap().qtype(), Rtype::SOA);
        let mut answer = MessageBuilder::new_vec().start_answer(&message, Rcode::NOERROR).unwrap();
        answer.header_mut().set_aa(true);
        let ttl = Ttl::from_secs(1);
        let soa = Soa::new(name(), name(), 4_000_000_001.into(), ttl, ttl, ttl, ttl);
        answer.push((name(), 60, soa)).unwrap();
        let bytes = answer.finish();
        assert_eq!(serial(&bytes), Some(4_000_000_001));
        for length in 0..bytes.len() - 16 {
            assert_eq!(serial(&bytes[..length]), None, "{length}");
        }
        let refused = MessageBuilder::new_vec().start_answer(&message, Rcode::REFUSED).unwrap().finish();
        assert_eq!(serial(&refused), None);
    }
}
