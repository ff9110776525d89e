//! Commands to a forwarder, by the management protocol that all of them speak.

use super::port::{framing, reader};
use hashlane_lab::study::TurnError;
use hashlane_link::stream::Filled;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::{ChannelStatus, ForwarderStatus};
use hashlane_ndn::mgmt::values::FACE_PIT_TOKENS;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, FaceUri, Record, Scope};
use hashlane_ndn::tlv::Elements;
use hashlane_ndn::wire::{Data, InterestBuilder, LpPacket};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timeout of a command to a forwarder.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// Registers `prefix` at `face`, or at the face of `stream` itself. No packet other than the answer may be on
/// its way to this end.
pub(super) fn register(
    stream: &mut UnixStream,
    prefix: &OwnedName<Ndn>,
    face: Option<u64>,
) -> Result<(), TurnError> {
    let name = Some(prefix.clone());
    let parameters = ControlParameters { name, face_id: face, cost: Some(0), ..ControlParameters::default() };
    command(stream, b"rib", b"register", &parameters).map(drop)
}

/// Makes the face of a UDP socket of this host; its number.
pub(super) fn create_face(stream: &mut UnixStream, address: SocketAddr) -> Result<u64, TurnError> {
    let uri = Some(format!("udp4://{address}"));
    let answer = command(stream, b"faces", b"create", &ControlParameters { uri, ..Default::default() })?;
    answer.face_id.ok_or_else(|| TurnError::Failed("the answer to faces/create has no FaceId".into()))
}

/// Lets PitTokens go over `face`, or over `stream` itself, with the Interests.
pub(super) fn give_tokens(stream: &mut UnixStream, face: Option<u64>) -> Result<(), TurnError> {
    let (flags, mask) = (Some(FACE_PIT_TOKENS), Some(FACE_PIT_TOKENS));
    let parameters = ControlParameters { face_id: face, flags, mask, ..ControlParameters::default() };
    command(stream, b"faces", b"update", &parameters).map(drop)
}

/// UDP port on which a forwarder listens, from its dataset faces/channels.
pub(super) fn udp_port(stream: &mut UnixStream) -> Result<u16, TurnError> {
    dataset(stream, b"faces", b"channels", channel_port)
}

/// The sizes of the tables, and other counters, from the dataset status/general.
pub(super) fn status(stream: &mut UnixStream) -> Result<ForwarderStatus, TurnError> {
    dataset(stream, b"status", b"general", |content| {
        ForwarderStatus::parse_fields(Elements::new(content)).map_err(|error| error.to_string())
    })
}

/// Fetches a dataset of one segment, and reads its content.
fn dataset<T>(
    stream: &mut UnixStream,
    module: &[u8],
    list: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, TurnError> {
    let what = || format!("{}/{}", module.escape_ascii(), list.escape_ascii());
    let failed = |why: String| TurnError::Failed(format!("{} did not work: {why}", what()));
    let components = [b"localhost".as_slice(), b"nfd", module, list].map(Component::generic);
    let name = OwnedName::<Ndn>::from_components(components).map_err(|error| failed(error.to_string()))?;
    let interest = InterestBuilder {
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some(std::process::id()),
        ..InterestBuilder::new(name.view())
    };
    ask(stream, &interest.build(), |packet| read(content(packet)?)).map_err(failed)
}

/// The port of the first channel for UDP in a dataset, which is short: one segment.
fn channel_port(dataset: &[u8]) -> Result<u16, String> {
    let channels = ChannelStatus::parse_all(dataset).map_err(|error| error.to_string())?;
    let ports = channels.iter().filter_map(|channel| {
        let uri: FaceUri = channel.local_uri.parse().ok()?;
        uri.scheme().starts_with("udp").then(|| uri.socket_address())?
    });
    ports.map(|address| address.port()).next().ok_or_else(|| "it has no UDP channel".to_owned())
}

fn command(
    stream: &mut UnixStream,
    module: &[u8],
    verb: &[u8],
    parameters: &ControlParameters,
) -> Result<ControlParameters, TurnError> {
    let what = || format!("{}/{}", String::from_utf8_lossy(module), String::from_utf8_lossy(verb));
    let failed = |why: String| TurnError::Failed(format!("{} did not work: {why}", what()));
    let interest = build(module, verb, parameters).map_err(failed)?;
    ask(stream, &interest, answer).map_err(failed)
}

/// The Interest of a command, unlike all others of this process.
pub(super) fn build(module: &[u8], verb: &[u8], parameters: &ControlParameters) -> Result<Vec<u8>, String> {
    // A command must be later than the one before it, whatever the clock does.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
    let time = LAST.fetch_max(now, Ordering::Relaxed).max(now) + 1;
    LAST.fetch_max(time, Ordering::Relaxed);
    let builder = CommandBuilder {
        target: Target { scope: Scope::Localhost, module, verb },
        parameters,
        nonce: time as u32,
        lifetime: TIMEOUT.as_millis() as u64,
        signature_nonce: time.to_be_bytes(),
        time,
    };
    builder.build().map_err(|error| error.to_string())
}

/// Sends an Interest, waits for the next packet, and reads that.
fn ask<T>(
    stream: &mut UnixStream,
    interest: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, String> {
    let io = |error: std::io::Error| error.to_string();
    stream.set_read_timeout(Some(TIMEOUT)).map_err(io)?;
    stream.write_all(interest).map_err(io)?;
    let mut reader = reader();
    loop {
        match reader.fill(stream).map_err(io)? {
            Filled::End => return Err("the forwarder closed the connection".into()),
            Filled::Drained(0) => return Err(format!("no answer in {TIMEOUT:?}")),
            Filled::Full(_) | Filled::Drained(_) => {}
        }
        if let Some(packet) = reader.frames(framing).next() {
            return read(packet.map_err(|error| error.to_string())?);
        }
    }
}

/// The parameters in the answer to a command that was done.
pub(super) fn answer(packet: &[u8]) -> Result<ControlParameters, String> {
    let response = ControlResponse::parse(content(packet)?).map_err(|error| error.to_string())?;
    if !response.is_ok() {
        return Err(format!("{} {}", response.code, response.text));
    }
    let parameters = response.parameters().map_err(|error| error.to_string())?;
    Ok(parameters.unwrap_or_default())
}

/// The content of the Data in a packet.
fn content(packet: &[u8]) -> Result<&[u8], String> {
    let packet = LpPacket::parse(packet).map_err(|error| error.to_string())?;
    if let Some(reason) = packet.header.nack {
        return Err(format!("Nack: {reason}"));
    }
    let data = Data::parse(packet.fragment).map_err(|error| error.to_string())?;
    Ok(data.content())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_that_of_the_first_channel_for_udp() {
        let dataset = |uris: &[&str]| {
            let mut bytes = Vec::new();
            for uri in uris {
                ChannelStatus { local_uri: (*uri).to_owned() }.write(&mut bytes);
            }
            bytes
        };
        let all = dataset(&[
            "unix:///run/x.sock",
            "tcp4://127.0.0.1:1",
            "udp4://0.0.0.0:40123",
            "udp4://0.0.0.0:2",
        ]);
        assert_eq!(channel_port(&all), Ok(40123));
        for none in [dataset(&[]), dataset(&["unix:///run/x.sock"]), dataset(&["udp4://nowhere"])] {
            assert_eq!(channel_port(&none), Err("it has no UDP channel".to_owned()));
        }
        assert!(channel_port(b"\x82\xff").is_err());
    }
}
