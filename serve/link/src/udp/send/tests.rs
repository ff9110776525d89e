use super::*;
use proptest::prelude::*;

const LONGEST: Segmentation = Segmentation::ON;

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

fn queue_of(datagrams: &[(u16, Vec<u8>)]) -> Queue {
    let mut queue = Queue::new(64);
    for (port, bytes) in datagrams {
        assert!(queue.push(peer(*port).into(), &[bytes]));
    }
    queue
}

/// Drains the queue into a kernel that gives these answers, and then takes everything. Returns the datagrams
/// that it took.
fn drained(
    queue: &mut Queue,
    segmentation: &mut Segmentation,
    answers: &[Result<usize, i32>],
) -> (io::Result<Sent>, Vec<(u16, Vec<u8>)>) {
    let mut answers = answers.iter();
    let mut taken = Vec::new();
    let sent = queue.drain(segmentation, |messages, bytes| {
        let count = match answers.next() {
            Some(Ok(count)) => *count,
            Some(Err(code)) => return Err(io::Error::from_raw_os_error(*code)),
            None => messages.len(),
        };
        for message in &messages[..count] {
            for part in message.split() {
                taken.push((message.to.parse().unwrap().port(), part.bytes(bytes).to_vec()));
            }
        }
        Ok(count)
    });
    (sent, taken)
}

fn ports(taken: &[(u16, Vec<u8>)]) -> Vec<u16> {
    taken.iter().map(|(port, _)| *port).collect()
}

#[test]
fn a_full_kernel_drops_what_is_left() {
    for code in [libc::EAGAIN, libc::ENOBUFS] {
        let mut queue = queue_of(&[(1, vec![1]), (2, vec![2]), (3, vec![3])]);
        let (sent, taken) = drained(&mut queue, &mut LONGEST.clone(), &[Ok(1), Err(code)]);
        assert_eq!(sent.unwrap(), Sent { sent: 1, dropped: 2 });
        assert_eq!(ports(&taken), [1]);
        assert!(queue.messages.is_empty() && queue.bytes.is_empty());
    }
}

#[test]
fn a_refused_destination_costs_only_its_datagram() {
    let mut queue = queue_of(&[(1, vec![1]), (2, vec![2]), (3, vec![3]), (4, vec![4])]);
    let answers = [Ok(1), Err(libc::ECONNREFUSED), Err(libc::EINTR), Err(libc::EMSGSIZE)];
    let (sent, taken) = drained(&mut queue, &mut Segmentation::OFF.clone(), &answers);
    assert_eq!(sent.unwrap(), Sent { sent: 2, dropped: 2 });
    assert_eq!(ports(&taken), [1, 4]);
}

#[test]
fn a_closed_socket_is_an_error() {
    let mut queue = queue_of(&[(1, vec![1]), (2, vec![2])]);
    let (sent, _) = drained(&mut queue, &mut Segmentation::OFF.clone(), &[Ok(1), Err(libc::EBADF)]);
    assert!(sent.unwrap_err().to_string().starts_with("cannot send datagrams"));
    assert!(queue.messages.is_empty());
}

#[test]
fn equal_lengths_to_one_peer_are_joined() {
    let datagrams =
        [(1, vec![1; 8]), (1, vec![2; 8]), (1, vec![3; 5]), (1, vec![4; 8]), (2, vec![5; 8]), (2, vec![])];
    let mut queue = queue_of(&datagrams);
    let mut lengths = Vec::new();
    let sent = queue.drain(&mut LONGEST.clone(), |messages, _| {
        lengths.extend(messages.iter().map(|message| (message.segment, message.length, message.datagrams)));
        Ok(messages.len())
    });
    assert_eq!(sent.unwrap(), Sent { sent: 6, dropped: 0 });
    assert_eq!(lengths, [(8, 21, 3), (8, 8, 1), (8, 8, 1), (0, 0, 1)]);
}

#[test]
fn joined_datagrams_stay_within_the_bounds_of_the_kernel() {
    let many: Vec<_> = (0..1024).map(|_| (1, vec![7; 100])).collect();
    let long: Vec<_> = (0..40).map(|_| (1, vec![7; 9000])).collect();
    for (datagrams, most) in [(many, 64), (long, 7)] {
        let mut queue = Queue::new(1024);
        for (port, bytes) in &datagrams {
            assert!(queue.push(peer(*port).into(), &[bytes]));
        }
        queue
            .drain(&mut LONGEST.clone(), |messages, _| {
                assert_eq!(messages.iter().map(|message| message.datagrams).max(), Some(most));
                assert!(messages.iter().all(|message| message.length as usize <= LONGEST_SENT));
                Ok(messages.len())
            })
            .unwrap();
    }
}

#[test]
fn what_cannot_be_cut_is_sent_one_by_one() {
    let datagrams: Vec<_> =
        (0..5).map(|at| (1, vec![at; 2000])).chain([(2, vec![9; 10]), (2, vec![9; 10])]).collect();
    for (code, longest) in [(libc::EINVAL, 1999), (libc::EMSGSIZE, 1999), (libc::EIO, 0)] {
        let mut segmentation = LONGEST;
        let (sent, taken) = drained(&mut queue_of(&datagrams), &mut segmentation, &[Err(code)]);
        assert_eq!(sent.unwrap(), Sent { sent: 7, dropped: 0 });
        assert_eq!(taken, datagrams);
        assert_eq!(segmentation.longest, longest);
    }
}

#[test]
fn a_full_batch_takes_no_more() {
    let mut queue = Queue::new(2);
    assert!(queue.push(peer(1).into(), &[b"a", b"", b"bc"]));
    assert!(queue.push(peer(1).into(), &[]));
    assert!(!queue.push(peer(1).into(), &[b"d"]));
    let (sent, taken) = drained(&mut queue, &mut Segmentation::OFF.clone(), &[]);
    assert_eq!(sent.unwrap().sent, 2);
    assert_eq!(taken, [(1, b"abc".to_vec()), (1, vec![])]);
    assert!(queue.push(peer(1).into(), &[b"d"]));
}

#[test]
fn a_batch_is_bounded_in_bytes() {
    let mut queue = Queue::new(64);
    let long = vec![0; 60_000];
    assert_eq!((0..64).filter(|_| queue.push(peer(1).into(), &[&long])).count(), 9);
}

#[test]
fn what_no_datagram_can_carry_is_dropped_at_once() {
    let mut queue = Queue::new(1);
    assert!(queue.push(peer(1).into(), &[&[0; LONGEST_SENT], &[0]]));
    assert!(queue.push(peer(1).into(), &[&[0; LONGEST_SENT]]));
    let (sent, _) = drained(&mut queue, &mut Segmentation::OFF.clone(), &[]);
    assert_eq!(sent.unwrap(), Sent { sent: 1, dropped: 1 });
}

proptest! {
    #[test]
    fn every_datagram_is_sent_or_counted(
        datagrams in prop::collection::vec((1u16..4, prop::collection::vec(any::<u8>(), 0..6)), 0..64),
        answers in prop::collection::vec(prop_oneof![
            3 => Just(Ok(1)),
            1 => Just(Err(libc::ECONNREFUSED)),
            1 => Just(Err(libc::EINVAL)),
            1 => Just(Err(libc::EIO)),
        ], 0..40),
    ) {
        let mut queue = queue_of(&datagrams);
        let (sent, taken) = drained(&mut queue, &mut LONGEST.clone(), &answers);
        let sent = sent.unwrap();
        prop_assert_eq!(sent.sent, taken.len());
        prop_assert_eq!(sent.sent + sent.dropped, datagrams.len());
        // In order, and nothing that was not pushed.
        let mut rest = datagrams.iter();
        prop_assert!(taken.iter().all(|one| rest.any(|other| one == other)));
    }
}
