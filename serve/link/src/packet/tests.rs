//! Packet sockets on a pair of virtual interfaces, in a network namespace of the test's thread.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use super::*;
use crate::interfaces;
use crate::udp::{MAX_HALVINGS, Sender};
use hashlane_rig::namespace;
use nix::sys::socket::{MsgFlags, SockProtocol, bind, send};
use std::time::{Duration, Instant};

/// Time for what must happen, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(15);

const TYPE: u16 = 0x8624;
const GROUP: [u8; 6] = [1, 0, 0x5e, 0, 0x17, 0xaa];

fn with_pair(test: fn()) {
    namespace::with(|| namespace::create_pair("near", "far"), test);
}

/// A socket on an interface, and the address of that.
fn open(name: &str) -> (PacketSocket, [u8; 6]) {
    let all = interfaces::list().unwrap();
    let interface = all.iter().find(|interface| interface.name == name).unwrap();
    let address = interface.ethernet.unwrap();
    let mut socket = PacketSocket::open(TYPE, GROUP).unwrap();
    socket.attach(interface.index, address).unwrap();
    (socket, address)
}

/// Both sockets of the pair, once frames pass in both directions: the kernel drops those that come while it
/// brings a link up.
fn open_pair() -> [(PacketSocket, [u8; 6]); 2] {
    let pair = ["near", "far"].map(open);
    let [(near, near_address), (far, far_address)] = &pair;
    wait_for_link(near, *far_address, far);
    wait_for_link(far, *near_address, near);
    pair
}

/// Sends probes until one comes, and takes all.
fn wait_for_link(from: &PacketSocket, address: [u8; 6], to: &PacketSocket) {
    let (mut batch, deadline) = (FrameBatch::new(8), Instant::now() + PATIENCE);
    while to.recv(&mut batch).unwrap() == 0 {
        assert!(Instant::now() < deadline, "no link");
        send_to(from, address, b"probe");
        std::thread::sleep(Duration::from_millis(5));
    }
    while to.recv(&mut batch).unwrap() > 0 {}
}

fn send_to(socket: &PacketSocket, to: [u8; 6], payload: &[u8]) -> Sent {
    let mut batch = SendBatch::new(4);
    assert!(socket.push(&mut batch, to, &[payload]));
    socket.send(&mut batch).unwrap()
}

/// Sends a whole frame on `near`.
fn send_raw(frame: &[u8]) {
    use nix::ifaddrs::getifaddrs;
    let mut all = getifaddrs().unwrap().filter(|entry| entry.interface_name == "near");
    let link = all.find_map(|entry| entry.address?.as_link_addr().copied()).unwrap();
    let all = SockProtocol::EthAll;
    let raw = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, all).unwrap();
    bind(raw.as_raw_fd(), &link).unwrap();
    // The kernel may refuse a frame that is too short itself.
    let _ = send(raw.as_raw_fd(), frame, MsgFlags::empty());
}

/// Receives until a frame with this payload comes. Returns all of that time.
fn receive_until(socket: &PacketSocket, last: &[u8]) -> Vec<([u8; 6], bool, Vec<u8>)> {
    let (mut batch, deadline) = (FrameBatch::new(8), Instant::now() + PATIENCE);
    let mut all = Vec::new();
    loop {
        socket.recv(&mut batch).unwrap();
        let frames = batch.iter(socket);
        all.extend(frames.map(|frame| (frame.from, frame.is_group, frame.payload.to_vec())));
        if all.iter().any(|(_, _, payload)| payload == last) {
            return all;
        }
        assert!(Instant::now() < deadline, "{all:?}");
    }
}

#[test]
fn frames_to_a_host_and_to_the_group_come_with_their_sender() {
    with_pair(|| {
        let [(near, near_address), (far, far_address)] = open_pair();
        assert_eq!(send_to(&near, far_address, b"one").sent, 1);
        send_to(&near, GROUP, b"all");
        let expected = [(near_address, false, b"one".to_vec()), (near_address, true, b"all".to_vec())];
        assert_eq!(receive_until(&far, b"all"), expected);
        // Its own frames do not come back.
        send_to(&far, near_address, b"answer");
        assert_eq!(receive_until(&near, b"answer"), [(far_address, false, b"answer".to_vec())]);
        // Longer than the interface permits.
        assert_eq!(send_to(&near, far_address, &[7; 1501]), Sent { sent: 0, dropped: 1 });
        assert_eq!(far.receive_queue().unwrap().lost, 0);
    });
}

#[test]
fn frames_to_others_of_other_types_and_hostile_ones_are_left_out() {
    with_pair(|| {
        let [(near, near_address), (far, far_address)] = open_pair();
        let frame = |to: &[u8; 6], from: &[u8; 6], rest: &[u8]| [to, from, rest].concat();
        let ndn = [0x86, 0x24];
        let other = [2, 0, 0, 0, 0, 9];
        for hostile in [
            // To another host, another group, and all.
            frame(&other, &near_address, &[&ndn[..], b"x"].concat()),
            frame(&[1, 0, 0x5e, 0, 0x17, 0xab], &near_address, &[&ndn[..], b"x"].concat()),
            frame(&[0xff; 6], &near_address, &[&ndn[..], b"x"].concat()),
            // Another type, and a length in its place.
            frame(&far_address, &near_address, &[8, 0, 7]),
            frame(&far_address, &near_address, &[0, 1, 7]),
            // From a group, from nobody, and from the receiver itself.
            frame(&far_address, &GROUP, &[&ndn[..], b"x"].concat()),
            frame(&far_address, &[0; 6], &[&ndn[..], b"x"].concat()),
            frame(&far_address, &far_address, &[&ndn[..], b"x"].concat()),
            // Of a virtual LAN, twice tagged, and tagged with nothing behind it.
            frame(&far_address, &near_address, &[0x81, 0, 0, 5, 0x86, 0x24, 7]),
            frame(&far_address, &near_address, &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0x24, 7]),
            frame(&far_address, &near_address, &[0x81, 0]),
            // Cut within its header.
            far_address.to_vec(),
            frame(&far_address, &near_address, &[0x86]),
        ] {
            send_raw(&hostile);
        }
        // No payload, and padding.
        send_raw(&frame(&far_address, &near_address, &ndn));
        send_raw(&frame(&far_address, &near_address, &[&ndn[..], &[5, 1, 7], &[0; 43]].concat()));
        send_to(&near, far_address, b"last");
        let all = receive_until(&far, b"last");
        let payloads: Vec<&[u8]> = all.iter().map(|(_, _, payload)| &payload[..]).collect();
        let padded = [&[5, 1, 7][..], &[0; 43]].concat();
        assert_eq!(payloads, [&b""[..], &padded, b"last"]);
    });
}

#[test]
fn a_part_of_the_frames_of_limited_hosts_is_kept_and_all_of_others() {
    with_pair(|| {
        let [(near, near_address), (mut far, far_address)] = open_pair();
        let halvings = MAX_HALVINGS;
        far.limit_sources(&[Limited { source: Sender::Ethernet(near_address), halvings }], 7).unwrap();
        // One in 65,536 is kept.
        for to in [far_address, GROUP].repeat(50) {
            send_to(&near, to, b"limited");
        }
        let other = [2, 0, 0, 0, 0, 9];
        let frame = |to: &[u8; 6]| [&to[..], &other, &[0x86, 0x24], b"other"].concat();
        send_raw(&frame(&far_address));
        send_raw(&frame(&[2, 0, 0, 0, 0, 8]));
        let all = receive_until(&far, b"other");
        let limited = all.iter().filter(|(_, _, payload)| payload == b"limited").count();
        assert!(limited < 3 && all.len() - limited == 1, "{all:?}");
        far.limit_sources(&[], 7).unwrap();
        send_to(&near, far_address, b"again");
        assert_eq!(receive_until(&far, b"again").len(), 1);
    });
}

#[test]
fn frames_that_the_queue_has_no_room_for_are_counted() {
    with_pair(|| {
        let [(near, _), (far, far_address)] = open_pair();
        far.set_queues(4096);
        for _ in 0..200 {
            send_to(&near, far_address, &[7; 1400]);
        }
        let deadline = Instant::now() + PATIENCE;
        while far.receive_queue().unwrap().lost == 0 {
            assert!(Instant::now() < deadline, "{:?}", far.receive_queue());
            std::thread::sleep(Duration::from_millis(5));
        }
        let queue = far.receive_queue().unwrap();
        assert!(queue.queued > 0 && queue.limit > 0, "{queue:?}");
    });
}

#[test]
fn an_interface_with_a_virtual_lan_does_not_get_the_frames_of_that() {
    with_pair(|| {
        if namespace::ip("link add link far name far.5 type vlan id 5").is_err() {
            return eprintln!("not tested: this kernel has no virtual LANs");
        }
        namespace::ip("link set far.5 up").unwrap();
        let [(near, near_address), (far, far_address)] = open_pair();
        let (lan, _) = open("far.5");
        let tagged = [0x81, 0, 0, 5, 0x86, 0x24, 7];
        send_raw(&[&far_address, &near_address, &tagged[..]].concat());
        send_to(&near, far_address, b"last");
        assert_eq!(receive_until(&far, b"last").len(), 1);
        assert_eq!(receive_until(&lan, &[7])[0].0, near_address);
    });
}

#[test]
fn a_socket_goes_on_when_its_interface_is_up_again_or_made_anew() {
    with_pair(|| {
        let [(near, _), (mut far, far_address)] = open_pair();
        namespace::ip("link set far down").unwrap();
        let mut batch = FrameBatch::new(8);
        let error = far.recv(&mut batch).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NetworkDown);
        assert_eq!(far.recv(&mut batch).unwrap(), 0, "reported once");
        namespace::ip("link set far up").unwrap();
        wait_for_link(&near, far_address, &far);
        namespace::ip("link del far").unwrap();
        let _ = far.recv(&mut batch);
        assert!(far.attach(far.interface, far_address).is_err());
        namespace::ip("link add near type veth peer name far").unwrap();
        ["near", "far"].iter().for_each(|name| namespace::ip(&format!("link set {name} up")).unwrap());
        let [(near, _), (_, far_address)] = open_pair();
        let all = interfaces::list().unwrap();
        let index = all.iter().find(|interface| interface.name == "far").unwrap().index;
        far.attach(index, far_address).unwrap();
        send_to(&near, GROUP, b"anew");
        assert!(receive_until(&far, b"anew").iter().all(|(_, is_group, _)| *is_group));
    });
}
