//! A flow table under FNV-1a, which has no key, for `hashlane audit --table`.
//!
//! `cargo build --example flow_table_weak` leaves `target/debug/examples/libflow_table_weak.so`.

pub mod flow_table;

/// The hash of the table.
fn hash(key: &[u8], _seed: &[u8; 16]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    key.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
