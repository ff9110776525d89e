//! Captures made by tcpdump, whole and cut, and no captures.

use super::*;
use proptest::prelude::*;

macro_rules! captures {
    ($($file:literal),*) => {
        [$(($file, include_bytes!(concat!("../../../../../vectors/captures/", $file)).as_slice())),*]
    };
}

const CAPTURES: [(&str, &[u8]); 8] = captures!(
    "ipv4.pcap",
    "ipv6.pcap",
    "ipv6.pcapng",
    "cut.pcap",
    "cut-short.pcap",
    "fragments.pcap",
    "cooked.pcap",
    "cooked-v1.pcap"
);

fn of(file: &str) -> Capture {
    let (_, bytes) = CAPTURES.into_iter().find(|(name, _)| *name == file).unwrap();
    read_from(bytes, 1000).unwrap()
}

#[test]
fn reads_what_tcpdump_wrote() {
    for (file, expected) in [
        ("ipv4.pcap", "8 tuples from 24 packets; 4 skipped: 4 without ports"),
        ("ipv6.pcap", "10 tuples from 23 packets"),
        ("ipv6.pcapng", "10 tuples from 23 packets"),
        ("cut.pcap", "10 tuples from 28 packets"),
        ("cut-short.pcap", "0 tuples from 4 packets; 4 skipped: 4 cut off before their ports"),
        ("fragments.pcap", "0 tuples from 6 packets; 6 skipped: 6 fragments"),
        ("cooked.pcap", "4 tuples from 4 packets"),
        ("cooked-v1.pcap", "4 tuples from 4 packets"),
    ] {
        assert_eq!(of(file).to_string(), expected, "{file}");
    }
}

#[test]
fn both_formats_hold_the_same() {
    assert_eq!(of("ipv6.pcap"), of("ipv6.pcapng"));
}

#[test]
fn keeps_the_order_of_the_packets() {
    let capture = of("ipv4.pcap");
    assert_eq!(capture.packets.first(), Some(&0));
    // A connection's two directions are two tuples, each the other's reverse.
    assert_eq!(capture.tuples[1], capture.tuples[0].reversed());
    assert_eq!(capture.tuples[0].local_port(), 8080);
    assert_eq!(capture.packets[..2], [0, 1]);
}

#[test]
fn takes_no_more_than_the_limit() {
    let (_, bytes) = CAPTURES[0];
    let capture = read_from(bytes, 2).unwrap();
    assert!(capture.full && capture.tuples.len() == 2 && capture.packets.len() <= 16);
    assert!(capture.to_string().ends_with("the rest was not read: limit reached"));
}

#[test]
fn a_truncated_capture_keeps_everything_before_its_end() {
    for (file, bytes) in CAPTURES {
        let whole = read_from(bytes, 1000).unwrap();
        for end in 0..bytes.len() {
            match read_from(&bytes[..end], 1000) {
                Ok(part) => {
                    assert!(whole.tuples.starts_with(&part.tuples), "{file} to {end}");
                    assert!(whole.packets.starts_with(&part.packets), "{file} to {end}");
                    assert!(part.seen < whole.seen || part.packets == whole.packets, "{file} to {end}");
                }
                Err(FormatError::NotACapture(_)) => assert!(end < 256, "{file} to {end}"),
                Err(FormatError::Read(error)) => panic!("{file} to {end}: {error}"),
            }
        }
    }
    let (_, bytes) = CAPTURES[0];
    let cut = read_from(&bytes[..bytes.len() - 1], 1000).unwrap();
    assert!(cut.to_string().contains("the file is truncated: it ends within a packet"), "{cut}");
}

#[test]
fn rejects_files_that_are_not_captures() {
    for bytes in [&b""[..], b"\xd4\xc3", b"ELF and more", &[0; 100]] {
        assert!(matches!(read_from(bytes, 10), Err(FormatError::NotACapture(_))), "{bytes:?}");
    }
    let missing = read(Path::new("no/such/file.pcap"), 10).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no/such/file.pcap: "), "{missing}");
    let none = read(Path::new("../../../vectors/captures/cut-short.pcap"), 10).unwrap_err().to_string();
    assert!(
        none.contains("has no packet with ports") && none.contains("4 cut off before their ports"),
        "{none}"
    );
    let text = read(Path::new("Cargo.toml"), 10).unwrap_err().to_string();
    assert!(text.contains("Cargo.toml: not a pcap or pcapng file") && text.contains("tcpdump -w"), "{text}");
}

proptest! {
    #[test]
    fn a_changed_capture_is_no_disaster(file in 0..CAPTURES.len(), at: prop::sample::Index, to: [u8; 4]) {
        let mut bytes = CAPTURES[file].1.to_vec();
        let at = at.index(bytes.len() - 4);
        bytes[at..at + 4].copy_from_slice(&to);
        if let Ok(capture) = read_from(bytes.as_slice(), 1000) {
            prop_assert!(capture.packets.len() <= 8000);
        }
    }
}
