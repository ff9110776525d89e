//! DNS messages of innocents and of attackers, built byte by byte, so that they can be wrong.

use std::time::{SystemTime, UNIX_EPOCH};

/// Type of an IPv4 address.
pub(super) const A: u16 = 1;
/// Type of texts.
pub(super) const TXT: u16 = 16;
/// Type of the start of a zone.
const SOA: u16 = 6;

/// Bytes of the header.
const HEADER: usize = 12;
/// Offset of the first name of a query.
const QUESTION: u8 = HEADER as u8;
/// Longest message over TCP.
pub(super) const LONGEST: usize = 65_535;

/// A query in class IN for a name in the zone, without recursion.
pub(super) fn query(id: u16, labels: &[&str], rtype: u16) -> Vec<u8> {
    let mut query = header(id, [1, 0, 0, 0]);
    for label in labels.iter().chain(&["example", "com"]) {
        // Labels of ours are short.
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&rtype.to_be_bytes());
    query.extend_from_slice(&[0, 1]);
    query
}

/// A query for a name that does not exist, other for each number.
pub(super) fn random_subdomain(number: u64, out: &mut Vec<u8>) {
    // Odd factor: a permutation, so that no name comes twice.
    let label = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    out.extend(query(number as u16, &[&label], A));
}

/// A query with EDNS that permits the largest responses.
pub(super) fn largest(id: u16) -> Vec<u8> {
    with_records(query(id, &["large"], TXT), 1, &opt(&[]))
}

/// The message with its length before it. Longer messages are cut.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let message = message.get(..LONGEST).unwrap_or(message);
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// An OPT record of a kind that RFC 6891 or an option's RFC forbids, or of an unknown version.
pub(super) fn malformed_edns(number: u64, out: &mut Vec<u8>) {
    let base = query(number as u16, &["www0"], A);
    let message = match number % 8 {
        // Two of them.
        0 => with_records(base, 2, &[opt(&[]), opt(&[])].concat()),
        // Data longer than the message.
        1 => with_records(base, 1, b"\0\0\x29\x04\xd0\0\0\0\0\xff\xff"),
        // An option longer than the data.
        2 => with_records(base, 1, &opt(b"\0\x0a\xff\xff\x01")),
        // Half the head of an option.
        3 => with_records(base, 1, &opt(b"\0\x0a\0")),
        // A client cookie of 7 bytes (RFC 7873 §5.2.2).
        4 => with_records(base, 1, &opt(b"\0\x0a\0\x071234567")),
        // Version 255.
        5 => with_records(base, 1, b"\0\0\x29\x04\xd0\0\xff\0\0\0\0"),
        // A name that is not the root.
        6 => with_records(base, 1, b"\x01x\0\0\x29\x04\xd0\0\0\0\0\0\0"),
        // Many unknown options.
        _ => with_records(base, 1, &opt(&b"\xfe\xfd\0\0".repeat(200))),
    };
    out.extend(message);
}

/// A message that is no query, or ends early.
pub(super) fn malformed(number: u64, out: &mut Vec<u8>) {
    let id = number as u16;
    let mut message = query(id, &["www0"], A);
    let mut set = |at: usize, value: u8| {
        if let Some(byte) = message.get_mut(at) {
            *byte = value;
        }
    };
    match number % 10 {
        // A response.
        0 => set(2, 0x80),
        // An opcode that is not assigned.
        1 => set(2, 0x78),
        // No question, and two.
        2 => set(5, 0),
        3 => set(5, 2),
        // As many records as there can be.
        4 => (6..HEADER).for_each(|at| set(at, 0xff)),
        // A label of the reserved type, and one longer than the message.
        5 => set(HEADER, 0x80),
        6 => set(HEADER, 0x3f),
        // Shorter than its header, and than its question.
        7 => message.truncate(number as usize / 10 % HEADER),
        8 => message.truncate(message.len() - 1 - number as usize / 10 % 16),
        // Bytes after the end.
        _ => message.extend_from_slice(&[0xff; 700]),
    }
    out.extend(message);
}

/// A question whose name is made of compression pointers: to itself, to each other, forwards, or in a chain.
pub(super) fn compression_loop(number: u64, out: &mut Vec<u8>) {
    let mut message = header(number as u16, [1, 0, 0, 0]);
    match number % 5 {
        0 => message.extend_from_slice(&[0xc0, QUESTION]),
        1 => message.extend_from_slice(&[0xc0, QUESTION + 2, 0xc0, QUESTION]),
        // A label before each turn.
        2 => message.extend_from_slice(&[1, b'a', 0xc0, QUESTION]),
        3 => message.extend_from_slice(&[0xff, 0xff]),
        _ => {
            // Each points to the next one, the last to the first.
            for next in 1..600_u16 {
                message.extend_from_slice(&(0xc000 | (u16::from(QUESTION) + 2 * next)).to_be_bytes());
            }
            message.extend_from_slice(&[0xc0, QUESTION]);
        }
    }
    message.extend_from_slice(&[0, 1, 0, 1]);
    out.extend(message);
}

/// A NOTIFY with another serial number each time, for a zone with a primary, or for one without.
pub(super) fn notify(number: u64, out: &mut Vec<u8>) {
    let labels: &[&str] = if number.is_multiple_of(4) { &[] } else { &["notified"] };
    let mut message = query(number as u16, labels, SOA);
    let serial = [&[0, 0][..], &(number as u32).to_be_bytes(), &[0; 16]].concat();
    // Opcode NOTIFY, AA; one record in the answer section.
    if let Some(place) = message.get_mut(2..8) {
        place.copy_from_slice(&[0x24, 0, 0, 1, 0, 1]);
    }
    message.extend_from_slice(b"\xc0\x0c\0\x06\0\x01\0\0\0\x3c\0\x16");
    message.extend(serial);
    out.extend(message);
}

/// A query with a signature (TSIG): of a key that the server does not have, or a wrong one of a key that it
/// has.
pub(super) fn wrong_key(number: u64, out: &mut Vec<u8>) {
    let id = number as u16;
    let is_unknown = number.is_multiple_of(2);
    let key: &[u8] = if is_unknown { b"\x07missing\x07example\0" } else { b"\x08transfer\x07example\0" };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let time = now.to_be_bytes();
    let data = [
        b"\x0bhmac-sha256\0",
        time.get(2..).unwrap_or_default(),
        // 300 s; 32 bytes that depend on the number.
        b"\x01\x2c\0\x20",
        &number.to_be_bytes().repeat(4),
        &id.to_be_bytes(),
        b"\0\0\0\0",
    ]
    .concat();
    let length = (data.len() as u16).to_be_bytes();
    let record = [key, b"\0\xfa\0\xff\0\0\0\0", &length, &data].concat();
    out.extend(with_records(query(id, &["www0"], A), 1, &record));
}

/// The longest query: of tiny records that are fewer than its header says, of one huge option, or of records
/// whose owners are chains of compression pointers.
pub(super) fn longest(number: u64) -> Vec<u8> {
    let base = query(number as u16, &["www0"], A);
    let mut message = match number % 3 {
        0 => with_records(base, u16::MAX, &b"\0\0\x01\0\x01\0\0\0\0\0\0".repeat(LONGEST / 11)),
        1 => {
            let padding = LONGEST - base.len() - 15;
            // Fits, by the length of the message.
            let option = [&b"\0\x0c"[..], &(padding as u16).to_be_bytes(), &vec![0; padding]].concat();
            with_records(base, 1, &opt(&option))
        }
        _ => {
            let mut records = Vec::new();
            let mut owner = u16::from(QUESTION);
            while records.len() < LONGEST {
                let at = base.len() + records.len();
                records.extend_from_slice(&(0xc000 | owner).to_be_bytes());
                records.extend_from_slice(b"\0\x01\0\x01\0\0\0\0\0\0");
                if at < 0x3fff {
                    owner = at as u16;
                }
            }
            with_records(base, (records.len() / 12) as u16, &records)
        }
    };
    message.resize(LONGEST, 0);
    message
}

fn header(id: u16, counts: [u8; 4]) -> Vec<u8> {
    let [questions, answers, authorities, additional] = counts;
    let [high, low] = id.to_be_bytes();
    vec![high, low, 0, 0, 0, questions, 0, answers, 0, authorities, 0, additional]
}

/// Adds additional records.
fn with_records(mut message: Vec<u8>, count: u16, records: &[u8]) -> Vec<u8> {
    if let Some(place) = message.get_mut(10..HEADER) {
        place.copy_from_slice(&count.to_be_bytes());
    }
    message.extend_from_slice(records);
    message
}

/// An OPT record with DO set, for 4,096 bytes.
fn opt(options: &[u8]) -> Vec<u8> {
    // Options of ours are shorter than a message.
    let length = (options.len() as u16).to_be_bytes();
    [&b"\0\0\x29\x10\0\0\0\x80\0"[..], &length, options].concat()
}

/// True if a message is a complete response without error.
pub(super) fn is_answer(message: &[u8]) -> bool {
    let Some([_, _, flags, code, _, _, answers @ ..]) = message.first_chunk::<HEADER>() else { return false };
    flags & 0x82 == 0x80
        && code & 0x0f == 0
        && answers.first_chunk::<2>().is_some_and(|count| *count != [0; 2])
}

/// Id of a message.
pub(super) fn id(message: &[u8]) -> Option<u16> {
    message.first_chunk::<2>().map(|id| u16::from_be_bytes(*id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_queries_have_the_longest_length() {
        for number in 0..3 {
            assert_eq!(longest(number).len(), LONGEST);
        }
        assert_eq!(framed(&longest(0)).len(), LONGEST + 2);
        // The option ends with the message.
        assert!(longest(1).ends_with(&[0; 60_000]));
    }

    #[test]
    fn messages_of_floods_fit_datagrams_of_an_ethernet() {
        for number in 0..1000 {
            for write in [random_subdomain, malformed_edns, malformed, compression_loop, notify, wrong_key] {
                let mut message = Vec::new();
                write(number, &mut message);
                assert!(message.len() <= 1472, "{number}");
            }
        }
    }

    #[test]
    fn an_answer_is_whole_and_without_error() {
        let mut message = query(7, &["www1"], A);
        assert!(!is_answer(&message), "a query");
        (message[2], message[7]) = (0x84, 1);
        assert!(is_answer(&message));
        assert_eq!(id(&message), Some(7));
        message[2] |= 0x02;
        assert!(!is_answer(&message), "truncated");
        (message[2], message[3]) = (0x84, 2);
        assert!(!is_answer(&message), "SERVFAIL");
    }
}
