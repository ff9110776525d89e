//! Counts the lines of standard input by bucket, in two halves that are merged as from two processes.
//!
//! ```sh
//! seq 100000 | cargo run -p hashlane-sketch --example merge
//! ```

use hashlane_hash::scheme::Key;
use hashlane_sketch::{Error, Keys, Sketch, Spread};
use std::io::{BufRead as _, stdin};

/// A sketch of these keys of eight bytes, as bytes for another process.
fn part(keys: &[[u8; 8]]) -> Result<Vec<u8>, Error> {
    let mut spread = Spread::new("siphash-1-3", &Key::new([7; 16]), 1 << 10)?;
    spread.update(&Keys::rows(keys.as_flattened(), 8)?)?;
    Ok(spread.to_bytes())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut keys = Vec::new();
    for line in stdin().lock().lines() {
        let mut key = [0; 8];
        let text = line?;
        let length = text.len().min(8);
        key[..length].copy_from_slice(&text.as_bytes()[..length]);
        keys.push(key);
    }
    let (first, second) = keys.split_at(keys.len() / 2);
    let mut whole = Spread::from_bytes(&part(first)?)?;
    whole.merge(&Spread::from_bytes(&part(second)?)?)?;
    let result = whole.result();
    println!("{} keys in {} buckets, the fullest with {}", result.keys, 1 << 10, result.longest);
    println!("p-value of χ²: {:.3}; below 0.001 the hash spreads them badly", result.p_value);
    Ok(())
}
