//! Networks of forwarders in one process, drawn from seeds, over links that lose, repeat and reorder packets,
//! against a plain model of each forwarder.
//!
//! A run is a function of its seed. A run that fails prints its seed; `HASHLANE_SIM_SEED=n cargo test -p
//! hashlane-ndn-fw simulation` repeats it alone. `HASHLANE_SIM_RUNS=n` sets the number of seeds of each kind;
//! `HASHLANE_LONG=1` runs ten times as many as usual. All PITs of a network have the same index, which the
//! model does not know.

mod access;
mod applications;
mod chance;
mod checks;
mod learning;
mod model;
mod network;
mod node;
mod topology;

use crate::support::pick;
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken};
use network::Network;
use node::Index;
use topology::TopologyKind;

/// Says which seed it was, where a run fails.
struct Running(TopologyKind, u64);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(kind, seed) = self;
            eprintln!("{kind:?} networks fail with HASHLANE_SIM_SEED={seed}");
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is to be a number, and is {text:?}")))
}

/// Reading and sharding of the forwarders of a run.
#[derive(Clone, Copy, Debug)]
struct Forwarding {
    bursts: bool,
    shards: usize,
    /// Strategy of all names at all forwarders; `None`: drawn.
    strategy: Option<&'static str>,
}

impl Forwarding {
    const SINGLE: Self = Self { bursts: false, shards: 1, strategy: None };
}

fn run<P: Index>(kind: TopologyKind, seed: u64, forwarding: Forwarding) -> Network<P> {
    let _running = Running(kind, seed);
    let Forwarding { bursts, shards, strategy } = forwarding;
    let mut network = Network::new(kind, seed, bursts, shards, strategy);
    network.run();
    checks::check(&network);
    network
}

/// Runs all seeds that are to be run, and returns what came of them together.
fn all_with<P: Index>(kind: TopologyKind, runs: u64, forwarding: Forwarding) -> checks::Sum {
    let mut sum = checks::Sum::default();
    match number("HASHLANE_SIM_SEED") {
        Some(seed) => sum.add(&run::<P>(kind, seed, forwarding)),
        None => (0..number("HASHLANE_SIM_RUNS").unwrap_or(runs * pick(1, 10)))
            .for_each(|seed| sum.add(&run::<P>(kind, seed, forwarding))),
    }
    println!("{kind:?}, {forwarding:?}: {sum:?}");
    sum
}

/// All seeds packet by packet.
fn all<P: Index>(kind: TopologyKind, runs: u64) -> checks::Sum {
    all_with::<P>(kind, runs, Forwarding::SINGLE)
}

#[test]
fn in_sound_networks_all_that_can_be_answered_is() {
    let sum = all::<ByName>(TopologyKind::Sound, 30);
    assert!(sum.answered == sum.asked && sum.asked > 0);
}

#[test]
fn faulty_networks_keep_the_rules() {
    assert!(all::<ByName>(TopologyKind::Faulty, 30).asked > 0);
}

#[test]
fn crowded_networks_keep_the_rules() {
    assert!(all::<ByName>(TopologyKind::Crowded, 30).asked > 0);
}

#[test]
fn networks_of_access_choose_as_the_model_does() {
    let forwarding = Forwarding { strategy: Some("access"), ..Forwarding::SINGLE };
    let sum = all_with::<ByName>(TopologyKind::Faulty, 40, forwarding);
    assert!(sum.singles > 0 && sum.retries > 0 && sum.predicted > 0, "{sum:?}");
    let sum = all_with::<ByName>(TopologyKind::Sound, 10, forwarding);
    assert!(sum.answered == sum.asked && sum.singles > 0, "{sum:?}");
}

#[test]
fn shards_of_access_choose_what_one_of_them_may_know() {
    let forwarding = Forwarding { shards: 2, strategy: Some("access"), ..Forwarding::SINGLE };
    let sum = all_with::<ByName>(TopologyKind::Faulty, 20, forwarding);
    assert!(sum.singles > 0 && sum.retries > 0, "{sum:?}");
}

fn of_all_kinds<P: Index>() {
    let sum = all::<P>(TopologyKind::Sound, 10);
    assert!(sum.answered == sum.asked && sum.asked > 0);
    assert!(all::<P>(TopologyKind::Faulty, 10).asked > 0);
    assert!(all::<P>(TopologyKind::Crowded, 10).asked > 0);
}

fn in_bursts<P: Index>() {
    let forwarding = Forwarding { bursts: true, ..Forwarding::SINGLE };
    let sum = all_with::<P>(TopologyKind::Sound, 10, forwarding);
    assert!(sum.answered == sum.asked && sum.asked > 0 && sum.largest > 4, "{sum:?}");
    assert!(all_with::<P>(TopologyKind::Faulty, 10, forwarding).asked > 0);
    assert!(all_with::<P>(TopologyKind::Crowded, 10, forwarding).asked > 0);
}

#[test]
fn in_bursts_networks_keep_the_rules() {
    in_bursts::<ByName>();
}

#[test]
fn in_bursts_under_tokens_networks_keep_the_rules() {
    in_bursts::<ByToken>();
}

#[test]
fn in_bursts_under_digests_networks_keep_the_rules() {
    in_bursts::<ByDigest>();
}

#[test]
fn under_tokens_networks_keep_the_rules() {
    of_all_kinds::<ByToken>();
}

#[test]
fn under_digests_networks_keep_the_rules() {
    of_all_kinds::<ByDigest>();
}

#[test]
fn a_seed_says_all_that_happens() {
    let forwarding = Forwarding { bursts: true, ..Forwarding::SINGLE };
    let again = [1, 2].map(|_| {
        let mut sum = checks::Sum::default();
        (0..5).for_each(|seed| sum.add(&run::<ByDigest>(TopologyKind::Faulty, seed, forwarding)));
        sum
    });
    assert_eq!(again[0], again[1]);
}

/// Shards behave as one forwarder, while buckets move and split. Crowded networks are left out: each shard
/// has its own limits.
fn in_shards<P: Index>(shards: usize) {
    let forwarding = Forwarding { shards, ..Forwarding::SINGLE };
    let sum = all_with::<P>(TopologyKind::Sound, 8, forwarding);
    assert!(sum.answered == sum.asked && sum.asked > 0 && sum.changes > 0 && sum.detours > 0, "{sum:?}");
    assert!(all_with::<P>(TopologyKind::Faulty, 8, forwarding).asked > 0);
}

#[test]
fn two_shards_behave_as_one_forwarder() {
    in_shards::<ByName>(2);
}

#[test]
fn four_shards_behave_as_one_forwarder() {
    in_shards::<ByName>(4);
}

#[test]
fn eight_shards_behave_as_one_forwarder() {
    in_shards::<ByName>(8);
}

#[test]
fn under_tokens_shards_behave_as_one_forwarder() {
    in_shards::<ByToken>(4);
}

#[test]
fn under_digests_shards_behave_as_one_forwarder() {
    in_shards::<ByDigest>(4);
}
