//! The content store.

use super::{Letters, letters, name};
use crate::support::{Ask, data_of, pick, uri};
use hashlane_hash::scheme::Key;
use hashlane_name::component::{Component, IMPLICIT_SHA256_DIGEST};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest};
use hashlane_ndn_fw::cs::{Config, ContentStore, MAX_EVICTED, Policy};
use hashlane_ndn_fw::hashed::{HashedName, NameHasher};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A packet of the plain store, in the order of eviction.
#[derive(Clone, Debug)]
struct EntryKey {
    letters: Letters,
    packet: Vec<u8>,
    fresh_until: u64,
    stale: bool,
    /// When it came.
    came: usize,
}

/// A store that looks at all it has.
#[derive(Debug)]
struct Plain {
    config: Config,
    kept: Vec<EntryKey>,
    packet_cost: usize,
    place_cost: usize,
    clock: usize,
}

impl Plain {
    /// Number of places in the tree: names, prefixes where names branch, and an edge for each that is not a
    /// child of the next shorter prefix.
    fn places(&self) -> usize {
        let names: BTreeSet<&[u8]> = self.kept.iter().map(|kept| &*kept.letters).collect();
        let mut nodes = names.clone();
        for (one, other) in names.iter().zip(names.iter().skip(1)) {
            let common = one.iter().zip(*other).take_while(|(a, b)| a == b).count();
            nodes.insert(&one[..common]);
        }
        nodes.remove(&[][..]);
        let is_parent = |len: usize, node: &[u8]| len == 0 || nodes.contains(&node[..len]);
        let edges = nodes.iter().filter(|node| !is_parent(node.len() - 1, node)).count();
        nodes.len() + edges
    }

    fn bytes(&self) -> usize {
        let packets: usize = self.kept.iter().map(|kept| kept.packet.len() + self.packet_cost).sum();
        packets + self.places() * self.place_cost
    }

    fn turn(&mut self, now: u64) {
        if self.config.policy == Policy::PriorityFifo {
            let (mut went, stay): (Vec<EntryKey>, _) =
                self.kept.drain(..).partition(|kept| !kept.stale && kept.fresh_until <= now);
            let (mut kept, fresh): (Vec<EntryKey>, Vec<_>) = stay.into_iter().partition(|kept| kept.stale);
            went.sort_by_key(|kept| kept.fresh_until);
            kept.extend(went.into_iter().map(|kept| EntryKey { stale: true, ..kept }));
            kept.extend(fresh);
            self.kept = kept;
        }
    }

    fn is_over_capacity(&self) -> bool {
        self.kept.len() > self.config.packets || self.bytes() > self.config.bytes
    }

    /// Evicts the next packet. Packets that became stale at the same time leave in the order of the store,
    /// which has `left`; it must have evicted none of them without need.
    fn shrink(&mut self, left: &BTreeSet<Vec<u8>>) {
        if !self.is_over_capacity() {
            return;
        }
        let all = self.kept.clone();
        self.kept.retain(|kept| !kept.stale || left.contains(&kept.packet));
        let gone = all.iter().filter(|kept| kept.stale && !left.contains(&kept.packet));
        let with = |one: &EntryKey| {
            let mut kept = self.kept.clone();
            kept.push(one.clone());
            Self { kept, ..*self }
        };
        assert!(gone.clone().count() == 0 || gone.clone().any(|one| with(one).is_over_capacity()));
        while self.is_over_capacity() {
            self.kept.remove(0);
        }
    }

    fn insert(
        &mut self,
        letters: &Letters,
        packet: &[u8],
        freshness: u64,
        now: u64,
        left: &BTreeSet<Vec<u8>>,
    ) {
        let cost = packet.len() + self.packet_cost + 4 * self.place_cost;
        if self.config.packets == 0 || cost > self.config.bytes {
            return;
        }
        self.clock += 1;
        let mut came = self.clock;
        if let Some(at) = self.kept.iter().position(|kept| kept.packet == packet) {
            came = self.kept.remove(at).came;
        }
        let stale = self.config.policy == Policy::PriorityFifo && freshness == 0;
        let at = if stale { self.kept.iter().filter(|kept| kept.stale).count() } else { self.kept.len() };
        let fresh_until = now + freshness;
        let (letters, packet) = (letters.clone(), packet.to_vec());
        self.kept.insert(at, EntryKey { letters: letters.clone(), packet, fresh_until, stale, came });
        let mut same: Vec<_> =
            self.kept.iter().filter(|kept| kept.letters == letters).map(|kept| kept.came).collect();
        same.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(oldest) = same.get(4) {
            self.kept.retain(|kept| kept.came != *oldest);
        }
        self.shrink(left);
    }

    /// All packets that may answer.
    fn answers(&self, letters: &Letters, prefix: bool, fresh: bool, now: u64) -> Vec<&EntryKey> {
        let may = |kept: &&EntryKey| {
            (kept.letters == *letters || prefix && kept.letters.starts_with(letters))
                && (!fresh || kept.fresh_until > now)
        };
        self.kept.iter().filter(may).collect()
    }

    fn used(&mut self, packet: &[u8]) {
        if self.config.policy == Policy::Lru
            && let Some(at) = self.kept.iter().position(|kept| kept.packet == packet)
        {
            let kept = self.kept.remove(at);
            self.kept.push(kept);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Letters, u64, u8),
    Ask(Letters, bool, bool),
    AskDigest(Letters, u8),
    Erase(Letters, usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let freshness = prop_oneof![Just(0), 1..30_u64, 5000..20_000_u64];
    prop_oneof![
        8 => (letters(5), freshness, 0..6_u8).prop_map(|(letters, freshness, content)| Step::Insert(letters, freshness, content)),
        6 => (letters(5), any::<bool>(), any::<bool>()).prop_map(|(letters, prefix, fresh)| Step::Ask(letters, prefix, fresh)),
        1 => (letters(5), 0..6_u8).prop_map(|(letters, content)| Step::AskDigest(letters, content)),
        1 => (letters(3), 0..6_usize).prop_map(|(letters, limit)| Step::Erase(letters, limit)),
        3 => prop_oneof![0..20_u64, 0..10_000_u64].prop_map(Step::Pass),
    ]
}

fn hashed<'a>(
    hasher: &'a mut NameHasher,
    name: &'a hashlane_name::build::OwnedName<hashlane_name::ndn::Ndn>,
) -> HashedName<'a> {
    hasher.parse(name.as_bytes()).expect("a name")
}

fn insert(
    store: &mut ContentStore,
    name: &hashlane_name::build::OwnedName<hashlane_name::ndn::Ndn>,
    bytes: &[u8],
    now: Time,
) -> bool {
    let (mut hasher, other) = (NameHasher::new(&Key::VECTOR), NameHasher::new(&Key::VECTOR));
    let data = Data::parse(bytes).expect("Data");
    let hashed = hasher.hash_name(&name.view());
    store.insert(&hashed, &data, now, |components| other.hash(components))
}

/// Costs of a packet and of a place in the tree, measured from outside: the second name has an edge.
fn costs() -> (usize, usize) {
    let [one, two] = ["/a", "/a/b"].map(|text| {
        let mut store = ContentStore::default();
        let bytes = data_of(&uri(text), 0, b"");
        insert(&mut store, &uri(text), &bytes, Time::default());
        store.bytes() - bytes.len()
    });
    (one - (two - one), two - one)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(pick(100, 400)))]

    #[test]
    fn does_what_a_store_does_that_looks_at_all_it_has(
        steps in prop::collection::vec(step(), 1..150),
        packets in prop_oneof![0..3_usize, 3..12_usize, Just(1000)],
        bytes in prop_oneof![Just(usize::MAX), 0..6000_usize],
        policy in prop_oneof![Just(Policy::Lru), Just(Policy::PriorityFifo)],
    ) {
        let (packet_cost, place_cost) = costs();
        let config = Config { packets, bytes, policy, ..Config::default() };
        let mut store = ContentStore::new(config);
        let mut plain = Plain { config, kept: Vec::new(), packet_cost, place_cost, clock: 0 };
        let mut hasher = NameHasher::new(&Key::VECTOR);
        let mut millis = 1000;
        for step in steps {
            let now = Time::from_millis(millis);
            match step {
                Step::Insert(letters, freshness, content) => {
                    let owned = name(&letters);
                    let bytes = data_of(&owned, freshness, &[content]);
                    let kept = insert(&mut store, &owned, &bytes, now);
                    let left = store.iter().map(<[u8]>::to_vec).collect();
                    plain.insert(&letters, &bytes, freshness, millis, &left);
                    prop_assert_eq!(kept, plain.kept.iter().any(|kept| kept.packet == bytes));
                }
                Step::Ask(letters, prefix, fresh) => {
                    let owned = name(&letters);
                    let ask = Ask { can_be_prefix: prefix, must_be_fresh: fresh, ..Ask::of(owned.clone(), 1) }.build();
                    let interest = Interest::parse(&ask).expect("an Interest");
                    let found = store.find(&hashed(&mut hasher, &owned), &interest, now).map(<[u8]>::to_vec);
                    let answers = plain.answers(&letters, prefix, fresh, millis);
                    prop_assert_eq!(found.is_some(), !answers.is_empty());
                    if let Some(found) = found {
                        let exact = answers.iter().filter(|kept| kept.letters == letters);
                        match exact.max_by_key(|kept| kept.came) {
                            Some(newest) => prop_assert_eq!(&found, &newest.packet),
                            None => prop_assert!(answers.iter().any(|kept| kept.packet == found)),
                        }
                        plain.used(&found);
                    }
                }
                Step::AskDigest(letters, content) => {
                    let bytes = data_of(&name(&letters), 0, &[content]);
                    let digest = Data::parse(&bytes).expect("Data").implicit_digest();
                    let last = Component { typ: IMPLICIT_SHA256_DIGEST, value: &digest };
                    let owned = name(&letters);
                    let owned = hashlane_name::build::OwnedName::from_components(owned.view().components().chain([last])).expect("a name");
                    let ask = Ask::of(owned.clone(), 1).build();
                    let found = store.find(&hashed(&mut hasher, &owned), &Interest::parse(&ask).expect("an Interest"), now);
                    let expected = plain.kept.iter().any(|kept| kept.packet == bytes);
                    prop_assert_eq!(found, Some(&bytes[..]).filter(|_| expected));
                    plain.used(&bytes);
                }
                Step::Erase(letters, limit) => {
                    let erased = store.erase(&hashed(&mut hasher, &name(&letters)), limit);
                    let left: BTreeSet<Vec<u8>> = store.iter().map(<[u8]>::to_vec).collect();
                    let before = plain.kept.len();
                    let may = plain.kept.iter().filter(|kept| kept.letters.starts_with(&letters)).count();
                    prop_assert!(plain.kept.iter().all(|kept| left.contains(&kept.packet) || kept.letters.starts_with(&letters)));
                    plain.kept.retain(|kept| left.contains(&kept.packet));
                    prop_assert_eq!((erased, before - plain.kept.len()), (may.min(limit), erased));
                }
                Step::Pass(by) => millis += by,
            }
            store.handle_timeout(Time::from_millis(millis));
            plain.turn(millis);
            let all: BTreeSet<Vec<u8>> = store.iter().map(<[u8]>::to_vec).collect();
            let expected: BTreeSet<Vec<u8>> = plain.kept.iter().map(|kept| kept.packet.clone()).collect();
            prop_assert_eq!(all, expected);
            prop_assert_eq!((store.len(), store.bytes()), (plain.kept.len(), plain.bytes()));
        }
        prop_assert_eq!(store.names().count(), store.len());
        store.configure(Config { packets: 0, ..config });
        // Never more than that many at once.
        prop_assert!(store.len() <= MAX_EVICTED);
        store.handle_timeout(Time::from_millis(millis));
        prop_assert_eq!((store.len(), store.bytes(), store.is_over_capacity()), (0, 0, false));
    }

    /// There are never as many as one turn evicts.
    #[test]
    fn stays_within_its_capacity_however_it_is_configured(
        steps in prop::collection::vec((step(), prop::option::weighted(0.1, (0..20_usize, any::<bool>(), any::<bool>()))), 1..150),
    ) {
        let mut store = ContentStore::new(Config { packets: 10, ..Config::default() });
        let mut hasher = NameHasher::new(&Key::VECTOR);
        let mut millis = 1000;
        for (step, config) in steps {
            let now = Time::from_millis(millis);
            if let Some((packets, fifo, serve)) = config {
                let policy = if fifo { Policy::PriorityFifo } else { Policy::Lru };
                store.configure(Config { packets, policy, serve, ..Config::default() });
            }
            match step {
                Step::Insert(letters, freshness, content) => {
                    let owned = name(&letters);
                    let bytes = data_of(&owned, freshness, &[content]);
                    insert(&mut store, &owned, &bytes, now);
                }
                Step::Ask(letters, prefix, fresh) => {
                    let owned = name(&letters);
                    let ask = Ask { can_be_prefix: prefix, must_be_fresh: fresh, ..Ask::of(owned.clone(), 1) }.build();
                    store.find(&hashed(&mut hasher, &owned), &Interest::parse(&ask).expect("an Interest"), now);
                }
                Step::AskDigest(..) => {}
                Step::Erase(letters, limit) => {
                    store.erase(&hashed(&mut hasher, &name(&letters)), limit);
                }
                Step::Pass(by) => millis += by,
            }
            store.handle_timeout(Time::from_millis(millis));
            prop_assert!(store.len() <= store.config().packets);
            prop_assert_eq!(store.iter().count(), store.len());
        }
        store.configure(Config { packets: 0, ..Config::default() });
        store.handle_timeout(Time::from_millis(millis));
        prop_assert_eq!((store.len(), store.bytes()), (0, 0));
    }
}

/// A store with so many packets.
fn filled(packets: usize, policy: Policy) -> ContentStore {
    let mut store = ContentStore::new(Config { policy, ..Config::default() });
    for number in 0..packets {
        let name = uri(&format!("/{}/{number}", number % 7));
        insert(&mut store, &name, &data_of(&name, 1000, b""), Time::default());
    }
    assert_eq!(store.len(), packets);
    store
}

#[test]
fn what_is_too_much_leaves_in_steps() {
    for policy in [Policy::Lru, Policy::PriorityFifo] {
        for smaller in
            [Config { packets: 10, ..Config::default() }, Config { bytes: 3000, ..Config::default() }]
        {
            let mut store = filled(10 * MAX_EVICTED, policy);
            store.configure(Config { policy, ..smaller });
            assert_eq!(
                (store.len(), store.is_over_capacity()),
                (10 * MAX_EVICTED, true),
                "configuring evicts nothing"
            );
            let mut before = store.len();
            while store.is_over_capacity() {
                store.handle_timeout(Time::default());
                assert!((1..=MAX_EVICTED).contains(&(before - store.len())), "{before} {}", store.len());
                before = store.len();
                // An insertion meanwhile evicts two packets, for either reason.
                if store.is_over_capacity() {
                    let name = uri(&format!("/new/{before}"));
                    insert(&mut store, &name, &data_of(&name, 1000, b""), Time::default());
                    assert!(store.len() < before && before - store.len() <= 2 || !store.is_over_capacity());
                    before = store.len();
                }
            }
            assert!(store.len() <= 10 || store.config().packets > 10);
            assert!(store.bytes() <= store.config().bytes);
            store.handle_timeout(Time::default());
            assert_eq!(store.len(), before, "nothing leaves a store that is within its capacity");
        }
    }
}

#[test]
fn a_large_packet_takes_the_place_of_small_ones_as_large() {
    let mut store = filled(10 * MAX_EVICTED, Policy::Lru);
    let config = Config { bytes: store.bytes() / 2, ..Config::default() };
    store.configure(config);
    let (len, bytes) = (store.len(), store.bytes());
    let name = uri("/large");
    assert!(insert(&mut store, &name, &data_of(&name, 0, &[0; 8000]), Time::default()));
    assert!(store.bytes() <= bytes);
    assert!((2..MAX_EVICTED).contains(&(len + 1 - store.len())), "{len} {}", store.len());
}

#[test]
fn the_packet_that_leaves_next_has_an_age() {
    let seconds = |seconds: u64| Time::from_millis(1024 * seconds);
    let mut hasher = NameHasher::new(&Key::VECTOR);
    for policy in [Policy::Lru, Policy::PriorityFifo] {
        let mut store = ContentStore::new(Config { policy, ..Config::default() });
        assert_eq!(store.oldest(seconds(5)), None);
        for (number, at) in [("/1", 10), ("/2", 20)] {
            let name = uri(number);
            assert!(insert(&mut store, &name, &data_of(&name, 30 * 1024, b""), seconds(at)));
        }
        assert_eq!(store.oldest(seconds(25)), Some(15 * 1024));
        let (name, ask) = (uri("/1"), Ask::of(uri("/1"), 7).build());
        let interest = Interest::parse(&ask).unwrap();
        assert!(store.find(&hashed(&mut hasher, &name), &interest, seconds(26)).is_some());
        // A packet that was used leaves later, by LRU alone.
        let is_lru = policy == Policy::Lru;
        assert_eq!(store.oldest(seconds(30)), Some(if is_lru { 10 } else { 20 } * 1024));
        // The first one becomes stale, and leaves first.
        store.handle_timeout(seconds(45));
        let age = store.oldest(seconds(47)).unwrap();
        assert_eq!(age, if is_lru { 27 } else { 2 } * 1024);
        // Times go around after more than 60 years.
        let late = Time::from_millis((1 << 41) - 1024);
        let mut store = ContentStore::new(Config { policy, ..Config::default() });
        assert!(insert(&mut store, &name, &data_of(&name, 1 << 30, b""), late));
        assert_eq!(store.oldest(late.after_millis(3 * 1024)), Some(3 * 1024));
    }
}

#[test]
fn erasing_everything_goes_on_until_all_is_gone() {
    let mut store = filled(1000, Policy::PriorityFifo);
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let root = uri("/");
    let erased: Vec<usize> = (0..5).map(|_| store.erase(&hashed(&mut hasher, &root), 256)).collect();
    assert_eq!(erased, [256, 256, 256, 232, 0]);
    assert_eq!((store.len(), store.bytes()), (0, 0));
}

#[test]
fn a_packet_of_many_components_takes_no_more_than_another() {
    let long = |last: &str| format!("{}{last}", "/x".repeat(200));
    let mut store = ContentStore::default();
    let texts = [long("/a"), long("/b"), "/y".into(), long(""), "/y/1".into()];
    let mut costs = Vec::new();
    for text in &texts {
        let (before, bytes) = (store.bytes(), data_of(&uri(text), 0, b""));
        assert!(insert(&mut store, &uri(text), &bytes, Time::default()));
        costs.push(store.bytes() - before - bytes.len());
    }
    // Cost of a packet, then places added: node and edge; node and branch; node; none, as names branch there;
    // node.
    let (packet, place) = self::costs();
    assert_eq!(costs, [2, 2, 1, 0, 1].map(|places| packet + places * place));
}

/// Names of many shapes, inserted and removed: lookups below each prefix find them, and nothing is left.
#[test]
fn finds_what_is_below_each_prefix_of_long_names() {
    let mut store = ContentStore::default();
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let texts: Vec<String> = (0..64_u32)
        .map(|number| {
            let bits = (0..40).map(|bit| format!("/{}", if bit < 30 { 0 } else { number >> (bit % 6) & 1 }));
            bits.take(12 + number as usize % 29).collect()
        })
        .collect();
    for text in &texts {
        insert(&mut store, &uri(text), &data_of(&uri(text), 0, b""), Time::default());
    }
    for round in 0..2 {
        for text in &texts {
            for len in 1..=text.len() / 2 {
                let owned = uri(&text[..2 * len]);
                let ask = Ask { can_be_prefix: true, ..Ask::of(owned.clone(), 1) }.build();
                let interest = Interest::parse(&ask).expect("an Interest");
                let found =
                    store.find(&hashed(&mut hasher, &owned), &interest, Time::default()).map(<[u8]>::to_vec);
                assert_eq!(found.is_some(), round == 0, "below {}", &text[..2 * len]);
            }
        }
        for text in &texts {
            store.erase(&hashed(&mut hasher, &uri(text)), 64);
        }
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }
}
