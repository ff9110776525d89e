//! Frames of Ethernet with TCP or UDP. Checksums are 0: no meter verifies them.

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const ACK: u8 = 16;

/// Bytes of the header of Ethernet.
pub(super) const ETHERNET: usize = 14;

/// Source and destination address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    V4([u8; 4], [u8; 4]),
    V6([u8; 16], [u8; 16]),
}

/// Headers of Ethernet and IP, for a packet of that many bytes.
fn ip(frame: &mut Vec<u8>, ends: Ends, protocol: u8, bytes: usize) {
    frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    match ends {
        Ends::V4(from, to) => {
            let [high, low] = (bytes as u16).to_be_bytes();
            frame.extend([8, 0, 0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
            frame.extend(from);
            frame.extend(to);
        }
        Ends::V6(from, to) => {
            let [high, low] = (bytes as u16).saturating_sub(40).to_be_bytes();
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, high, low, protocol, 64]);
            frame.extend(from);
            frame.extend(to);
        }
    }
}

fn ports(frame: &mut Vec<u8>, ports: [u16; 2]) {
    frame.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
}

/// Appends a frame up to the end of its TCP header; the packet states `bytes`.
pub(super) fn tcp(frame: &mut Vec<u8>, ends: Ends, between: [u16; 2], flags: u8, bytes: usize) {
    ip(frame, ends, 6, bytes);
    ports(frame, between);
    frame.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
}

/// Appends a frame up to the end of its UDP header; the packet states `bytes`.
pub(crate) fn udp(frame: &mut Vec<u8>, ends: Ends, between: [u16; 2], bytes: usize) {
    let header = if matches!(ends, Ends::V4(..)) { 20 } else { 40 };
    ip(frame, ends, 17, bytes);
    ports(frame, between);
    frame.extend((bytes as u16).saturating_sub(header).to_be_bytes());
    frame.extend([0, 0]);
}
