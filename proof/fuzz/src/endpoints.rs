//! Properties of a link with several senders: fragments of all kinds of senders, with equal sequence numbers,
//! and frames with padding. A packet that comes out is one that its sender has cut; senders and memory are
//! bounded; no packet is lost while few senders are active.

use crate::steps::Steps;
use hashlane_ndn::endpoints::{Endpoint, MAX_ENDPOINTS, Reassemblers};
use hashlane_ndn::fragment::{Fragmenter, MAX_MEMORY};
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv;
use hashlane_ndn::wire::lp::LP_PACKET;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv6Addr, SocketAddr};

/// Senders: more than a link remembers.
const SENDERS: u8 = 96;

/// Time for which an incomplete packet waits for its next fragment, in milliseconds.
const TIMEOUT: u64 = 500;

/// Most incomplete packets of one sender.
const WAITING: usize = 16;

/// A frame's payload, and then steps.
pub fn check_endpoints(bytes: &[u8]) {
    check_padding(bytes);
    check_senders(bytes);
}

/// A packet is found before any padding, and nothing else is.
fn check_padding(payload: &[u8]) {
    let Some(packet) = tlv::leading(payload) else {
        // A bare Interest or Data is looked at later.
        let is_link_packet = payload.starts_with(&[LP_PACKET as u8]);
        assert!(!is_link_packet || LpPacket::parse(payload).is_err(), "a link packet is an element");
        return;
    };
    assert!(payload.starts_with(packet));
    assert_eq!(tlv::leading(packet), Some(packet));
    for padding in [&[0; 46][..], &[5, 1], &[0xff]] {
        assert_eq!(tlv::leading(&[packet, padding].concat()), Some(packet));
    }
    for cut in 0..packet.len().min(64) {
        assert_eq!(tlv::leading(&packet[..cut]), None, "a cut packet is none");
    }
}

fn endpoint(sender: u8) -> Endpoint {
    match sender % 4 {
        // Few hosts with many ports.
        0 => SocketAddr::from(([192, 0, 2, sender & 4], sender.into())).into(),
        1 => SocketAddr::from((Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, sender.into()), 56363)).into(),
        2 => SocketAddr::from(([192, 0, 2, sender], 56363)).into(),
        _ => Endpoint::ethernet([2, 0, 0, 0, 0, sender]),
    }
}

/// Fragments of one packet of a sender. All senders number them alike.
fn cut(sender: u8, number: u8) -> (Vec<u8>, Vec<Vec<u8>>) {
    let length = 200 + usize::from(number) * 40;
    let packet = [&[5, 253, 0, length as u8][..], &vec![sender ^ number; length]].concat();
    let mut pieces = Vec::new();
    let mut fragmenter = Fragmenter::new(u64::from(number) * 16);
    let header = LpHeader::default();
    assert!(fragmenter.send(&header, &packet, 160, |head, piece| pieces.push([head, piece].concat())));
    (packet, pieces)
}

fn check_senders(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut reassemblers = Reassemblers::default();
    let (mut now, mut senders, mut drops) = (1_u64, BTreeSet::new(), false);
    // Fragments that each sender has sent of a packet, and the time of the last.
    let mut sent: BTreeMap<(u8, u8), (BTreeSet<usize>, u64)> = BTreeMap::new();
    for _ in 0..2000 {
        if steps.is_empty() {
            break;
        }
        let step = steps.octet();
        if step & 7 == 7 {
            now += u64::from(step >> 3) * 40;
            reassemblers.handle_timeout(Time::from_millis(now));
            continue;
        }
        if step & 7 == 6 {
            drops |= reassemblers.drop_oldest();
            continue;
        }
        let (sender, number) = (steps.octet() % SENDERS, step >> 3 & 7);
        let (packet, pieces) = cut(sender, number);
        let index = usize::from(step & 7) % pieces.len();
        senders.insert(sender);
        let piece = LpPacket::parse(&pieces[index]).expect("a fragment");
        let from = endpoint(sender);
        let whole = reassemblers.receive(from, &piece, &pieces[index], Time::from_millis(now));
        let whole = whole.expect("fragments of one packet agree");
        let (have, heard) = sent.entry((sender, number)).or_default();
        if now - *heard >= TIMEOUT {
            have.clear();
        }
        if have.insert(index) {
            *heard = now;
        }
        let is_complete = have.len() == pieces.len();
        if let Some(whole) = &whole {
            assert_eq!(whole.packet().fragment, packet, "the packet of this sender");
        }
        // With few senders of few packets, nothing is displaced.
        if senders.len() <= MAX_ENDPOINTS && !drops && is_complete {
            assert!(whole.is_some());
        }
        if is_complete {
            sent.remove(&(sender, number));
        }
        assert!(reassemblers.senders() <= MAX_ENDPOINTS);
        assert!(reassemblers.waiting() <= MAX_ENDPOINTS * WAITING);
        assert!(reassemblers.memory() <= MAX_ENDPOINTS * MAX_MEMORY);
    }
    reassemblers.handle_timeout(Time::from_millis(now + TIMEOUT));
    assert_eq!((reassemblers.memory(), reassemblers.senders()), (0, 0));
}
