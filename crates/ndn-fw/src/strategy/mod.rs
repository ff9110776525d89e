//! Strategies: which of the ways that the FIB knows an Interest takes.
//!
//! A strategy sees one Interest at a time, with the records of its PIT entry, and says where it goes. It sends nothing itself. Which strategy
//! is asked is said for each prefix of names ([`Choice`]).

mod asf;
mod best_route;
mod choice;
mod multicast;
mod random;
mod suppression;

pub use asf::Asf;
pub use best_route::BestRoute;
pub use choice::{Choice, StrategyError};
pub use multicast::Multicast;
pub use random::Random;
pub use suppression::Suppression;

use crate::face::{FaceId, Faces, LinkType, Scope};
use crate::fib::NextHop;
use crate::pit::Records;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use smallvec::SmallVec;

/// An Interest that a strategy is asked about.
#[derive(Debug)]
pub struct Question<'a> {
    /// The face that it came from.
    pub ingress: FaceId,
    /// The ways of the longest prefix, the cheapest first.
    pub hops: &'a [NextHop],
    /// The keyed hash of that prefix, under which a strategy may keep what it measures.
    pub prefix: u64,
    /// Where it came from and went to; the record of the ingress is there already.
    pub records: &'a mut Records,
    /// All faces.
    pub faces: &'a Faces,
    /// Whether it must not leave this host and the next: its name begins with `/localhop`.
    pub localhop: bool,
    /// When it came.
    pub now: Time,
    /// Numbers that nobody foresees.
    pub dice: &'a mut Dice,
}

impl<'a> Question<'a> {
    /// The ways that the Interest may take at all: not back where it came from, unless that is an ad hoc link; and not further than its
    /// name's scope.
    #[inline(always)]
    pub fn eligible(&self) -> impl Iterator<Item = NextHop> + use<'a> {
        let (faces, ingress, localhop) = (self.faces, self.ingress, self.localhop);
        let from_outside = faces.find(ingress).is_none_or(|face| face.scope == Scope::NonLocal);
        self.hops.iter().copied().filter(move |hop| {
            let Some(face) = faces.find(hop.face) else { return false };
            (hop.face != ingress || face.link == LinkType::AdHoc)
                && !(localhop && from_outside && face.scope == Scope::NonLocal)
        })
    }
}

/// What becomes of an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It goes to these faces, in this order.
    Send(SmallVec<[FaceId; 2]>),
    /// It goes to one face, and under another Nonce to a second, to measure that: the two may meet further on, and are to be no loop.
    Probe(FaceId, FaceId),
    /// It waits with those before it.
    Wait,
    /// It goes back where it came from.
    Reject(NackReason),
}

impl Answer {
    /// To one face.
    pub(crate) fn to(face: FaceId) -> Self {
        Self::Send(SmallVec::from_slice(&[face]))
    }
}

/// What becomes of an entry one of whose Interests came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterNack {
    /// Other answers are waited for.
    Wait,
    /// All who asked are told.
    TellAll(NackReason),
    /// This one is told: all ways but its own came back, and it may have another.
    Tell(FaceId, NackReason),
}

/// Numbers that nobody foresees who does not know the seed (xorshift64*; not for keys).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// 64 bits.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 where that is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.number()) * bound as u128) >> 64) as usize
    }
}

/// One of the strategies.
#[derive(Clone, Debug)]
pub enum Strategy {
    /// The cheapest way; another one when the consumer asks again.
    BestRoute(BestRoute),
    /// All ways.
    Multicast(Multicast),
    /// The fastest way, as measured, with probes of the others.
    Asf(Asf),
    /// Any way.
    Random(Random),
}

impl Strategy {
    /// Asks where an Interest goes.
    #[inline(always)]
    pub fn interest(&mut self, question: &mut Question<'_>) -> Answer {
        match self {
            Self::BestRoute(strategy) => strategy.interest(question),
            Self::Multicast(strategy) => strategy.interest(question),
            Self::Asf(strategy) => strategy.interest(question),
            Self::Random(strategy) => strategy.interest(question),
        }
    }

    /// Whether it wants to hear of Data.
    #[inline(always)]
    pub fn measures(&self) -> bool {
        matches!(self, Self::Asf(_))
    }

    /// Tells that Data came from `face` for the entry of these records, whose prefix in the FIB has this hash.
    pub fn data(&mut self, prefix: u64, records: &Records, face: FaceId, now: Time) {
        if let Self::Asf(strategy) = self {
            strategy.data(prefix, records, face, now);
        }
    }

    /// Tells that an Interest came back from `face`, and asks what becomes of the entry.
    pub fn nack(&mut self, prefix: u64, records: &Records, face: FaceId, now: Time) -> AfterNack {
        match self {
            Self::Asf(strategy) => strategy.nack(prefix, face, now),
            Self::BestRoute(_) | Self::Multicast(_) | Self::Random(_) => {}
        }
        after_nack(records, now)
    }

    /// Its name, as the management knows it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BestRoute(_) => "best-route",
            Self::Multicast(_) => "multicast",
            Self::Asf(_) => "asf",
            Self::Random(_) => "random",
        }
    }
}

/// Whoever asked is told when all ways have come back, with the least severe reason; where one has not, and leads to one who
/// asked, that one is told, as it may be waiting for us.
///
/// Source: NFD Developer's Guide, Best Route Strategy.
fn after_nack(records: &Records, now: Time) -> AfterNack {
    let mut waiting = records.outs.iter().filter(|out| out.nack.is_none() && out.expires > now);
    let reasons = records.outs.iter().filter_map(|out| out.nack);
    let reason = reasons.min_by_key(|reason| reason.severity()).unwrap_or(NackReason::NONE);
    match (waiting.next(), waiting.next()) {
        (None, _) => AfterNack::TellAll(reason),
        (Some(out), None) if records.came_from(out.face).is_some() => AfterNack::Tell(out.face, reason),
        _ => AfterNack::Wait,
    }
}
