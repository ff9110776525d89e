//! Interface between the forwarding pipelines and a strategy.

use super::rng::Rng;
use crate::face::{FaceId, Faces, LinkType, Scope};
use crate::fib::NextHop;
use crate::hashed::HashedName;
use crate::pit::Records;
use core::fmt::Debug;
use core::time::Duration;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use hashlane_table::share::Holder;
use smallvec::SmallVec;

/// Interest for which a strategy decides.
#[derive(Debug)]
pub struct InterestContext<'a> {
    /// Ingress face.
    pub ingress: FaceId,
    /// Name of the Interest.
    pub name: &'a HashedName<'a>,
    /// Next hops of the longest prefix match, in order of cost.
    pub hops: &'a [NextHop],
    /// Keyed hash of the matched prefix: the key under which a strategy may keep measurements.
    pub prefix: u64,
    /// Records of the PIT entry. They already contain the in-record of the ingress face.
    pub records: &'a mut Records,
    /// All faces.
    pub faces: &'a Faces,
    /// True for an Interest below `/localhop` from another host, which stays on this one.
    pub local_only: bool,
    /// Time of arrival.
    pub now: Time,
    /// Source of random numbers.
    pub rng: &'a mut Rng,
}

impl<'a> InterestContext<'a> {
    /// Next hops that the Interest may take: within the scope of its name, and not the ingress face unless
    /// that is an ad hoc link.
    #[inline(always)]
    pub fn eligible(&self) -> impl Iterator<Item = NextHop> + use<'a> {
        let (faces, ingress, local_only) = (self.faces, self.ingress, self.local_only);
        self.hops.iter().copied().filter(move |hop| {
            // A route may outlive its face.
            let Some(face) = faces.find(hop.face) else { return false };
            (hop.face != ingress || face.link == LinkType::AdHoc)
                && !(local_only && face.scope == Scope::NonLocal)
        })
    }
}

/// Data for which a strategy updates its measurements.
#[derive(Debug)]
pub struct DataContext<'a> {
    /// Ingress face.
    pub face: FaceId,
    /// Holder to whose share the memory of the measurements is charged: the ingress face's.
    pub holder: Holder,
    /// Name of the Data.
    pub name: &'a HashedName<'a>,
    /// Keyed hash of the FIB prefix of the Interest.
    pub prefix: u64,
    /// Records of the PIT entry that the Data satisfies.
    pub records: &'a Records,
    /// Time of arrival.
    pub now: Time,
}

impl DataContext<'_> {
    /// Time since the Interest was last sent to the ingress face; `None` without an out-record.
    pub fn round_trip(&self) -> Option<Duration> {
        self.records.out_record(self.face).map(|out| self.now.since(out.sent))
    }
}

/// Decision about an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Forward it to these faces, in this order.
    Forward(SmallVec<[FaceId; 2]>),
    /// Forward it to these faces along routes, marked NonDiscovery, so that routers without a route do not
    /// flood it.
    Follow(SmallVec<[FaceId; 2]>),
    /// Forward it to `best`, and a copy with another Nonce to `probed`, to measure that face. The Nonces
    /// differ so that a forwarder that receives both does not take them for a loop.
    Probe {
        /// Face that gets the Interest.
        best: FaceId,
        /// Face that gets the copy.
        probed: FaceId,
    },
    /// Forward it to `first`. If the entry still waits after `timeout`, the forwarder asks
    /// [`Algorithm::on_timeout`] for other faces.
    Try {
        /// Face that gets the Interest.
        first: FaceId,
        /// Time until the timeout.
        timeout: Duration,
    },
    /// Forward nothing; the entry waits for the Interests sent before.
    Suppress,
    /// Send a Nack to the downstream.
    Reject(NackReason),
}

impl Decision {
    /// Forwards to one face.
    pub(super) fn to(face: FaceId) -> Self {
        Self::Forward(SmallVec::from_slice(&[face]))
    }
}

/// Decision about an entry after a Nack from upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NackDecision {
    /// Wait for other upstreams.
    Wait,
    /// Send a Nack to every downstream.
    NackAll(NackReason),
    /// Forward the Interest to the faces of [`Algorithm::on_timeout`] at once; if there are none, send a Nack
    /// to every downstream.
    TryOthers(NackReason),
    /// Send a Nack to this downstream, which is the only upstream left and may have other next hops itself.
    NackOne(FaceId, NackReason),
}

/// A forwarding strategy.
pub trait Algorithm: Clone + Debug + Default {
    /// True if [`on_data`](Self::on_data) has an effect.
    const MEASURES: bool = false;

    /// True if Data that answers Interests without NonDiscovery may bring announcements of routes.
    const LEARNS: bool = false;

    /// Names of the parameters, each with its valid values.
    const PARAMETERS: &'static [&'static str];

    /// Sets a parameter; `None` if the name is unknown or the value is not valid.
    fn set_parameter(&mut self, name: &str, value: &str) -> Option<()>;

    /// Decides where an Interest goes.
    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision;

    /// Decides where else the Interest of an entry goes, after the timeout of a [`Decision::Try`]: a
    /// [`Decision::Forward`], or [`Decision::Suppress`] if there is no other face.
    fn on_timeout(&mut self, _context: &mut InterestContext<'_>) -> Decision {
        Decision::Suppress
    }

    /// Handles Data that satisfies an entry.
    fn on_data(&mut self, _context: &DataContext<'_>) {}

    /// Notes the number of components of the prefix for which the strategy was chosen.
    fn set_depth(&mut self, _components: usize) {}

    /// Handles a Nack from `face`, which the records already contain, and decides what the downstreams get.
    fn on_nack(&mut self, _prefix: u64, records: &Records, _face: FaceId, now: Time) -> NackDecision {
        after_nack(records, now)
    }
}

/// Nacks every downstream once every upstream has sent a Nack, with the least severe reason. If the only
/// upstream left is a downstream, too, that one gets a Nack, as it may be waiting for this forwarder.
///
/// Source: NFD Developer's Guide, Best Route Strategy.
pub(super) fn after_nack(records: &Records, now: Time) -> NackDecision {
    let mut waiting = records.outs.iter().filter(|out| out.nack.is_none() && out.expires > now);
    let reasons = records.outs.iter().filter_map(|out| out.nack);
    let least = reasons.min_by_key(|reason| reason.severity());
    let reason =
        least.invariant("the Nack is recorded before the strategy decides").unwrap_or(NackReason::NONE);
    match (waiting.next(), waiting.next()) {
        (None, _) => NackDecision::NackAll(reason),
        (Some(out), None) if records.in_record(out.face).is_some() => NackDecision::NackOne(out.face, reason),
        _ => NackDecision::Wait,
    }
}

/// Parses a parameter value that is a positive 32-bit integer.
pub(super) fn positive(value: &str) -> Option<u32> {
    value.parse().ok().filter(|number| *number > 0)
}
