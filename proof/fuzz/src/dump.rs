//! Properties of the reader of captured TCP connections.

use hashlane_client::dump::{Found, Streams};
use hashlane_flow::packet::StreamPart;

/// Packets in the parts of connections are no longer than all parts together, and the number of findings is
/// bounded by the numbers of bytes and parts. Before each part are four bytes: connection and flags, sequence
/// number, length.
pub fn check_stream(mut octets: &[u8]) {
    let mut streams = Streams::new();
    let (mut came, mut parts, mut packets, mut count) = (0, 0, 0, 0);
    let mut found = |_: u8, what: Found<'_>| {
        count += 1;
        if let Found::Packet(packet) = what {
            assert_eq!(::hashlane_ndn::tlv::frame(packet), Ok(Some(packet.len() as u64)));
            packets += packet.len();
        }
    };
    while let Some(([how, high, low, len], rest)) = octets.split_first_chunk() {
        let (part, rest) = rest.split_at(rest.len().min(usize::from(*len)));
        octets = rest;
        came += part.len();
        parts += 1;
        let sequence = u32::from_be_bytes([how >> 6 << 5, 0, *high, *low]);
        let part = StreamPart { sequence, opens: how & 1 == 1, bytes: part };
        streams.take(how >> 2 & 7, &part, how & 2 == 2, &mut found);
    }
    streams.close(&mut found);
    assert!(packets <= came && count <= 2 * came + 4 * parts);
}
