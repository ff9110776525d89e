//! Reassembly on links with several senders, such as a multicast group: fragments are matched per sender.
//!
//! A link remembers at most [`MAX_ENDPOINTS`] senders with incomplete packets. A host can send from as many
//! ports as it likes, so the host with most senders makes room for the next one.

use crate::fragment::{Limits, Reassembler, ReassemblyError, Whole};
use crate::time::Time;
use crate::wire::LpPacket;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

/// Most senders of a link that have incomplete packets.
pub const MAX_ENDPOINTS: usize = 64;

/// Sender of link packets on one link. The default is the only peer of a point-to-point link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    host: u128,
    port: u16,
}

impl Endpoint {
    /// Host on an Ethernet.
    #[inline]
    pub const fn ethernet(address: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = address;
        Self { host: u64::from_be_bytes([0, 0, a, b, c, d, e, f]) as u128, port: 0 }
    }
}

impl From<SocketAddr> for Endpoint {
    #[inline]
    fn from(address: SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
            IpAddr::V6(ip) => ip.to_bits(),
        };
        Self { host, port: address.port() }
    }
}

/// Reassembles the packets of one link, each from the fragments of one sender.
#[derive(Clone, Debug, Default)]
pub struct Reassemblers {
    /// Senders with incomplete packets, the one that was added first at the start.
    senders: Vec<(Endpoint, Reassembler)>,
    /// Limits of each sender.
    limits: Limits,
}

impl Reassemblers {
    /// Replaces the limits of each sender, as [`Reassembler::set_limits`].
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.senders.iter_mut().for_each(|(_, reassembler)| reassembler.set_limits(limits));
    }

    /// Adds a fragment of a sender. Returns the packet if the fragment completes it. Arguments and errors as
    /// in [`Reassembler::receive`].
    ///
    /// # Errors
    /// The reason for dropping the fragment, with the other fragments of its packet.
    pub fn receive(
        &mut self,
        from: Endpoint,
        piece: &LpPacket<'_>,
        bytes: &[u8],
        now: Time,
    ) -> Result<Option<Whole>, ReassemblyError> {
        let at = match self.senders.iter().position(|(sender, _)| *sender == from) {
            Some(at) => at,
            None => self.add(from, now),
        };
        let Some((_, reassembler)) = self.senders.get_mut(at) else {
            debug_assert!(false, "the sender was found or added");
            return Ok(None);
        };
        let outcome = reassembler.receive(piece, bytes, now);
        if reassembler.waiting() == 0 {
            self.senders.remove(at);
        }
        outcome
    }

    /// Adds a sender, if need be in place of another one. Returns its index.
    fn add(&mut self, from: Endpoint, now: Time) -> usize {
        if self.senders.len() == MAX_ENDPOINTS {
            self.handle_timeout(now);
        }
        if self.senders.len() == MAX_ENDPOINTS
            && let Some(host) = self.largest_host(|_| 1)
        {
            self.remove_first(host);
        }
        let mut reassembler = Reassembler::default();
        reassembler.set_limits(self.limits);
        self.senders.push((from, reassembler));
        self.senders.len() - 1
    }

    /// Host with the largest sum of weights; of several, the host of the sender that was added first.
    fn largest_host(&self, weight: impl Fn(&Reassembler) -> usize) -> Option<u128> {
        let of_host = |host| {
            let own = self.senders.iter().filter(|(sender, _)| sender.host == host);
            own.map(|(_, reassembler)| weight(reassembler)).sum::<usize>()
        };
        let hosts = self.senders.iter().rev().map(|(sender, _)| sender.host);
        hosts.max_by_key(|host| of_host(*host))
    }

    fn remove_first(&mut self, host: u128) {
        if let Some(at) = self.senders.iter().position(|(sender, _)| sender.host == host) {
            self.senders.remove(at);
        }
    }

    /// Drops packets that timed out. [`receive`](Self::receive) does so for its sender only; call this about
    /// once a second.
    pub fn handle_timeout(&mut self, now: Time) {
        self.senders.retain_mut(|(_, reassembler)| {
            reassembler.handle_timeout(now);
            reassembler.waiting() > 0
        });
    }

    /// Drops the oldest incomplete packet of the host with most memory. Returns false if no packet is
    /// incomplete.
    pub fn drop_oldest(&mut self) -> bool {
        let Some(host) = self.largest_host(Reassembler::memory) else { return false };
        let Some(at) = self.senders.iter().position(|(sender, _)| sender.host == host) else { return false };
        let Some((_, reassembler)) = self.senders.get_mut(at) else { return false };
        let dropped = reassembler.drop_oldest();
        if reassembler.waiting() == 0 {
            self.senders.remove(at);
        }
        dropped
    }

    /// Memory of the incomplete packets, in bytes.
    pub fn memory(&self) -> usize {
        self.senders.iter().map(|(_, reassembler)| reassembler.memory()).sum()
    }

    /// Number of incomplete packets.
    pub fn waiting(&self) -> usize {
        self.senders.iter().map(|(_, reassembler)| reassembler.waiting()).sum()
    }

    /// Number of senders with incomplete packets.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fragment::Fragmenter;
    use crate::wire::LpHeader;
    use std::vec;

    /// A packet, and its fragments.
    fn cut(fill: u8, first: u64) -> (Vec<u8>, Vec<Vec<u8>>) {
        let packet = [&[5][..], &vec![fill; 999]].concat();
        let mut pieces = Vec::new();
        let header = LpHeader::default();
        let mut fragmenter = Fragmenter::new(first);
        assert!(fragmenter.send(&header, &packet, 500, |head, piece| pieces.push([head, piece].concat())));
        (packet, pieces)
    }

    fn receive(
        reassemblers: &mut Reassemblers,
        from: Endpoint,
        piece: &[u8],
        millis: u64,
    ) -> Result<Option<Whole>, ReassemblyError> {
        let now = Time::from_millis(millis);
        reassemblers.receive(from, &LpPacket::parse(piece).unwrap(), piece, now)
    }

    fn endpoint(text: &str) -> Endpoint {
        text.parse::<SocketAddr>().unwrap().into()
    }

    #[test]
    fn senders_with_equal_sequence_numbers_do_not_disturb_each_other() {
        let senders = [
            endpoint("192.0.2.1:56363"),
            endpoint("192.0.2.1:56364"),
            endpoint("192.0.2.2:56363"),
            endpoint("[fe80::1]:56363"),
            Endpoint::ethernet([2, 0, 0, 0, 0, 1]),
            Endpoint::default(),
        ];
        let mut reassemblers = Reassemblers::default();
        let packets: Vec<_> = (0..senders.len() as u8).map(|fill| cut(fill, 7)).collect();
        let last = packets[0].1.len() - 1;
        for index in 0..=last {
            for (sender, (packet, pieces)) in senders.iter().zip(&packets) {
                let whole = receive(&mut reassemblers, *sender, &pieces[index], 1).unwrap();
                assert_eq!(whole.is_some(), index == last);
                assert!(whole.is_none_or(|whole| whole.packet().fragment == packet));
            }
        }
        assert_eq!((reassemblers.memory(), reassemblers.senders()), (0, 0));
    }

    #[test]
    fn a_host_with_many_ports_displaces_its_own_senders_only() {
        let mut reassemblers = Reassemblers::default();
        let (packet, pieces) = cut(1, 7);
        let honest = endpoint("192.0.2.7:56363");
        receive(&mut reassemblers, honest, &pieces[0], 1).unwrap();
        for port in 0..1000 {
            let flood = SocketAddr::from(([192, 0, 2, 1], port)).into();
            receive(&mut reassemblers, flood, &pieces[0], 1).unwrap();
            assert!(reassemblers.senders() <= MAX_ENDPOINTS);
        }
        // Memory is taken from the host with most of it, too.
        while reassemblers.senders() > 2 {
            assert!(reassemblers.drop_oldest());
        }
        let mut whole = None;
        for piece in &pieces[1..] {
            whole = receive(&mut reassemblers, honest, piece, 1).unwrap();
        }
        assert_eq!(whole.unwrap().packet().fragment, packet);
        assert!(reassemblers.drop_oldest() && !reassemblers.drop_oldest());
    }

    #[test]
    fn senders_that_fall_silent_are_forgotten() {
        let mut reassemblers = Reassemblers::default();
        let (_, pieces) = cut(1, 7);
        for host in 0..MAX_ENDPOINTS as u8 {
            receive(&mut reassemblers, Endpoint::ethernet([2, 0, 0, 0, 0, host]), &pieces[0], 1).unwrap();
        }
        assert_eq!(reassemblers.waiting(), MAX_ENDPOINTS);
        receive(&mut reassemblers, endpoint("192.0.2.1:1"), &pieces[0], 600).unwrap();
        assert_eq!((reassemblers.waiting(), reassemblers.senders()), (1, 1));
        reassemblers.handle_timeout(Time::from_millis(1100));
        assert_eq!((reassemblers.memory(), reassemblers.senders()), (0, 0));
    }
}
