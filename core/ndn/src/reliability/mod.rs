//! Link reliability: link packets that a datagram link loses are sent again.
//!
//! Each link packet with a fragment has a Sequence, which stays, and a TxSequence, which is new in each
//! transmission. The receiver repeats the TxSequence in an Ack, in the next link packets that it sends, or
//! after 5 ms in packets with nothing else (IDLE). A transmission is lost if it times out (RFC 6298) or three
//! later ones are acknowledged. Its link packet is sent again, up to three times; then all link
//! packets of the same packet are given up.
//!
//! [`Reliability`] has the state of one link. It does no I/O: link packets are passed to a function, and time
//! is an argument. Memory is bounded, whatever the peer sends:
//!
//! - at most [`MAX_FRAMES`] unacknowledged link packets, of [`MAX_BYTES`] bytes. Packets that the window has
//!   no room for are sent without a TxSequence: their loss is not noticed, as on a link without reliability.
//! - at most [`MAX_ACKS`] Acks that wait: that many are sent at once.
//! - 8192 Sequences of received link packets, to drop those that arrive twice.
//!
//! An Ack costs a constant time. Acks of unknown numbers, and repeated ones, are ignored. Of the
//! transmissions that one received packet makes lost, up to 64 are sent again at once, and the others at the
//! next call.
//!
//! Source: NDNLPv2, Link Reliability; the parameters are NFD's.

mod recent;
mod rtt;
#[cfg(test)]
mod tests;
mod window;

pub use window::{MAX_BYTES, MAX_FRAMES, MAX_RETRANSMISSIONS};

use crate::fragment::Fragmenter;
use crate::time::Time;
use crate::tlv::write_element;
use crate::wire::lp::{ACK, LP_PACKET, TX_SEQUENCE};
use crate::wire::{LpHeader, LpPacket};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use hashlane_name::tlv::write_number;
use recent::Recent;
use rtt::RttEstimator;
use window::Window;

/// Longest time that an Ack waits for a link packet to go with, in milliseconds: NFD's.
const IDLE_ACK: u64 = 5;

/// Most Acks of a link packet, and most that wait: an IDLE packet of them fits any MTU of 1216 bytes.
pub const MAX_ACKS: usize = 100;

/// Length of an encoded Ack or TxSequence, in bytes.
const NUMBER: usize = 3 + 1 + 8;

/// Bytes that the length of a link packet grows by at most when a number is added.
const GROWTH: usize = 2;

/// Most bytes of type and length of a link packet.
const HEAD: usize = 1 + 3;

/// Most link packets that are sent again in one call.
const BUDGET: usize = 64;

/// Least and most time for which a received Sequence is remembered, in nanoseconds: longer than a peer whose
/// Acks are lost pauses between transmissions, which is 4 s before its first sample. A peer that starts anew
/// may begin with the Sequences of its last start, so it is not much longer.
const RECENT: [u64; 2] = [5_000_000_000, 60_000_000_000];

/// Link reliability of one link.
#[derive(Clone, Debug)]
pub struct Reliability {
    window: Window,
    rtt: RttEstimator,
    acks: VecDeque<u64>,
    /// Time at which the Acks are sent in IDLE packets. `None` if there are no Acks.
    acks_due: Option<Time>,
    recent: Recent,
    counts: Counts,
    /// Beginning of the transmission that is being written.
    head: Vec<u8>,
}

/// Numbers of link packets, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Acknowledged.
    pub acknowledged: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Given up after three retransmissions, or because another fragment of the same packet was.
    pub lost: u64,
    /// Sent without a TxSequence, because the window was full.
    pub unprotected: u64,
    /// Received again.
    pub duplicates: u64,
}

impl Reliability {
    /// The state of a new link, whose first TxSequence is made of `first`, which should be drawn at random.
    pub fn new(first: u64) -> Self {
        Self {
            window: Window::new(first),
            rtt: RttEstimator::default(),
            acks: VecDeque::new(),
            acks_due: None,
            recent: Recent::default(),
            counts: Counts::default(),
            head: Vec::new(),
        }
    }

    /// Sends a packet over a link with this MTU: passes its link packets to `send`, each in two parts, with
    /// Acks that wait. Returns false as [`Fragmenter::send`] does.
    pub fn send(
        &mut self,
        fragmenter: &mut Fragmenter,
        header: &LpHeader<'_>,
        packet: &[u8],
        mtu: usize,
        now: Time,
        mut send: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        let header = LpHeader { tx_sequence: None, ..*header };
        let has_room = self.window.has_room();
        let mut sibling = None;
        let sent =
            fragmenter.divide(&header, packet, mtu.saturating_sub(NUMBER + GROWTH), |header, piece| {
                let [before, after] = header.around_acks(piece.len());
                let split = before.as_bytes().len();
                let bytes = [before.as_bytes(), after.as_bytes(), piece].concat();
                let Some(sequence) = header.sequence.filter(|_| has_room && !piece.is_empty()) else {
                    self.counts.unprotected += 1;
                    let (before, rest) = bytes.split_at(split);
                    let head = write_head(&mut self.head, &mut self.acks, before, None, rest.len(), mtu);
                    return send(head, rest);
                };
                let (at, tx) = self.window.add(sequence, bytes, split, sibling, now);
                sibling = Some(at);
                self.transmit(at, tx, mtu, &mut send);
            });
        self.note_acks();
        sent
    }

    /// Receives a link packet: handles its Acks, and queues one for it. Returns false if the same link packet
    /// has arrived before. Lost transmissions go to `send`, as in [`send`](Self::send).
    pub fn receive(
        &mut self,
        packet: &LpPacket<'_>,
        mtu: usize,
        now: Time,
        mut send: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        let before = self.counts.acknowledged;
        for ack in packet.header.acks() {
            if let Some(sent) = self.window.acknowledge(ack) {
                self.counts.acknowledged += 1;
                self.rtt.add_sample(now.0.saturating_sub(sent.0));
            }
        }
        if self.counts.acknowledged > before {
            self.repair(mtu, now, &mut send);
        }
        // IDLE packets are not acknowledged.
        let tx = packet.header.tx_sequence.filter(|_| !packet.fragment.is_empty());
        if let Some(tx) = tx {
            self.acks.push_back(tx);
            self.acks_due.get_or_insert(now.after_millis(IDLE_ACK));
            if self.acks.len() >= MAX_ACKS {
                self.send_acks(mtu, &mut send);
            }
        }
        let Some(sequence) = packet.header.sequence.filter(|_| tx.is_some()) else { return true };
        let [least, most] = RECENT;
        let time = (self.rtt.base_timeout() * 8).clamp(least, most);
        let is_new = self.recent.insert(sequence, now, Time(now.0.saturating_add(time)));
        self.counts.duplicates += u64::from(!is_new);
        is_new
    }

    /// Sends what is due: transmissions that are lost, and Acks. Call it at
    /// [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, mtu: usize, now: Time, mut send: impl FnMut(&[u8], &[u8])) {
        self.repair(mtu, now, &mut send);
        if self.acks_due.is_some_and(|due| due <= now) {
            self.send_acks(mtu, &mut send);
        }
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout); `None` if nothing is unacknowledged.
    pub fn poll_timeout(&self) -> Option<Time> {
        let lost = self.window.deadline(self.rtt.timeout());
        match (lost, self.acks_due) {
            (Some(lost), Some(acks)) => Some(lost.min(acks)),
            (lost, acks) => lost.or(acks),
        }
    }

    /// Numbers of link packets since the last call.
    pub fn take_counts(&mut self) -> Counts {
        core::mem::take(&mut self.counts)
    }

    /// Number of unacknowledged link packets, and their bytes.
    pub fn unacknowledged(&self) -> (usize, usize) {
        (self.window.len(), self.window.bytes())
    }

    /// Sends lost transmissions again, or gives their packets up.
    fn repair(&mut self, mtu: usize, now: Time, send: &mut impl FnMut(&[u8], &[u8])) {
        let timeout = self.rtt.timeout();
        let mut expired = None;
        for _ in 0..BUDGET {
            let Some(lost) = self.window.next_lost(timeout, now) else {
                // All of a burst are sent again before the timeout grows.
                if let Some(sent) = expired {
                    self.rtt.back_off(sent, now);
                }
                break;
            };
            if lost.is_timeout {
                expired = expired.max(Some(lost.sent));
            }
            match self.window.send_again(lost.frame, now) {
                Some(tx) => {
                    self.counts.retransmitted += 1;
                    self.transmit(lost.frame, tx, mtu, send);
                }
                None => self.counts.lost += self.window.give_up(lost.frame),
            }
        }
        self.note_acks();
    }

    /// Transmits a frame of the window.
    fn transmit(&mut self, at: u32, tx: u64, mtu: usize, send: &mut impl FnMut(&[u8], &[u8])) {
        let Some(frame) = self.window.find(at) else {
            debug_assert!(false, "a frame is transmitted while it is in the window");
            return;
        };
        let (before, rest) = frame.bytes.split_at(frame.split.min(frame.bytes.len()));
        let head = write_head(&mut self.head, &mut self.acks, before, Some(tx), rest.len(), mtu);
        send(head, rest);
    }

    /// Sends all Acks that wait in IDLE packets.
    fn send_acks(&mut self, mtu: usize, send: &mut impl FnMut(&[u8], &[u8])) {
        // At least one fits, or they would wait for ever.
        let mtu = mtu.max(HEAD + NUMBER);
        while !self.acks.is_empty() {
            send(write_head(&mut self.head, &mut self.acks, &[], None, 0, mtu), &[]);
        }
        self.note_acks();
    }

    /// Stops the timer of the Acks once none waits.
    fn note_acks(&mut self) {
        if self.acks.is_empty() {
            self.acks_due = None;
        }
    }
}

/// Writes the beginning of a transmission: type and length, the fields `before` the Acks, as many Acks as the
/// MTU has room for, and the TxSequence. `rest` bytes follow.
fn write_head<'h>(
    head: &'h mut Vec<u8>,
    acks: &mut VecDeque<u64>,
    before: &[u8],
    tx: Option<u64>,
    rest: usize,
    mtu: usize,
) -> &'h [u8] {
    let fields = before.len() + tx.map_or(0, |_| NUMBER) + rest;
    let count = mtu.saturating_sub(HEAD + fields) / NUMBER;
    let acks = acks.drain(..count.min(acks.len()));
    head.clear();
    write_number(LP_PACKET.into(), head);
    write_number((fields + acks.len() * NUMBER) as u64, head);
    head.extend_from_slice(before);
    acks.for_each(|ack| write_element(ACK, &ack.to_be_bytes(), head));
    if let Some(tx) = tx {
        write_element(TX_SEQUENCE, &tx.to_be_bytes(), head);
    }
    head
}
