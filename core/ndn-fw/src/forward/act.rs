//! Third stage: look up, change the tables and send, packet after packet in order of arrival.

use super::burst::{Burst, Content, Ingress, Packet};
use super::forwarder::Forwarder;
use super::output::Output;
use crate::drop::DropReason;
use crate::hashed::HashedName;
use crate::pit::Pit;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_table::stage::Stage;

/// Stage that forwards the packets of a decoded burst.
#[derive(Debug)]
pub struct Act<'f, P, O> {
    pub(super) forwarder: &'f mut Forwarder<P>,
    pub(super) now: Time,
    pub(super) out: &'f mut O,
}

impl<P: Pit, O: Output> Act<'_, P, O> {
    /// Forwards one packet, unless a stage before has dropped it.
    #[inline(always)]
    pub(super) fn forward<'p>(
        &mut self,
        packet: &mut Ingress<'p, P::Mark>,
        header: &LpHeader<'p>,
        name: &HashedName<'_>,
    ) {
        packet.outcome = packet.outcome.and_then(|()| self.act(Packet { ingress: packet, header }, name));
        if !packet.visit.is_last() {
            packet.passed = self.forwarder.passed.take();
        }
        if let Err(reason) = packet.outcome {
            self.forwarder.count_drop(packet.face, reason);
        }
    }

    #[inline(always)]
    fn act(&mut self, packet: Packet<'_, '_, P::Mark>, name: &HashedName<'_>) -> Result<(), DropReason> {
        let Self { forwarder, now, out } = self;
        match &packet.ingress.content {
            Content::None | Content::Elsewhere => Ok(()),
            Content::Interest(interest) => forwarder.incoming_interest(packet, interest, name, *now, *out),
            Content::Nack(interest) => forwarder.incoming_nack(packet, interest, name, *now, *out),
            Content::Data(data) => forwarder.incoming_data(packet, data, name, *now, *out),
        }
    }
}

impl<P: Pit, O: Output> Stage<Burst<'_, P::Mark>> for Act<'_, P, O> {
    #[inline(always)]
    fn run(&mut self, burst: &mut Burst<'_, P::Mark>) {
        let names = self.forwarder.decode.take_names();
        let Burst { packets, headers, .. } = burst;
        for packet in packets {
            let (header, name) = (headers.of(packet), names.of(packet));
            self.forward(packet, header, &name);
        }
        self.forwarder.decode.put_back(names);
    }
}
