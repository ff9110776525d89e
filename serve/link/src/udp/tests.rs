//! Datagrams over the loopback interface.

use super::*;
use crate::tcp;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Receives until there are `count` datagrams, or for a second.
fn receive(socket: &UdpSocket, count: usize) -> Vec<(SocketAddr, Vec<u8>, bool)> {
    let mut batch = RecvBatch::new(64);
    let mut received = Vec::new();
    let end = Instant::now() + Duration::from_secs(1);
    while received.len() < count && Instant::now() < end {
        let many = socket.recv(&mut batch).unwrap();
        assert_eq!((batch.len(), batch.iter().count(), batch.is_empty()), (many, many, many == 0));
        received.extend(
            batch.iter().map(|datagram| (datagram.from, datagram.payload.to_vec(), datagram.truncated)),
        );
    }
    received
}

#[test]
fn a_batch_receives_after_its_memory_was_released() {
    let ((mut sender, _), (receiver, to)) = (socket(), socket());
    let (mut out, mut batch) = (SendBatch::new(4), RecvBatch::new(4));
    for round in 0..3 {
        out.push(to, &[&[round; 9000]]);
        sender.send(&mut out).unwrap();
        let end = Instant::now() + Duration::from_secs(15);
        while receiver.recv(&mut batch).unwrap() == 0 && Instant::now() < end {}
        assert!(batch.iter().map(|datagram| datagram.payload).eq([&[round; 9000][..]]));
        batch.release();
        assert_eq!((batch.len(), batch.iter().count()), (0, 0));
    }
}

#[test]
fn datagrams_arrive_as_they_were_sent() {
    for segmentation in [false, true] {
        let ((mut sender, from), (mut receiver, to)) = (socket(), socket());
        if segmentation && !(sender.set_segmentation(true) && receiver.set_segmentation(true)) {
            eprintln!("this kernel does not cut and join datagrams");
            continue;
        }
        let mut batch = SendBatch::new(64);
        let lengths =
            [5, 5, 5, 0, 0, 1200, 1200, 1200, 7, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 1, 2, 2];
        let mut expected = Vec::new();
        for (at, length) in lengths.into_iter().enumerate() {
            let bytes = vec![at as u8; length];
            let (first, second) = bytes.split_at(length / 2);
            assert!(batch.push(to, &[first, second]));
            expected.push((from, bytes, false));
        }
        assert_eq!(sender.send(&mut batch).unwrap(), Sent { sent: lengths.len(), dropped: 0 });
        assert!(batch.is_empty());
        assert_eq!(receive(&receiver, lengths.len()), expected);
    }
}

#[test]
fn joined_datagrams_come_apart_in_a_socket_that_does_not_join() {
    let ((mut sender, from), (receiver, to)) = (socket(), socket());
    sender.set_segmentation(true);
    let mut batch = SendBatch::new(64);
    let expected: Vec<_> = (0..64).map(|at| (from, vec![at; 100], false)).collect();
    assert!(expected.iter().all(|(_, bytes, _)| batch.push(to, &[bytes])));
    assert_eq!(sender.send(&mut batch).unwrap(), Sent { sent: 64, dropped: 0 });
    assert_eq!(receive(&receiver, 64), expected);
}

#[test]
fn segmentation_can_be_switched_off_again() {
    let ((mut sender, from), (mut receiver, to)) = (socket(), socket());
    for socket in [&mut sender, &mut receiver] {
        socket.set_segmentation(true);
        assert!(!socket.set_segmentation(false));
    }
    let mut batch = SendBatch::new(64);
    assert!((0..3).all(|_| batch.push(to, &[b"abc"])));
    sender.send(&mut batch).unwrap();
    assert_eq!(receive(&receiver, 3), vec![(from, b"abc".to_vec(), false); 3]);
}

#[test]
fn nothing_waiting_is_no_error() {
    let (receiver, _) = socket();
    let mut batch = RecvBatch::new(64);
    assert_eq!(receiver.recv(&mut batch).unwrap(), 0);
    assert!(batch.is_empty() && batch.iter().next().is_none());
}

#[test]
fn a_batch_is_full_only_where_more_may_wait() {
    for segmentation in [false, true] {
        let ((mut sender, _), (mut receiver, to)) = (socket(), socket());
        if segmentation && !(sender.set_segmentation(true) && receiver.set_segmentation(true)) {
            eprintln!("this kernel does not cut and join datagrams");
            continue;
        }
        let (mut queue, mut batch) = (SendBatch::new(64), RecvBatch::new(4));
        let mut send = |lengths: &[usize]| {
            assert!(lengths.iter().all(|length| queue.push(to, &[&vec![7; *length]])));
            assert_eq!(sender.send(&mut queue).unwrap().dropped, 0);
        };
        // Lengths that grow are not joined, equal ones are.
        send(&[1, 2, 3]);
        assert_eq!((receiver.recv(&mut batch).unwrap(), batch.is_full()), (3, false));
        send(&[1, 2, 3, 4, 5]);
        assert_eq!((receiver.recv(&mut batch).unwrap(), batch.is_full()), (4, true));
        assert_eq!((receiver.recv(&mut batch).unwrap(), batch.is_full()), (1, false));
        if segmentation {
            send(&[9; 20]);
            assert_eq!((receiver.recv(&mut batch).unwrap(), batch.is_full()), (20, false));
        }
        assert_eq!((receiver.recv(&mut batch).unwrap(), batch.is_full()), (0, false));
    }
}

#[test]
fn a_batch_forgets_what_it_held() {
    let ((mut sender, from), (receiver, to)) = (socket(), socket());
    let (mut outgoing, mut incoming) = (SendBatch::new(2), RecvBatch::new(2));
    for byte in 0..100 {
        assert!(outgoing.push(to, &[&[byte]]));
        sender.send(&mut outgoing).unwrap();
        assert_eq!(receiver.recv(&mut incoming).unwrap(), 1);
        let datagrams: Vec<_> = incoming.iter().collect();
        assert_eq!((datagrams.len(), datagrams[0].from, datagrams[0].payload), (1, from, &[byte][..]));
        assert_eq!(receiver.recv(&mut incoming).unwrap(), 0);
        assert!(incoming.iter().next().is_none());
    }
}

#[test]
fn more_datagrams_than_room_take_several_receives() {
    let ((mut sender, _), (receiver, to)) = (socket(), socket());
    let mut batch = SendBatch::new(64);
    assert!((0..10).all(|byte| batch.push(to, &[&[byte]])));
    sender.send(&mut batch).unwrap();
    let mut batch = RecvBatch::new(4);
    let mut received = Vec::new();
    for expected in [4, 4, 2, 0] {
        assert_eq!(receiver.recv(&mut batch).unwrap(), expected);
        received.extend(batch.iter().map(|datagram| datagram.payload[0]));
    }
    assert_eq!(received, (0..10).collect::<Vec<u8>>());
}

#[test]
fn a_datagram_that_is_too_long_is_cut_and_says_so() {
    for segmentation in [false, true] {
        let ((mut sender, from), (mut receiver, to)) = (socket(), socket());
        receiver.set_segmentation(segmentation);
        sender.set_segmentation(segmentation);
        let mut batch = SendBatch::new(64);
        let lengths = [LONGEST_DATAGRAM, LONGEST_DATAGRAM + 1, LONGEST_DATAGRAM + 1, 65_507, 3];
        assert!(lengths.iter().all(|&length| batch.push(to, &[&vec![7; length]])));
        sender.send(&mut batch).unwrap();
        let expected = lengths.map(|length| (from, vec![7; length.min(9000)], length > 9000));
        assert_eq!(receive(&receiver, 5), expected);
    }
}

#[test]
fn a_closed_port_is_no_end() {
    let ((mut sender, from), (receiver, to)) = (socket(), socket());
    let closed = socket().1;
    // Only a connected socket is told of a closed port.
    connect(&sender, closed);
    let mut batch = SendBatch::new(64);
    assert!(batch.push(closed, &[b"lost"]));
    sender.send(&mut batch).unwrap();
    let mut incoming = RecvBatch::new(1);
    assert_eq!(sender.recv(&mut incoming).unwrap(), 0);

    // A kernel that reports it to the sender loses one datagram.
    assert!(batch.push(closed, &[b"lost"]));
    sender.send(&mut batch).unwrap();
    assert!(batch.push(to, &[b"a"]) && batch.push(to, &[b"b"]));
    assert_eq!(sender.send(&mut batch).unwrap(), Sent { sent: 1, dropped: 1 });
    assert_eq!(receive(&receiver, 1), [(from, b"b".to_vec(), false)]);
}

fn connect(socket: &UdpSocket, to: SocketAddr) {
    socket2::SockRef::from(socket).connect(&to.into()).unwrap();
}

#[test]
fn a_destination_that_cannot_be_is_dropped_and_the_rest_goes_on() {
    let ((mut sender, from), (receiver, to)) = (socket(), socket());
    let mut batch = SendBatch::new(64);
    // Port 0, and an address of the other family.
    for bad in ["127.0.0.1:0", "[::1]:6363"] {
        assert!(batch.push(bad.parse().unwrap(), &[b"x"]));
        assert!(batch.push(to, &[b"good"]));
    }
    assert_eq!(sender.send(&mut batch).unwrap(), Sent { sent: 2, dropped: 2 });
    assert_eq!(receive(&receiver, 2), vec![(from, b"good".to_vec(), false); 2]);
}

#[test]
fn ipv6_datagrams_carry_their_sender() {
    let Ok(mut sender) = UdpSocket::bind("[::1]:0".parse().unwrap()) else {
        eprintln!("this machine has no IPv6");
        return;
    };
    let receiver = UdpSocket::bind("[::1]:0".parse().unwrap()).unwrap();
    let mut batch = SendBatch::new(64);
    assert!((0..3).all(|_| batch.push(receiver.local_addr().unwrap(), &[b"six"])));
    assert_eq!(sender.send(&mut batch).unwrap(), Sent { sent: 3, dropped: 0 });
    assert_eq!(receive(&receiver, 3), vec![(sender.local_addr().unwrap(), b"six".to_vec(), false); 3]);
}

#[test]
fn both_families_can_have_one_port() {
    let Ok(six) = UdpSocket::bind("[::]:0".parse().unwrap()) else {
        eprintln!("this machine has no IPv6");
        return;
    };
    let port = six.local_addr().unwrap().port();
    UdpSocket::bind(SocketAddr::from(([0, 0, 0, 0], port))).unwrap();
    let six = tcp::listen("[::]:0".parse().unwrap()).unwrap();
    let port = six.local_addr().unwrap().port();
    tcp::listen(SocketAddr::from(([0, 0, 0, 0], port))).unwrap();
}

#[test]
fn a_port_in_use_is_named() {
    let (_first, address) = socket();
    let error = UdpSocket::bind(address).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    let port = address.port();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot bind UDP {address}: port {port} is in use by another program; end it, or choose another port"
        )
    );

    let first = tcp::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = first.local_addr().unwrap();
    let error = tcp::listen(address).unwrap_err();
    let port = address.port();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot bind TCP {address}: port {port} is in use by another program; end it, or choose another port"
        )
    );
}

#[test]
fn an_address_of_another_machine_is_named() {
    let error = UdpSocket::bind("192.0.2.1:0".parse().unwrap()).unwrap_err();
    let expected = "cannot bind UDP 192.0.2.1:0: no interface of this machine has the address 192.0.2.1";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn sockets_and_batches_can_go_to_another_thread() {
    let (mut sender, from) = socket();
    let (mut outgoing, incoming) = (SendBatch::new(4), RecvBatch::new(4));
    assert!(outgoing.push(from, &[b"me"]));
    let mut incoming = std::thread::spawn(move || {
        sender.send(&mut outgoing).unwrap();
        let mut incoming = incoming;
        assert_eq!(sender.recv(&mut incoming).unwrap(), 1);
        incoming
    })
    .join()
    .unwrap();
    assert_eq!(incoming.iter().next().map(|datagram| datagram.payload.to_vec()), Some(b"me".to_vec()));
    assert_eq!(socket().0.recv(&mut incoming).unwrap(), 0);
}

#[test]
fn limited_sources_take_no_room_and_others_pass() {
    for address in ["127.0.0.1", "::1"] {
        let Ok(mut receiver) = UdpSocket::bind((address.parse::<std::net::IpAddr>().unwrap(), 0).into())
        else {
            eprintln!("this machine has no IPv6");
            continue;
        };
        let to = receiver.local_addr().unwrap();
        let send = |from: &str, bytes: &[u8]| {
            let sender = std::net::UdpSocket::bind((from, 0)).unwrap();
            (0..200).for_each(|_| assert_eq!(sender.send_to(bytes, to).unwrap(), bytes.len()));
        };
        let (loud, quiet) = if to.is_ipv4() { ("127.0.0.2", "127.0.0.3") } else { ("::1", "::1") };
        let source = if to.is_ipv4() { Sender::Ipv4(0x7f00_0002) } else { Sender::Ipv6(0) };
        receiver.limit_sources(&[Limited { source, halvings: MAX_HALVINGS }], 7).unwrap();
        send(loud, b"loud");
        let lost = receiver.receive_queue().unwrap().lost;
        assert!(lost > 150, "{lost} of 200");
        if to.is_ipv4() {
            send(quiet, b"quiet");
        }
        receiver.limit_sources(&[], 7).unwrap();
        receiver.limit_sources(&[], 7).unwrap();
        send(loud, b"again");
        let queue = receiver.receive_queue().unwrap();
        assert!(queue.queued > 0 && queue.limit > queue.queued && queue.lost == lost);
        let all = receive(&receiver, usize::MAX);
        let count = |bytes: &[u8]| all.iter().filter(|datagram| datagram.1 == bytes).count();
        assert_eq!(count(b"loud"), 200 - lost as usize);
        assert_eq!([count(b"quiet"), count(b"again")], [if to.is_ipv4() { 200 } else { 0 }, 200]);
    }
}

#[test]
fn a_receive_queue_is_as_long_as_the_kernel_says() {
    let (mut receiver, _) = socket();
    let given = receiver.set_receive_queue(1 << 16).unwrap();
    assert_eq!((given, receiver.receive_queue().unwrap().limit as usize), (1 << 16, 2 << 16));
}

#[test]
fn sockets_of_one_address_share_its_peers_and_no_other_program_joins_them() {
    let mut sockets = UdpSocket::bind_shared("127.0.0.1:0".parse().unwrap(), 3).unwrap();
    let address = sockets[0].local_addr().unwrap();
    assert!(sockets.iter().all(|socket| socket.local_addr().unwrap() == address));
    let again = UdpSocket::bind_shared(address, 2).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AddrInUse);
    assert!(UdpSocket::bind(address).is_err());

    let mut received = [0; 3];
    let mut clients = Vec::new();
    for round in 0..64_u8 {
        let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        client.send_to(&[round], address).unwrap();
        clients.push(client);
    }
    let mut batch = RecvBatch::new(64);
    let end = Instant::now() + Duration::from_secs(15);
    while received.iter().sum::<usize>() < 64 && Instant::now() < end {
        for (socket, count) in sockets.iter_mut().zip(&mut received) {
            *count += socket.recv(&mut batch).unwrap();
        }
    }
    assert_eq!(received.iter().sum::<usize>(), 64);
    assert!(received.iter().filter(|count| **count > 0).count() > 1, "{received:?}");
}

#[test]
fn a_receive_waits_for_one_datagram_and_takes_those_behind_it() {
    let ((mut sender, _), (mut receiver, to)) = (socket(), socket());
    let (mut out, mut batch) = (SendBatch::new(8), RecvBatch::new(8));
    receiver.set_patience(Duration::from_millis(20)).unwrap();
    assert_eq!(receiver.recv_wait(&mut batch).unwrap(), 0, "its patience ends");
    assert_eq!(receiver.recv(&mut batch).unwrap(), 0, "the other call does not wait");
    receiver.set_patience(Duration::from_secs(15)).unwrap();
    (0..3_u8).for_each(|byte| assert!(out.push(to, &[&[byte]])));
    sender.send(&mut out).unwrap();
    let mut received = 0;
    while received < 3 {
        received += receiver.recv_wait(&mut batch).unwrap();
    }
    let waiting = std::thread::spawn(move || (receiver.recv_wait(&mut batch).unwrap(), batch.len()));
    out.push(to, &[b"late"]);
    sender.send(&mut out).unwrap();
    assert_eq!(waiting.join().unwrap(), (1, 1));
}
