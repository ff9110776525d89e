//! The table of flows against the standard library's map, with every shape.

use super::*;
use crate::ehash::TupleHash;
use core::net::Ipv6Addr;
use hashlane_table::batched::Batched;
use hashlane_table::chained::Chained;
use hashlane_table::swiss::Swiss;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

/// A hash of 64 bits, or of 32, that is good enough for a test.
#[derive(Clone)]
struct Sum<const WIDTH: u32>(u64);

impl<const WIDTH: u32> TupleHash for Sum<WIDTH> {
    const INFO: hashlane_hash::scheme::SchemeInfo = hashlane_hash::scheme::SchemeInfo {
        id: "sum",
        source: "this test",
        width: WIDTH,
        keying: hashlane_hash::scheme::Keying::None,
        check: 0,
        safe: "In this test.",
    };
    fn new(key: &Key) -> Self {
        Self(key.halves().0)
    }
    fn hash(&self, tuple: &Tuple) -> u64 {
        let sum = tuple
            .words()
            .iter()
            .fold(self.0, |sum, word| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31));
        if WIDTH == 32 { sum >> 32 } else { sum }
    }
}

fn tuple(number: u16) -> Tuple {
    Tuple::new(Ipv6Addr::LOCALHOST, 443, Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, number), number)
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u16),
    Remove(u16),
    Seen(u16),
    SeenBurst(Vec<u16>),
    InsertBurst(Vec<u16>),
    RemoveBurst(Vec<u16>),
    Wait(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..300u16;
    prop_oneof![
        8 => number.clone().prop_map(Step::Insert),
        2 => number.clone().prop_map(Step::Remove),
        2 => number.clone().prop_map(Step::Seen),
        1 => vec(number.clone(), 0..70).prop_map(Step::SeenBurst),
        1 => vec(number.clone(), 0..70).prop_map(Step::InsertBurst),
        1 => vec(number, 0..70).prop_map(Step::RemoveBurst),
        2 => prop_oneof![8 => 0..4u32, 1 => 0..200u32].prop_map(Step::Wait),
    ]
}

const LIMITS: Limits = Limits { flows: 150, idle: 20 };

fn behaves_like_a_map<H: TupleHash, T: Table<Tuple, Flow<u32>>>(start: u32, steps: &[Step]) {
    let mut now = start;
    let mut flows = FlowTable::<Tuple, u32, H, T>::with_room(8, &Key::VECTOR, LIMITS, now);
    let mut map: BTreeMap<u16, (u32, u32)> = BTreeMap::new();
    for (count, step) in (0..).zip(steps) {
        match step {
            Step::Insert(number) => {
                let expected = match map.get(number) {
                    None if map.len() == LIMITS.flows => Err(Full(count)),
                    old => Ok(old.map(|(value, _)| *value)),
                };
                if expected.is_ok() {
                    map.insert(*number, (count, now));
                }
                assert_eq!(flows.insert(tuple(*number), count, now), expected);
            }
            Step::Remove(number) => {
                assert_eq!(flows.remove(&tuple(*number)), map.remove(number).map(|(value, _)| value));
            }
            Step::Seen(number) => {
                let found = flows.touch(&tuple(*number), now).copied();
                assert_eq!(found, map.get(number).map(|(value, _)| *value));
                map.entry(*number).and_modify(|(_, seen)| *seen = now);
            }
            Step::SeenBurst(numbers) => {
                let tuples: Vec<Tuple> = numbers.iter().map(|number| tuple(*number)).collect();
                let mut expected = numbers.iter().enumerate();
                flows.touch_burst(&tuples, now, |at, value| {
                    let (position, number) = expected.next().unwrap();
                    assert_eq!(at, position);
                    assert_eq!(value.copied(), map.get(number).map(|(value, _)| *value));
                });
                assert_eq!(expected.next(), None);
                for number in numbers {
                    map.entry(*number).and_modify(|(_, seen)| *seen = now);
                }
            }
            Step::InsertBurst(numbers) => {
                let tuples: Vec<Tuple> = numbers.iter().map(|number| tuple(*number)).collect();
                let mut positions = 0..;
                flows.insert_burst(
                    &tuples,
                    now,
                    |at| count + at as u32,
                    |at, result| {
                        assert_eq!(Some(at), positions.next());
                        let value = count + at as u32;
                        let full = map.len() == LIMITS.flows;
                        let expected = match map.get_mut(&numbers[at]) {
                            Some(old) => Ok(Some(core::mem::replace(old, (value, now)).0)),
                            None if full => Err(Full(value)),
                            None => Ok(map.insert(numbers[at], (value, now)).map(|(value, _)| value)),
                        };
                        assert_eq!(result, expected);
                    },
                );
                assert_eq!(positions.next(), Some(numbers.len()));
            }
            Step::RemoveBurst(numbers) => {
                let tuples: Vec<Tuple> = numbers.iter().map(|number| tuple(*number)).collect();
                flows.remove_burst(&tuples, |at, value| {
                    assert_eq!(value, map.remove(&numbers[at]).map(|(value, _)| value));
                });
            }
            Step::Wait(ticks) => {
                now = now.wrapping_add(*ticks);
                let mut expired = Vec::new();
                let mut calls = 0;
                let mut expire = |flows: &mut FlowTable<_, _, H, T>| {
                    let before = expired.len();
                    let done =
                        flows.expire(now, 32, |tuple, value| expired.push((tuple.foreign_port(), value)));
                    (done, expired.len() - before)
                };
                while let (false, count) = expire(&mut flows) {
                    calls += 1;
                    assert!(count <= 32 && calls < 100);
                }
                expired.sort_unstable();
                let due = |seen: u32| {
                    // The last tick before the count wraps is stored as the one before it.
                    let idle = now.wrapping_sub(seen.min(u32::MAX - 1));
                    idle >= LIMITS.idle && idle <= i32::MAX as u32
                };
                let expected: Vec<_> =
                    map.iter().filter(|(_, (_, seen))| due(*seen)).map(|(k, (v, _))| (*k, *v)).collect();
                map.retain(|_, (_, seen)| !due(*seen));
                assert_eq!(expired, expected);
            }
        }
        assert_eq!(flows.len(), map.len());
    }
    let all: Vec<Tuple> = (0..300).map(tuple).collect();
    flows.find_burst(&all, |at, found| {
        assert_eq!(found, map.get(&(at as u16)).map(|(value, _)| value));
        assert_eq!(found, flows.find(&all[at]));
        assert!(found.is_none() || flows.comparisons(&all[at]) > 0);
    });
    let entries: BTreeMap<u16, u32> =
        flows.iter().map(|(tuple, value)| (tuple.foreign_port(), *value)).collect();
    assert_eq!(entries, map.iter().map(|(number, (value, _))| (*number, *value)).collect());
}

proptest! {
    #[test]
    fn flows_come_and_go_as_in_a_map(start in prop_oneof![0..9u32, u32::MAX - 50..], steps in vec(step(), 0..400)) {
        behaves_like_a_map::<Sum<64>, Batched<Tuple, Flow<u32>>>(start, &steps);
        behaves_like_a_map::<Sum<32>, Batched<Tuple, Flow<u32>>>(start, &steps);
        behaves_like_a_map::<Sum<64>, Swiss<Tuple, Flow<u32>>>(start, &steps);
        behaves_like_a_map::<Sum<32>, Chained<Tuple, Flow<u32>>>(start, &steps);
    }
}

/// Fills a table, then replaces flows, the oldest and others, and gives its memory; it must not change.
fn churned<T: Table<Tuple, Flow<u32>>>(room: usize, replaced: u32) -> usize {
    // At least as long as a flow lives here.
    let idle = 1 << 10;
    let limits = Limits { flows: room, idle };
    let mut flows = FlowTable::<Tuple, u32, Sum<64>, T>::with_room(room, &Key::VECTOR, limits, 0);
    let numbered = |number: u32| {
        let foreign =
            Ipv6Addr::from_bits(u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        Tuple::new(Ipv6Addr::LOCALHOST, 443, foreign, number as u16)
    };
    let (memory, moves) = (flows.memory(), room as u32);
    let mut live: Vec<u32> = (0..moves).collect();
    for number in 0..moves {
        flows.insert(numbered(number), number, 0).unwrap();
        assert_eq!(flows.memory(), memory, "flow {number} of {room}");
    }
    let mut draw = 0x2545_f491_4f6c_dd1d_u64;
    for number in moves..moves + replaced {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        let old = core::mem::replace(&mut live[draw as usize % room], number);
        assert_eq!(flows.remove(&numbered(old)), Some(old));
        assert_eq!(flows.insert(numbered(number), number, 0), Ok(None));
        assert_eq!(flows.memory(), memory, "flow {number} in a table with room for {room}");
    }
    let mut expired = 0;
    assert!(flows.expire(idle, usize::MAX, |_, _| expired += 1));
    assert_eq!((expired, flows.memory()), (room, memory));
    memory
}

/// Bound on the memory, as the documentation of [`Flows`] has it.
fn documented(room: usize) -> usize {
    room * (size_of::<Option<(Tuple, Flow<u32>)>>() + 30) + (4 << 11) + 1024
}

#[test]
fn the_default_table_takes_the_memory_that_is_documented_and_no_more_under_churn() {
    let memory = churned::<Batched<Tuple, Flow<u32>>>(800_000, 1_000_000);
    assert!(memory <= documented(800_000), "{memory}");
    // The alias has this shape.
    let default: FlowTable<Tuple, u32, SipHash13, Batched<Tuple, Flow<u32>>> =
        Flows::new(&Key::VECTOR, LIMITS, 0);
    assert!(default.is_empty());
}

#[test]
fn a_swiss_table_is_rebuilt_under_churn_and_does_not_grow() {
    // As full as with 800,000 flows: 76 % of a power of two.
    churned::<Swiss<Tuple, Flow<u32>>>(12_500, 500_000);
}

/// Numbers about the capacities of all shapes: powers of two, times 6 of 8, times 7 of 8, once and twice.
fn about_a_capacity() -> impl Strategy<Value = usize> {
    let parts = prop_oneof![Just((1, 1)), Just((6, 8)), Just((7, 8)), Just((49, 64))];
    let about = (2..12_u32, parts, 0..3_usize)
        .prop_map(|(bits, (part, whole), off)| ((1 << bits) * part / whole + off).saturating_sub(1).max(1));
    prop_oneof![2 => about, 1 => 1..3000_usize]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_table_grows_while_it_has_no_more_flows_than_room(room in about_a_capacity()) {
        let replaced = 6 * room as u32;
        let memory = churned::<Batched<Tuple, Flow<u32>>>(room, replaced);
        prop_assert!(memory <= documented(room), "{}: {}", room, memory);
        churned::<Swiss<Tuple, Flow<u32>>>(room, replaced);
        churned::<Chained<Tuple, Flow<u32>>>(room, replaced);
    }
}

#[test]
fn an_entry_takes_no_room_for_being_absent() {
    assert_eq!(size_of::<Option<Flow<u32>>>(), 8);
    assert_eq!(size_of::<Option<(Tuple, Flow<u32>)>>(), 48);
}

#[test]
fn a_clock_that_runs_backwards_expires_nothing() {
    let mut flows =
        FlowTable::<Tuple, (), Sum<64>, Batched<Tuple, Flow<()>>>::new(&Key::VECTOR, LIMITS, 1000);
    flows.insert(tuple(1), (), 1000).unwrap();
    flows.expire(900, 9, |_, ()| panic!("expired"));
    flows.expire(1019, 9, |_, ()| panic!("expired"));
    assert_eq!(flows.len(), 1);
    flows.expire(1020, 9, |expired, ()| assert_eq!(expired, tuple(1)));
    assert!(flows.is_empty());
}

#[test]
fn many_flows_that_are_due_at_once_expire_in_steps_of_the_budget() {
    let limits = Limits { flows: 10_000, idle: 20 };
    let mut flows = Flows::with_room(10_000, &Key::VECTOR, limits, 0);
    let tuples: Vec<Tuple> = (0..10_000).map(tuple).collect();
    flows.insert_burst(&tuples, 5, |at| at, |_, result| assert_eq!(result, Ok(None)));
    let mut gone = Vec::new();
    let mut calls = 0;
    loop {
        let before = gone.len();
        let done = flows.expire(25, 256, |_, value| gone.push(value));
        assert!(gone.len() - before <= 256 && flows.len() + gone.len() == 10_000);
        calls += 1;
        // Flows come while others go.
        if calls == 3 {
            flows.insert(tuple(20_000), 20_000, 25).unwrap();
        }
        if done {
            break;
        }
        flows.remove(&tuple(gone.last().map_or(0, |last| *last as u16)));
        if calls == 3 {
            flows.remove(&tuple(20_000));
        }
    }
    assert_eq!((calls, flows.len()), (40, 0));
    gone.sort_unstable();
    assert!(gone.into_iter().eq(0..10_000));
}

#[test]
fn a_long_pause_is_walked_in_steps() {
    let limits = Limits { flows: 10, idle: 1 << 20 };
    let mut flows = Flows::new(&Key::VECTOR, limits, 0);
    flows.insert(tuple(1), 1, 0).unwrap();
    let mut calls = 1;
    while !flows.expire(1 << 20, 64, |_, _| ()) {
        calls += 1;
    }
    assert_eq!((calls, flows.len()), ((1 << 20) / (2 * crate::wheel::TICKS), 0));
}

#[test]
fn the_hand_of_a_clock_evicts_the_first_flow_of_enough_rank_or_the_highest() {
    let limits = Limits { flows: 10_000, idle: 20 };
    let mut flows = Flows::new(&Key::VECTOR, limits, 0);
    assert_eq!(flows.evict(0, 0, |_, _, _| 0), None);
    for number in 0..10_000 {
        flows.insert(tuple(number), number, 0).unwrap();
    }
    // The second half may go; it is found from a place in the first half.
    let rank = |_: &Tuple, value: &u16, idle: u32| u64::from(*value >= 5000) + u64::from(idle);
    for count in 1..=5000 {
        let (key, value) = flows.evict(0, 1, rank).unwrap();
        assert!(value >= 5000 && key == tuple(value), "{value} after {count}");
        assert_eq!(flows.len(), 10_000 - count);
        if flows.len() < 5200 {
            break;
        }
    }
    // None has enough rank: the highest of those that were looked at.
    assert!(flows.evict(7, 100, rank).is_some_and(|(_, value)| value >= 5000));
}

#[test]
fn a_scan_in_parts_passes_each_flow_once() {
    let mut flows = Flows::<u32>::new(&Key::VECTOR, Limits { flows: 1000, idle: 300 }, 0);
    for number in 0..500 {
        flows.insert(tuple(number), u32::from(number), 0).unwrap();
    }
    for number in (0..500).step_by(3) {
        flows.remove(&tuple(number));
    }
    let (mut seen, mut from, mut parts) = (Vec::new(), Some(0), 0);
    while let Some(slot) = from {
        from = flows.scan(slot, 64, |_, value| seen.push(*value));
        parts += 1;
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..500).filter(|number| number % 3 != 0).collect::<Vec<_>>());
    assert_eq!(parts, 500_usize.div_ceil(64));
    assert_eq!(flows.scan(5000, u32::MAX, |_, _| unreachable!()), None);
}

#[test]
fn new_limits_hold_for_the_flows_that_are_there() {
    let mut flows = FlowTable::<Tuple, u32, Sum<64>, Batched<Tuple, Flow<u32>>>::new(
        &Key::VECTOR,
        Limits { flows: 100, idle: 1000 },
        0,
    );
    for number in 0..100 {
        flows.insert(tuple(number), number.into(), u32::from(number)).unwrap();
    }
    let mut gone = Vec::new();
    assert!(flows.expire(500, 10_000, |_, number| gone.push(number)));
    assert!(gone.is_empty());
    // A shorter timeout, whose time has passed for half of them.
    flows.set_limits(Limits { flows: 40, idle: 450 }, 500);
    assert!(flows.expire(501, 10_000, |_, number| gone.push(number)));
    gone.sort_unstable();
    assert!(gone.iter().copied().eq(0..=51), "{gone:?}");
    // Those beyond the lower limit stay, and no other is taken.
    assert_eq!((flows.len(), flows.insert(tuple(200), 200, 500)), (48, Err(Full(200))));
    // A longer one, beyond the turn of the first wheel.
    flows.set_limits(Limits { flows: 50, idle: 100_000 }, 500);
    assert!(flows.expire(100_050, 100_000, |_, number| gone.push(number)));
    assert_eq!((gone.len(), flows.len()), (52, 48));
    assert_eq!(flows.insert(tuple(200), 200, 100_050), Ok(None));
    while !flows.expire(100_099, 100_000, |_, number| gone.push(number)) {}
    assert_eq!((flows.len(), flows.find(&tuple(200))), (1, Some(&200)));
}
