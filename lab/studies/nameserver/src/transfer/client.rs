//! A client that transfers a whole zone and counts its records, and the query and NOTIFY messages.

use crate::queries::HEADER;
use crate::zone::APEX;
use hashlane_lab::study::TurnError;
use std::io::{BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// Types, and the opcode of NOTIFY (RFC 1996) with the flag AA.
const SOA: u16 = 6;
const AXFR: u16 = 252;
const NOTIFY: u16 = 4 << 11 | 1 << 10;

/// Id of all messages.
const ID: u16 = 7;

/// Longest time without a byte.
const PATIENCE: Duration = Duration::from_secs(30);

/// A message with the question for the zone.
fn question(flags: u16, rtype: u16) -> Vec<u8> {
    let mut message = [ID, flags, 1, 0, 0, 0].map(u16::to_be_bytes).as_flattened().to_vec();
    for label in APEX.split('.') {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.push(0);
    message.extend_from_slice([rtype, 1].map(u16::to_be_bytes).as_flattened());
    message
}

/// Tells a server that the zone has changed.
pub(super) fn notify(to: SocketAddr) -> Result<(), TurnError> {
    let sent = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(&question(NOTIFY, SOA), to));
    sent.map(drop).map_err(TurnError::io("cannot send NOTIFY"))
}

/// Transfers the zone, which has `records` records; the last one is the first again. Returns the bytes.
pub(super) fn transfer(from: SocketAddr, records: u64) -> Result<u64, TurnError> {
    let failed = TurnError::io("cannot transfer the zone");
    let mut stream = TcpStream::connect(from).map_err(&failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(&failed)?;
    let query = question(0, AXFR);
    let length = (query.len() as u16).to_be_bytes();
    stream.write_all(&[&length, &query[..]].concat()).map_err(&failed)?;
    let mut stream = BufReader::with_capacity(1 << 20, stream);
    let (mut left, mut bytes, mut message) = (records + 1, 0, Vec::new());
    while left > 0 {
        let mut length = [0; 2];
        stream.read_exact(&mut length).map_err(&failed)?;
        message.resize(u16::from_be_bytes(length).into(), 0);
        stream.read_exact(&mut message).map_err(&failed)?;
        bytes += message.len() as u64;
        let count = answers(&message).ok_or_else(|| TurnError::Failed("it refuses the transfer".into()))?;
        left = match left.checked_sub(count.into()) {
            Some(left) if count > 0 => left,
            _ => return Err(TurnError::Failed(format!("it sends other than {records} records"))),
        };
    }
    Ok(bytes)
}

/// Records in the answer section of a response without an error.
fn answers(message: &[u8]) -> Option<u16> {
    let [i, d, high, low, _, _, a, b, ..] = message.first_chunk::<HEADER>()?;
    let is_right = u16::from_be_bytes([*i, *d]) == ID && high & 0x80 != 0 && low & 15 == 0;
    is_right.then(|| u16::from_be_bytes([*a, *b]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::base::iana::{Opcode, Rtype};
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn messages_are_what_another_project_reads() {
        let message = domain::base::Message::from_octets(question(NOTIFY, SOA)).unwrap();
        assert_eq!((message.header().opcode(), message.header().aa()), (Opcode::NOTIFY, true));
        let question = message.sole_question().unwrap();
        assert_eq!((question.qname().to_string(), question.qtype()), (APEX.to_owned(), Rtype::SOA));
    }

    /// A server that sends messages of so many records to one client.
    fn server(counts: &'static [u16], rcode: u16) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut vec![0; 2 + question(0, AXFR).len()]).unwrap();
            for count in counts {
                let head = [12, ID, 1 << 15 | rcode, 0, *count, 0, 0].map(u16::to_be_bytes);
                stream.write_all(head.as_flattened()).unwrap();
            }
        });
        address
    }

    #[test]
    fn a_transfer_has_all_records_and_no_more() {
        assert_eq!(transfer(server(&[3, 1], 0), 3).unwrap(), 24);
        for (counts, rcode) in [(&[3, 2][..], 0), (&[3], 0), (&[3, 0, 1], 0), (&[4], 5)] {
            assert!(transfer(server(counts, rcode), 3).is_err(), "{counts:?}");
        }
    }
}
