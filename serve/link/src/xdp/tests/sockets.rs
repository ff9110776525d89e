//! Sockets, and the kernel beside them.

use super::frames::*;
use super::*;

#[test]
fn datagrams_of_both_families_are_answered_in_each_mode() {
    with_cable(|namespace| {
        for modes in [&[Mode::Generic][..], &[Mode::ZeroCopy, Mode::Generic]] {
            let Xdp { mut sockets, mode, local } = open_lans(modes, vec![Lan { tag: 0, local: local() }]);
            println!("{mode}");
            assert_eq!(local.len(), 2);
            for server in &local {
                let client = client(namespace, *server);
                for text in ["first", "another, longer query", "x"] {
                    client.send(text.as_bytes()).unwrap();
                    echo(&mut sockets[0], 1);
                    let mut answer = [0; 100];
                    let length = client.recv(&mut answer).unwrap();
                    let reversed: String = text.chars().rev().collect();
                    assert_eq!(std::str::from_utf8(&answer[..length]).unwrap(), reversed);
                }
            }
            assert_eq!(sockets[0].losses().unwrap(), Losses::default());
        }
    });
}

#[test]
fn malformed_frames_are_counted_and_get_no_reply() {
    with_cable(|namespace| {
        let (ends, mut socket) = ([namespace::within(namespace, || mac("near")), mac("far")], open_far());
        let raw = namespace::within(namespace, || Raw::open("near"));
        let sound = ipv4(SERVER_IPV4, PORT, b"query");
        let changes: &[Change] = &[
            ("the header's checksum", |packet| packet[10] ^= 1),
            ("the datagram's checksum", |packet| packet[27] ^= 1),
            ("a changed payload", |packet| packet[30] ^= 1),
            ("the packet's length", |packet| packet[3] = 200),
            ("the datagram's length", |packet| packet[25] = 200),
            ("no source port", |packet| packet[20..22].fill(0)),
        ];
        for (_, change) in changes {
            let mut packet = sound.clone();
            change(&mut packet);
            raw.send(&ethernet(ends, IPV4, &packet));
        }
        let mut short = ethernet(ends, IPV4, &sound);
        short.truncate(14 + 28);
        raw.send(&short);
        let mut without = ipv6(PORT, b"query");
        without[46..48].fill(0);
        raw.send(&ethernet(ends, IPV6, &without));
        raw.send(&ethernet(ends, IPV4, &sound));
        echo(&mut socket, 1);
        let answer = raw.receive(|frame| frame[23] == 17 && frame[34..36] == PORT.to_be_bytes());
        assert_eq!(&answer[42..47], b"yreuq", "the only answer");
        let malformed = changes.len() as u64 + 2;
        assert_eq!(socket.losses().unwrap(), Losses { malformed, ..Losses::default() });
    });
}

#[test]
fn replies_to_tagged_frames_are_in_their_virtual_lan() {
    with_cable(|namespace| {
        let ends = [namespace::within(namespace, || mac("near")), mac("far")];
        let lan = Lan { tag: 5, local: vec!["10.9.5.2:5300".parse().unwrap()] };
        let mut sockets = open_lans(&[Mode::ZeroCopy, Mode::Generic], vec![lan]).sockets;
        let raw = namespace::within(namespace, || Raw::open("near"));
        let packet = ipv4([10, 9, 5, 2], PORT, b"query");
        raw.send(&ethernet(ends, &[0x81, 0, 0x60, 5, 8, 0], &packet));
        echo(&mut sockets[0], 1);
        let answer = raw.receive(|frame| frame.ends_with(b"yreuq"));
        let [client, server] = ends;
        // The packet socket of the receiver gets the frame as it was, or without its tag.
        assert_eq!((&answer[..6], &answer[6..12]), (&client[..], &server[..]));
        let mut ring = namespace::within(namespace, || {
            crate::ring::Ring::open("near", &crate::ring::RingSettings::default()).unwrap()
        });
        raw.send(&ethernet(ends, &[0x81, 0, 0x60, 5, 8, 0], &packet));
        echo(&mut sockets[0], 1);
        let mut tags = Vec::new();
        while !tags.contains(&vec![0x81, 0, 0x60, 5, 8, 0]) {
            let mut block = ring.next_block(Instant::now() + PATIENCE).unwrap().expect("the answer in time");
            let answers = block.frames().filter(|frame| frame.bytes.ends_with(b"yreuq"));
            tags.extend(answers.map(|frame| frame.bytes[12..18].to_vec()));
        }
    });
}

/// Sends an ICMP echo request, and waits for its reply.
fn ping(server: SocketAddr) {
    let (domain, protocol, kinds) = match server {
        SocketAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4, [8, 0]),
        SocketAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6, [128, 129]),
    };
    let mut socket = Socket::new(domain, Type::RAW, Some(protocol)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.connect(&SocketAddr::new(server.ip(), 0).into()).unwrap();
    // The kernel writes the checksum of ICMPv6.
    let mut request = [kinds[0], 0, 0, 0, 0x12, 0x34, 0, 1];
    let checksum = super::checksum::Sum::default().add(&request).checksum();
    request[2..4].copy_from_slice(&checksum);
    socket.send(&request).unwrap();
    let mut packet = [0; 200];
    // IPv4 comes with its header.
    let header = if server.is_ipv4() { 20 } else { 0 };
    loop {
        let length = socket.read(&mut packet).unwrap();
        if length >= header + 8
            && packet[header] == kinds[1]
            && packet[header + 4..header + 6] == [0x12, 0x34]
        {
            return;
        }
    }
}

#[test]
fn everything_else_is_left_to_the_kernel() {
    with_cable(|namespace| {
        let _socket = open_far();
        assert!(shown().contains("xdp"), "{}", shown());
        for server in local() {
            // Neighbours are found, and echo requests answered.
            namespace::within(namespace, || ping(server));
            // The same port of TCP.
            let listener = TcpListener::bind(server).unwrap();
            let connect = || TcpStream::connect(server).unwrap();
            let mut stream = namespace::within(namespace, connect);
            stream.write_all(&[7; 100_000]).unwrap();
            drop(stream);
            let mut bytes = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, [7; 100_000]);
            // Fragments to the same port, and another port.
            let receive = |port, length| {
                let kernel = UdpSocket::bind((server.ip(), port)).unwrap();
                kernel.set_read_timeout(Some(PATIENCE)).unwrap();
                client(namespace, kernel.local_addr().unwrap()).send(&vec![8; length]).unwrap();
                let mut datagram = vec![0; 9000];
                assert_eq!(kernel.recv(&mut datagram).unwrap(), length);
            };
            receive(PORT, 4000);
            receive(PORT + 1, 10);
        }
    });
}

#[test]
fn the_program_goes_with_the_sockets_and_one_interface_has_one() {
    with_cable(|_| {
        let socket = open_far();
        let error = open("far", &local(), 64, WAIT).unwrap_err();
        assert!(matches!(&error, XdpError::Busy(_)), "{error}");
        assert!(error.to_string().contains("ip link set dev far xdp off"), "{error}");
        assert!(shown().contains("xdp"), "{}", shown());
        drop(socket);
        let deadline = Instant::now() + PATIENCE;
        while shown().contains("prog/xdp") {
            assert!(Instant::now() < deadline, "{}", shown());
        }
        let other = ["192.0.2.1:53".parse().unwrap()];
        assert!(matches!(open("far", &other, 64, WAIT), Err(XdpError::NoAddress)));
        assert!(matches!(open("lo", &local(), 64, WAIT), Err(XdpError::Kind)));
        let error = open("nothing0", &local(), 64, WAIT).unwrap_err().to_string();
        assert!(error.starts_with("no such interface; this host has"), "{error}");
        open_far();
    });
}

#[test]
fn many_datagrams_pass_through_the_rings() {
    with_cable(|namespace| {
        let mut socket = open_far();
        let clients: Vec<_> = local().into_iter().flat_map(|server| [server; 3]).collect();
        let clients: Vec<_> = clients.into_iter().map(|server| client(namespace, server)).collect();
        // Several times around each ring, in bursts that fit the client's socket.
        for round in 0..200_u32 {
            for client in &clients {
                for number in 0..10_u32 {
                    client.send(&(round * 10 + number).to_be_bytes()).unwrap();
                }
            }
            echo(&mut socket, clients.len() * 10);
            for client in &clients {
                for number in 0..10_u32 {
                    let mut answer = [0; 8];
                    assert_eq!(client.recv(&mut answer).unwrap(), 4);
                    assert_eq!(u32::from_le_bytes(*answer.first_chunk().unwrap()), round * 10 + number);
                }
            }
        }
        assert_eq!(socket.losses().unwrap(), Losses::default());
    });
}

#[test]
fn frames_beyond_the_ring_are_lost_and_counted_and_a_full_queue_takes_no_reply() {
    with_cable(|namespace| {
        let mut socket = open_far();
        let client = client(namespace, local()[0]);
        // The kernel keeps few datagrams until it knows the neighbour.
        client.send(b"query").unwrap();
        echo(&mut socket, 1);
        client.recv(&mut [0; 100]).unwrap();
        assert_eq!(socket.recv().unwrap(), 0, "the kernel has all frames");
        let unsent = || namespace::within(namespace, || namespace::unsent("near").unwrap());
        let before = unsent();
        for _ in 0..3000 {
            client.send(b"query").unwrap();
        }
        let deadline = Instant::now() + PATIENCE;
        // Those without a free frame are counted once.
        let dropped = 3000 - 2048 - (unsent() - before);
        while socket.losses().unwrap() != (Losses { dropped, ..Losses::default() }) {
            assert!(Instant::now() < deadline, "{:?}", socket.losses());
            thread::yield_now();
        }
        assert_eq!(socket.recv_wait().unwrap(), 64);
        let (_, mut replies) = socket.split();
        let from = client.local_addr().unwrap();
        let pushed = (0..5000).take_while(|_| replies.push(0, from, b"answer")).count();
        assert_eq!((pushed, replies.queued()), (1024, 1024));
        assert_eq!(replies.send().unwrap().sent, 1024);
        assert_eq!(replies.queued(), 0);
        assert!(replies.push(0, from, b"answer"), "the kernel gave the frames back");
        assert!(!replies.push(64, from, b"answer"), "no such datagram");
        assert!(!replies.push(0, from, &[0; 2048]), "longer than a frame");
        replies.send().unwrap();
        let mut answer = [0; 100];
        assert_eq!(client.recv(&mut answer).unwrap(), 6);
    });
}

#[test]
fn each_queue_has_a_socket() {
    with_cable(|_| {
        let queues = "numrxqueues 2 numtxqueues 2";
        namespace::ip(&format!("link add na {queues} type veth peer name fa {queues}")).unwrap();
        for line in ["addr add 10.10.0.1/24 dev fa", "link set na up", "link set fa up"] {
            namespace::ip(line).unwrap();
        }
        let local = ["10.10.0.1:5300".parse().unwrap()];
        let mut sockets = open("fa", &local, 64, WAIT).unwrap().sockets;
        assert_eq!(sockets.len(), 2);
        let (raw, ends) = (Raw::open("na"), [mac("na"), mac("fa")]);
        for number in 0..20_u8 {
            raw.send(&ethernet(ends, IPV4, &ipv4([10, 10, 0, 1], PORT, &[number])));
        }
        let (mut received, deadline) = (0, Instant::now() + PATIENCE);
        while received < 20 {
            assert!(Instant::now() < deadline, "{received} of 20");
            received += sockets.iter_mut().map(|socket| socket.recv_wait().unwrap()).sum::<usize>();
        }
    });
}

#[test]
fn replies_that_a_full_queue_keeps_are_sent_by_the_next_receive() {
    with_cable(|namespace| {
        const REPLIES: usize = 150;
        let mut socket = open_far();
        let client = client(namespace, local()[0]);
        client.send(b"query").unwrap();
        let deadline = Instant::now() + PATIENCE;
        while socket.recv_wait().unwrap() == 0 {
            assert!(Instant::now() < deadline, "no query");
        }
        // Without its other end, the interface takes no frame: the kernel gives up at the first one.
        namespace::within(namespace, || namespace::ip("link set near down").unwrap());
        let (_, mut replies) = socket.split();
        let from = client.local_addr().unwrap();
        for _ in 0..REPLIES {
            assert!(replies.push(0, from, b"answer"));
        }
        assert_eq!(replies.send().unwrap().sent, REPLIES);
        assert_eq!(socket.losses().unwrap(), Losses { queue_full: 1, ..Losses::default() });
        namespace::within(namespace, || namespace::ip("link set near up").unwrap());
        // No query and no reply comes any more.
        assert_eq!(socket.recv_wait().unwrap(), 0);
        let mut answer = [0; 100];
        for number in 1..REPLIES {
            assert_eq!(client.recv(&mut answer).unwrap(), 6, "{number}");
        }
        client.set_nonblocking(true).unwrap();
        assert!(client.recv(&mut answer).is_err(), "one was lost");
    });
}

#[test]
fn an_interface_that_is_down_or_was_removed_is_reported() {
    with_cable(|namespace| {
        let mut socket = open_far();
        let ask = |socket: &mut XdpSocket| {
            let client = client(namespace, local()[0]);
            client.send(b"query").unwrap();
            echo(socket, 1);
            assert_eq!(client.recv(&mut [0; 100]).unwrap(), 5);
        };
        ask(&mut socket);
        for _ in 0..2 {
            namespace::ip("link set far down").unwrap();
            assert_eq!(socket.recv_wait().unwrap_err().kind(), std::io::ErrorKind::NetworkDown);
            namespace::ip("link set far up").unwrap();
            ask(&mut socket);
        }
        namespace::ip("link del far").unwrap();
        let error = socket.recv_wait().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), "cannot receive frames: the interface was removed");
        drop(socket);
        assert!(matches!(open("far", &local(), 64, WAIT), Err(XdpError::NoInterface(_))));
    });
}
