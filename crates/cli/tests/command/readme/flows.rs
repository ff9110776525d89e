//! The README's example with flows.

use hashlane_flow::table::{Flows, Limits};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;

/// `key`: drawn at random when the process starts; `burst`: the tuples of the packets that came together.
fn receive(key: &Key, burst: &[Tuple]) -> usize {
    let mut flows = Flows::<u64>::new(key, Limits { flows: 1 << 20, idle: 300 }, 0);

    // Hashed side by side, prefetched, then looked up: each packet counts, or makes a flow.
    let mut new = Vec::new();
    flows.touch_burst(burst, 1, |at, packets| match packets {
        Some(packets) => *packets += 1,
        None => new.push(burst[at]),
    });
    for tuple in new {
        if flows.insert(tuple, 1, 1).is_err() {
            break; // There are as many as there may be.
        }
    }
    flows.expire(301, |tuple, packets| println!("{tuple}: idle after {packets} packets"));
    flows.len()
}

#[test]
fn the_example_with_flows_runs() {
    // One flow of two packets, and one of one: all are idle at the end.
    assert_eq!(receive(&Key::VECTOR, &[Tuple::CHECK, Tuple::CHECK.reversed(), Tuple::CHECK]), 0);
}
