//! The table of flows against the standard library's map, with every shape.

use super::*;
use core::net::Ipv6Addr;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;
use table::batched::Batched;
use table::chained::Chained;
use table::swiss::Swiss;

/// A hash of 64 bits, or of 32, that is good enough for a test.
#[derive(Clone)]
struct Sum<const WIDTH: u32>(u64);

impl<const WIDTH: u32> TupleHash for Sum<WIDTH> {
    const INFO: hash::scheme::SchemeInfo = hash::scheme::SchemeInfo {
        id: "sum",
        source: "this test",
        width: WIDTH,
        keying: hash::scheme::Keying::None,
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
    Wait(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..300u16;
    prop_oneof![
        8 => number.clone().prop_map(Step::Insert),
        2 => number.clone().prop_map(Step::Remove),
        2 => number.clone().prop_map(Step::Seen),
        1 => vec(number, 0..70).prop_map(Step::SeenBurst),
        2 => prop_oneof![8 => 0..4u32, 1 => 0..200u32].prop_map(Step::Wait),
    ]
}

const LIMITS: Limits = Limits { flows: 150, idle: 20 };

fn behaves_like_a_map<H: TupleHash, T: Table<Tuple, Flow<u32>>>(start: u32, steps: &[Step]) {
    let mut now = start;
    let mut flows = FlowTable::<u32, H, T>::with_room(8, &Key::VECTOR, LIMITS, now);
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
                let found = flows.seen(&tuple(*number), now).copied();
                assert_eq!(found, map.get(number).map(|(value, _)| *value));
                map.entry(*number).and_modify(|(_, seen)| *seen = now);
            }
            Step::SeenBurst(numbers) => {
                let tuples: Vec<Tuple> = numbers.iter().map(|number| tuple(*number)).collect();
                let mut expected = numbers.iter().enumerate();
                flows.seen_burst(&tuples, now, |at, value| {
                    let (position, number) = expected.next().unwrap();
                    assert_eq!(at, position);
                    assert_eq!(value.copied(), map.get(number).map(|(value, _)| *value));
                });
                assert_eq!(expected.next(), None);
                for number in numbers {
                    map.entry(*number).and_modify(|(_, seen)| *seen = now);
                }
            }
            Step::Wait(ticks) => {
                now = now.wrapping_add(*ticks);
                let mut expired = Vec::new();
                flows.expire(now, |tuple, value| expired.push((tuple.foreign_port(), value)));
                expired.sort_unstable();
                let due = |seen: u32| {
                    // The last tick before the count wraps is kept as the one before it.
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
        assert!(found.is_none() || flows.compared(&all[at]) > 0);
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

#[test]
fn an_entry_takes_no_room_for_being_absent() {
    assert_eq!(size_of::<Option<Flow<u32>>>(), 8);
    assert_eq!(size_of::<Option<(Tuple, Flow<u32>)>>(), 48);
}

#[test]
fn a_clock_that_runs_backwards_expires_nothing() {
    let mut flows = FlowTable::<(), Sum<64>, Batched<Tuple, Flow<()>>>::new(&Key::VECTOR, LIMITS, 1000);
    flows.insert(tuple(1), (), 1000).unwrap();
    flows.expire(900, |_, ()| panic!("expired"));
    flows.expire(1019, |_, ()| panic!("expired"));
    assert_eq!(flows.len(), 1);
    flows.expire(1020, |expired, ()| assert_eq!(expired, tuple(1)));
    assert!(flows.is_empty());
}
