//! All frames of an interface, which has no address.

use super::frames::*;
use super::*;

/// Runs a test in a namespace with a cable from `na` to `fa`, of so many queues.
fn with_bare_cable(queues: usize, test: impl FnOnce() + Send) {
    let prepare = || {
        namespace::create()?;
        let queues = format!("numrxqueues {queues} numtxqueues {queues}");
        namespace::ip(&format!("link add na {queues} type veth peer name fa {queues}"))?;
        for link in ["na", "fa"] {
            // The kernel itself then sends nothing.
            namespace::ip(&format!("link set {link} addrgenmode none"))?;
            namespace::ip(&format!("link set {link} up"))?;
        }
        Ok(())
    };
    namespace::with(prepare, test);
}

/// The only tap of `fa`.
fn open_tap(promiscuous: bool) -> XdpTap {
    XdpTap::open_group("fa", promiscuous, 1).unwrap().remove(0)
}

/// Output of `ip` on `fa`.
fn details() -> String {
    namespace::shown("-details link show fa").unwrap()
}

/// Sends a frame as often as is needed for `count` to arrive.
fn send(raw: &Raw, frame: &[u8], count: usize) {
    let mut left = count as u64;
    while left > 0 {
        let before = namespace::unsent("na").unwrap();
        (0..left).for_each(|_| raw.send(frame));
        left = namespace::unsent("na").unwrap() - before;
    }
}

/// The next `count` frames.
fn receive(taps: &mut [XdpTap], count: usize) -> Vec<Vec<u8>> {
    let (mut all, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    while all.len() < count {
        assert!(Instant::now() < deadline, "{} of {count}", all.len());
        for tap in &mut *taps {
            let received = tap.receive(Instant::now() + WAIT).unwrap();
            assert_eq!(tap.frames().count(), received);
            all.extend(tap.frames().map(|frame| {
                assert_eq!((frame.link, frame.original as usize), (Some(1), frame.bytes.len()));
                frame.bytes.to_vec()
            }));
        }
    }
    all
}

#[test]
fn all_frames_that_an_interface_receives_are_taken_from_the_kernel() {
    with_bare_cable(1, || {
        let begun = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let mut tap = open_tap(true);
        assert_eq!(tap.mode(), Mode::Native);
        assert!(details().contains("promiscuity 1") && details().contains("hashlane_tap"), "{}", details());
        let (raw, behind) = (Raw::open("na"), Raw::open("fa"));
        let [client, server] = [mac("na"), mac("fa")];
        let sound = ipv4(SERVER_IPV4, PORT, b"query");
        let mut frames = Vec::new();
        for to in [server, client, [0xff; 6], [1, 0, 0x5e, 0, 0, 1]] {
            frames.push(ethernet([client, to], IPV4, &sound));
        }
        frames.push(ethernet([client, server], &[0x81, 0, 0, 5, 8, 0], &sound));
        frames.push(ethernet([client, server], &[0x08, 0x06], &[0; 46]));
        frames.push(ethernet([client, server], &[0x86, 0x24], &[7; 1500]));
        frames.push(ethernet([client, server], IPV4, &ipv4(SERVER_IPV4, 9, &[8; 1400])));
        frames.iter().for_each(|frame| raw.send(frame));
        assert_eq!(receive(std::slice::from_mut(&mut tap), frames.len()), frames);
        let time = tap.frames().next().unwrap().since_epoch();
        assert!(time >= begun && time < begun + PATIENCE, "{time:?} after {begun:?}");
        assert_eq!(tap.receive(Instant::now()).unwrap(), 0);
        assert_eq!((tap.frames().count(), tap.losses().unwrap()), (0, Losses::default()));
        // The kernel, and packet sockets, get frames again without the tap.
        drop(tap);
        let deadline = Instant::now() + PATIENCE;
        while details().contains("prog/xdp") {
            assert!(Instant::now() < deadline, "{}", details());
        }
        assert!(details().contains("promiscuity 0"), "{}", details());
        let last =
            ethernet([client, server], &[0x86, 0x24], b"the first that the kernel gets................");
        raw.send(&last);
        let got = behind.receive(|_| true);
        assert_eq!(got, last);
    });
}

#[test]
fn taps_share_the_queues_of_an_interface() {
    with_bare_cable(2, || {
        let raw = Raw::open("na");
        let [client, server] = [mac("na"), mac("fa")];
        for taps in [1, 2] {
            let mut taps = XdpTap::open_group("fa", false, taps).unwrap();
            let frames: Vec<_> = (0..600_u16)
                .map(|n| ethernet([client, server], &[0x86, 0x24], &[n.to_be_bytes(); 30].concat()))
                .collect();
            frames.iter().for_each(|frame| raw.send(frame));
            let mut received = receive(&mut taps, frames.len());
            received.sort();
            assert_eq!(received, frames);
        }
        let error = XdpTap::open_group("fa", false, 3).unwrap_err();
        assert!(matches!(error, XdpError::Queues(2)), "{error}");
    });
}

#[test]
fn frames_beyond_the_memory_of_a_tap_are_lost_and_counted() {
    const MEMORY: usize = 32_768;
    with_bare_cable(1, || {
        let mut tap = open_tap(false);
        let (raw, ends) = (Raw::open("na"), [mac("na"), mac("fa")]);
        let frame = ethernet(ends, IPV4, &ipv4(SERVER_IPV4, PORT, b"query"));
        send(&raw, &frame, MEMORY + 1000);
        assert_eq!(receive(std::slice::from_mut(&mut tap), MEMORY).len(), MEMORY);
        assert_eq!(tap.losses().unwrap(), Losses { dropped: 1000, ..Losses::default() });
        // The memory goes round.
        for _ in 0..3 {
            send(&raw, &frame, MEMORY / 2);
            receive(std::slice::from_mut(&mut tap), MEMORY / 2);
        }
        assert_eq!(tap.losses().unwrap().dropped, 1000);
    });
}

#[test]
fn an_interface_that_the_host_uses_or_whose_frames_are_too_long_is_refused() {
    with_bare_cable(1, || {
        let refused = || XdpTap::open_group("fa", true, 1).unwrap_err().to_string();
        namespace::ip("addr add 10.10.0.1/24 dev fa").unwrap();
        assert!(
            refused().starts_with("it has the address 10.10.0.1, which XDP would cut off"),
            "{}",
            refused()
        );
        namespace::ip("addr del 10.10.0.1/24 dev fa").unwrap();
        namespace::ip("addr add fe80::5/64 dev fa nodad").unwrap();
        open_tap(false);
        namespace::ip("addr add fd10::1/64 dev fa nodad").unwrap();
        assert!(refused().starts_with("it has the address fd10::1"), "{}", refused());
        namespace::ip("addr del fd10::1/64 dev fa").unwrap();
        namespace::ip("link set fa mtu 1775").unwrap();
        assert!(refused().starts_with("its MTU of 1775 bytes exceeds the 1,774"), "{}", refused());
        namespace::ip("link set fa mtu 1774").unwrap();
        open_tap(false);
        namespace::ip("link set lo up").unwrap();
        assert!(matches!(XdpTap::open_group("lo", false, 1), Err(XdpError::Kind)));
        assert!(!details().contains("promiscuity 1"), "{}", details());
    });
}

#[test]
fn a_tap_reports_an_interface_that_is_down_or_was_removed() {
    with_bare_cable(1, || {
        let mut tap = open_tap(true);
        let kind = |tap: &mut XdpTap| tap.receive(Instant::now() + WAIT).unwrap_err().kind();
        namespace::ip("link set fa down").unwrap();
        assert_eq!(kind(&mut tap), std::io::ErrorKind::NetworkDown);
        namespace::ip("link del na").unwrap();
        assert_eq!(kind(&mut tap), std::io::ErrorKind::NotFound);
    });
}
