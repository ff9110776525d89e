//! A small forwarder for the tests of clients: it routes by longest prefix between the connections of one
//! Unix socket, and accepts `rib/register`.
//!
//! It shares no code with the tables of the real forwarder, so that a client which works with both works with
//! others.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
#![allow(clippy::missing_panics_doc, reason = "a helper that cannot do its work fails the test")]

use hashlane_name::build::OwnedName;
use hashlane_name::component::{SEGMENT, VERSION};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use hashlane_ndn::mgmt::segment::with_number;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType};
use hashlane_ndn::mgmt::{Command, ControlParameters, ControlResponse, Record};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::{Data, DataBuilder, Interest, LpHeader, LpPacket, NackReason};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

/// A running forwarder. On drop it ends and removes its socket file.
pub struct Forwarder {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    stopped: bool,
    connections: Vec<UnixStream>,
    routes: HashMap<Vec<u8>, usize>,
    pending: Vec<Pending>,
    /// One of this many Data packets is lost; 0 for none.
    loss: usize,
    /// Successful commands: module and verb.
    commands: Vec<String>,
    /// Kind and InterestDigest of each packet.
    digests: Vec<(&'static str, Vec<u8>)>,
    forwarded: usize,
}

struct Pending {
    name: Vec<u8>,
    can_be_prefix: bool,
    from: usize,
    token: Vec<u8>,
}

impl Forwarder {
    /// Listens on `path`.
    pub fn start(path: &Path) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let accepting = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let mut locked = accepting.lock().unwrap();
                if locked.stopped {
                    return;
                }
                let id = locked.connections.len();
                locked.connections.push(stream.try_clone().unwrap());
                let state = Arc::clone(&accepting);
                thread::spawn(move || read(stream, id, &state));
            }
        });
        Self { path: path.into(), state }
    }

    /// Drops one of `loss` Data packets; 0 drops none.
    pub fn lose_one_of(&self, loss: usize) {
        self.state.lock().unwrap().loss = loss;
    }

    /// Kinds of the received packets except commands, and their InterestDigests.
    pub fn digests(&self) -> Vec<(&'static str, Vec<u8>)> {
        self.state.lock().unwrap().digests.clone()
    }

    /// Successful commands: module and verb.
    pub fn commands(&self) -> Vec<String> {
        self.state.lock().unwrap().commands.clone()
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap();
        state.stopped = true;
        for connection in &state.connections {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        // The listener checks after each connection if it has been stopped.
        let _ = UnixStream::connect(&self.path);
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Reads packets until the connection ends.
fn read(mut stream: UnixStream, id: usize, state: &Mutex<State>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16384];
    while let Ok(count) = stream.read(&mut chunk)
        && count > 0
    {
        bytes.extend_from_slice(&chunk[..count]);
        while let Some(len) = tlv::frame(&bytes).expect("packets") {
            if bytes.len() < len as usize {
                break;
            }
            let packet: Vec<u8> = bytes.drain(..len as usize).collect();
            state.lock().unwrap().receive(id, &packet);
        }
    }
    // Routes and pending Interests end with the connection.
    let mut state = state.lock().unwrap();
    state.routes.retain(|_, to| *to != id);
    state.pending.retain(|pending| pending.from != id);
}

impl State {
    fn receive(&mut self, from: usize, packet: &[u8]) {
        let packet = LpPacket::parse(packet).expect("a link packet");
        if let Ok(interest) = Interest::parse(packet.fragment) {
            self.interest(from, &interest, &packet.header);
        } else {
            let data = Data::parse(packet.fragment).expect("an Interest or Data");
            self.digests.push(("data", packet.header.digest.value.to_vec()));
            assert_eq!(packet.header.pit_token, b"token", "the PIT token comes back with {}", data.name());
            self.data(&data);
        }
    }

    fn interest(&mut self, from: usize, interest: &Interest<'_>, header: &LpHeader<'_>) {
        let token = header.pit_token;
        assert!(interest.nonce().is_some());
        if let Ok(command) = Command::parse(interest) {
            assert!(command.signature.is_right_digest() && interest.has_valid_parameters_digest());
            let answer = self.command(from, &command).to_bytes();
            return self.send(from, LpHeader::default(), &DataBuilder::new(interest.name(), &answer).build());
        }
        if let Some(records) = faces(interest) {
            let version = with_number(interest.name(), VERSION, 1).unwrap();
            let segment = with_number(version.view(), SEGMENT, 0).unwrap();
            let final_block = segment.view().components().last();
            let data = DataBuilder { final_block, ..DataBuilder::new(segment.view(), &records) };
            return self.send(from, LpHeader::default(), &data.build());
        }
        let name = value(interest.name_bytes()).to_vec();
        let route = prefixes(interest.name_bytes()).rev().find_map(|end| self.routes.get(&name[..end]));
        match route.copied() {
            Some(to) => {
                let can_be_prefix = interest.can_be_prefix();
                self.pending.push(Pending { name, can_be_prefix, from, token: token.to_vec() });
                self.digests.push(("interest", header.digest.value.to_vec()));
                let digest = header.digest;
                let header = LpHeader { pit_token: b"token", digest, ..LpHeader::default() };
                self.send(to, header, interest.as_bytes());
            }
            None => {
                let nack = Some(NackReason::NO_ROUTE);
                let header = LpHeader { nack, pit_token: token, ..LpHeader::default() };
                self.send(from, header, interest.as_bytes());
            }
        }
    }

    fn command(&mut self, from: usize, command: &Command<'_>) -> ControlResponse {
        let target = command.target;
        let verb =
            format!("{}/{}", str::from_utf8(target.module).unwrap(), str::from_utf8(target.verb).unwrap());
        let parameters = &command.parameters;
        let key = parameters.name.as_ref().map(|name: &OwnedName<Ndn>| value(name.as_bytes()).to_vec());
        let answer = match (verb.as_str(), key) {
            ("rib/register", Some(prefix)) => {
                self.routes.insert(prefix, from);
                ControlParameters {
                    face_id: Some(parameters.face_id.unwrap_or(from as u64)),
                    ..parameters.clone()
                }
            }
            ("rib/unregister", Some(prefix)) => {
                self.routes.remove(&prefix);
                parameters.clone()
            }
            ("faces/create", _) => {
                let existing = ControlParameters {
                    face_id: Some(77),
                    uri: parameters.uri.clone(),
                    persistency: Some(FacePersistency::Persistent),
                    mtu: Some(hashlane_ndn::wire::MAX_PACKET as u64),
                    ..Default::default()
                };
                return ControlResponse::with(409, "the face exists", &existing);
            }
            ("faces/update", _) if parameters.mtu == Some(1) => {
                return ControlResponse::with(409, "Invalid properties specified", parameters);
            }
            ("faces/update" | "faces/destroy", _) => parameters.clone(),
            _ => return ControlResponse::new(501, "no such command"),
        };
        self.commands.push(verb);
        ControlResponse::with(200, "OK", &answer)
    }

    fn data(&mut self, data: &Data<'_>) {
        self.forwarded += 1;
        if self.loss > 0 && self.forwarded.is_multiple_of(self.loss) {
            return;
        }
        let name = value(data.name_bytes());
        let satisfies = |pending: &mut Pending| {
            pending.name == name || pending.can_be_prefix && name.starts_with(&pending.name)
        };
        let satisfied: Vec<_> = self.pending.extract_if(.., satisfies).collect();
        for pending in satisfied {
            let header = LpHeader { pit_token: &pending.token, ..LpHeader::default() };
            self.send(pending.from, header, data.as_bytes());
        }
    }

    fn send(&self, to: usize, header: LpHeader<'_>, packet: &[u8]) {
        let framed = [header.frame(packet.len()).as_bytes(), packet].concat();
        // The peer may have closed its end.
        let _ = (&self.connections[to]).write_all(&framed);
    }
}

/// Records of faces/query for face 77, and of faces/list, which is outdated and does not have it yet.
fn faces(interest: &Interest<'_>) -> Option<Vec<u8>> {
    let target = Target::of(interest.name()).filter(|target| target.module == b"faces")?;
    if target.verb == b"list" {
        return Some(Vec::new());
    }
    let filter = interest.name().components().nth(Target::LEN).filter(|_| target.verb == b"query")?;
    let FaceQueryFilter { face_id, uri, .. } = FaceQueryFilter::parse(filter.value).unwrap();
    let face = FaceStatus {
        face_id: 77,
        uri: "udp4://127.0.0.1:6363".into(),
        local_uri: "udp4://127.0.0.1:16363".into(),
        expiration: None,
        scope: FaceScope::NonLocal,
        persistency: FacePersistency::Persistent,
        link_type: LinkType::PointToPoint,
        marking_interval: None,
        congestion_threshold: None,
        mtu: Some(hashlane_ndn::wire::MAX_PACKET as u64),
        in_interests: 0,
        in_data: 0,
        in_nacks: 0,
        out_interests: 0,
        out_data: 0,
        out_nacks: 0,
        in_bytes: 0,
        out_bytes: 0,
        flags: 0,
    };
    let matches = face_id.is_none_or(|id| id == face.face_id) && uri.is_none_or(|uri| uri == face.uri);
    Some(if matches { face.to_bytes() } else { Vec::new() })
}

fn value(name: &[u8]) -> &[u8] {
    tlv::single(name).unwrap().value
}

/// Ends of the prefixes of a name in its value, from the empty one.
fn prefixes(name: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let mut elements = tlv::Elements::new(value(name));
    let mut ends = vec![0];
    while let Some(element) = elements.next().unwrap() {
        ends.push(element.end());
    }
    ends.into_iter()
}
