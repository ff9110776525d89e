//! A secondary and its primaries in simulated time, by the state machines that the server runs.
//!
//! The primaries publish versions, lag behind, and lie in all ways that a secondary can notice; messages are
//! late, lost or cut; the secondary is killed. Throughout, it serves nothing but a published version, and
//! stops to at the second at which it expires. Once the faults end, it has the newest version within a
//! bounded time.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod primary;
mod secondary;
mod versions;

use hashlane_dns::zone::{Zone, is_before};
use hashlane_transfer::notify;
use primary::{Lie, Primary};
use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng as _;
use secondary::Secondary;
use std::sync::Arc;
use versions::{Versions, apex};

/// Seconds with faults.
const FAULTS: u64 = 1500;

/// Seconds of a session at most, and until it ends if a message is lost.
const TIMEOUT: u64 = 40;
const LOST: u64 = 10;

/// Seconds after which the newest version must be there: the sessions that have begun, a refresh, and
/// sessions with three primaries.
const PATIENCE: u64 = versions::REFRESH as u64 + 7 * TIMEOUT;

/// Seconds that a secondary without data may wait longer.
const LONGEST: u64 = 600;

/// Random numbers of a seed.
pub(crate) struct Dice(SplitMix64);

impl Dice {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() >> 33) as usize % end
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// State of the network.
#[derive(Clone, Copy, Default)]
pub(crate) struct Network {
    /// Nothing arrives.
    is_down: bool,
    /// Seconds that a message takes at most.
    delay: u64,
}

impl Network {
    /// Seconds until the next message comes, or is known to be lost.
    fn wait(self, dice: &mut Dice) -> u64 {
        if self.is_down { LOST } else { dice.below(self.delay as usize + 1) as u64 }
    }
}

struct World {
    dice: Dice,
    now: u64,
    versions: Versions,
    primaries: Vec<Primary>,
    network: Network,
    secondary: Secondary,
    /// NOTIFY messages, with the second at which they arrive.
    notices: Vec<(u64, Vec<u8>)>,
    /// Reasons for which primaries were given up.
    reasons: Vec<String>,
    /// The version that was compared last.
    compared: Option<Arc<Zone>>,
}

impl World {
    fn new(seed: u64, folder: &std::path::Path) -> Self {
        let mut dice = Dice(SplitMix64::seed_from_u64(seed));
        let versions = Versions::new(&mut dice);
        let primaries: Vec<Primary> = (0..1 + dice.below(3)).map(|_| Primary::new(&mut dice)).collect();
        // A clock of the system that is later than 1970, so that files have valid times.
        let now = 1_000_000;
        let secondary = Secondary::start(folder, now);
        let (network, notices, reasons) = (Network::default(), Vec::new(), Vec::new());
        let compared = None;
        Self { dice, now, versions, primaries, network, secondary, notices, reasons, compared }
    }

    /// Publishes a version, and tells of it, perhaps.
    fn publish(&mut self, is_told: bool) {
        self.versions.publish(&mut self.dice);
        let newest = self.versions.newest();
        let (ttl, record) = newest.soa().unwrap();
        let mut data = Vec::new();
        hashlane_transfer::records::whole_data(newest, &record, &mut data);
        if is_told && !self.network.is_down {
            let message = notify::request(apex().view(), 1, Some((ttl, &data)));
            self.notices.push((self.now + self.dice.below(5) as u64, message));
        }
    }

    /// A second with faults.
    fn trouble(&mut self) {
        if self.dice.once_in(40) {
            let is_told = self.dice.once_in(2);
            self.publish(is_told);
        }
        if self.dice.once_in(60) {
            self.network = Network { is_down: self.dice.once_in(3), delay: self.dice.below(4) as u64 };
        }
        for primary in &mut self.primaries {
            if self.dice.once_in(50) {
                primary.change(&mut self.dice);
            }
        }
        if self.dice.once_in(400) {
            self.secondary.kill(self.now, &mut self.dice);
        }
    }

    /// The rest of a second.
    fn pass(&mut self) {
        let Self { now, secondary, notices, primaries, versions, network, dice, reasons, compared } = self;
        notices.retain(|(at, message)| {
            if at <= now {
                secondary.notified(message, *now);
            }
            at > now
        });
        reasons.extend(secondary.tick(*now, (primaries, versions), *network, dice));
        match secondary.served() {
            Some(zone) => {
                if !compared.as_ref().is_some_and(|compared| Arc::ptr_eq(compared, zone)) {
                    assert!(versions.has(zone), "serial {} was never published so", zone.serial());
                    let before = compared.as_ref().map_or(zone.serial(), |before| before.serial());
                    assert!(!is_before(zone.serial(), before), "from serial {before} to {}", zone.serial());
                    *compared = Some(Arc::clone(zone));
                }
                assert!(*now < secondary.expiry(), "an expired version is served");
            }
            None => assert!(*now >= secondary.expiry(), "a version that has not expired is not served"),
        }
        *now += 1;
    }

    fn is_current(&self) -> bool {
        self.secondary.served().is_some_and(|zone| zone.serial() == self.versions.newest().serial())
    }

    /// Waits for the newest version. Returns the seconds that it took.
    fn settle(&mut self) -> u64 {
        let begun = self.now;
        let patience = if self.secondary.has_data() { PATIENCE } else { PATIENCE + LONGEST };
        while !self.is_current() {
            assert!(self.now < begun + patience, "no newest version; last: {:?}", self.reasons.last());
            self.pass();
        }
        self.now - begun
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_secondary_serves_published_versions_alone_and_catches_up(seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(seed, folder.path());
        for _ in 0..FAULTS {
            world.trouble();
            world.pass();
        }
        // Primaries before an honest one may go on to lie, if the secondary can tell.
        world.network = Network { is_down: false, delay: 1 };
        let last = world.primaries.len() - 1;
        for (number, primary) in world.primaries.iter_mut().enumerate() {
            primary.settle(number == last);
        }
        world.settle();
        world.publish(true);
        world.settle();
        // Without a NOTIFY, the timers bring it.
        world.publish(false);
        world.settle();
        prop_assert!(world.secondary.most_received() <= secondary::MOST_RECEIVED);
    }
}

#[test]
fn a_version_expires_at_its_second_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(7, folder.path());
    world.primaries = vec![Primary::honest()];
    world.settle();
    world.network.is_down = true;
    let expiry = world.secondary.expiry();
    while world.now < expiry {
        world.pass();
    }
    // At the second of the expiry.
    world.pass();
    assert!(world.secondary.served().is_none());
    world.secondary.kill(world.now, &mut world.dice);
    world.pass();
    assert!(world.secondary.served().is_none(), "expired on the disk, too");
    world.network.is_down = false;
    world.settle();
}

#[test]
fn each_lie_is_noticed() {
    for lie in Lie::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(9, folder.path());
        world.primaries = vec![Primary::honest()];
        for _ in 0..5 {
            world.publish(true);
            world.settle();
        }
        assert_eq!(world.reasons, Vec::<String>::new());
        world.primaries[0].lie = Some(lie);
        world.publish(true);
        let before = world.secondary.served().map(|zone| zone.serial());
        for _ in 0..2 * TIMEOUT {
            world.pass();
        }
        let after = world.secondary.served().map(|zone| zone.serial());
        assert!(!world.reasons.is_empty(), "{lie:?}");
        // After a wrong difference, the whole zone is the truth.
        assert_eq!(after == before, lie != Lie::WrongDelta, "{lie:?}: {:?}", world.reasons);
        world.primaries[0].lie = None;
        world.settle();
    }
}

#[test]
fn a_zone_without_an_end_is_given_up_at_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(3, folder.path());
    world.primaries = vec![Primary::honest()];
    world.primaries[0].lie = Some(Lie::Endless);
    while world.reasons.is_empty() {
        world.pass();
    }
    assert!(world.reasons[0].contains("more than 32768 bytes"), "{:?}", world.reasons);
    assert!(world.secondary.most_received() > 32_768);
    assert!(world.secondary.most_received() <= secondary::MOST_RECEIVED);
}
