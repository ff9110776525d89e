use super::manager::MAX_WAITING;
use super::*;
use crate::rib::RibLimits;
use crate::totals::Totals;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT, SEQUENCE_NUM};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::dataset::{
    ChannelStatus, Count, CsInfo, FaceEventNotification, FaceQueryFilter, FaceStatus, FibEntry,
    ForwarderStatus, RibEntry, StrategyChoice,
};
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::mgmt::values::{FacePersistency, LinkType, RouteOrigin};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Record};
use hashlane_ndn::security::Certificates;
use hashlane_ndn::tlv::{Elements, single, write_element, write_nested};
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{Data, InterestBuilder, KeyLocator, LpPacket, SignatureInfo, SignatureType};
use hashlane_ndn_fw::face::FaceCounters;
use hashlane_ndn_fw::forward::{Counters, DropReason};
use hashlane_ndn_fw::strategy::StrategyKind;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

mod announcements;
mod fetch;
mod learned;
mod links;
mod lists;
mod open;
mod prefixes;
mod propagation;
mod readvertise;
mod traces;
mod users;

/// Writes down what it is asked.
#[derive(Default)]
struct Fake {
    fib: BTreeMap<(String, u64), u64>,
    announced: BTreeMap<(String, u64), hashlane_ndn_fw::learning::Announcement>,
    asked: Vec<String>,
    tickets: Vec<Ticket>,
    displaced: Vec<Vec<u8>>,
    interests: Vec<Vec<u8>>,
    traces: Vec<hashlane_ndn_fw::trace::Trace>,
}

impl Plane for Fake {
    fn request(&mut self, request: Request) {
        match request {
            Request::Table(TableRequest::AddNextHop { prefix, face, cost }) => {
                self.fib.insert((prefix.to_string(), face), cost);
            }
            Request::Table(TableRequest::RemoveNextHop { prefix, face }) => {
                assert!(self.fib.remove(&(prefix.to_string(), face)).is_some());
            }
            Request::Table(TableRequest::ChooseStrategy { prefix, strategy }) => {
                self.asked.push(format!("strategy {prefix} {:?}", strategy.map(|strategy| strategy.name())));
            }
            Request::Table(TableRequest::Announce { prefix, face, announcement }) => {
                let key = (prefix.to_string(), face);
                match announcement {
                    Some(announcement) => drop(self.announced.insert(key, announcement)),
                    None => assert!(self.announced.remove(&key).is_some(), "removed once: {key:?}"),
                }
            }
            Request::Table(TableRequest::ConfigureCs(config)) => self.asked.push(format!("{config:?}")),
            Request::Table(TableRequest::StartTrace(trace)) => {
                self.asked.push(format!("{trace:?}"));
                self.traces.push(trace);
            }
            Request::Table(TableRequest::Sample(sampling)) => self.asked.push(format!("{sampling:?}")),
            Request::Table(TableRequest::StopTrace(id)) => self.asked.push(format!("stop trace {id}")),
            Request::Table(TableRequest::Erase { prefix, limit, ticket }) => {
                self.tickets.push(ticket);
                self.asked.push(format!("erase {prefix} {limit}"));
            }
            Request::Face(FaceRequest::Create { ticket, protocol: _, remote, options: _ }) => {
                self.tickets.push(ticket);
                self.asked.push(format!("create {remote}"));
            }
            Request::Face(FaceRequest::CreateEther { ticket, remote, interface, options: _ }) => {
                self.tickets.push(ticket);
                self.asked.push(format!("create {remote:?} on {interface}"));
            }
            Request::Face(FaceRequest::Update { face, options }) => {
                self.asked.push(format!("update {face} {:?}", options.persistency));
            }
            Request::Face(FaceRequest::Destroy { face }) => self.asked.push(format!("destroy {face}")),
            Request::Data(answer) => self.displaced.push(answer),
            Request::Interest(packet) => self.interests.push(packet),
            Request::Echo => panic!("no heartbeat is asked for"),
        }
    }
}

const NOW: Now = Now { monotonic: 5_000, unix: 1_700_000_000_000 };

fn at(milliseconds: u64) -> Now {
    Now { monotonic: NOW.monotonic + milliseconds, unix: NOW.unix + milliseconds }
}

fn face(id: u64, remote: &str) -> FaceInfo {
    FaceInfo {
        id,
        remote: remote.parse().unwrap(),
        local: "unix:///run/nfd/nfd.sock".parse().unwrap(),
        scope: FaceScope::Local,
        persistency: FacePersistency::OnDemand,
        link_type: LinkType::PointToPoint,
        flags: 0,
        marking_interval: 100_000_000,
        congestion_threshold: 65_536,
        mtu: None,
        idle: None,
        counters: Arc::default(),
    }
}

struct TestForwarder {
    manager: Manager,
    plane: Fake,
    from: Origin,
    time: u64,
}

impl TestForwarder {
    fn new() -> Self {
        Self::with(Config::default())
    }

    /// A manager with face 300, from which a local user commands.
    fn with(config: Config) -> Self {
        let trusted = |command: &Command<'_>, _: &[&Certificates], _: Now| match command.signature.value {
            b"good" => Ok(command.signature.key().into()),
            _ => Err("no such key".to_string().into()),
        };
        let mut manager = Manager::new(config, Totals::default(), Box::new(trusted), NOW);
        assert_eq!(manager.face_up(face(300, "fd://20"), NOW).len(), 1);
        let peer = Peer::User { uid: 0, over: Over::Unix };
        Self {
            manager,
            plane: Fake::default(),
            from: Origin { face: 300, scope: FaceScope::Local, peer },
            time: 0,
        }
    }

    /// The packets that answer `packet`.
    fn send(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        let interest = Interest::parse(packet).unwrap();
        self.manager.interest(&interest, &self.from, at(self.time), &mut self.plane)
    }

    fn command(&mut self, verb: &str, parameters: &ControlParameters) -> ControlResponse {
        let packet = command(Scope::Localhost, verb, parameters, None);
        response(&packet, &self.send(&packet))
    }

    fn ok(&mut self, verb: &str, parameters: &ControlParameters) -> ControlParameters {
        let response = self.command(verb, parameters);
        assert_eq!((response.code, response.text.as_str()), (200, "OK"));
        response.parameters().unwrap().unwrap()
    }

    fn refused(&mut self, verb: &str, parameters: &ControlParameters) -> (u64, String) {
        let response = self.command(verb, parameters);
        (response.code, response.text)
    }

    /// All segments of a list, joined.
    fn list(&mut self, name: NdnName<'_>) -> Vec<u8> {
        let first =
            InterestBuilder { can_be_prefix: true, must_be_fresh: true, ..InterestBuilder::new(name) };
        let mut packet = self.send(&first.build()).pop().expect("the first segment");
        let mut content = Vec::new();
        loop {
            assert!(packet.len() <= 8800);
            let data = Data::parse(&packet).unwrap();
            assert_eq!(data.freshness(), Some(1000));
            content.extend_from_slice(data.content());
            let last = data.name().components().last().unwrap();
            if data.final_block() == Some(last) {
                return content;
            }
            let rest: Vec<_> = data.name().components().take(data.name_len() - 1).collect();
            let versioned: OwnedName<Ndn> = OwnedName::from_components(rest).unwrap();
            let next = with_number(versioned.view(), SEGMENT, number(last, SEGMENT).unwrap() + 1).unwrap();
            packet = self.send(&InterestBuilder::new(next.view()).build()).pop().expect("another segment");
        }
    }

    fn records<R: Record>(&mut self, uri: &str) -> Vec<R> {
        let content = self.list(name(&format!("/localhost/nfd/{uri}")).view());
        R::parse_all(&content).unwrap()
    }

    fn fib(&self) -> Vec<(String, u64, u64)> {
        self.plane.fib.iter().map(|((name, face), &cost)| (name.clone(), *face, cost)).collect()
    }
}

fn name(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(format!("ndn:{uri}").as_bytes()).unwrap()
}

fn named(uri: &str) -> ControlParameters {
    ControlParameters { name: Some(name(uri)), ..Default::default() }
}

/// A command; with a key and a time where `key` gives them, and the signature that it gives.
fn command(
    scope: Scope,
    verb: &str,
    parameters: &ControlParameters,
    key: Option<(&str, u64, &[u8])>,
) -> Vec<u8> {
    let (module, verb) = verb.split_once('/').unwrap();
    let builder = CommandBuilder {
        target: Target { scope, module: module.as_bytes(), verb: verb.as_bytes() },
        parameters,
        nonce: 1,
        lifetime: 4000,
        signature_nonce: [3; 8],
        time: key.map_or(NOW.unix, |key| key.1),
    };
    match key {
        Some((key, _, signature)) => {
            let key = name(key);
            let locator = Some(KeyLocator::Name(key.view()));
            let info =
                SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::SHA256_WITH_ECDSA) };
            builder.build_signed(info, |_| signature.to_vec()).unwrap()
        }
        None => builder.build().unwrap(),
    }
}

/// The response in the one packet that answers `interest`.
fn response(interest: &[u8], packets: &[Vec<u8>]) -> ControlResponse {
    let [packet] = packets else { panic!("{} packets", packets.len()) };
    let data = Data::parse(packet).unwrap();
    assert_eq!(data.name(), Interest::parse(interest).unwrap().name());
    let digest: [u8; 32] = Sha256::digest(data.signed_portion()).into();
    assert_eq!(data.signature_value(), digest);
    ControlResponse::parse(data.content()).unwrap()
}

/// The reason of the Nack that sends `interest` back; `None` for any other answer.
fn nacked(interest: &[u8], packets: &[Vec<u8>]) -> Option<NackReason> {
    let [packet] = packets else { return None };
    let packet = LpPacket::parse(packet).ok().filter(|packet| packet.fragment == interest)?;
    packet.header.nack
}

/// The body that a response must have, byte for byte.
fn content(packets: &[Vec<u8>]) -> Vec<u8> {
    Data::parse(&packets[0]).unwrap().content().to_vec()
}

/// The command of python-ndn's NDNApp: everything in the name, no ApplicationParameters, lifetime 1000.
fn python_register(prefix: &str) -> Vec<u8> {
    let parameters = named(prefix).to_bytes();
    let time = NOW.unix.to_be_bytes();
    let info = [22, 3, 27, 1, 0];
    let parts: [&[u8]; 8] =
        [b"localhost", b"nfd", b"rib", b"register", &parameters, &time, &[0xab; 8], &info];
    let covered: OwnedName<Ndn> = OwnedName::from_components(parts.map(Component::generic)).unwrap();
    let digest = Sha256::digest(single(covered.as_bytes()).unwrap().value);
    let mut value = Vec::new();
    write_element(23, &digest, &mut value);
    let all = parts.into_iter().chain([&value[..]]).collect::<Vec<_>>();
    let whole: OwnedName<Ndn> =
        OwnedName::from_components(all.iter().map(|part| Component::generic(part))).unwrap();
    InterestBuilder { nonce: Some(1), lifetime: 1000, ..InterestBuilder::new(whole.view()) }.build()
}

#[test]
fn it_runs_on_a_thread_of_its_own() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&TestForwarder::new().manager);
}

#[test]
fn answers_the_registration_of_python_ndn() {
    let mut bench = TestForwarder::new();
    let packet = python_register("/app");
    let answers = bench.send(&packet);
    assert_eq!(response(&packet, &answers).code, 200);
    // 200, OK, {Name /app, FaceId 300, Origin 0, Cost 0, Flags 1}.
    let mut expected = Vec::new();
    write_nested(0x65, &mut expected, |out| {
        out.extend_from_slice(b"\x66\x01\xc8\x67\x02OK\x68\x14\x07\x05\x08\x03app\x69\x02\x01\x2c\x6f\x01\x00\x6a\x01\x00\x6c\x01\x01");
    });
    assert_eq!(content(&answers), expected);
    assert_eq!(bench.fib(), [("/app".into(), 300, 0)]);
}

#[test]
fn answers_the_registration_of_ndnts() {
    let mut bench = TestForwarder::new();
    let parameters = ControlParameters {
        origin: Some(RouteOrigin::CLIENT),
        cost: Some(0),
        flags: Some(2),
        expiration: Some(1_200_000),
        ..named("/app")
    };
    let body = bench.ok("rib/register", &parameters);
    assert_eq!(body, ControlParameters { face_id: Some(300), ..parameters.clone() });
    // Again after five minutes, and then no more.
    bench.time = 300_000;
    bench.ok("rib/register", &parameters);
    assert_eq!(bench.manager.deadline(), Some(at(1_500_000).monotonic));
    bench.time = 1_499_999;
    let routes: Vec<RibEntry> = bench.records("rib/list");
    assert_eq!(routes[0].routes[0].expiration, Some(1));
    bench.manager.tick(at(1_500_000), &mut bench.plane);
    assert_eq!((bench.fib(), bench.manager.deadline()), (vec![], None));
}

#[test]
fn neighbours_have_nothing_but_registrations_under_localhop() {
    let mut bench = TestForwarder::new();
    bench.manager.config.access.localhop = true;
    bench.from.scope = FaceScope::NonLocal;
    bench.from.peer = Peer::Ip("192.0.2.1".parse().unwrap());
    let key = Some(("/op/KEY/1", NOW.unix, &b"good"[..]));
    let packet = command(Scope::Localhop, "rib/register", &named("/app"), key);
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200);
    let other = command(Scope::Localhop, "faces/destroy", &named("/app"), key);
    assert_eq!(nacked(&other, &bench.send(&other)), Some(NackReason::NO_ROUTE), "nothing else is there");
    let local = command(Scope::Localhost, "rib/register", &named("/app"), key);
    assert_eq!(nacked(&local, &bench.send(&local)), Some(NackReason::NO_ROUTE), "not for other hosts");
}

#[test]
fn nfdc_adds_a_route_to_a_new_face() {
    let mut bench = TestForwarder::new();
    let uri = "udp4://192.0.2.1:6363";
    let filter = FaceQueryFilter { uri: Some(uri.into()), ..Default::default() }.to_bytes();
    let query = [&b"localhost"[..], b"nfd", b"faces", b"query", &filter].map(Component::generic);
    let query: OwnedName<Ndn> = OwnedName::from_components(query).unwrap();
    assert_eq!(bench.list(query.view()), b"", "no such face yet");

    let create = ControlParameters { uri: Some(uri.into()), ..Default::default() };
    let packet = command(Scope::Localhost, "faces/create", &create, None);
    assert_eq!(bench.send(&packet), [[0; 0]; 0], "the face takes its time");
    assert_eq!(bench.plane.asked, ["create 192.0.2.1:6363"]);
    let mut made = face(301, uri);
    made.local = "udp4://192.0.2.2:6363".parse().unwrap();
    made.mtu = Some(1400);
    made.persistency = FacePersistency::Persistent;
    bench.manager.face_up(made, NOW);
    let ticket = bench.plane.tickets[0];
    let answers = bench.manager.face_created(ticket, FaceOutcome::Created(301));
    let body = response(&packet, &answers).parameters().unwrap().unwrap();
    assert_eq!((body.face_id, body.uri.as_deref(), body.mtu), (Some(301), Some(uri), Some(1400)));
    assert_eq!(body.local_uri.as_deref(), Some("udp4://192.0.2.2:6363"));
    assert_eq!((body.persistency, body.flags), (Some(FacePersistency::Persistent), Some(0)));
    assert_eq!(bench.manager.face_created(ticket, FaceOutcome::Created(301)), [[0; 0]; 0], "answered once");

    let found = FaceStatus::parse_all(&bench.list(query.view())).unwrap();
    assert_eq!(found.iter().map(|face| face.face_id).collect::<Vec<_>>(), [301]);
    let again = bench.command("faces/create", &create);
    assert_eq!((again.code, again.parameters().unwrap().unwrap().face_id), (409, Some(301)));

    let route = ControlParameters {
        face_id: Some(301),
        origin: Some(RouteOrigin::STATIC),
        cost: Some(0),
        flags: Some(1),
        ..named("/net")
    };
    assert_eq!(bench.ok("rib/register", &route), route);
    assert_eq!(bench.fib(), [("/net".into(), 301, 0)]);
    let routes: Vec<RibEntry> = bench.records("rib/list");
    assert_eq!((routes[0].routes[0].face_id, routes[0].routes[0].origin), (301, RouteOrigin::STATIC));
    let fib: Vec<FibEntry> = bench.records("fib/list");
    assert_eq!(fib[0].next_hops[0].face_id, 301);

    bench.ok("faces/destroy", &ControlParameters { face_id: Some(301), ..Default::default() });
    assert_eq!(bench.plane.asked.last().unwrap(), "destroy 301");
    bench.manager.face_down(301, NOW, &mut bench.plane);
    assert_eq!(bench.fib(), [], "routes go with their face");
    let gone = bench.refused("rib/register", &route);
    assert_eq!(gone, (410, "Face 301 not found".into()));
}

#[test]
fn faces_that_cannot_be_made_are_refused_with_a_reason() {
    let mut bench = TestForwarder::new();
    for (uri, code, text) in [
        ("192.0.2.1", 400, "write udp4://192.0.2.1:6363"),
        ("udp4://192.0.2.1", 400, "Non-canonical remote URI: write udp4://192.0.2.1:6363"),
        ("udp://router.example:6363", 400, "is a name"),
        ("ws://192.0.2.1:9696", 406, "Unsupported protocol ws"),
        ("udp4://224.0.23.170:56363", 406, "multicast"),
        ("udp4://192.0.2.1:0", 406, "port 0"),
        ("tcp6://[::]:6363", 406, "of no host"),
        ("udp4://255.255.255.255:6363", 406, "broadcast"),
        ("udp6://[fe80::1%lo]:6363", 406, "interface of a link-local address"),
    ] {
        let refused =
            bench.refused("faces/create", &ControlParameters { uri: Some(uri.into()), ..Default::default() });
        assert!(refused.0 == code && refused.1.contains(text), "{uri}: {refused:?}");
    }
    let tcp = ControlParameters { uri: Some("tcp4://192.0.2.1:6363".into()), ..Default::default() };
    let mtu = bench.refused("faces/create", &ControlParameters { mtu: Some(1400), ..tcp.clone() });
    assert_eq!(mtu.0, 406);
    let local_fields = ControlParameters { flags: Some(1), mask: Some(1), ..tcp.clone() };
    assert_eq!(bench.refused("faces/create", &local_fields).0, 406);
    // Of this host or not, a UDP face is not local.
    let uri = Some("udp4://127.0.0.1:6363".into());
    assert_eq!(bench.refused("faces/create", &ControlParameters { uri, ..local_fields }).0, 406);
    assert_eq!(bench.plane.tickets, []);
    let packet = command(Scope::Localhost, "faces/create", &tcp, None);
    bench.send(&packet);
    let failed = FaceOutcome::Failed { code: 504, text: "no answer from 192.0.2.1:6363".into() };
    let answers = bench.manager.face_created(bench.plane.tickets[0], failed);
    assert_eq!(response(&packet, &answers), ControlResponse::new(504, "no answer from 192.0.2.1:6363"));
}

#[test]
fn commands_that_wait_are_bounded_and_end() {
    let mut bench = TestForwarder::new();
    let mut packets = Vec::new();
    for host in 0..MAX_WAITING {
        let uri = format!("udp4://10.0.{}.{}:6363", host / 256, host % 256);
        let create = ControlParameters { uri: Some(uri), ..Default::default() };
        packets.push(command(Scope::Localhost, "faces/create", &create, None));
        // Two users take turns; one of them gives one command in eight.
        let uid = u32::from(host % 8 == 0);
        bench.manager.config.access.users = vec![Account::Id(1)];
        bench.from.peer = Peer::User { uid, over: Over::Unix };
        assert_eq!(bench.send(&packets[host]), [[0; 0]; 0]);
    }
    let one = ControlParameters { uri: Some("udp4://10.1.0.0:6363".into()), ..Default::default() };
    bench.from.peer = Peer::User { uid: 1, over: Over::Unix };
    assert_eq!(bench.send(&command(Scope::Localhost, "faces/create", &one, None)), [[0; 0]; 0]);
    let displaced = std::mem::take(&mut bench.plane.displaced);
    assert_eq!(response(&packets[1], &displaced).code, 503, "the oldest of the user with most");
    assert_eq!(bench.manager.tick(at(MAX_WAIT - 1), &mut bench.plane), [[0; 0]; 0]);
    let late = bench.manager.tick(at(MAX_WAIT), &mut bench.plane);
    let codes = late.iter().map(|packet| {
        let data = Data::parse(packet).unwrap();
        ControlResponse::parse(data.content()).unwrap().code
    });
    assert!(late.len() == MAX_WAITING && codes.eq(vec![504; MAX_WAITING]));
    bench.time = MAX_WAIT;
    assert_eq!(bench.send(&command(Scope::Localhost, "faces/create", &one, None)), [[0; 0]; 0]);
    assert_eq!(bench.manager.waiting.len(), 1);
}

#[test]
fn faces_are_updated_as_far_as_they_can_be() {
    let mut bench = TestForwarder::new();
    bench.manager.face_up(
        FaceInfo { scope: FaceScope::NonLocal, mtu: Some(1400), ..face(301, "udp4://192.0.2.1:6363") },
        NOW,
    );
    let options = ControlParameters {
        face_id: Some(301),
        persistency: Some(FacePersistency::Permanent),
        mtu: Some(1300),
        flags: Some(4),
        mask: Some(6),
        ..Default::default()
    };
    let body = bench.ok("faces/update", &options);
    assert_eq!((body.flags, body.mtu, body.uri), (Some(4), Some(1300), None));
    assert_eq!(bench.plane.asked, ["update 301 Some(Permanent)"]);
    let wrong = ControlParameters {
        face_id: Some(301),
        flags: Some(1),
        mask: Some(1),
        mtu: Some(20),
        ..Default::default()
    };
    let response = bench.command("faces/update", &wrong);
    let body = response.parameters().unwrap().unwrap();
    assert_eq!((response.code, body.flags, body.mtu, body.persistency), (409, Some(1), Some(20), None));
    // On demand it goes away when it is silent, and is told of so; a stream does not.
    let on_demand = |id| ControlParameters {
        face_id: Some(id),
        persistency: Some(FacePersistency::OnDemand),
        ..Default::default()
    };
    bench.ok("faces/update", &on_demand(301));
    bench.manager.face_up(face(302, "tcp4://192.0.2.1:6363"), NOW);
    bench.ok("faces/update", &on_demand(302));
    let idle = |id| bench.manager.faces().find(|face| face.id == id).unwrap().idle;
    assert_eq!([301, 302].map(idle), [Some(600_000), None]);
    // Without a number it is the face of the command; ndn-cxx enables local fields so.
    let own = ControlParameters { flags: Some(1), mask: Some(1), ..Default::default() };
    assert_eq!(bench.ok("faces/update", &own).face_id, Some(300));
    let unknown = ControlParameters { face_id: Some(7), ..Default::default() };
    assert_eq!(bench.refused("faces/update", &unknown).0, 404);
    bench.ok("faces/destroy", &unknown);
}

#[test]
fn a_thousand_faces_come_in_segments() {
    let mut bench = TestForwarder::new();
    for id in 301..1300 {
        bench.manager.face_up(face(id, &format!("fd://{id}")), NOW);
    }
    let counters = Arc::new(FaceCounters::default());
    counters.in_data.add(77);
    let counters = Arc::from([counters, Arc::default()]);
    bench.manager.face_changed(FaceInfo { counters, ..face(1299, "fd://1299") });
    let faces: Vec<FaceStatus> = bench.records("faces/list");
    assert!(faces.iter().map(|face| face.face_id).eq(300..1300));
    assert_eq!((faces[999].in_data, &*faces[999].uri), (77, "fd://1299"));
    // Lists are kept for a while, and not all of them.
    assert_eq!(bench.manager.store.len(), 1);
    for number in 0..200 {
        bench.time = 100 * number;
        bench.records::<FaceStatus>("faces/list");
    }
    assert_eq!(bench.manager.store.len(), 64);
    bench.manager.tick(at(100_000), &mut bench.plane);
    assert_eq!(bench.manager.store.len(), 0);
}

#[test]
fn other_lists_say_what_was_set() {
    let config = Config { channels: vec!["udp4://0.0.0.0:6363".parse().unwrap()], ..Config::default() };
    let mut bench = TestForwarder::with(config);
    let channels: Vec<ChannelStatus> = bench.records("faces/channels");
    assert_eq!(channels[0].local_uri, "udp4://0.0.0.0:6363");
    let content = bench.list(name("/localhost/nfd/status/general").view());
    let status = ForwarderStatus::parse_fields(Elements::new(&content)).unwrap();
    assert_eq!((status.start, status.fib_entries), (NOW.unix, 0));
    assert!(status.counts.iter().all(|count| count.value == 0));
    let shards: [Arc<Counters>; 2] = Default::default();
    bench.manager.counters = Totals::new(shards.clone());
    let drops = &shards[0].drops;
    (0..2).for_each(|_| drops.count(DropReason::Loop));
    drops.count(DropReason::PitFull);
    shards[1].drops.count(DropReason::Loop);
    let content = bench.list(name("/localhost/nfd/status/general").view());
    let status = ForwarderStatus::parse_fields(Elements::new(&content)).unwrap();
    let count = |name: &str, value| Count { name: name.into(), value };
    let counted: Vec<_> = status.counts.into_iter().filter(|count| count.value > 0).collect();
    assert_eq!(counted, [count("loop", 3), count("pit-full", 1)]);

    let config =
        ControlParameters { capacity: Some(1000), flags: Some(0), mask: Some(1), ..Default::default() };
    let body = bench.ok("cs/config", &config);
    assert_eq!((body.capacity, body.flags), (Some(1000), Some(2)));
    let info: Vec<CsInfo> = bench.records("cs/info");
    assert_eq!((info[0].capacity, info[0].flags), (1000, 2));
    bench.ok("cs/config", &ControlParameters::default());
    assert_eq!(bench.plane.asked.len(), 1, "asking changes nothing");

    let packet = command(Scope::Localhost, "cs/erase", &named("/old"), None);
    assert_eq!(bench.send(&packet), [[0; 0]; 0]);
    assert_eq!(bench.plane.asked[1], "erase /old 256");
    let done = ControlResponse::new(200, "OK");
    let answers = bench.manager.responded(bench.plane.tickets[0], &done);
    assert_eq!(response(&packet, &answers), done);

    let unknown =
        InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name("/localhost/nfd/a/b").view()) }
            .build();
    let answers = bench.send(&unknown);
    assert_eq!(response(&unknown, &answers).code, 501);
    assert_eq!(Data::parse(&answers[0]).unwrap().content_type(), APPLICATION_NACK);
    let filter = InterestBuilder::new(name("/localhost/nfd/faces/query/x").view()).build();
    assert_eq!(response(&filter, &bench.send(&filter)).code, 400);
}

#[test]
fn strategies_are_chosen_by_name() {
    let mut bench = TestForwarder::new();
    let choose = |prefix: &str, strategy: &str| ControlParameters {
        strategy: Some(name(&format!("/localhost/nfd/strategy/{strategy}"))),
        ..named(prefix)
    };
    let body = bench.ok("strategy-choice/set", &choose("/a", "asf"));
    assert_eq!(body.strategy, Some(name("/localhost/nfd/strategy/asf/v=5")));
    bench.ok("strategy-choice/set", &choose("/b", "best-route/v=4/retx-suppression-initial~20"));
    assert_eq!(bench.refused("strategy-choice/set", &choose("/c", "ncc")).0, 404);
    for (given, full) in [
        ("asf/v=5/max-timeouts~3", "asf/v=5/max-timeouts~3"),
        ("asf/max-timeouts~3/probing-interval~2000", "asf/v=5/max-timeouts~3/probing-interval~2000"),
        ("asf/v=3/n-silent-timeouts~0", "asf/v=3/n-silent-timeouts~0"),
        ("multicast/retx-suppression-max~9", "multicast/v=5/retx-suppression-max~9"),
        ("random/retx-suppression-multiplier~3", "random/v=1/retx-suppression-multiplier~3"),
    ] {
        let body = bench.ok("strategy-choice/set", &choose("/d", given));
        assert_eq!(body.strategy, Some(name(&format!("/localhost/nfd/strategy/{full}"))));
    }
    for strategy in ["best-route/v=4", "multicast/v=4", "random/v=1", "asf/v=1"] {
        bench.ok("strategy-choice/set", &choose("/d", strategy));
    }
    bench.ok("strategy-choice/unset", &named("/d"));
    bench.plane.asked.retain(|asked| !asked.contains("/d"));
    assert_eq!(bench.refused("strategy-choice/set", &choose("/c", "asf/v=0")).0, 404);
    assert_eq!(bench.refused("strategy-choice/set", &choose("/c", "asf/v=6")).0, 404);
    assert_eq!(bench.refused("strategy-choice/set", &choose("/c", "asf/v=5/x")).0, 409);
    let refused = bench.refused("strategy-choice/set", &choose("/c", "asf/v=5/bad~1"));
    assert!(refused.0 == 409 && refused.1.starts_with("Error instantiating strategy: "), "{refused:?}");
    let choices: Vec<StrategyChoice> = bench.records("strategy-choice/list");
    let choices: Vec<_> =
        choices.iter().map(|choice| format!("{} {}", choice.name, choice.strategy)).collect();
    assert_eq!(
        choices,
        [
            "/ /localhost/nfd/strategy/best-route/v=5",
            "/a /localhost/nfd/strategy/asf/v=5",
            "/b /localhost/nfd/strategy/best-route/v=4/retx-suppression-initial~20"
        ]
    );
    bench.ok("strategy-choice/unset", &named("/a"));
    bench.ok("strategy-choice/unset", &named("/a"));
    assert_eq!(bench.refused("strategy-choice/unset", &named("/")).0, 400);
    assert_eq!(
        bench.plane.asked,
        ["strategy /a Some(\"asf\")", "strategy /b Some(\"best-route\")", "strategy /a None"]
    );
}

#[test]
fn parameters_are_those_of_the_verb() {
    let mut bench = TestForwarder::new();
    let none = ControlParameters::default();
    let forbidden = ControlParameters { capacity: Some(1), ..named("/a") };
    let maskless = ControlParameters { flags: Some(1), ..none.clone() };
    let zero = ControlParameters { face_id: Some(0), ..none.clone() };
    let nothing = ControlParameters { count: Some(0), ..named("/a") };
    let deep = named(&"/a".repeat(33));
    for (verb, parameters, code, text) in [
        ("rib/register", &none, 400, "Name is required but missing"),
        ("rib/register", &forbidden, 400, "Capacity is forbidden but present"),
        ("faces/update", &maskless, 400, "Flags and Mask must come together"),
        ("faces/destroy", &zero, 400, "FaceId must not be 0"),
        ("cs/erase", &nothing, 400, "Count must be positive"),
        ("rib/register", &deep, 414, "the prefix has 33 components, more than 32"),
        ("fib/add-nexthop", &deep, 414, "the prefix has 33 components, more than 32"),
        ("rib/announce", &none, 400, "the name has extra components for a command"),
    ] {
        assert_eq!(bench.refused(verb, parameters), (code, text.into()));
    }
    let unsigned = name("/localhost/nfd/rib/register/h%00");
    let packet = InterestBuilder::new(unsigned.view()).build();
    assert_eq!(
        response(&packet, &bench.send(&packet)),
        ControlResponse::new(403, "the command is not signed")
    );
}

#[test]
fn next_hops_are_added_and_removed() {
    let mut bench = TestForwarder::new();
    let body = bench.ok("fib/add-nexthop", &ControlParameters { cost: Some(9), ..named("/a") });
    assert_eq!((body.face_id, body.cost), (Some(300), Some(9)));
    bench.ok("fib/add-nexthop", &named("/b"));
    bench.ok("rib/register", &named("/a"));
    assert_eq!(bench.fib(), [("/a".into(), 300, 0), ("/b".into(), 300, 0)]);
    bench.ok("fib/remove-nexthop", &named("/b"));
    bench.ok("fib/remove-nexthop", &named("/b"));
    bench.ok("fib/add-nexthop", &named("/c"));
    bench.ok("fib/remove-nexthop", &named("/a"));
    bench.ok("rib/unregister", &named("/a"));
    assert_eq!(bench.fib(), [("/c".into(), 300, 0)]);
    bench.manager.face_down(300, NOW, &mut bench.plane);
    assert_eq!(bench.fib(), []);
    assert_eq!(bench.refused("fib/add-nexthop", &named("/a")).0, 410);
}

#[test]
fn routes_and_next_hops_have_limits() {
    let config = Config {
        rib: RibLimits { routes: 100, routes_per_face: 3, next_hops: 5, ..RibLimits::default() },
        max_strategies: 1,
        ..Config::default()
    };
    let mut bench = TestForwarder::with(config);
    for prefix in ["/a", "/a/b", "/c"] {
        bench.ok("rib/register", &named(prefix));
    }
    assert_eq!(
        bench.refused("rib/register", &named("/d")),
        (507, "face 300 has 3 routes, the limit of a face".into())
    );
    bench.manager.face_up(face(301, "fd://21"), NOW);
    let root = ControlParameters { face_id: Some(301), ..named("/") };
    let before = bench.fib();
    assert_eq!(bench.refused("rib/register", &root).0, 507, "four next hops for one route");
    assert_eq!(bench.fib(), before);
    let plain = ControlParameters { flags: Some(0), ..root.clone() };
    bench.ok("rib/register", &plain);
    assert_eq!(bench.refused("rib/register", &root).0, 507, "the change would inherit");
    assert_eq!(bench.manager.rib.len(), 4);
    bench.ok("rib/unregister", &named("/c"));
    bench.ok("rib/unregister", &ControlParameters { face_id: Some(301), ..named("/") });
    assert_eq!(bench.fib(), [("/a".into(), 300, 0), ("/a/b".into(), 300, 0)]);
    let strategy = Some(StrategyKind::Asf.full_name());
    let refused = bench.refused("strategy-choice/set", &ControlParameters { strategy, ..named("/a") });
    assert_eq!(refused.0, 507);
}

#[test]
fn events_go_to_those_who_wait() {
    let mut bench = TestForwarder::new();
    let ask = |bench: &mut TestForwarder, uri: &str, prefix: bool| {
        let name = name(uri);
        let interest = InterestBuilder {
            can_be_prefix: prefix,
            must_be_fresh: true,
            ..InterestBuilder::new(name.view())
        };
        let packets = bench.send(&interest.build());
        packets.first().map(|packet| {
            let data = Data::parse(packet).ok()?;
            let event = FaceEventNotification::parse(data.content()).unwrap();
            Some((
                number(data.name().components().last().unwrap(), SEQUENCE_NUM).unwrap(),
                event.kind,
                event.face_id,
            ))
        })
    };
    // It waits for the event; it is sent back, as there is no such event.
    let (waits, comes_back) = (None, Some(None));
    let stream = "/localhost/nfd/faces/events";
    assert_eq!(ask(&mut bench, stream, true), Some(Some((0, FaceEventKind::Created, 300))));
    assert_eq!(ask(&mut bench, stream, false), comes_back, "the names of events are longer");
    assert_eq!(ask(&mut bench, &format!("{stream}/seq=1"), false), waits);
    bench.time = 1000;
    assert_eq!(ask(&mut bench, stream, true), waits, "the last event is no news");
    let packets = bench.manager.face_link(300, false, at(1000));
    let data = Data::parse(&packets[0]).unwrap();
    assert_eq!(data.name().to_string(), format!("{stream}/seq=1"));
    bench.manager.face_down(300, at(1000), &mut bench.plane);
    bench.time = 100_000;
    let third = ask(&mut bench, &format!("{stream}/seq=2"), false);
    assert_eq!(third, Some(Some((2, FaceEventKind::Destroyed, 300))));
    for id in 0..1000 {
        bench.manager.face_up(face(id, "fd://1"), NOW);
    }
    assert_eq!(ask(&mut bench, &format!("{stream}/seq=2"), false), comes_back, "the backlog is bounded");
    let last = ask(&mut bench, &format!("{stream}/seq=1002"), false);
    assert_eq!(last, Some(Some((1002, FaceEventKind::Created, 999))));
    for (number, answer) in [(1003, waits), (1258, waits), (1259, comes_back), (u64::MAX, comes_back)] {
        assert_eq!(ask(&mut bench, &format!("{stream}/seq={number}"), false), answer, "{number}");
    }
    for other in ["seq=1003/a", "v=1", "a"] {
        assert_eq!(ask(&mut bench, &format!("{stream}/{other}"), true), comes_back, "{other}");
    }
}

#[test]
fn only_those_who_may_command() {
    let mut bench = TestForwarder::new();
    let text = |bench: &mut TestForwarder, packet: &[u8]| {
        let packets = bench.send(packet);
        let response = response(packet, &packets);
        (response.code, response.text)
    };
    let digest = command(Scope::Localhost, "rib/register", &named("/a"), None);
    bench.from.peer = Peer::Ip("192.0.2.1".parse().unwrap());
    assert_eq!(
        text(&mut bench, &digest),
        (
            403,
            "not authorized: commands from 192.0.2.1 need a signature under a configured trust anchor".into()
        )
    );
    let signed = |time, signature| {
        command(Scope::Localhost, "rib/register", &named("/a"), Some(("/op/KEY/1", time, signature)))
    };
    let good = signed(NOW.unix, b"good");
    assert_eq!(text(&mut bench, &good).0, 200);
    let again = text(&mut bench, &good);
    assert_eq!(again.1, "not authorized: the key has signed another command at the same time or later");
    assert_eq!(text(&mut bench, &signed(NOW.unix + 1, b"good")).0, 200);
    let bad = text(&mut bench, &signed(NOW.unix + 2, b"evil"));
    assert!(bad.0 == 403 && bad.1.ends_with("the command is not trusted: no such key"), "{bad:?}");
    assert_eq!(text(&mut bench, &signed(NOW.unix + 2, b"good")).0, 200, "what was refused does not count");
    let early = text(&mut bench, &signed(NOW.unix - 61_000, b"good"));
    assert_eq!(early.1, "not authorized: the command was signed 61 s before now, more than 60 s");

    let hop =
        command(Scope::Localhop, "rib/register", &named("/a"), Some(("/op/KEY/1", NOW.unix + 3, b"good")));
    assert_eq!(
        text(&mut bench, &hop).1,
        "not authorized: registrations under /localhop from 192.0.2.1 are not enabled"
    );
    bench.manager.config.access.localhop = true;
    assert_eq!(text(&mut bench, &hop).0, 200);
    let other = ControlParameters { face_id: Some(4), ..named("/a") };
    let hop = command(Scope::Localhop, "rib/register", &other, Some(("/op/KEY/1", NOW.unix + 4, b"good")));
    assert!(text(&mut bench, &hop).1.ends_with("may register its own face 300 only"));

    bench.from.peer = Peer::User { uid: 0, over: Over::Loopback };
    assert_eq!(text(&mut bench, &digest).0, 200);
    assert_eq!(text(&mut bench, &digest).0, 200, "a permitted user may say it twice");
    assert_eq!(text(&mut bench, &signed(0, b"anything")).0, 200, "and sign with any key");
}

#[test]
fn a_wrong_digest_is_refused_from_anyone() {
    let mut bench = TestForwarder::new();
    let mut packet = python_register("/app");
    // One byte of the digest, which stands before the Nonce and the lifetime.
    let at = packet.len() - 6 - 4 - 1;
    packet[at] ^= 1;
    let refused = response(&packet, &bench.send(&packet));
    assert_eq!(refused.text, "not authorized: the digest in the signature of the command is wrong");
    assert_eq!(bench.fib(), []);
}

#[test]
fn answers_to_the_longest_commands_fit_into_packets() {
    let mut bench = TestForwarder::new();
    let long = |len: usize| {
        let component = vec![b'a'; len];
        let name = OwnedName::from_components([Component::generic(&component)]).unwrap();
        ControlParameters { name: Some(name), ..Default::default() }
    };
    let packet = command(Scope::Localhost, "rib/register", &long(3900), None);
    let answers = bench.send(&packet);
    assert_eq!(response(&packet, &answers).code, 200);
    assert!(answers[0].len() <= 8800);
    let refused = bench.refused("rib/register", &long(4000));
    assert_eq!(refused, (414, "the command is longer than 4096 bytes".into()));
    let packet = command(Scope::Localhost, "rib/register", &long(8640), None);
    assert!(packet.len() <= 8800);
    assert_eq!(nacked(&packet, &bench.send(&packet)), Some(NackReason::NO_ROUTE), "no room for an answer");

    let ask = |bench: &mut TestForwarder, len| {
        let uri = format!("/localhost/nfd/faces/list/{}", "a".repeat(len));
        let name = name(&uri);
        let interest = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) };
        bench.send(&interest.build()).pop()
    };
    for id in 301..500 {
        bench.manager.face_up(face(id, "fd://1"), NOW);
    }
    let first = ask(&mut bench, 970).unwrap();
    assert!((7168..=8800).contains(&first.len()) && Data::parse(&first).unwrap().content_type() == 0);
    let refused = ask(&mut bench, 8600).unwrap();
    assert_eq!(Data::parse(&refused).unwrap().content_type(), APPLICATION_NACK);
    assert!(LpPacket::parse(&ask(&mut bench, 8730).unwrap()).unwrap().header.nack.is_some());
}

/// Parameters that set or clear flags.
fn flags(flags: u64, mask: u64) -> ControlParameters {
    ControlParameters { flags: Some(flags), mask: Some(mask), ..Default::default() }
}

#[test]
fn flags_of_what_no_face_does_are_refused() {
    let mut bench = TestForwarder::new();
    bench.manager.face_up(face(301, "tcp4://192.0.2.1:6363"), NOW);
    bench.manager.face_up(face(302, "udp4://192.0.2.1:6363"), NOW);
    let uri = Some("tcp4://192.0.2.2:6363".to_string());
    let text = "tcp4 faces lose no packets: create the face without reliability";
    for (set, mask, text) in
        [(2, 2, text), (6, 7, text), (8, 8, "Unsupported face flags 0x8"), (0, 1 << 40, "0x10000000000")]
    {
        let refused =
            bench.refused("faces/create", &ControlParameters { uri: uri.clone(), ..flags(set, mask) });
        assert!(refused.0 == 406 && refused.1.ends_with(text), "{set} {mask}: {refused:?}");
        let update = ControlParameters { face_id: Some(301), ..flags(set, mask) };
        let response = bench.command("faces/update", &update);
        assert_eq!(response.code, 409, "{set} {mask}");
        // The body has the bits that are wrong.
        let body = response.parameters().unwrap().unwrap();
        let wrong = mask & !(1 | 4);
        assert_eq!((body.flags, body.mask), (Some(set & wrong), Some(wrong)), "{set} {mask}");
    }
    assert_eq!(bench.plane.asked, [""; 0], "nothing was changed");
    // Reliability is off already, and bits outside the mask say nothing.
    let uri = Some("udp4://192.0.2.2:6363".to_string());
    for (set, mask) in [(0, 2), (2, 0), (4 | 2, 4)] {
        let body = bench.ok("faces/update", &ControlParameters { face_id: Some(301), ..flags(set, mask) });
        assert_eq!(body.flags, Some(set & mask), "{set} {mask}");
    }
    for set in [2, 0] {
        let body = bench.ok("faces/update", &ControlParameters { face_id: Some(302), ..flags(set, 2) });
        assert_eq!(body.flags, Some(set), "a UDP face");
    }
    let create = ControlParameters { uri, ..flags(6 | 1 << 16 | 1 << 17, 6 | 1 << 16 | 1 << 17) };
    assert_eq!(bench.send(&command(Scope::Localhost, "faces/create", &create, None)), [[0; 0]; 0]);
    assert_eq!(bench.plane.asked.last().unwrap(), "create 192.0.2.2:6363");
}

#[test]
fn next_hops_are_listed_in_order_of_cost() {
    let mut bench = TestForwarder::new();
    for (id, cost) in [(301, 9), (302, 5), (303, 7), (304, 5)] {
        bench.manager.face_up(face(id, "udp4://192.0.2.1:6363"), NOW);
        bench.ok("rib/register", &ControlParameters { face_id: Some(id), cost: Some(cost), ..named("/a") });
    }
    let fib: Vec<FibEntry> = bench.records("fib/list");
    let hops: Vec<_> = fib[0].next_hops.iter().map(|hop| (hop.face_id, hop.cost)).collect();
    assert_eq!(hops, [(302, 5), (304, 5), (303, 7), (301, 9)]);
}

#[test]
fn no_interest_for_the_management_stays_in_the_pit() {
    let mut bench = TestForwarder::new();
    let peers =
        [(FaceScope::Local, Peer::Internal), (FaceScope::NonLocal, Peer::Ip("192.0.2.1".parse().unwrap()))];
    for (scope, peer) in peers {
        (bench.from.scope, bench.from.peer) = (scope, peer);
        for top in ["/localhost/nfd", "/localhop/nfd"] {
            for rest in [
                "",
                "/rib",
                "/a/b",
                "/32=rib/register/x",
                "/rib/register",
                "/rib/register/x",
                "/rib/list",
                "/rib/list/v=1",
                "/rib/list/v=1/seg=0",
                "/rib/list/v=1/seg=7/x",
                "/rib/announce/x",
                "/faces/create/x",
                "/faces/query/x",
                "/faces/events/x",
                "/faces/events/seq=9999999",
                "/status/general",
                "/status/general/seg=0",
                "/cs/erase",
            ] {
                let name = name(&format!("{top}{rest}"));
                for can_be_prefix in [false, true] {
                    let interest = InterestBuilder { can_be_prefix, ..InterestBuilder::new(name.view()) };
                    let packets = bench.send(&interest.build());
                    assert_eq!(packets.len(), 1, "{top}{rest} {can_be_prefix} {scope:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_that_comes_makes_it_panic(
        which in 0..6_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        uid in 0..2_u32,
    ) {
        let mut bench = TestForwarder::new();
        bench.from.peer = Peer::User { uid, over: Over::Unix };
        let uri = ControlParameters { uri: Some("udp4://192.0.2.1:6363".into()), ..Default::default() };
        let strategy = ControlParameters { strategy: Some(StrategyKind::Asf.full_name()), ..named("/a") };
        let list = name("/localhost/nfd/faces/list/v=1/seg=0");
        let mut packet = match which {
            0 => python_register("/app"),
            1 => command(Scope::Localhost, "rib/register", &named("/a"), None),
            2 => command(Scope::Localhop, "rib/unregister", &named("/a"), Some(("/k", NOW.unix, b"good"))),
            3 => command(Scope::Localhost, "faces/create", &uri, None),
            4 => command(Scope::Localhost, "strategy-choice/set", &strategy, None),
            _ => InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(list.view()) }.build(),
        };
        for (index, byte) in changes {
            let at = index.index(packet.len());
            packet[at] = byte;
        }
        if let Ok(interest) = Interest::parse(&packet) {
            let answers = bench.manager.interest(&interest, &bench.from, NOW, &mut bench.plane);
            let name = interest.name().to_string();
            let waits = bench.manager.waiting.len() + usize::from(name.contains("events"));
            prop_assert!(answers.len() == 1 || answers.is_empty() && waits == 1, "{name} {waits}");
            for answer in answers {
                if nacked(&packet, std::slice::from_ref(&answer)).is_some() {
                    continue;
                }
                prop_assert!(answer.len() <= 8800);
                let data = Data::parse(&answer).unwrap();
                prop_assert!(data.name().components().take(interest.name_len()).eq(interest.name().components()));
            }
        }
    }
}
