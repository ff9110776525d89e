//! Turns of the forwarding thread: which events and system calls an exchange takes.

use super::calls::counter;
use super::message::{RequestQueue, Requests};
use super::reports::Inbox;
use super::*;
use crate::handed::Handed;
use crate::management::{FaceOptions, Report};
use hashlane_link::stream::{Filled, Framing, StreamReader};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::values::FACE_LOCAL_FIELDS;
use hashlane_ndn::tlv;
use hashlane_ndn::wire::MAX_LINK_PACKET;
use hashlane_ndn::wire::{Data, DataBuilder, InterestBuilder, LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::pit::ByName;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket as Peer};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Exchanges of a test.
const EXCHANGES: usize = 100;
/// Time after which a test that waits has failed.
const HANG: Duration = Duration::from_secs(15);

/// A forwarding thread that takes a turn when it is asked to.
struct TestPlane {
    plane: Plane<ByName>,
    events: Events,
    folder: tempfile::TempDir,
    inbox: Inbox,
    _requests: Requests,
}

impl TestPlane {
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// A thread with a changed configuration.
    fn with(change: impl FnOnce(&mut FaceConfig)) -> Self {
        Self::with_shards(1, change)
    }

    /// The first of several threads.
    fn with_shards(shards: usize, change: impl FnOnce(&mut FaceConfig)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = FaceConfig::default();
        config.unix.path = vec![folder.path().join("sock")];
        config.udp.listen = vec![(Ipv4Addr::LOCALHOST, 0).into()];
        config.tcp.listen.clear();
        config.websocket.listen.clear();
        change(&mut config);
        let sockets = Sockets::open(&config, Handed::default(), None).expect("sockets");
        let (poll, waker) = poll().expect("epoll");
        let (requests, queue): (Requests, RequestQueue) = Requests::new(waker.clone());
        let (reports, inbox) = Reports::new();
        let key = hashlane_hash::scheme::Key::new([7; 16]);
        let mut forwarders: Vec<_> = (0..shards)
            .map(|_| {
                let config = hashlane_ndn_fw::forward::Config::default();
                let mut forwarder = Forwarder::with_pit(config, &key, 7, ByName::default());
                let mut management = Face::new(Scope::Local, LinkType::PointToPoint);
                management.local_fields = true;
                forwarder.add_management(management, &[]);
                forwarder
            })
            .collect();
        let (others, clock) = (forwarders.split_off(1), Clock::start());
        let crew = (shards > 1).then(|| crate::shards::start(others, &sockets.udp, waker, clock, |_| {}));
        let crew = crew.transpose().expect("threads");
        let forwarder = forwarders.pop().expect("the first one");
        let forwarding = Forwarding { forwarder, crew, clock };
        let secrets = Secrets { peers: key, seed: 7 };
        let plane = Plane::new(poll, sockets, config, forwarding, queue, reports, &secrets).expect("a plane");
        let events = Events::with_capacity(1024);
        Self { plane, events, folder, inbox, _requests: requests }
    }

    /// A turn. Returns how many events began it.
    fn turn(&mut self, timeout: Duration) -> usize {
        assert!(!self.plane.round(&mut self.events, timeout).expect("a turn"), "it ends unasked");
        self.events.iter().count()
    }

    /// Turns until a step has an outcome.
    fn until<T>(&mut self, mut step: impl FnMut(&mut Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(outcome) = step(self) {
                return outcome;
            }
            assert!(begun.elapsed() < HANG, "nothing has come");
            self.turn(Duration::from_millis(1));
        }
    }

    /// Turns until there are no events and nothing is left to read.
    fn settle(&mut self) {
        while self.turn(Duration::ZERO) > 0 || !self.plane.ready.is_empty() {}
    }

    /// The face that was made last.
    fn new_face(&mut self) -> FaceId {
        let reports = std::iter::from_fn(|| self.inbox.next(Duration::ZERO, true));
        let made = reports.filter_map(|report| match report {
            Report::FaceUp { info, .. } => u32::try_from(info.id).ok(),
            _ => None,
        });
        FaceId(made.last().expect("a face was made"))
    }

    fn connect(&mut self) -> (UnixStream, FaceId) {
        let stream = UnixStream::connect(self.folder.path().join("sock")).expect("connects");
        stream.set_read_timeout(Some(HANG)).expect("a timeout");
        self.settle();
        (stream, self.new_face())
    }

    /// A peer that has sent a packet, which nobody asked for.
    fn peer(&mut self) -> (Peer, FaceId) {
        let peer = Peer::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        peer.set_read_timeout(Some(HANG)).expect("a timeout");
        peer.connect(self.plane.faces.pipeline.ports.sockets.get(0).expect("a socket").local)
            .expect("the forwarder's address");
        peer.send(&data("/unasked", 1)).expect("sent");
        while self.turn(HANG) == 0 {}
        (peer, self.new_face())
    }

    fn route(&mut self, uri: &str, face: FaceId) {
        self.plane.faces.pipeline.forwarder.add_route(&parse(uri).view(), NextHop { face, cost: 0 });
    }

    fn slot(face: FaceId) -> usize {
        face.slot().expect("a face")
    }
}

fn parse(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
}

fn interest(uri: &str) -> Vec<u8> {
    static NONCE: AtomicU32 = AtomicU32::new(1);
    let nonce = Some(NONCE.fetch_add(1, Ordering::Relaxed));
    InterestBuilder { nonce, ..InterestBuilder::new(parse(uri).view()) }.build()
}

fn data(uri: &str, bytes: usize) -> Vec<u8> {
    DataBuilder::new(parse(uri).view(), &vec![7; bytes]).build()
}

/// True if the bytes are Data of this name, perhaps with a link header.
fn is_data(bytes: &[u8], uri: &str) -> bool {
    let packet = LpPacket::parse(bytes).expect("a packet");
    Data::parse(packet.fragment).is_ok_and(|data| data.name() == parse(uri).view())
}

#[test]
fn an_exchange_over_streams_takes_two_turns_and_no_call_that_fails() {
    let mut bench = TestPlane::new();
    let (mut consumer, _) = bench.connect();
    let (mut producer, face) = bench.connect();
    bench.route("/a", face);
    counter::reset();
    let (mut turns, mut idle) = (0, 0);
    let mut bytes = [0; 2048];
    for number in 0..EXCHANGES {
        let uri = format!("/a/{number}");
        consumer.write_all(&interest(&uri)).expect("room");
        turns += bench.turn(HANG);
        assert!(producer.read(&mut bytes).expect("the Interest") > 0);
        producer.write_all(&data(&uri, 100)).expect("room");
        turns += bench.turn(HANG);
        let read = consumer.read(&mut bytes).expect("the Data");
        assert!(is_data(&bytes[..read], &uri));
        idle += bench.turn(Duration::ZERO);
    }
    // One event and one read for each packet; reading what was sent is no event.
    assert_eq!((turns, idle, counter::calls()), (2 * EXCHANGES, 0, [2 * EXCHANGES, 0]));
}

#[test]
fn a_lone_datagram_is_received_with_one_call_and_no_queue_is_asked_for() {
    let mut bench = TestPlane::new();
    let (consumer, _) = bench.peer();
    let (producer, face) = bench.peer();
    bench.route("/a", face);
    counter::reset();
    let mut turns = 0;
    let mut bytes = [0; 2048];
    for number in 0..EXCHANGES {
        let uri = format!("/a/{number}");
        consumer.send(&interest(&uri)).expect("sent");
        turns += bench.turn(HANG);
        assert!(producer.recv(&mut bytes).expect("the Interest") > 0);
        producer.send(&data(&uri, 100)).expect("sent");
        turns += bench.turn(HANG);
        let read = consumer.recv(&mut bytes).expect("the Data");
        assert!(is_data(&bytes[..read], &uri));
    }
    let [receives, asks] = counter::calls();
    assert_eq!((turns, receives), (2 * EXCHANGES, 2 * EXCHANGES));
    // The threshold of marks is 65,536 bytes: that many can wait only after about 50 datagrams.
    assert!(asks <= EXCHANGES / 10, "{asks}");
}

#[test]
fn the_data_of_a_lone_interest_is_looked_for_without_sleep_and_nothing_else_is() {
    for (poll_us, sleeps_for_data) in [(1000, false), (0, true)] {
        let mut bench = TestPlane::with(|config| config.moderation.poll_us = poll_us);
        let (mut consumer, _) = bench.connect();
        let (mut producer, face) = bench.connect();
        bench.route("/a", face);
        assert!(!bench.plane.moderate().is_zero(), "there was no packet");
        consumer.write_all(&interest("/a/1")).expect("room");
        bench.turn(HANG);
        assert_eq!(!bench.plane.moderate().is_zero(), sleeps_for_data);
        producer.write_all(&data("/a/1", 100)).expect("room");
        bench.turn(HANG);
        assert!(!bench.plane.moderate().is_zero(), "all is answered");
        // The content store has it.
        consumer.write_all(&interest("/a/1")).expect("room");
        bench.turn(HANG);
        assert!(!bench.plane.moderate().is_zero(), "nothing was asked");
        let _ = producer.read(&mut [0; 2048]).expect("the Interest");
    }
}

#[test]
fn datagrams_that_may_fill_the_queue_ask_for_its_length() {
    let mut bench = TestPlane::new();
    let (consumer, _) = bench.peer();
    let (producer, face) = bench.peer();
    bench.route("/a", face);
    bench
        .plane
        .faces
        .pipeline
        .forwarder
        .configure_cs(hashlane_ndn_fw::cs::Config { admit: false, ..Default::default() });
    counter::reset();
    let uris: Vec<String> = (0..20).map(|number| format!("/a/{number}")).collect();
    for uri in &uris {
        consumer.send(&interest(uri)).expect("sent");
    }
    let mut bytes = [0; 10_000];
    for uri in &uris {
        // In whatever turns they come.
        producer.set_nonblocking(true).expect("a socket");
        while producer.recv(&mut bytes).is_err() {
            bench.turn(Duration::from_millis(1));
        }
        assert_eq!(producer.send(&data(uri, 8000)).expect("sent"), data(uri, 8000).len());
    }
    consumer.set_nonblocking(true).expect("a socket");
    for uri in &uris {
        let read = loop {
            match consumer.recv(&mut bytes) {
                Ok(read) => break read,
                Err(_) => bench.turn(Duration::from_millis(1)),
            };
        };
        assert!(is_data(&bytes[..read], uri));
    }
    let [_, asks] = counter::calls();
    assert!(asks >= 1, "20 datagrams of 8000 bytes are more than the threshold");
}

#[test]
fn an_answer_of_the_management_finds_the_interest_at_any_shard() {
    // As the thread of a process has it: without optimization, the state takes more than 2 MiB as it is made.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    thread.spawn(check_answers_at_any_shard).expect("a thread").join().expect("all are answered");
}

fn check_answers_at_any_shard() {
    let mut bench = TestPlane::with_shards(2, |_| {});
    let (mut consumer, face) = bench.connect();
    consumer.set_nonblocking(true).expect("a socket");
    let options = FaceOptions { flags: FACE_LOCAL_FIELDS, mask: FACE_LOCAL_FIELDS, ..FaceOptions::default() };
    super::requests::update_face(face, &options, &mut bench.plane.faces);
    let header = LpHeader { next_hop_face: Some(FaceId::MANAGEMENT.0.into()), ..LpHeader::default() };
    let mut bytes = [0; 2048];
    // About half of the names belong to the other shard.
    for number in 0..16 {
        let interest = interest(&format!("/a/{number}"));
        let packet = [header.wrapped(interest.len()).as_bytes(), &interest].concat();
        consumer.write_all(&packet).expect("room");
        let asked = bench.until(|bench| match bench.inbox.next(Duration::ZERO, true)? {
            Report::Interest { packet, .. } => Some(packet),
            _ => None,
        });
        assert_eq!(asked, interest);
        let nack = crate::management::nack(&asked, NackReason::NO_ROUTE);
        let nack = LpPacket::parse(&nack).expect("a link packet");
        bench.plane.faces.pipeline.receive_management(&nack);
        let read = bench.until(|_| consumer.read(&mut bytes).ok());
        let answer = LpPacket::parse(&bytes[..read]).expect("a link packet");
        assert_eq!((answer.header.nack, answer.fragment), (Some(NackReason::NO_ROUTE), &interest[..]));
    }
}

#[test]
fn an_mtu_is_lifted_and_set_again() {
    let mut bench = TestPlane::new();
    let (_peer, face) = bench.peer();
    let mut set = |mtu| {
        let options = FaceOptions { mtu: Some(mtu), ..FaceOptions::default() };
        super::requests::update_face(face, &options, &mut bench.plane.faces);
        bench.plane.faces.pipeline.ports.find(face).expect("a port").link.options().mtu
    };
    // The first is what nfdc sends for `mtu auto`.
    assert_eq!([u64::MAX, 1400, 70_000].map(&mut set), [65_507, 1400, 65_507]);
    let (_stream, face) = bench.connect();
    let options = FaceOptions { mtu: Some(1400), ..FaceOptions::default() };
    super::requests::update_face(face, &options, &mut bench.plane.faces);
    let port = bench.plane.faces.pipeline.ports.find(face).expect("a port");
    assert_eq!(port.link.options().mtu, usize::MAX, "a stream has none");
}

#[test]
fn what_came_before_the_end_of_a_stream_is_forwarded_and_then_its_face_closed() {
    for packets in [1, 15] {
        let mut bench = TestPlane::new();
        let (mut consumer, _) = bench.connect();
        let (mut producer, face) = bench.connect();
        bench.route("/a", face);
        consumer.write_all(&interest("/a/last")).expect("room");
        bench.turn(HANG);
        // More than one turn reads; the end is in the same event as the first byte.
        let rest = data("/unasked", 8000).repeat(packets - 1);
        producer.write_all(&[rest, data("/a/last", 100)].concat()).expect("room");
        drop(producer);
        let counters = bench.plane.faces.pipeline.ports.find_mut(face).expect("a port").link.counters.clone();
        bench.settle();
        let mut bytes = [0; 2048];
        let read = consumer.read(&mut bytes).expect("the Data");
        assert!(is_data(&bytes[..read], "/a/last"));
        assert!(bench.plane.faces.pipeline.ports.find_mut(face).is_none(), "its face is closed");
        let all = (packets - 1) * data("/unasked", 8000).len() + data("/a/last", 100).len();
        assert_eq!(counters.in_bytes.value(), all as u64);
    }
}

#[test]
fn a_queue_waits_for_its_connection_and_then_no_event_reports_room() {
    const PACKETS: usize = 100;
    let mut bench = TestPlane::new();
    let (mut consumer, slow) = bench.connect();
    let (mut producer, face) = bench.connect();
    let slot = TestPlane::slot(slow);
    bench.route("/a", face);
    let mut bytes = [0; 10_000];
    for number in 0..PACKETS {
        let uri = format!("/a/{number}");
        consumer.write_all(&interest(&uri)).expect("room");
        bench.settle();
        assert!(producer.read(&mut bytes).expect("the Interest") > 0);
        producer.write_all(&data(&uri, 8000)).expect("room");
        bench.settle();
    }
    assert!(bench.plane.faces.pipeline.ports.is_blocked(slot), "800,000 bytes are more than a socket takes");
    assert_eq!(bench.turn(Duration::ZERO), 0);
    // It reads again, at its own pace.
    let mut reader = StreamReader::new(MAX_LINK_PACKET);
    let framer = |bytes: &[u8]| match tlv::frame(bytes) {
        Ok(Some(length)) => Framing::Packet(length as usize),
        Ok(None) => Framing::More,
        Err(_) => Framing::Lost,
    };
    consumer.set_nonblocking(true).expect("a socket");
    let mut came = 0;
    while came < PACKETS {
        assert_ne!(reader.fill(&mut consumer).expect("a stream"), Filled::End);
        for packet in reader.frames(framer) {
            assert!(is_data(packet.expect("a packet"), &format!("/a/{came}")));
            came += 1;
        }
        bench.settle();
    }
    assert!(!bench.plane.faces.pipeline.ports.is_blocked(slot));
    assert_eq!(bench.turn(Duration::ZERO), 0);
    // Room in the socket is no event any more.
    let mut idle = 0;
    for number in 0..10 {
        consumer.write_all(&interest(&format!("/a/{number}"))).expect("room");
        bench.settle();
        while matches!(reader.fill(&mut consumer).expect("a stream"), Filled::Full(_) | Filled::Drained(1..))
        {
        }
        assert!(reader.frames(framer).all(|packet| packet.is_ok()));
        idle += bench.turn(Duration::ZERO);
    }
    assert_eq!(idle, 0);
}

#[test]
fn a_peer_at_line_rate_is_limited_and_others_get_through() {
    const ROUNDS: usize = 60;
    let mut bench = TestPlane::new();
    let socket = bench.plane.faces.pipeline.ports.sockets.get_mut(0).expect("a socket");
    let to = socket.local;
    socket.socket.set_receive_queue(1 << 16).expect("a queue");
    let peer = |address: [u8; 4]| {
        let peer = Peer::bind((Ipv4Addr::from(address), 0)).expect("a port");
        peer.set_nonblocking(true).expect("a socket");
        peer.connect(to).expect("the forwarder's address");
        peer
    };
    let (loud, quiet) = (peer([127, 0, 0, 2]), peer([127, 0, 0, 3]));
    let flood = interest("/flood");
    let mut bytes = [0; 2048];
    // A flood that fills the queue, and then an Interest of another peer. Returns true if that is answered.
    let mut round = |bench: &mut TestPlane, number: usize| {
        (0..4000).for_each(|_| drop(loud.send(&flood)));
        quiet.send(&interest(&format!("/quiet/{number}"))).expect("sent");
        bench.settle();
        while loud.recv(&mut bytes).is_ok() {}
        std::iter::from_fn(|| quiet.recv(&mut bytes).ok()).count() > 0
    };
    let start = Instant::now();
    while !bench.plane.udp.is_limiting() {
        assert!(start.elapsed() < HANG, "the peer is not limited");
        round(&mut bench, 0);
    }
    let answered = (0..ROUNDS).filter(|number| round(&mut bench, *number)).count();
    assert!(answered > ROUNDS / 2, "{answered} of {ROUNDS}");
    let counters = bench.plane.faces.pipeline.forwarder.counters();
    assert!(counters.udp_overflows.value() > 0 && counters.flood_drops.value() > 0);
    // The flood ends, and the limit with it.
    while bench.plane.udp.is_limiting() {
        assert!(start.elapsed() < 2 * HANG, "the peer is still limited");
        bench.turn(Duration::from_millis(20));
    }
}

#[test]
fn local_and_quiet_connections_have_their_turn_before_busy_ones() {
    let mut bench = TestPlane::new();
    let (_stream, face) = bench.connect();
    let slot = TestPlane::slot(face);
    let [udp, local, remote] =
        [SocketKind::Udp.token(0), SocketKind::Face.token(slot), SocketKind::Face.token(slot + 1)];
    for (token, busy) in [(remote, true), (local, true), (SocketKind::Tcp.token(0), false), (udp, true)] {
        bench.plane.push_ready(token, busy);
    }
    let order = Class::ALL.map(|class| bench.plane.ready.pop(class));
    assert_eq!(order, [Some(udp), Some(local), Some(SocketKind::Tcp.token(0)), Some(remote)]);
    bench.plane.push_ready(local, false);
    assert_eq!(bench.plane.ready.pop(Class::First), Some(local));
}

/// An address of this host other than the forwarder's: 127.0.0.`host`.
fn host(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, host)
}

/// Sends a packet from a new port of a host. Returns the face, if there is a new one.
fn knock(bench: &mut TestPlane, from: u8) -> (Peer, Option<FaceId>) {
    knock_from(bench, host(from))
}

/// As [`knock`], from an address.
fn knock_from(bench: &mut TestPlane, from: Ipv4Addr) -> (Peer, Option<FaceId>) {
    let peer = Peer::bind((from, 0)).expect("a port");
    peer.connect(bench.plane.faces.pipeline.ports.sockets.get(0).expect("a socket").local)
        .expect("the forwarder's address");
    peer.send(&data("/unasked", 1)).expect("sent");
    while bench.turn(HANG) == 0 {}
    let address = peer.local_addr().expect("an address");
    let face = bench.plane.faces.peers.find(&peers::tuple(0, address));
    (peer, face)
}

#[test]
fn an_address_with_many_ports_keeps_no_other_one_out() {
    let mut bench = TestPlane::with(|config| config.udp.max_on_demand = 8);
    let (_quiet, early) = knock(&mut bench, 3);
    let early = early.expect("a face");
    let (mut crowd, mut sockets) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let (socket, face) = knock(&mut bench, 2);
        sockets.push(socket);
        crowd.extend(face);
    }
    assert_eq!(crowd.len(), 7, "no more than there is room for, and in place of nobody");
    let counters = bench.plane.faces.pipeline.forwarder.counters().clone();
    assert_eq!((counters.evicted_faces.value(), counters.refused_faces.value()), (0, 33));
    // The oldest face is a next hop, and the next one is in use.
    bench.route("/a", crowd[0]);
    sockets[1].send(&data("/unasked", 1)).expect("sent");
    while bench.turn(HANG) == 0 {}
    let is_open = |bench: &mut TestPlane, face| bench.plane.faces.pipeline.ports.find(face).is_some();
    for newcomer in 4..8 {
        let (_socket, face) = knock(&mut bench, newcomer);
        assert!(face.is_some_and(|face| is_open(&mut bench, face)), "127.0.0.{newcomer} is served");
    }
    assert_eq!(counters.evicted_faces.value(), 4);
    let left: Vec<bool> = crowd.iter().map(|face| is_open(&mut bench, *face)).collect();
    assert_eq!(left, [true, true, false, false, false, false, true]);
    // A party with one face does not give way to one with many.
    (0..20).for_each(|_| drop(knock(&mut bench, 2)));
    assert!(is_open(&mut bench, early) && is_open(&mut bench, crowd[0]));
    bench.plane.faces.pipeline.forwarder.remove_route(&parse("/a").view(), crowd[0]);
}

#[test]
fn a_host_keeps_a_few_ports_in_use_from_thousands_of_addresses() {
    let mut bench = TestPlane::with(|config| config.udp.max_on_demand = 2048);
    let mut in_use: Vec<(Peer, FaceId)> = Vec::new();
    for _ in 0..2 {
        let (socket, face) = knock(&mut bench, 3);
        in_use.push((socket, face.expect("a face")));
    }
    let mut served = 0;
    for number in 0..2400_u32 {
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 1).to_bits() + number);
        served += usize::from(knock_from(&mut bench, address).1.is_some());
        if number % 16 == 0 {
            for (socket, _) in &in_use {
                socket.send(&data("/unasked", 1)).expect("sent");
            }
            while bench.turn(HANG) == 0 {}
        }
    }
    assert_eq!(served, 2046, "as many as there is room for");
    let ports = &bench.plane.faces.pipeline.ports;
    assert!(in_use.iter().all(|(_, face)| ports.find(*face).is_some()));
    // Silent faces give way.
    bench.plane.clock.advance(Duration::from_secs(11));
    let (_socket, face) = knock(&mut bench, 4);
    assert!(face.is_some());
}

/// A connection from a host to the TCP listener.
fn connect_tcp(bench: &mut TestPlane, from: u8, to: SocketAddr) -> std::net::TcpStream {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};
    use std::os::fd::AsRawFd;
    let [a, b, c, d] = host(from).octets();
    let stream = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).expect("a socket");
    bind(stream.as_raw_fd(), &SockaddrIn::new(a, b, c, d, 0)).expect("a port");
    connect(stream.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 1, to.port())).expect("connects");
    let stream = std::net::TcpStream::from(stream);
    stream.set_nonblocking(true).expect("a socket");
    while bench.turn(HANG) == 0 {}
    bench.settle();
    stream
}

/// True if the forwarder has closed a connection.
fn is_closed(mut stream: &std::net::TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// A thread with a TCP listener, and its address.
fn bench_with_tcp() -> (TestPlane, SocketAddr) {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let to = port.local_addr().expect("an address");
    drop(port);
    (TestPlane::with(|config| config.tcp.listen = vec![to]), to)
}

#[test]
fn one_party_has_no_more_connections_than_there_are_places() {
    use hashlane_table::share::Limits;
    let (mut bench, to) = bench_with_tcp();
    let places = bench.plane.faces.shares.of(shares::FaceClass::Connection);
    places.ledger.set_limits(Limits { all: 8, remote: 6 });
    let crowd: Vec<_> = (0..20).map(|_| connect_tcp(&mut bench, 2, to)).collect();
    assert_eq!(crowd.iter().filter(|stream| is_closed(stream)).count(), 12);
    assert_eq!(bench.plane.faces.pipeline.forwarder.faces().len(), 8);
    // Later, those that are silent give way.
    bench.plane.clock.advance(Duration::from_secs(11));
    let newcomer = connect_tcp(&mut bench, 2, to);
    assert!(!is_closed(&newcomer));
    assert_eq!(crowd.iter().filter(|stream| is_closed(stream)).count(), 13);
}

#[test]
fn a_connection_without_a_packet_is_closed_after_a_minute() {
    let (mut bench, to) = bench_with_tcp();
    let [mute, speaks] = [2, 3].map(|from| connect_tcp(&mut bench, from, to));
    for port in bench.plane.faces.pipeline.ports.iter_mut() {
        // As if they came from another host.
        port.local = false;
    }
    (&speaks).write_all(&data("/unasked", 1)).expect("room");
    while bench.turn(HANG) == 0 {}
    bench.plane.clock.advance(Duration::from_secs(59));
    bench.turn(Duration::ZERO);
    assert!(!is_closed(&mute));
    bench.plane.clock.advance(Duration::from_secs(2));
    bench.turn(Duration::ZERO);
    assert!(is_closed(&mute) && !is_closed(&speaks));
}

#[test]
fn half_open_handshakes_of_one_address_keep_no_other_one_out() {
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let to = port.local_addr().expect("an address");
    drop(port);
    let mut bench = TestPlane::with(|config| config.websocket.listen = vec![to]);
    let crowd: Vec<_> = (0..300).map(|_| connect_tcp(&mut bench, 2, to)).collect();
    // The oldest one gives way to the newest.
    assert!(is_closed(&crowd[0]) && !is_closed(&crowd[299]));
    // A quarter of the 256 places is for local users.
    assert_eq!(crowd.iter().filter(|stream| is_closed(stream)).count(), 300 - 192);
    let counters = bench.plane.faces.pipeline.forwarder.counters();
    assert_eq!(counters.evicted_connections.value(), 300 - 192);
}

/// A consumer that has asked for more than its connection takes, and reads none of it.
fn slow_consumer(bench: &mut TestPlane, producer: &mut UnixStream, prefix: &str) -> (UnixStream, FaceId) {
    let (mut consumer, slow) = bench.connect();
    let mut bytes = [0; 10_000];
    for number in 0..60 {
        let uri = format!("{prefix}/{number}");
        consumer.write_all(&interest(&uri)).expect("room");
        bench.settle();
        assert!(producer.read(&mut bytes).expect("the Interest") > 0);
        producer.write_all(&data(&uri, 8000)).expect("room");
        bench.settle();
    }
    assert!(bench.plane.faces.pipeline.ports.is_blocked(TestPlane::slot(slow)));
    (consumer, slow)
}

#[test]
fn a_peer_that_takes_nothing_for_half_a_minute_is_cut_off() {
    let mut bench = TestPlane::new();
    let (mut producer, face) = bench.connect();
    bench.route("/a", face);
    let (mut consumer, slow) = slow_consumer(&mut bench, &mut producer, "/a");
    bench.plane.clock.advance(Duration::from_secs(20));
    bench.turn(Duration::ZERO);
    // It takes something, and has as much time again.
    assert!(consumer.read(&mut [0; 200_000]).expect("Data") > 0);
    bench.settle();
    bench.plane.clock.advance(Duration::from_secs(20));
    bench.turn(Duration::ZERO);
    assert!(bench.plane.faces.pipeline.ports.find(slow).is_some());
    bench.plane.clock.advance(Duration::from_secs(11));
    bench.turn(Duration::ZERO);
    assert!(bench.plane.faces.pipeline.ports.find(slow).is_none());
    assert!(bench.plane.faces.pipeline.ports.find(face).is_some(), "nothing waits for the producer");
}

#[test]
fn send_queues_have_one_limit_and_the_longest_give_way() {
    let mut bench = TestPlane::with(|config| config.memory.send_queues = 1_000_000);
    let (mut producer, face) = bench.connect();
    bench.route("/", face);
    let slow: Vec<_> = (0..3).map(|at| slow_consumer(&mut bench, &mut producer, &format!("/{at}"))).collect();
    let left: Vec<bool> =
        slow.iter().map(|(_, face)| bench.plane.faces.pipeline.ports.find(*face).is_some()).collect();
    assert_eq!(left.last(), Some(&true), "the newest stays");
    assert!(!left[0], "the oldest is closed");
    let counters = bench.plane.faces.pipeline.forwarder.counters();
    assert_eq!(counters.evicted_connections.value(), left.iter().filter(|open| !**open).count() as u64);
}

#[test]
fn answers_follow_although_the_peer_sends_no_more() {
    const PACKETS: usize = 60;
    let mut bench = TestPlane::new();
    let (mut producer, face) = bench.connect();
    bench.route("/a", face);
    // All of them get into the content store.
    drop(slow_consumer(&mut bench, &mut producer, "/a"));
    bench.settle();
    let (mut consumer, last) = bench.connect();
    let interests: Vec<u8> = (0..PACKETS).flat_map(|number| interest(&format!("/a/{number}"))).collect();
    consumer.write_all(&interests).expect("room");
    consumer.shutdown(std::net::Shutdown::Write).expect("an end");
    consumer.set_nonblocking(true).expect("a socket");
    let (mut answers, mut bytes) = (Vec::new(), [0; 65_536]);
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < HANG, "the connection is not closed");
        bench.turn(Duration::from_millis(1));
        match consumer.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => answers.extend_from_slice(&bytes[..read]),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    assert!(answers.len() > PACKETS * 8000, "{} bytes", answers.len());
    assert!(bench.plane.faces.pipeline.ports.find(last).is_none());
}

#[test]
fn fragments_have_one_limit_and_the_oldest_of_the_largest_go() {
    let mut bench = TestPlane::with(|config| config.memory.reassembly = 40_000);
    let first_fragment = |sequence: u64| {
        let header = hashlane_ndn::wire::LpHeader {
            sequence: Some(sequence),
            frag_count: 2,
            ..hashlane_ndn::wire::LpHeader::default()
        };
        [header.wrapped(4000).as_bytes(), &[6; 4000]].concat()
    };
    let send = |bench: &mut TestPlane, peer: &Peer, sequence: u64| {
        peer.send(&first_fragment(sequence)).expect("sent");
        while bench.turn(HANG) == 0 {}
    };
    let (quiet, face) = knock(&mut bench, 3);
    let face = face.expect("a face");
    send(&mut bench, &quiet, 10);
    for _ in 0..10 {
        let (peer, _) = knock(&mut bench, 2);
        send(&mut bench, &peer, 20);
        send(&mut bench, &peer, 30);
    }
    let ports = &mut bench.plane.faces.pipeline.ports;
    let memory: usize = ports.iter().map(|port| port.reassemblers.memory()).sum();
    assert!((8000..=30_000).contains(&memory), "{memory} bytes");
    assert!(ports.find(face).is_some_and(|port| port.reassemblers.waiting() == 1));
    let drops = &bench.plane.faces.pipeline.forwarder.counters().drops;
    assert!(drops.value(hashlane_ndn_fw::forward::DropReason::Reassembly) > 10);
}
