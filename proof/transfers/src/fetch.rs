//! The zone of a server, by our side of a transfer.

use crate::zone::APEX;
use hashlane_dns::wire::{Message, RecordType, Section};
use hashlane_name::dns::{NameBuf, text};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::{soa_query, transfer_query};
use hashlane_transfer::soa::Soa;
use hashlane_transfer::tsig::Key;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Name, algorithm and secret of the key that all servers have.
pub(crate) const KEY: (&str, &str, &str) =
    ("transfer.example", "hmac-sha256", "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0");

const PATIENCE: Duration = Duration::from_secs(5);

fn parsed(apex: &str) -> Result<NameBuf, String> {
    text::parse(apex.as_bytes()).map_err(|error| error.to_string())
}

pub(crate) fn key(secret: &str) -> Result<Key, String> {
    let name = text::parse(KEY.0.as_bytes()).map_err(|error| error.to_string())?;
    Key::new(name.view(), KEY.1, secret).map_err(|error| error.to_string())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The serial number that a server answers with; `None` without an answer of authority.
pub(crate) fn serial(address: SocketAddr) -> Option<u32> {
    serial_of(address, APEX)
}

/// The serial number of a zone; `None` without an answer of authority.
pub(crate) fn serial_of(address: SocketAddr, apex: &str) -> Option<u32> {
    let socket = UdpSocket::bind("127.0.0.1:0").ok()?;
    socket.set_read_timeout(Some(Duration::from_millis(300))).ok()?;
    socket.send_to(&soa_query(parsed(apex).ok()?.view(), 77), address).ok()?;
    let mut buffer = [0; 1500];
    let len = socket.recv(&mut buffer).ok()?;
    let (_, records) = Message::parse(buffer.get(..len)?).ok()?.questions().ok()?;
    let mut records = records.filter_map(Result::ok);
    let soa = records.find(|record| (record.section, record.rtype) == (Section::Answer, RecordType::SOA))?;
    Some(Soa::parse(&soa.data)?.serial)
}

/// All records of a server in a sorted list, names in small letters; and its serial number.
///
/// # Errors
/// The server refuses, or its stream is no transfer.
pub(crate) fn records(address: SocketAddr, secret: &str) -> Result<(u32, Vec<String>), String> {
    records_of(address, APEX, secret)
}

/// All records of a zone, as [`records`].
pub(crate) fn records_of(
    address: SocketAddr,
    apex: &str,
    secret: &str,
) -> Result<(u32, Vec<String>), String> {
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let (apex, key) = (parsed(apex)?, key(secret)?);
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let mut query = transfer_query(apex.view(), 78, Query::Whole);
    let mut verifier = key.sign(&mut query, now());
    stream.write_all(&[&(query.len() as u16).to_be_bytes(), &query[..]].concat()).map_err(failed)?;
    let mut incoming = Incoming::new(apex.view(), 78, Query::Whole, 1 << 30);
    let mut all = Vec::new();
    loop {
        let mut len = [0; 2];
        stream.read_exact(&mut len).map_err(failed)?;
        let mut message = vec![0; u16::from_be_bytes(len).into()];
        stream.read_exact(&mut message).map_err(failed)?;
        verifier.check(&mut message, now()).map_err(|error| error.to_string())?;
        let progress = incoming.message(&message, &mut |record| {
            let owner = record.owner.to_string().to_ascii_lowercase();
            // The data of all types here but TXT are compared without case.
            let data = record.data.to_ascii_lowercase();
            all.push(format!("{owner} {} {} {data:02x?}", record.ttl, record.rtype));
            Ok(())
        });
        match progress.map_err(|error| error.to_string())? {
            Progress::More => {}
            Progress::Whole(serial) => {
                verifier.done().map_err(|error| error.to_string())?;
                all.sort();
                return Ok((serial, all));
            }
            other => return Err(format!("{address}: {other:?} for AXFR")),
        }
    }
}
