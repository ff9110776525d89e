//! `siphash13`.

use crate::api::{Chunk, Column, Output, Scalar, Type};
use crate::arguments::{check_given, secret};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash;
use hashlane_sketch::hasher::Hasher;

/// `siphash13(x, key)`: SipHash-1-3 of text, bytes or an integer under a key of 16 bytes.
pub(crate) struct SipHash13;

impl Scalar for SipHash13 {
    const NAME: &'static str = "siphash13";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        TYPES.iter().map(|of| (vec![*of, Type::Blob], Type::UBigInt)).collect()
    }

    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String> {
        check_given(input, &[(1, Type::Blob, "the key")])?;
        let (x, key) = (input.column(0)?, input.column(1)?);
        let rows = KeyRows::of(&x)?;
        let hashes = output.numbers::<u64>()?;
        let mut from = 0;
        while from < input.rows() {
            let to = end_of_run(&key, from);
            if let Some(key) = key.bytes(from) {
                let out = hashes.get_mut(from..to).unwrap_or_default();
                hasher(&secret(key)?)?.hash(&rows.keys(from..to)?, out);
            }
            from = to;
        }
        if x.may_have_nulls() {
            (0..input.rows()).filter(|row| x.is_null(*row)).for_each(|row| output.set_null(row));
        }
        Ok(())
    }
}

fn hasher(key: &Key) -> Result<Hasher, String> {
    Hasher::new(siphash::SipHash13::INFO.id, key).map_err(|error| error.to_string())
}

/// The row after the rows from `from` on that have one key.
fn end_of_run(key: &Column<'_>, from: usize) -> usize {
    if from == 0 && key.is_constant() {
        return key.rows();
    }
    let first = key.bytes(from);
    (from + 1..key.rows()).find(|row| key.bytes(*row) != first).unwrap_or(key.rows())
}
