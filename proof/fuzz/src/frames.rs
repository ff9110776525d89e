//! Properties of the reader of frames that come by XDP, and of the replies to them.

use hashlane_flow::packet::Segment;
use hashlane_link::xdp::frame::{FrameError, Received};
use std::net::{IpAddr, Ipv6Addr};

/// Bytes of a frame for a reply.
const ROOM: usize = 2048;

/// A frame is read or refused, as it is and with its checksums made right. The flow meter's reader finds the
/// same sender and payload in it, and each reply is read as a datagram between the same ends.
pub fn check_frame(bytes: &[u8]) {
    check(bytes);
    let mut frame = bytes.to_vec();
    if repair(&mut frame).is_some() {
        assert_ne!(Received::parse(&frame), Err(FrameError::Checksum));
        check(&frame);
    }
}

fn check(frame: &[u8]) {
    let Ok(received) = Received::parse(frame) else { return };
    let segment = Segment::ethernet(frame).expect("a packet that the flow meter reads");
    let payload = received.payload(frame);
    assert_eq!(segment.datagram(), Some(payload));
    assert_eq!(segment.packet.protocol, 17);
    assert_eq!(segment.packet.source, (mapped(received.from.ip()), received.from.port()));
    for reply in [payload, &[], &[0xa5; 512]] {
        let mut out = [0; ROOM];
        let Some(length) = received.reply(frame, reply, &mut out) else {
            assert!(received.packet_headers() + 18 + reply.len() > ROOM);
            continue;
        };
        let out = &out[..length];
        let back = Segment::ethernet(out).expect("a reply is a packet");
        assert_eq!(back.packet.source, segment.packet.destination);
        assert_eq!(back.packet.destination, segment.packet.source);
        assert_eq!(back.datagram(), Some(reply));
        match Received::parse(out) {
            Ok(back) => assert_eq!(back.payload(out), reply),
            // The query was for an address or port that no host has; the program redirects none of these.
            Err(error) => assert!(matches!(error, FrameError::Source(_)), "{error}"),
        }
    }
}

fn mapped(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

/// Makes the checksums of a frame right, word after word. `None` if it has no place for them.
fn repair(frame: &mut [u8]) -> Option<()> {
    let ip = if frame.get(12..14)? == [0x81, 0] { 18 } else { 14 };
    let packet = frame.get_mut(ip..)?;
    let version = *packet.first()?;
    let (header, addresses) = if version >> 4 == 4 { (20, 12..20) } else { (40, 8..40) };
    if version >> 4 == 4 {
        packet.get_mut(10..12)?.fill(0);
        let checksum = !sum(packet.get(..20)?);
        packet.get_mut(10..12)?.copy_from_slice(&checksum.to_be_bytes());
    }
    let length = packet.get(header + 4..header + 6)?.to_vec();
    let end = header + usize::from(u16::from_be_bytes([length[0], length[1]]));
    packet.get_mut(header + 6..header + 8)?.fill(0);
    let parts = [packet.get(addresses)?, &[0, 17], &length, packet.get(header..end)?].concat();
    let checksum = match !sum(&parts) {
        0 => 0xffff,
        checksum => checksum,
    };
    packet.get_mut(header + 6..header + 8)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

/// The folded sum of RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |byte| u32::from(*byte)));
    words.fold(0, |sum, word| ((sum + word) & 0xffff) + ((sum + word) >> 16)) as u16
}
