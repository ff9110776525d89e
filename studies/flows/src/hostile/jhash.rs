//! Collisions of jhash under a known seed: its final mixing can be inverted.

use hashlane_flow::tuple::Tuple;
use hashlane_hash::jhash::JHASH_INITVAL;

/// Tuples whose nine words jhash2 with `initval` takes to the same value; they differ in the lower half of
/// the foreign address and in the ports.
pub(crate) fn collisions(initval: u32, count: usize) -> Vec<Tuple> {
    let words = words(&Tuple::CHECK);
    let start = JHASH_INITVAL.wrapping_add(36).wrapping_add(initval);
    let mut state = [start; 3];
    for block in words[..6].as_chunks::<3>().0 {
        state = mix(add(state, *block));
    }
    // The last mixing is one to one: for every outcome whose third word is the hash, and whose others are
    // anything, there is one block that leads to it.
    const HASH: u32 = 0x6861_7368;
    (0..count as u32).map(|i| tuple(&words, sub(unmixed([i, !i, HASH]), state))).collect()
}

fn words(tuple: &Tuple) -> [u32; 9] {
    core::array::from_fn(|i| u32::from_le_bytes(core::array::from_fn(|byte| tuple.as_bytes()[4 * i + byte])))
}

/// The tuple of the first six words and the last block.
fn tuple(words: &[u32; 9], last: [u32; 3]) -> Tuple {
    let mut bytes = [0; 36];
    let all = words[..6].iter().chain(&last);
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(all) {
        *bytes = word.to_le_bytes();
    }
    Tuple::from_bytes(&bytes)
}

fn add(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    core::array::from_fn(|i| a[i].wrapping_add(b[i]))
}

fn sub(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    core::array::from_fn(|i| a[i].wrapping_sub(b[i]))
}

/// `__jhash_mix`, as rows of the lane that is changed, the lane that is read, and the rotation.
fn mix(mut lanes: [u32; 3]) -> [u32; 3] {
    for (to, from, bits) in [(0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4)] {
        lanes[to] = lanes[to].wrapping_sub(lanes[from]) ^ lanes[from].rotate_left(bits);
        lanes[from] = lanes[from].wrapping_add(lanes[3 - to - from]);
    }
    lanes
}

/// Inverse of `__jhash_final` on these lanes: its rows from the last to the first, each undone.
fn unmixed(mut lanes: [u32; 3]) -> [u32; 3] {
    for (to, from, bits) in
        [(2, 1, 24), (1, 0, 14), (0, 2, 4), (2, 1, 16), (1, 0, 25), (0, 2, 11), (2, 1, 14)]
    {
        lanes[to] = lanes[to].wrapping_add(lanes[from].rotate_left(bits)) ^ lanes[from];
    }
    lanes
}
