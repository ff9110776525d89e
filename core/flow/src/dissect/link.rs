//! Headers between the start of a frame and IP: Ethernet, virtual LANs, MPLS, PPPoE.

use super::{DissectError, Dissected, LAYERS, Walk};
use crate::packet::{IPV4, IPV6, OLD_SERVICE_VLAN, PacketError, SERVICE_VLAN, VLAN, be16, byte, take};

const MPLS: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE_SESSION: u16 = 0x8864;

/// PPP protocol numbers (IANA, "Point-to-Point (PPP) Protocol Field Assignments").
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
const PPP_MPLS: u16 = 0x0281;

impl Walk<'_> {
    /// An Ethernet II frame at `at`. Its virtual LANs replace the outer frame's.
    #[inline(always)]
    pub(super) fn ethernet(mut self, at: usize) -> Result<Dissected, DissectError> {
        self.scope.vlans = [0; 2];
        self.after(be16(self.frame, at + 12)?, at + 14)
    }

    /// The packet at `at` of the protocol that an EtherType states.
    #[inline(always)]
    pub(super) fn after(self, ether_type: u16, at: usize) -> Result<Dissected, DissectError> {
        match ether_type {
            IPV4 => self.v4(at),
            IPV6 => self.v6(at),
            _ => self.wrapped(ether_type, at),
        }
    }

    /// As [`after`](Self::after), for all other EtherTypes.
    #[inline(never)]
    fn wrapped(mut self, mut ether_type: u16, mut at: usize) -> Result<Dissected, DissectError> {
        const TAGS: usize = 4;
        for tag in 0..=TAGS {
            match ether_type {
                VLAN | SERVICE_VLAN | OLD_SERVICE_VLAN => {
                    let [a, b, c, d] = *take(self.frame, at)?;
                    if let Some(vlan) = self.scope.vlans.get_mut(tag) {
                        *vlan = u16::from_be_bytes([a, b]) & 0xfff;
                    }
                    (ether_type, at) = (u16::from_be_bytes([c, d]), at + 4);
                }
                IPV4 => return self.v4(at),
                IPV6 => return self.v6(at),
                MPLS | MPLS_MULTICAST => return self.labels(at),
                PPPOE_SESSION => return self.pppoe(at),
                _ => return Err(PacketError::NotIp { ether_type }.into()),
            }
        }
        Err(PacketError::TooManyTags { at: at - 2 }.into())
    }

    /// A stack of labels (RFC 3032 §2.1). The first four bits behind it tell IP from a control word (RFC 4385
    /// §3), which Ethernet follows (RFC 4448 §4.6).
    fn labels(mut self, mut at: usize) -> Result<Dissected, DissectError> {
        const LABELS: usize = 16;
        const BOTTOM: u8 = 1;
        for _ in 0..LABELS {
            let [_, _, bottom, _] = *take(self.frame, at)?;
            at += 4;
            if bottom & BOTTOM == 0 {
                continue;
            }
            return match byte(self.frame, at)? >> 4 {
                4 => self.v4(at),
                6 => self.v6(at),
                0 if self.layer == LAYERS => Err(DissectError::TooManyLayers { at }),
                0 => {
                    self.layer += 1;
                    self.ethernet(at + 4)
                }
                _ => Err(PacketError::NotIp { ether_type: MPLS }.into()),
            };
        }
        Err(DissectError::TooManyLabels { at })
    }

    /// RFC 2516 §4, and the protocol field of PPP.
    fn pppoe(self, at: usize) -> Result<Dissected, DissectError> {
        match be16(self.frame, at + 6)? {
            PPP_IPV4 => self.v4(at + 8),
            PPP_IPV6 => self.v6(at + 8),
            PPP_MPLS => self.labels(at + 8),
            _ => Err(PacketError::NotIp { ether_type: PPPOE_SESSION }.into()),
        }
    }
}
