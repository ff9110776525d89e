//! Records of flows: both directions of the packets between two ends.
//!
//! Names and units follow the IPFIX information elements, <https://www.iana.org/assignments/ipfix>.

use std::net::{IpAddr, Ipv4Addr};

/// A flow with its two directions (RFC 5103).
///
/// `source` is the end that sent the first packet; `forward` counts the packets that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowRecord {
    /// observationDomainId: the worker that metered the flow.
    pub domain: u32,
    /// sourceIPv4Address or sourceIPv6Address.
    pub source: IpAddr,
    /// destinationIPv4Address or destinationIPv6Address, of the family of `source`.
    pub destination: IpAddr,
    /// sourceTransportPort; 0 for protocols without ports.
    pub source_port: u16,
    /// destinationTransportPort; 0 for protocols without ports.
    pub destination_port: u16,
    /// protocolIdentifier, as in the IP header: 6 is TCP.
    pub protocol: u8,
    /// Type and code of the first packet, if the protocol is ICMP or ICMPv6.
    pub icmp: Option<Icmp>,
    /// dot1qVlanId: the outer VLAN identifier. Valid: 0..=4095.
    pub vlan: Option<u16>,
    /// dot1qCustomerVlanId: the inner VLAN identifier of two. Valid: 0..=4095.
    pub inner_vlan: Option<u16>,
    /// The tunnel that the packets came out of, if the addresses are those inside it.
    pub tunnel: Option<Tunnel>,
    /// ingressInterface: index of the interface; 0 if the packets come from a capture.
    pub ingress: u32,
    /// Packets from `source` to `destination`.
    pub forward: Counters,
    /// Packets from `destination` to `source`.
    pub reverse: Counters,
    /// flowEndReason.
    pub end: EndReason,
}

/// Counters of one direction of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// packetDeltaCount.
    pub packets: u64,
    /// octetDeltaCount: bytes of the IP packets, headers included.
    pub bytes: u64,
    /// tcpControlBits: the flags of all packets, CWR to FIN, or-ed.
    pub tcp_flags: u8,
    /// flowStartNanoseconds: time of the first packet, in nanoseconds since 1970; 0 without packets.
    pub first: u64,
    /// flowEndNanoseconds: time of the last packet, in nanoseconds since 1970; 0 without packets.
    pub last: u64,
}

/// Type and code of an ICMP or ICMPv6 message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Icmp {
    /// icmpTypeIPv4 or icmpTypeIPv6.
    pub kind: u8,
    /// icmpCodeIPv4 or icmpCodeIPv6.
    pub code: u8,
}

/// A tunnel and its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tunnel {
    /// Protocol of the tunnel.
    pub kind: TunnelKind,
    /// Key of GRE, VNI of VXLAN, TEID of GTP-U; 0 if the protocol has none.
    pub id: u32,
}

/// Protocol of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TunnelKind {
    /// Generic Routing Encapsulation, RFC 2784 and RFC 2890.
    Gre,
    /// Virtual eXtensible Local Area Network, RFC 7348.
    Vxlan,
    /// GPRS Tunnelling Protocol, user plane, 3GPP TS 29.281.
    GtpU,
    /// IP in IP, of either version: RFC 2003, RFC 2473, RFC 4213.
    IpIp,
}

impl TunnelKind {
    /// Name for people and for files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gre => "gre",
            Self::Vxlan => "vxlan",
            Self::GtpU => "gtp-u",
            Self::IpIp => "ipip",
        }
    }
}

/// Reason of the end of a flow: the values of flowEndReason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EndReason {
    /// No packet for the idle timeout.
    IdleTimeout = 1,
    /// The flow was open for the active timeout; its counters start again.
    ActiveTimeout = 2,
    /// The packets say that the flow is over: FIN or RST of TCP.
    EndOfFlow = 3,
    /// The meter stops.
    ForcedEnd = 4,
    /// Evicted, as the table was full.
    LackOfResources = 5,
}

impl EndReason {
    /// The reason with this number. Valid: 1..=5.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::IdleTimeout),
            2 => Some(Self::ActiveTimeout),
            3 => Some(Self::EndOfFlow),
            4 => Some(Self::ForcedEnd),
            5 => Some(Self::LackOfResources),
            _ => None,
        }
    }
}

impl FlowRecord {
    /// A record without packets between two unspecified IPv4 addresses, to fill in.
    pub const EMPTY: Self = Self {
        domain: 0,
        source: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        source_port: 0,
        destination_port: 0,
        protocol: 0,
        icmp: None,
        vlan: None,
        inner_vlan: None,
        tunnel: None,
        ingress: 0,
        forward: Counters::NONE,
        reverse: Counters::NONE,
        end: EndReason::ForcedEnd,
    };

    /// Tests if packets were seen in both directions.
    #[must_use]
    pub const fn is_biflow(&self) -> bool {
        self.reverse.packets > 0
    }

    /// The direction from `destination` to `source` as a separate flow, for formats without biflows.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            forward: self.reverse,
            reverse: Counters::NONE,
            ..*self
        }
    }
}

impl Counters {
    /// No packets.
    pub const NONE: Self = Self { packets: 0, bytes: 0, tcp_flags: 0, first: 0, last: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_reasons_have_the_numbers_of_the_registry() {
        for number in 0..=u8::MAX {
            assert_eq!(
                EndReason::from_number(number).map(|reason| reason as u8),
                (1..=5).contains(&number).then_some(number)
            );
        }
    }

    #[test]
    fn the_reverse_direction_alone_is_no_biflow() {
        let reverse = Counters { packets: 2, bytes: 80, ..Counters::NONE };
        let flow = FlowRecord { source_port: 1, destination_port: 2, reverse, ..FlowRecord::EMPTY };
        assert!(flow.is_biflow());
        let back = flow.reversed();
        assert!(!back.is_biflow());
        assert_eq!((back.source_port, back.forward.packets), (2, 2));
    }
}
