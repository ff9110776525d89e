//! The README's example with flows.

use flow::ehash::SipHash13;
use flow::table::{Flow, FlowTable, Limits};
use flow::tuple::Tuple;
use hash::scheme::Key;
use table::batched::Batched;

/// `key`: drawn at random when the process starts; `burst`: the tuples of the packets that came together.
fn receive(key: &Key, burst: &[Tuple]) -> usize {
    let limits = Limits { flows: 1 << 20, idle: 300 };
    let mut flows: FlowTable<u64, SipHash13, Batched<Tuple, Flow<u64>>> = FlowTable::new(key, limits, 0);

    // Hashed side by side, prefetched, then looked up: each packet counts, or makes a flow.
    let mut new = Vec::new();
    flows.seen_burst(burst, 1, |at, packets| match packets {
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
