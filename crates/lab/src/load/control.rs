//! Commands to a forwarder, by the management protocol that all of them speak.

use super::LoadError;
use super::port::{framing, reader};
use link::stream::Filled;
use name::build::OwnedName;
use name::ndn::Ndn;
use ndn::mgmt::command::Target;
use ndn::mgmt::values::FACE_PIT_TOKENS;
use ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use ndn::wire::{Data, LpPacket};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a forwarder may take for a command.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets Interests for `prefix` come over `face`, or over `stream` itself. No packet but the answer may be on its way to here.
pub(super) fn register(
    stream: &mut UnixStream,
    prefix: &OwnedName<Ndn>,
    face: Option<u64>,
) -> Result<(), LoadError> {
    let name = Some(prefix.clone());
    let parameters = ControlParameters { name, face_id: face, cost: Some(0), ..ControlParameters::default() };
    command(stream, b"rib", b"register", &parameters).map(drop)
}

/// Makes the face of a UDP socket of this host; its number.
pub(super) fn create_face(stream: &mut UnixStream, address: SocketAddr) -> Result<u64, LoadError> {
    let uri = Some(format!("udp4://{address}"));
    let answer = command(stream, b"faces", b"create", &ControlParameters { uri, ..Default::default() })?;
    answer.face_id.ok_or_else(|| LoadError::Forwarder("the answer to faces/create has no FaceId".into()))
}

/// Lets PitTokens go over `face`, or over `stream` itself, with the Interests.
pub(super) fn give_tokens(stream: &mut UnixStream, face: Option<u64>) -> Result<(), LoadError> {
    let (flags, mask) = (Some(FACE_PIT_TOKENS), Some(FACE_PIT_TOKENS));
    let parameters = ControlParameters { face_id: face, flags, mask, ..ControlParameters::default() };
    command(stream, b"faces", b"update", &parameters).map(drop)
}

fn command(
    stream: &mut UnixStream,
    module: &[u8],
    verb: &[u8],
    parameters: &ControlParameters,
) -> Result<ControlParameters, LoadError> {
    let what = || format!("{}/{}", String::from_utf8_lossy(module), String::from_utf8_lossy(verb));
    let failed = |why: String| LoadError::Forwarder(format!("{} did not work: {why}", what()));
    // A command must be later than the one before it, whatever the clock does.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
    let time = LAST.fetch_max(now, Ordering::Relaxed).max(now) + 1;
    LAST.fetch_max(time, Ordering::Relaxed);
    let builder = CommandBuilder {
        target: Target { scope: Scope::Localhost, module, verb },
        parameters,
        nonce: time as u32,
        lifetime: PATIENCE.as_millis() as u64,
        signature_nonce: time.to_be_bytes(),
        time,
    };
    let interest = builder.build().map_err(|error| failed(error.to_string()))?;
    let io = |error: std::io::Error| failed(error.to_string());
    stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    stream.write_all(&interest).map_err(io)?;
    let mut reader = reader();
    loop {
        match reader.fill(stream).map_err(io)? {
            Filled::End => return Err(failed("the forwarder closed the connection".into())),
            Filled::Drained(0) => return Err(failed(format!("no answer in {PATIENCE:?}"))),
            Filled::Full(_) | Filled::Drained(_) => {}
        }
        if let Some(packet) = reader.frames(framing).next() {
            let packet = packet.map_err(|error| failed(error.to_string()))?;
            return answer(packet).map_err(failed);
        }
    }
}

/// The parameters in the answer to a command that was done.
fn answer(packet: &[u8]) -> Result<ControlParameters, String> {
    let packet = LpPacket::parse(packet).map_err(|error| error.to_string())?;
    if let Some(reason) = packet.header.nack {
        return Err(format!("Nack: {reason}"));
    }
    let data = Data::parse(packet.fragment).map_err(|error| error.to_string())?;
    let response = ControlResponse::parse(data.content()).map_err(|error| error.to_string())?;
    if !response.is_ok() {
        return Err(format!("{} {}", response.code, response.text));
    }
    let parameters = response.parameters().map_err(|error| error.to_string())?;
    Ok(parameters.unwrap_or_default())
}
