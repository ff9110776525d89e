//! Forwarding strategies: selection among the next hops of the FIB.
//!
//! A strategy sees one Interest at a time, with the records of its PIT entry, and returns a [`Decision`]; it
//! sends nothing itself. The [`ChoiceTable`] maps prefixes to strategies.
//!
//! To add a strategy: a file in this folder with a type that implements [`Algorithm`], its `mod` line, and
//! its entry in the list below.

#[macro_use]
mod list;

mod access;
mod algorithm;
mod asf;
mod best_route;
mod choice;
mod counts;
mod groups;
mod multicast;
mod name;
mod random;
mod rng;
mod rtt;
mod self_learning;
mod suppression;
mod verdict;

pub use algorithm::{Algorithm, DataContext, Decision, InterestContext, NackDecision};
pub use choice::ChoiceTable;
pub use counts::DecisionCounters;
pub use name::StrategyError;
pub use rng::Rng;
pub use suppression::Suppression;
pub use verdict::Verdict;

use crate::face::FaceId;
use crate::pit::Records;
use hashlane_ndn::time::Time;

strategies! {
    /// Lowest-cost next hop; another one for a retransmission.
    best_route::BestRoute = "best-route", version 5;
    /// All next hops.
    multicast::Multicast = "multicast", version 5;
    /// Next hop with the shortest measured round-trip time, with probes of the others.
    asf::Asf = "asf", version 5;
    /// Next hop drawn at random.
    random::Random = "random", version 1;
    /// Next hop that last returned Data for a group of names; after a timeout, all others.
    access::Access = "access", version 1;
    /// All next hops of a route; without one, all neighbours, from whose Data routes are learned.
    self_learning::SelfLearning = "self-learning", version 1;
}
