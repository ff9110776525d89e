use super::*;
use proptest::prelude::*;
use std::io::ErrorKind;

/// A stream that takes so many bytes at each write, would block where it is 0, and counts the writes.
#[derive(Default)]
struct Sink {
    taken: Vec<u8>,
    takes: Vec<usize>,
    writes: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let takes = self.takes.get(self.writes).copied().unwrap_or(usize::MAX);
        self.writes += 1;
        if takes == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let length = bytes.len().min(takes);
        self.taken.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_queue_is_written_with_one_call() {
    let mut writer = StreamWriter::new(100);
    assert!(writer.push(&[b"ab", b"", b"c"]) && writer.push(&[b"d"]));
    let mut sink = Sink::default();
    assert!(writer.flush(&mut sink).unwrap());
    assert_eq!((&sink.taken[..], sink.writes), (&b"abcd"[..], 1));
    assert!(writer.flush(&mut sink).unwrap());
    assert_eq!(sink.writes, 1, "nothing to write is no call");
}

#[test]
fn a_packet_that_does_not_fit_is_dropped_whole() {
    let mut writer = StreamWriter::new(5);
    assert!(writer.push(&[b"abc"]));
    assert!(!writer.push(&[b"de", b"f"]));
    assert!(writer.push(&[b"gh"]));
    assert_eq!((writer.len(), writer.dropped()), (5, 1));
    let mut sink = Sink { takes: vec![2, 0], ..Sink::default() };
    assert!(!writer.flush(&mut sink).unwrap());
    assert_eq!(writer.len(), 3);
    assert!(writer.push(&[b"ij"]));
    assert!(writer.flush(&mut sink).unwrap());
    assert_eq!(sink.taken, b"abcghij");
}

#[test]
fn a_slow_stream_holds_no_more_than_twice_the_bound() {
    let mut writer = StreamWriter::new(1000);
    let mut sink = Sink { takes: [13, 0].repeat(100_000), ..Sink::default() };
    for _ in 0..20_000 {
        writer.push(&[&[7; 11]]);
        writer.flush(&mut sink).unwrap();
        assert!(writer.len() <= 1000 && writer.queue.len() <= 2000);
    }
}

#[test]
fn memory_is_given_back_when_nothing_waits() {
    let mut writer = StreamWriter::new(4 << 20);
    for bytes in [1, 4 << 20] {
        assert!(writer.push(&[&vec![0; bytes]]) && writer.memory() >= bytes);
        assert!(writer.flush(&mut io::sink()).unwrap());
        assert_eq!(writer.memory(), 0);
    }
}

#[test]
fn a_stream_that_blocks_holds_about_twice_what_waits() {
    let mut writer = StreamWriter::new(1 << 20);
    assert!(writer.push(&[&[7; 1 << 20]]));
    let mut sink = Sink { takes: vec![(1 << 20) - 10, 0], ..Sink::default() };
    assert!(!writer.flush(&mut sink).unwrap());
    assert_eq!(writer.len(), 10);
    assert!(writer.memory() <= 20 + StreamWriter::SLACK, "{}", writer.memory());
}

#[test]
fn a_stream_that_takes_nothing_is_an_error() {
    let mut writer = StreamWriter::new(10);
    assert!(writer.push(&[b"a"]));
    let error = writer.flush(&mut &mut [][..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
}

proptest! {
    #[test]
    fn what_is_pushed_comes_out_in_order(
        steps in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..30), any::<bool>()), 0..200),
        takes in prop::collection::vec(0usize..40, 0..200),
    ) {
        let mut writer = StreamWriter::new(100);
        let mut sink = Sink { takes, ..Sink::default() };
        let mut pushed = Vec::new();
        for (packet, flush) in &steps {
            let (front, back) = packet.split_at(packet.len() / 2);
            let fits = writer.len() + packet.len() <= 100;
            prop_assert_eq!(writer.push(&[front, back]), fits);
            if fits {
                pushed.extend_from_slice(packet);
            }
            if *flush {
                prop_assert_eq!(writer.flush(&mut sink).unwrap(), writer.is_empty());
            }
            prop_assert_eq!(sink.taken.len() + writer.len(), pushed.len());
        }
        sink.writes = usize::MAX - 1;
        prop_assert!(writer.flush(&mut sink).unwrap());
        prop_assert_eq!(sink.taken, pushed);
    }
}
