//! Memory of small sketches, counted by the allocator. One test, as tests of one process share the count.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../dns/tests/memory/counting.rs"]
mod counting;

use counting::peak_of;
use hashlane_hash::scheme::Key;
use hashlane_sketch::{Distinct, Keys, Sketch};

/// The criterion: bytes of a sketch of one key, in memory and written.
const ONE_KEY: usize = 40;

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
}
