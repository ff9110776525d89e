//! Link reliability of a consumer or a producer.

use super::datagrams::Datagrams;
use hashlane_ndn::fragment::Fragmenter;
use hashlane_ndn::reliability::Reliability;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use std::io;
use std::time::Instant;

/// MTU of the link: no packet of a load is divided.
const MTU: usize = 8800;

/// The end of a UDP link with link reliability.
pub(super) struct Reliable {
    state: Reliability,
    fragmenter: Fragmenter,
    epoch: Instant,
}

impl Reliable {
    pub(super) fn new() -> Self {
        Self { state: Reliability::new(0), fragmenter: Fragmenter::new(0), epoch: Instant::now() }
    }

    fn now(&self) -> Time {
        Time::default() + self.epoch.elapsed()
    }

    /// Queues a packet, and Acks with it.
    pub(super) fn send(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        out: &mut Datagrams<'_>,
    ) -> io::Result<()> {
        let now = self.now();
        let mut done = Ok(());
        self.state.send(&mut self.fragmenter, header, packet, MTU, now, queue(out, &mut done));
        done
    }

    /// Handles the fields of a link packet. Returns false if it has no packet, or arrived before.
    pub(super) fn receive(&mut self, packet: &[u8], out: &mut Datagrams<'_>) -> io::Result<bool> {
        let Ok(packet) = LpPacket::parse(packet) else { return Ok(false) };
        let now = self.now();
        let mut done = Ok(());
        let is_new = self.state.receive(&packet, MTU, now, queue(out, &mut done));
        done.map(|()| is_new && !packet.fragment.is_empty())
    }

    /// Queues what is due.
    pub(super) fn handle_timeout(&mut self, out: &mut Datagrams<'_>) -> io::Result<()> {
        let now = self.now();
        let mut done = Ok(());
        if self.state.poll_timeout().is_some_and(|due| due <= now) {
            self.state.handle_timeout(MTU, now, queue(out, &mut done));
        }
        done
    }
}

/// Queues link packets, and keeps the first error.
fn queue(out: &mut Datagrams<'_>, done: &mut io::Result<()>) -> impl FnMut(&[u8], &[u8]) {
    |head, rest| {
        if done.is_ok() {
            *done = out.push(&[head, rest]);
        }
    }
}
