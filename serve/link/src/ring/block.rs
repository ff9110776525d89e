//! Frames in a block of a ring.

use super::map::Map;
use crate::capture::Frame;
use libc::{TP_STATUS_VLAN_TPID_VALID, TP_STATUS_VLAN_VALID, sockaddr_ll, tpacket3_hdr};
use std::mem::{offset_of, take};

/// Frames that the kernel has received, until this is dropped.
#[derive(Debug)]
pub struct Block<'a> {
    map: &'a mut Map,
    number: usize,
    link: u32,
    is_loopback: bool,
}

impl<'a> Block<'a> {
    pub(super) fn new(map: &'a mut Map, number: usize, link: u32, is_loopback: bool) -> Self {
        Self { map, number, link, is_loopback }
    }

    /// The frames, in the order of arrival. Call it once: it puts the tags of virtual LANs back into frames,
    /// which the kernel takes out of them.
    pub fn frames(&mut self) -> Frames<'_> {
        let (rest, count) = self.map.packets(self.number);
        Frames { rest, count, link: self.link, is_loopback: self.is_loopback }
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        self.map.release(self.number);
    }
}

/// Iterator over the frames of a block. They stay until the block is dropped.
#[derive(Debug)]
pub struct Frames<'a> {
    /// From the header of the next packet to the end of the block.
    rest: &'a mut [u8],
    count: u32,
    link: u32,
    is_loopback: bool,
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        while self.count > 0 {
            self.count -= 1;
            let rest = take(&mut self.rest);
            // The last one states 0.
            let length = match field32(rest, offset_of!(tpacket3_hdr, tp_next_offset))? as usize {
                0 => rest.len(),
                next => next,
            };
            let (packet, rest) = rest.split_at_mut_checked(length)?;
            self.rest = rest;
            const KIND: usize = size_of::<tpacket3_hdr>() + offset_of!(sockaddr_ll, sll_pkttype);
            // A frame that leaves a loopback interface comes back in.
            if self.is_loopback && packet.get(KIND) == Some(&libc::PACKET_OUTGOING) {
                continue;
            }
            return frame(packet, self.link);
        }
        None
    }
}

/// Room before each frame for a tag that is put back.
pub(super) const TAG: usize = 4;

/// The frame behind a packet's header; `None` if its fields do not fit, which the kernel never writes.
#[inline]
fn frame(packet: &mut [u8], link: u32) -> Option<Frame<'_>> {
    // Destination and source address of Ethernet, before the tag.
    const ADDRESSES: usize = 12;
    const ETHERNET: u32 = 1;
    const VLAN: u16 = 0x8100;
    let word = |at| field32(packet, at);
    let half = |at| field16(packet, at);
    let seconds = word(offset_of!(tpacket3_hdr, tp_sec))?;
    let time = u64::from(seconds) * 1_000_000_000 + u64::from(word(offset_of!(tpacket3_hdr, tp_nsec))?);
    let captured = word(offset_of!(tpacket3_hdr, tp_snaplen))? as usize;
    let original = word(offset_of!(tpacket3_hdr, tp_len))?;
    let status = word(offset_of!(tpacket3_hdr, tp_status))?;
    let start = usize::from(half(offset_of!(tpacket3_hdr, tp_mac))?);
    let tag = offset_of!(tpacket3_hdr, hv1);
    let id = word(tag + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tci))? as u16;
    let protocol = half(tag + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tpid))?;
    if status & TP_STATUS_VLAN_VALID == 0 || link != ETHERNET || captured < ADDRESSES {
        let bytes = packet.get(start..start + captured)?;
        return Some(Frame { link: Some(link), time, original, bytes });
    }
    let bytes = packet.get_mut(start.checked_sub(TAG)?..start + captured)?;
    bytes.copy_within(TAG..TAG + ADDRESSES, 0);
    let protocol = if status & TP_STATUS_VLAN_TPID_VALID == 0 { VLAN } else { protocol };
    bytes.get_mut(ADDRESSES..ADDRESSES + 2)?.copy_from_slice(&protocol.to_be_bytes());
    bytes.get_mut(ADDRESSES + 2..ADDRESSES + TAG)?.copy_from_slice(&id.to_be_bytes());
    Some(Frame { link: Some(link), time, original: original.saturating_add(TAG as u32), bytes })
}

#[inline(always)]
fn field32(packet: &[u8], at: usize) -> Option<u32> {
    packet.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

#[inline(always)]
fn field16(packet: &[u8], at: usize) -> Option<u16> {
    packet.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}
