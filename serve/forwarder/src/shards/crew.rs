//! The workers, as the first forwarding thread sees them.

use super::control::{Control, Erasure};
use super::datagrams::UdpPeer;
use super::exchange::{Exchange, FirstWaker};
use super::forward::{Router, route_burst};
use super::idle::IdleAnswers;
use super::part;
use crate::management::{CsConfig, TableRequest};
use crate::plane::link_service::LinkOptions;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::{Face, FaceCounters, FaceId};
use hashlane_ndn_fw::forward::{Burst, Config, Counters, Forwarder};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::{Balance, Dispatch, Load};
use hashlane_table::share::Holder;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The workers, as the first thread sees them.
pub(crate) struct Crew {
    pub(crate) dispatch: Dispatch,
    pub(crate) load: Load,
    balance: Balance,
    /// Packets routed since the last balance.
    routed: u64,
    pub(crate) exchange: Exchange,
    pub(crate) waker: Arc<FirstWaker>,
    /// Control queues of the workers, from shard 1.
    controls: Vec<Sender<Control>>,
    idle: IdleAnswers,
    /// Counters of the workers.
    counters: Vec<Arc<Counters>>,
}

/// The workers end when the first thread does.
impl Drop for Crew {
    fn drop(&mut self) {
        self.tell(|_| Control::End);
    }
}

impl Crew {
    /// The workers with these control queues, from shard 1.
    pub(crate) fn new(
        dispatch: Dispatch,
        exchange: Exchange,
        waker: Arc<FirstWaker>,
        controls: Vec<Sender<Control>>,
        idle: IdleAnswers,
        counters: Vec<Arc<Counters>>,
    ) -> Self {
        let (load, balance) = (Load::default(), Balance::default());
        Self { dispatch, load, balance, routed: 0, exchange, waker, controls, idle, counters }
    }

    /// Number of shards, with the first one.
    pub(crate) fn shards(&self) -> usize {
        self.dispatch.shards()
    }

    /// Decodes a burst of packets that faces have received, and hands over those that visit another shard
    /// than the first one first.
    #[inline]
    pub(crate) fn route<P: Pit>(
        &mut self,
        forwarder: &mut Forwarder<P>,
        burst: &mut Burst<'_, P::Mark>,
        now: Time,
    ) {
        self.routed += burst.len() as u64;
        let router = Router { own: 0, dispatch: &self.dispatch, load: &mut self.load };
        route_burst(router, forwarder, burst, now, &mut self.exchange);
    }

    /// Sends a control to each worker, and wakes the workers.
    fn tell(&mut self, control: impl Fn(usize) -> Control) {
        for (at, queue) in self.controls.iter().enumerate() {
            // Sending fails only once the thread has ended, and the process with it.
            let _ = queue.send(control(at));
            self.exchange.nudge(at + 1);
        }
    }

    /// Adds a face that the first thread has added. `counters` are sums over all shards.
    pub(crate) fn add_face(
        &mut self,
        id: FaceId,
        face: &Face,
        counters: &[Arc<FaceCounters>],
        udp: Option<UdpPeer>,
    ) {
        self.idle.forget(face.holder);
        self.tell(|at| {
            let mut face = face.clone();
            face.counters = counters.get(at + 1).cloned().unwrap_or_default();
            // Sequence numbers of a thread are 2⁵⁶ away from the others'.
            let first = |peer: &UdpPeer| peer.first_fragment.wrapping_add((at as u64) << 56);
            let udp = udp.map(|peer| UdpPeer { first_fragment: first(&peer), ..peer });
            Control::AddFace(id, Box::new(face), udp)
        });
    }

    pub(crate) fn remove_face(&mut self, face: FaceId) {
        self.tell(|_| Control::RemoveFace(face));
    }

    /// Repeats the options of a face.
    pub(crate) fn update_face(&mut self, id: FaceId, face: &Face, link: LinkOptions) {
        let Face { local_fields, pit_tokens, interest_digests, .. } = *face;
        self.tell(|_| Control::UpdateFace { face: id, local_fields, pit_tokens, interest_digests, link });
    }

    /// Repeats a change of a table.
    pub(crate) fn change_table(&mut self, request: &TableRequest) {
        self.tell(|_| Control::Table(request.clone()));
    }

    /// The part of the content store's settings that each shard has.
    pub(crate) fn part_of_cs(&self, cs: CsConfig) -> CsConfig {
        CsConfig { capacity: cs.capacity.div_ceil(self.shards() as u64), ..cs }
    }

    /// Repeats the limits. Returns the part of the first shard.
    pub(crate) fn configure(&mut self, config: &Config) -> Config {
        let part = part(config, self.shards());
        self.tell(|_| Control::Configure(Box::new(part.clone())));
        part
    }

    /// Goes on erasing at the workers.
    pub(crate) fn erase(&mut self, erase: Erasure) {
        if let Some(first) = self.controls.first() {
            let _ = first.send(Control::Erasure(erase));
            self.exchange.nudge(1);
        }
    }

    /// True if a party holds nothing at the workers, by their last answers.
    pub(crate) fn is_idle(&self, party: Holder) -> bool {
        self.idle.is_idle(party)
    }

    /// Asks the workers about parties that have left.
    pub(crate) fn ask_idle(&mut self, parties: &[Holder]) {
        if !parties.is_empty() && self.idle.ask(self.controls.len(), parties) {
            self.tell(|_| Control::FindIdle);
        }
    }

    /// Moves names from busy shards to idle ones. The sockets are work of the first thread: a packet costs
    /// about as much there as it costs to forward.
    pub(crate) fn balance(&mut self, now: Time) {
        self.balance.gather(&mut self.load);
        let routed = std::mem::take(&mut self.routed);
        let changes = self.balance.balance(&self.dispatch, &[routed], now);
        if changes > 0 {
            tracing::debug!(changes, routed, "names moved between shards");
        }
    }

    /// True if no Interest is pending at the workers, as far as they have counted, and they have handed over
    /// nothing that is not taken yet.
    pub(crate) fn is_drained(&mut self) -> bool {
        let is_empty = self.counters.iter().all(|counters| counters.pit_entries.value() == 0);
        // In this order: the last answer is handed over before it is counted.
        is_empty && !self.exchange.has_next()
    }
}
