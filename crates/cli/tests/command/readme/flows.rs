//! The README's example with flows.

use hashlane_flow::table::{Flows, Limits};
use hashlane_flow::tuple::Tuple;

/// Counts the packets of each flow; `burst` has the tuples of packets that arrived together.
fn receive(burst: &[Tuple]) -> Result<usize, Box<dyn std::error::Error>> {
    let mut flows = Flows::<u64>::with_random_key(Limits { flows: 1 << 20, idle: 300 }, 0)?;

    // The burst is hashed and prefetched, then each tuple is looked up.
    let mut new = Vec::new();
    flows.touch_burst(burst, 1, |at, packets| match packets {
        Some(packets) => *packets += 1,
        None => new.push(burst[at]),
    });
    for tuple in new {
        if flows.insert(tuple, 1, 1).is_err() {
            break; // The table is full.
        }
    }
    flows.expire(301, 1000, |tuple, packets| println!("{tuple}: idle after {packets} packets"));
    Ok(flows.len())
}

#[test]
fn the_example_with_flows_runs() {
    assert_eq!(receive(&[Tuple::CHECK, Tuple::CHECK.reversed(), Tuple::CHECK]).unwrap(), 0);
}
