//! Rings on a pair of virtual interfaces, in a network namespace of the test's thread.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use super::*;
use crate::capture::Frame;
use hashlane_rig::namespace;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, bind, send, socket,
};
use std::collections::HashSet;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::SystemTime;

/// Time for what must happen, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(15);

/// Runs a test in a namespace with the pair `near` and `far`, on a thread that ends with it.
fn with_pair(test: fn()) {
    namespace::with(|| namespace::create_pair("near", "far"), test);
}

/// A socket that sends whole frames on `near`.
struct Sender(OwnedFd);

impl Sender {
    fn open() -> Self {
        let link = |name: &str| -> LinkAddr {
            let mut all = getifaddrs().unwrap().filter(|entry| entry.interface_name == name);
            *all.find_map(|entry| entry.address).unwrap().as_link_addr().unwrap()
        };
        let all = SockProtocol::EthAll;
        let fd = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, all).unwrap();
        bind(fd.as_raw_fd(), &link("near")).unwrap();
        Self(fd)
    }

    fn send(&self, frame: &[u8]) {
        assert_eq!(send(self.0.as_raw_fd(), frame, MsgFlags::empty()), Ok(frame.len()));
    }
}

/// A UDP packet in a frame to everyone, with these last bytes of the addresses, and ports.
fn frame(ends: [u8; 2], ports: [u16; 2]) -> Vec<u8> {
    let [source, destination] = ends;
    let ip = [0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 0, destination];
    let ports = ports.map(u16::to_be_bytes).concat();
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, source], &[8, 0], &ip, &ports, &[0, 40, 0, 0], &[7; 32]].concat()
}

fn settings() -> RingSettings {
    let timeout = Duration::from_millis(5);
    RingSettings { block_bytes: 1 << 16, blocks: 4, timeout, ..RingSettings::default() }
}

/// Passes `count` frames to `take`.
fn receive(ring: &mut Ring, count: usize, mut take: impl FnMut(Frame<'_>)) {
    let (mut received, deadline) = (0, Instant::now() + PATIENCE);
    while received < count {
        let mut block = ring.next_block(deadline).unwrap().expect("frames in time");
        for frame in block.frames() {
            take(frame);
            received += 1;
        }
    }
    assert_eq!(received, count);
}

#[test]
fn lends_frames_with_their_times_and_counts_them() {
    with_pair(|| {
        let mut ring = Ring::open("far", &settings()).unwrap();
        let sender = Sender::open();
        let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        // Twice as many as the ring holds at once.
        for round in 0..40_u8 {
            let sent: Vec<_> = (0..100).map(|i| frame([round, i], [1, 2])).collect();
            sent.iter().for_each(|frame| sender.send(frame));
            let mut expected = sent.iter();
            receive(&mut ring, 100, |frame| {
                assert_eq!(Some(frame.bytes), expected.next().map(Vec::as_slice));
                assert_eq!((frame.link, frame.original, frame.is_cut()), (Some(1), 74, false));
                assert!(frame.time.abs_diff(before) < PATIENCE.as_nanos() as u64 * 2);
            });
        }
        let counters = ring.counters().unwrap();
        assert_eq!((counters.seen, counters.dropped), (4000, 0));
        assert_eq!(ring.counters().unwrap(), counters);
    });
}

#[test]
fn tags_of_virtual_lans_are_in_the_frames() {
    with_pair(|| {
        let mut ring = Ring::open("far", &settings()).unwrap();
        let sender = Sender::open();
        let plain = frame([1, 2], [3, 4]);
        let tagged = |tag: &[u8]| [&plain[..12], tag, &plain[12..]].concat();
        let sent = [tagged(&[0x81, 0, 0xe0, 5]), plain.clone(), tagged(&[0x88, 0xa8, 0, 6, 0x81, 0, 0, 7])];
        sent.iter().for_each(|frame| sender.send(frame));
        let mut expected = sent.iter();
        receive(&mut ring, 3, |frame| {
            assert_eq!(Some(frame.bytes), expected.next().map(Vec::as_slice));
            assert_eq!(frame.original as usize, frame.bytes.len());
        });
    });
}

#[test]
fn frames_are_cut_on_request() {
    with_pair(|| {
        let mut ring = Ring::open("far", &RingSettings { snap: Some(50), ..settings() }).unwrap();
        let (sender, sent) = (Sender::open(), frame([1, 2], [3, 4]));
        sender.send(&sent);
        receive(&mut ring, 1, |frame| {
            assert_eq!((frame.bytes, frame.original, frame.is_cut()), (&sent[..50], 74, true));
        });
    });
}

#[test]
fn frames_to_other_hosts_come_with_promiscuous_rings() {
    with_pair(|| {
        // A virtual interface passes all frames to packet sockets, and says if it was asked to.
        let ring = Ring::open("far", &RingSettings { promiscuous: true, ..settings() }).unwrap();
        let is_asked = || {
            let output = Command::new("ip").args(["-details", "link", "show", "far"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).contains("promiscuity 1")
        };
        assert!(is_asked());
        drop(ring);
        // A process that another test starts has the socket, too, until it runs its program.
        let deadline = Instant::now() + PATIENCE;
        while is_asked() {
            assert!(Instant::now() < deadline);
        }
    });
}

#[test]
fn frames_lost_are_counted() {
    with_pair(|| {
        let small = RingSettings { block_bytes: 4096, blocks: 2, ..settings() };
        let mut ring = Ring::open("far", &small).unwrap();
        let (sender, sent) = (Sender::open(), frame([1, 2], [3, 4]));
        (0..1000).for_each(|_| sender.send(&sent));
        // Sending is receiving on such a pair, up to the queue of the CPU.
        let deadline = Instant::now() + PATIENCE;
        while ring.counters().unwrap().seen < 1000 {
            assert!(Instant::now() < deadline, "{:?}", ring.counters());
            thread::yield_now();
        }
        let counters = ring.counters().unwrap();
        assert!(counters.dropped > 0 && counters.stalls > 0, "{counters:?}");
        receive(&mut ring, 1000 - counters.dropped as usize, |_| {});
        // It goes on with free blocks.
        sender.send(&sent);
        receive(&mut ring, 1, |frame| assert_eq!(frame.bytes, sent));
    });
}

#[test]
fn both_directions_of_a_flow_are_in_one_ring_of_a_group() {
    with_pair(|| {
        let mut rings = Ring::open_group("far", &settings(), Share::Hash, 3).unwrap();
        let sender = Sender::open();
        for host in 1..=60 {
            sender.send(&frame([host, 200], [1000 + u16::from(host), 53]));
            sender.send(&frame([200, host], [53, 1000 + u16::from(host)]));
        }
        let mut hosts: Vec<Vec<u8>> = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        let mut all = 0;
        hosts.resize_with(rings.len(), Vec::new);
        while all < 120 {
            for (ring, hosts) in rings.iter_mut().zip(&mut hosts) {
                let soon = Instant::now() + Duration::from_millis(5);
                if let Some(mut block) = ring.next_block(soon).unwrap() {
                    let ends = block.frames().map(|frame| frame.bytes[29].min(frame.bytes[33]));
                    hosts.extend(ends);
                }
            }
            all = hosts.iter().map(Vec::len).sum();
            assert!(Instant::now() < deadline, "{all} of 120");
        }
        for hosts in &mut hosts {
            hosts.sort_unstable();
            assert!(!hosts.is_empty() && hosts.chunk_by(|a, b| a == b).all(|both| both.len() == 2));
        }
        // Another group is its own.
        assert_eq!(Ring::open_group("far", &settings(), Share::Cpu, 2).unwrap().len(), 2);
    });
}

#[test]
fn a_frame_that_comes_while_a_group_opens_is_in_one_ring() {
    with_pair(|| {
        const SENDER: [u8; 6] = [2, 0, 0, 0, 0, 1];
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let sender = Sender::open();
                let mut numbers = 0_u32..;
                while !is_over.load(Ordering::Relaxed) {
                    let number = numbers.next().unwrap();
                    let mut frame = frame([1, 2], [number as u16, 53]);
                    frame[70..].copy_from_slice(&number.to_be_bytes());
                    // The queue of the CPU may be full.
                    let _ = send(sender.0.as_raw_fd(), &frame, MsgFlags::empty());
                }
            });
            // The scope waits for the thread, also if this one panics.
            let _over = Over(&is_over);
            let (mut opened, deadline) = (0, Instant::now() + PATIENCE);
            while opened < 8 {
                let mut rings = Ring::open_group("far", &settings(), Share::Hash, 4).unwrap();
                let mut numbers = HashSet::new();
                for ring in &mut rings {
                    let soon = Instant::now() + Duration::from_millis(20);
                    while let Some(mut block) = ring.next_block(soon).unwrap() {
                        // The interface may have sent its own, such as those of IPv6.
                        for frame in block.frames().filter(|frame| frame.bytes[6..12] == SENDER) {
                            assert!(numbers.insert(frame.bytes[70..].to_vec()), "a frame in two rings");
                        }
                        if Instant::now() >= soon {
                            break;
                        }
                    }
                }
                // The sender may have had no time.
                opened += u32::from(!numbers.is_empty());
                assert!(Instant::now() < deadline, "{opened} of 8");
            }
        });
    });
}

/// Sets a flag when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_wait_ends_at_its_deadline_and_by_a_stop() {
    with_pair(|| {
        let mut ring = Ring::open("far", &settings()).unwrap();
        assert!(ring.next_block(Instant::now()).unwrap().is_none());
        let begun = Instant::now();
        assert!(ring.next_block(begun + Duration::from_millis(30)).unwrap().is_none());
        assert!(begun.elapsed() >= Duration::from_millis(30));
        let (stopper, begun) = (ring.stopper(), Instant::now());
        let stopping = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            stopper.stop();
        });
        assert!(ring.next_block(begun + PATIENCE).unwrap().is_none());
        assert!(begun.elapsed() < PATIENCE);
        stopping.join().unwrap();
        // Every later wait ends, too.
        assert!(ring.next_block(Instant::now() + PATIENCE).unwrap().is_none());
        assert!(begun.elapsed() < PATIENCE);
    });
}

#[test]
fn an_interface_that_goes_down_ends_a_wait() {
    with_pair(|| {
        let mut ring = Ring::open("far", &settings()).unwrap();
        namespace::ip("link set far down").unwrap();
        let error = ring.next_block(Instant::now() + PATIENCE).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENETDOWN));
    });
}

#[test]
fn frames_on_a_loopback_interface_come_once() {
    with_pair(|| {
        let mut ring = Ring::open("lo", &settings()).unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        for text in [b"first", b"other"] {
            socket.send_to(text, socket.local_addr().unwrap()).unwrap();
        }
        let mut texts = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while texts.len() < 2 {
            let mut block = ring.next_block(deadline).unwrap().expect("frames in time");
            texts.extend(block.frames().map(|frame| frame.bytes[42..].to_vec()));
        }
        assert_eq!(texts, [b"first", b"other"]);
    });
}

#[test]
fn names_the_interfaces_that_there_are() {
    let error = Ring::open("nothing0", &settings()).unwrap_err();
    assert!(error.to_string().starts_with("no such interface; this host has "), "{error}");
}

#[test]
fn settings_that_the_kernel_refuses_are_an_error() {
    with_pair(|| {
        let odd = RingSettings { block_bytes: 1000, ..settings() };
        let error = Ring::open("far", &odd).unwrap_err();
        assert!(matches!(error, TapError::System(_)), "{error}");
    });
}
