use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::io::ErrorKind;

const LONGEST: usize = 8800;

/// Packets of a length in two bytes, which counts itself.
fn framer(bytes: &[u8]) -> Framing {
    match bytes {
        [a, b, ..] => match usize::from(u16::from_be_bytes([*a, *b])) {
            length @ 2.. => Framing::Packet(length),
            _ => Framing::Lost,
        },
        _ => Framing::More,
    }
}

fn packet(length: usize, fill: u8) -> Vec<u8> {
    let mut packet = vec![fill; length];
    packet[..2].copy_from_slice(&(length as u16).to_be_bytes());
    packet
}

/// A stream that gives pieces of the stated lengths, and would block after each.
struct Pieces {
    bytes: VecDeque<u8>,
    pieces: std::vec::IntoIter<usize>,
    left: usize,
}

impl Pieces {
    fn new(bytes: &[u8], pieces: Vec<usize>) -> Self {
        Self { bytes: bytes.iter().copied().collect(), pieces: pieces.into_iter(), left: 0 }
    }
}

impl Read for Pieces {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        assert!(!room.is_empty(), "a read into no room looks like the end");
        if self.left == 0 {
            self.left = self.pieces.next().unwrap_or(self.bytes.len());
            if self.left > 0 && !self.bytes.is_empty() {
                return Err(ErrorKind::WouldBlock.into());
            }
        }
        let length = room.len().min(self.left).min(self.bytes.len());
        self.left -= length;
        self.bytes.read(&mut room[..length])
    }
}

/// All packets of the stream, and the error it ended with.
fn read_all(reader: &mut StreamReader, stream: &mut impl Read) -> (Vec<Vec<u8>>, Option<FramingError>) {
    let mut packets = Vec::new();
    loop {
        let filled = reader.fill(stream).unwrap();
        for packet in reader.frames(framer) {
            match packet {
                Ok(packet) => packets.push(packet.to_vec()),
                Err(error) => return (packets, Some(error)),
            }
        }
        if filled == Filled::End {
            return (packets, None);
        }
    }
}

/// The packets of one read, and the error that ended the stream.
fn read_some(reader: &mut StreamReader, stream: &mut impl Read) -> (Vec<Vec<u8>>, Option<io::Error>) {
    let filled = reader.fill(stream);
    (reader.frames(framer).map(|packet| packet.unwrap().to_vec()).collect(), filled.err())
}

#[test]
fn ten_thousand_tiny_packets_come_out_of_one_buffer() {
    let stream: Vec<u8> = (0..10_000).flat_map(|at| packet(3, at as u8)).collect();
    let mut reader = StreamReader::new(LONGEST);
    assert_eq!(reader.fill(&mut &stream[..]).unwrap(), Filled::Drained(30_000));
    let packets: Vec<_> = reader.frames(framer).map(Result::unwrap).collect();
    assert_eq!(packets.len(), 10_000);
    assert!(packets.iter().enumerate().all(|(at, packet)| packet[..] == [0, 3, at as u8]));
    assert!(reader.is_empty());
}

#[test]
fn packets_taken_one_by_one_move_no_bytes() {
    let stream: Vec<u8> = (0..10_000).flat_map(|at| packet(3, at as u8)).collect();
    let mut reader = StreamReader::new(LONGEST);
    reader.fill(&mut &stream[..]).unwrap();
    for at in 0..10_000 {
        let first = reader.frames(framer).next().unwrap().unwrap();
        assert_eq!(first[2], at as u8);
        assert_eq!(reader.start, 3 * (at + 1));
    }
}

#[test]
fn a_reader_whose_packets_are_not_taken_reads_no_more() {
    let stream = packet(2, 0).repeat(40_000);
    let mut reader = StreamReader::new(LONGEST);
    let mut rest = &stream[..];
    assert_eq!(reader.fill(&mut rest).unwrap(), Filled::Full(65_536));
    assert_eq!(reader.fill(&mut rest).unwrap(), Filled::Full(0));
    assert!(reader.frames(framer).next().is_some());
    assert_eq!(reader.fill(&mut rest).unwrap(), Filled::Full(0));
    assert_eq!((reader.len(), reader.buffer.len(), rest.len()), (65_534, 65_536, 80_000 - 65_536));
}

#[test]
fn the_longest_packet_passes_and_a_longer_one_is_refused_by_its_header() {
    let mut reader = StreamReader::new(LONGEST);
    let longest = packet(LONGEST, 7);
    assert_eq!(read_all(&mut reader, &mut &longest[..]), (vec![longest], None));
    let error = read_all(&mut reader, &mut &packet(LONGEST + 1, 0)[..2]).1.unwrap();
    assert_eq!(error, FramingError::TooLong { at: 8800, length: 8801, longest: LONGEST });
    let expected = "packet too long at byte 8800 of the stream: 8801 bytes or more, at most 8800 allowed";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_framer_that_always_wants_more_is_stopped_at_the_bound() {
    let mut reader = StreamReader::new(100_000);
    let mut stream = io::repeat(0);
    let error = loop {
        reader.fill(&mut stream).unwrap();
        if let Some(frame) = reader.frames(|_| Framing::More).next() {
            break frame.unwrap_err();
        }
    };
    assert_eq!(error, FramingError::TooLong { at: 0, length: 100_001, longest: 100_000 });
    assert_eq!(reader.buffer.len(), 100_000);
}

#[test]
fn a_buffer_grows_with_what_arrives_and_not_with_what_is_announced() {
    let announce = |bytes: &[u8]| if bytes.len() < 4 { Framing::More } else { Framing::Packet(1 << 20) };
    let mut reader = StreamReader::new(1 << 20);
    let long = vec![1; 1 << 20];
    let mut arrived = 0;
    for piece in long.chunks(10_000) {
        let mut piece = piece;
        while !piece.is_empty() {
            assert_eq!(reader.frames(announce).next(), None);
            assert!(matches!(reader.fill(&mut piece).unwrap(), Filled::Full(1..) | Filled::Drained(_)));
        }
        arrived = reader.len().max(arrived);
        assert!(reader.buffer.len() <= (2 * arrived).max(64 << 10));
    }
    assert_eq!(reader.frames(announce).next(), Some(Ok(&long[..])));
}

#[test]
fn lost_framing_stays_lost() {
    for framing in [Framing::Lost, Framing::Packet(0)] {
        let mut reader = StreamReader::new(LONGEST);
        let stream = packet(5, 1);
        reader.fill(&mut &stream.repeat(2)[..]).unwrap();
        let mut first = true;
        let frames: Vec<_> =
            reader.frames(|bytes| if std::mem::take(&mut first) { framer(bytes) } else { framing }).collect();
        assert_eq!(frames, [Ok(&stream[..]), Err(FramingError::Lost { at: 5 })]);
        assert_eq!(reader.frames(framer).next(), None);
        let error = reader.fill(&mut &stream[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(error.to_string(), "no packet starts at byte 5 of the stream");
    }
}

#[test]
fn a_stream_that_breaks_tells_why() {
    struct Broken(Option<ErrorKind>);
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.take().unwrap_or(ErrorKind::ConnectionReset).into())
        }
    }
    let mut reader = StreamReader::new(LONGEST);
    assert_eq!(reader.fill(&mut Broken(Some(ErrorKind::WouldBlock))).unwrap(), Filled::Drained(0));
    let error = reader.fill(&mut Broken(Some(ErrorKind::Interrupted))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_packets(
        lengths in prop::collection::vec(prop_oneof![6 => 2usize..40, 2 => 2usize..2000, 1 => 8000usize..=LONGEST], 0..60),
        pieces in prop::collection::vec(prop_oneof![1usize..8, 1usize..3000, 1usize..100_000], 0..200),
    ) {
        let packets: Vec<_> = lengths.iter().enumerate().map(|(at, &length)| packet(length, at as u8)).collect();
        for gives_room in [false, true] {
            let mut stream = Pieces::new(&packets.concat(), pieces.clone());
            let mut reader = StreamReader::new(LONGEST);
            let mut passed = Vec::new();
            while let (new, None) = read_some(&mut reader, &mut stream) {
                passed.extend(new);
                if gives_room {
                    reader.give_room();
                    prop_assert_eq!(reader.buffer.len(), reader.len());
                }
                if passed.len() == packets.len() {
                    break;
                }
            }
            prop_assert_eq!(&passed, &packets);
            prop_assert_eq!(reader.buffer.len(), if gives_room { 0 } else { 64 << 10 });
        }
    }

    #[test]
    fn long_packets_come_through_a_buffer_that_grows(
        lengths in prop::collection::vec(2usize..=65_535, 0..12),
        pieces in prop::collection::vec(1usize..70_000, 0..60),
    ) {
        let packets: Vec<_> = lengths.iter().enumerate().map(|(at, &length)| packet(length, at as u8)).collect();
        let mut stream = Pieces::new(&packets.concat(), pieces);
        let mut reader = StreamReader::new(70_000);
        prop_assert_eq!(read_all(&mut reader, &mut stream), (packets, None));
        prop_assert!(reader.buffer.len() <= 70_000);
    }

    #[test]
    fn hostile_bytes_give_packets_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..5000),
        pieces in prop::collection::vec(1usize..600, 0..20),
        longest in 0usize..300,
    ) {
        let mut reader = StreamReader::new(longest);
        let (packets, error) = read_all(&mut reader, &mut Pieces::new(&bytes, pieces));
        let given = packets.concat();
        prop_assert_eq!(&given[..], &bytes[..given.len()]);
        prop_assert!(packets.iter().all(|packet| packet.len() <= longest));
        if let Some(FramingError::Lost { at } | FramingError::TooLong { at, .. }) = error {
            prop_assert_eq!(at, given.len() as u64);
        }
    }
}
