//! Memory of small sketches, counted by the allocator. One test, as tests of one process share the count.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../dns/tests/memory/counting.rs"]
mod counting;

use counting::peak_of;
use hashlane_hash::scheme::Key;
use hashlane_sketch::{Batch, Distinct, Groups, Keys, Sketch};

/// The criteria: bytes of a sketch of one key, in memory and written; and bytes of 100,000 groups of 10 keys.
const ONE_KEY: usize = 40;
const GROUPS: usize = 30_000_000;

#[test]
fn sketches_of_few_keys_are_small() {
    let empty = Distinct::new(14, &Key::VECTOR).unwrap();
    let key = Keys::rows(b"a key", 5).unwrap();
    let count = |empty: &Distinct| {
        let mut sketch = empty.clone();
        sketch.update(&key).unwrap();
        sketch
    };
    // What a process allocates once.
    count(&empty);
    let (sketch, heap) = peak_of(|| count(&empty));
    let bytes = heap + size_of_val(&sketch);
    assert!(bytes <= ONE_KEY, "{bytes} bytes in memory");
    assert!(sketch.to_bytes().len() <= ONE_KEY, "{} bytes written", sketch.to_bytes().len());

    let (groups, bytes) = peak_of(|| {
        let mut groups = Groups::new(empty.clone()).unwrap();
        for round in 0..10_u32 {
            for part in 0..20_u32 {
                let names: Vec<u8> =
                    (0..5000).flat_map(|row| format!("user {:07}", part * 5000 + row).into_bytes()).collect();
                let keys: Vec<u8> = (0..5000_u32).flat_map(|row| (row * 10 + round).to_be_bytes()).collect();
                let batch = Batch::new(Keys::rows(&keys, 4).unwrap());
                groups.update(&Keys::rows(&names, 12).unwrap(), &batch).unwrap();
            }
        }
        groups
    });
    assert_eq!(groups.len(), 100_000);
    assert!(groups.iter().all(|(_, sketch)| sketch.result().keys == 10.0));
    assert!(bytes <= GROUPS, "{bytes} bytes in memory");
    let written = groups.to_bytes().len();
    assert!(written <= GROUPS / 2, "{written} bytes written");
    println!("100,000 groups of 10 keys: {bytes} bytes in memory, {written} written");
}
