//! Collisions of jhash under a known seed: its final mixing can be inverted.

use hashlane_audit::attack::jhash_key;
use hashlane_flow::tuple::Tuple;

/// Tuples whose nine words jhash2 with `initval` takes to the same value; they differ in the lower half of
/// the foreign address and in the ports.
pub(crate) fn collisions(initval: u32, count: usize) -> Vec<Tuple> {
    let tuple = |number| {
        let mut bytes = [0; Tuple::LEN];
        bytes.copy_from_slice(&jhash_key(Tuple::CHECK.as_bytes(), initval, number));
        Tuple::from_bytes(&bytes)
    };
    (0..count as u32).map(tuple).collect()
}
