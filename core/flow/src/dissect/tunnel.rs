//! Packets inside tunnels: IP-in-IP, GRE, VXLAN, GTP-U.

use super::protocol::{GRE, IPV4_IN_IP, IPV6_IN_IP, UDP};
use super::{Dissected, LAYERS, Walk};
use crate::key::TunnelKind;
use crate::packet::ip::IpHeader;
use crate::packet::{be16, take};

/// Destination ports of UDP.
const VXLAN: u16 = 4789;
const GTPU: u16 = 2152;

/// Returns `true` for a whole packet that may carry another one.
#[inline(always)]
pub(super) fn is_tunnel(frame: &[u8], header: &IpHeader) -> bool {
    let carries = match header.protocol {
        IPV4_IN_IP | IPV6_IN_IP | GRE => true,
        UDP => matches!(destination_port(frame, header), Some(VXLAN | GTPU)),
        _ => false,
    };
    carries && header.part.is_none()
}

#[inline(always)]
fn destination_port(frame: &[u8], header: &IpHeader) -> Option<u16> {
    be16(frame, header.payload + 2).ok()
}

impl Walk<'_> {
    /// The flow of the packet inside a tunnel's packet; `None` if that packet is not readable, or inside of
    /// four layers.
    #[inline(never)]
    pub(super) fn inner(mut self, header: &IpHeader) -> Option<Dissected> {
        if self.layer == LAYERS {
            return None;
        }
        // A link may have padded the frame.
        self.frame = self.frame.get(..header.end)?;
        self.layer += 1;
        let at = header.payload;
        match (header.protocol, destination_port(self.frame, header)) {
            (IPV4_IN_IP, _) => self.enter(TunnelKind::Ip, 0).v4(at).ok(),
            (IPV6_IN_IP, _) => self.enter(TunnelKind::Ip, 0).v6(at).ok(),
            (GRE, _) => self.gre(at),
            (UDP, Some(VXLAN)) => self.vxlan(at + 8),
            (UDP, Some(GTPU)) => self.gtpu(at + 8),
            _ => None,
        }
    }

    fn enter(mut self, tunnel: TunnelKind, id: u32) -> Self {
        (self.scope.tunnel, self.scope.tunnel_id) = (tunnel, id);
        self
    }

    /// RFC 2784 §2 and RFC 2890 §2. Source routes (RFC 1701) and version 1, of PPTP, are not entered.
    #[inline(never)]
    fn gre(self, at: usize) -> Option<Dissected> {
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const VERSION: u16 = 7;
        // Ethernet (RFC 1701, transparent bridging).
        const BRIDGED: u16 = 0x6558;
        let [a, b, c, d] = *take(self.frame, at).ok()?;
        let (flags, ether_type) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        if flags & (ROUTING | VERSION) != 0 {
            return None;
        }
        let mut next = at + 4;
        if flags & CHECKSUM != 0 {
            next += 4;
        }
        let mut key = 0;
        if flags & KEY != 0 {
            key = u32::from_be_bytes(*take(self.frame, next).ok()?);
            next += 4;
        }
        if flags & SEQUENCE != 0 {
            next += 4;
        }
        let inside = self.enter(TunnelKind::Gre, key);
        if ether_type == BRIDGED { inside.ethernet(next).ok() } else { inside.after(ether_type, next).ok() }
    }

    /// RFC 7348 §5.
    #[inline(never)]
    fn vxlan(self, at: usize) -> Option<Dissected> {
        const VALID: u8 = 8;
        let [flags, _, _, _, a, b, c, _] = *take(self.frame, at).ok()?;
        if flags & VALID == 0 {
            return None;
        }
        let vni = u32::from_be_bytes([0, a, b, c]);
        self.enter(TunnelKind::Vxlan, vni).ethernet(at + 8).ok()
    }

    /// 3GPP TS 29.281 §5.1: version 1 with the packet of a user. Each direction has its own TEID, so the key
    /// has none.
    #[inline(never)]
    fn gtpu(self, at: usize) -> Option<Dissected> {
        const VERSION_AND_TYPE: u8 = 0xf0;
        const GTP_VERSION_1: u8 = 0x30;
        const G_PDU: u8 = 255;
        const EXTENSION: u8 = 4;
        const ANY_OPTION: u8 = 7;
        const EXTENSIONS: usize = 8;
        let [flags, kind, ..] = *take::<8>(self.frame, at).ok()?;
        if flags & VERSION_AND_TYPE != GTP_VERSION_1 || kind != G_PDU {
            return None;
        }
        let inside = self.enter(TunnelKind::Gtpu, 0);
        if flags & ANY_OPTION == 0 {
            return inside.ip(at + 8).ok();
        }
        let [_, _, _, next] = *take(self.frame, at + 8).ok()?;
        let (mut at, mut next) = (at + 12, if flags & EXTENSION == 0 { 0 } else { next });
        for _ in 0..EXTENSIONS {
            if next == 0 {
                return inside.ip(at).ok();
            }
            // Its length in words of four bytes; the last byte is the type of the next.
            let [words] = *take(self.frame, at).ok()?;
            let after = at + 4 * usize::from(words);
            if after == at {
                return None;
            }
            [next] = *take(self.frame, after - 1).ok()?;
            at = after;
        }
        None
    }
}
