//! A flow table under SipHash-2-4 with a secret key, for `hashlane audit --table`.
//!
//! `cargo build --example flow_table` leaves `target/debug/examples/libflow_table.so`.

pub mod flow_table;

use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;

/// The hash of the table.
fn hash(key: &[u8], seed: &[u8; 16]) -> u64 {
    SipHash24::new(&Key::new(*seed)).hash(key)
}
