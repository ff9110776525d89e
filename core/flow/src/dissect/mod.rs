//! The parser of a flow meter: the key of a frame, its length and its TCP flags.
//!
//! It reads Ethernet, IEEE 802.1Q and 802.1ad tags, MPLS (RFC 3032; IP, or Ethernet behind a control word,
//! RFC 4448), PPPoE sessions (RFC 2516), IPv4, IPv6 with extension headers, the ports of TCP, UDP, UDP-Lite,
//! DCCP and SCTP, and ICMP. With [`Options::tunnels`] it goes on in IP-in-IP, GRE, VXLAN and GTP-U.
//!
//! | packet | ports in the key |
//! | --- | --- |
//! | TCP, UDP, UDP-Lite, DCCP, SCTP | source and destination port |
//! | ICMP, ICMPv6 | source 0, destination type × 256 + code, as NetFlow has it |
//! | reply of an ICMP query, as echo | source as of the query (type × 256 + code), destination 0 |
//! | later fragment | 0 and 0; a [`FragmentTable`](crate::fragments::FragmentTable) knows the first one's |
//! | other protocol, or ports that were not captured | 0 and 0 |
//!
//! So an echo request and its reply are the two directions of one biflow. The identifier of a query is not
//! part of the key: all pings of a host to another are one flow.

mod error;
mod link;
mod protocol;
mod transport;
mod tunnel;

pub use error::{DissectError, Undissected};

use crate::captured::{ETHERNET, IPV4, IPV6, LINUX_SLL, LINUX_SLL2, LOOP, NULL, RAW};
use crate::key::{MeterKey, Scope};
use crate::packet::ip::IpHeader;
use crate::packet::{self, be16};
use tunnel::is_tunnel;

/// Settings of [`dissect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `true`: the flow is the packet's inside a tunnel (IP-in-IP, GRE, VXLAN, GTP-U; at most four layers),
    /// if that packet is readable. `false`: it is the tunnel's.
    ///
    /// A fragment of a tunnel's packet is metered as the tunnel's.
    pub tunnels: bool,
}

/// Properties of a frame that a meter needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dissected {
    /// The flow.
    pub key: MeterKey,
    /// `true` if the packet runs from the second end of the key to the first.
    pub reversed: bool,
    /// Length of the IP packet whose ends the key has, in bytes, as its header states; the frame may be cut.
    pub ip_bytes: u32,
    /// TCP flags (RFC 9293 §3.1): FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128. 0 for other
    /// protocols.
    pub tcp_flags: u8,
    /// Type of service, or traffic class.
    pub class: u8,
    /// `true` if the packet, as far as captured, ends before the ports or the TCP flags; they are 0 then.
    pub cut: bool,
    /// Part of a packet that was fragmented.
    pub fragment: Option<Fragment>,
}

/// Part of a packet. With the addresses, `id` and `protocol` identify the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identification: 16 bits in IPv4, 32 in IPv6.
    pub id: u32,
    /// Protocol of the fragmented bytes, the same in all parts. In IPv6 it may be an extension header.
    pub protocol: u8,
    /// `true` for the part with the ports.
    pub first: bool,
}

/// Parses a frame that was captured on a link of that type (a LINKTYPE number of the pcap registry): Ethernet
/// (1), IP (101, 228, 229), BSD loopback (0, 108), or a cooked capture of Linux (113, 276).
///
/// # Errors
/// The first rule broken. [`Undissected`] counts them by cause.
#[inline]
pub fn dissect(link: u32, frame: &[u8], options: Options) -> Result<Dissected, DissectError> {
    dissect_to(link, frame, options, |dissected| dissected)
}

/// Acts as [`dissect`], and passes the result to `take`.
///
/// `take` is compiled into each way through the parser, so that the fields go from registers to where it
/// stores them. Returned as a whole, they would be stored and read again in other widths: a stall for each
/// frame, until all stores before it are done.
///
/// # Errors
/// As [`dissect`]; `take` is not called.
#[inline(always)]
pub fn dissect_to<R>(
    link: u32,
    frame: &[u8],
    options: Options,
    take: impl FnOnce(Dissected) -> R,
) -> Result<R, DissectError> {
    // Most frames: no tags and no tunnel, so nothing is carried along.
    if link == ETHERNET {
        let is_plain = |header: &IpHeader| !options.tunnels || !is_tunnel(frame, header);
        match be16(frame, 12) {
            Ok(packet::IPV4) => {
                let header = IpHeader::v4(frame, 14)?;
                if is_plain(&header) {
                    return Ok(take(Dissected::new(frame, &header, Scope::default())));
                }
            }
            Ok(packet::IPV6) => {
                let header = IpHeader::v6(frame, 14)?;
                if is_plain(&header) {
                    return Ok(take(Dissected::new(frame, &header, Scope::default())));
                }
            }
            _ => {}
        }
    }
    walk(link, frame, options).map(take)
}

#[inline(never)]
fn walk(link: u32, frame: &[u8], options: Options) -> Result<Dissected, DissectError> {
    let walk = Walk { frame, options, layer: 0, scope: Scope::default() };
    match link {
        ETHERNET => walk.ethernet(0),
        RAW | IPV4 | IPV6 => walk.ip(0),
        // A family of four bytes, in whichever byte order, before the packet.
        NULL | LOOP => walk.ip(4),
        LINUX_SLL => walk.after(be16(frame, 14)?, 16),
        LINUX_SLL2 => walk.after(be16(frame, 0)?, 20),
        _ => Err(DissectError::UnknownLink { link }),
    }
}

/// Layers of headers inside others at most: tunnels, and Ethernet in MPLS.
const LAYERS: u8 = 4;

/// The way through one frame; each step takes it by value and ends at the flow.
#[derive(Clone, Copy, Debug)]
struct Walk<'a> {
    frame: &'a [u8],
    options: Options,
    /// Number of the layer; 0 is the outermost.
    layer: u8,
    /// Virtual LANs and tunnel so far.
    scope: Scope,
}

#[cfg(test)]
mod tests;
