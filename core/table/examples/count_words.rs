//! Counts the words of a file, 32 at a time: prefetch the buckets, prefetch the entries, then look up.
//!
//! ```sh
//! cargo run -p hashlane-table --example count_words README.md
//! ```

use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_table::Table;
use hashlane_table::batched::Batched;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: count_words FILE")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let words: Vec<&str> = text.split_whitespace().collect();

    let hash = SipHash13::new(&Key::random()?);
    let hash = |word: &&str| hash.hash(word.as_bytes());
    let mut counts: Batched<&str, u32> = Batched::with_capacity(1024);
    for burst in words.chunks(32) {
        let hashes: Vec<u64> = burst.iter().map(hash).collect();
        hashes.iter().for_each(|&hash| counts.prefetch(hash));
        hashes.iter().for_each(|&hash| counts.prefetch_entry(hash));
        for (&word, &hashed) in burst.iter().zip(&hashes) {
            match counts.find_mut(hashed, &word) {
                Some(count) => *count += 1,
                None => {
                    counts.insert(hashed, word, 1, hash);
                }
            }
        }
    }

    let mut sorted: Vec<(u32, &str)> = counts.iter().map(|(_, word, count)| (*count, *word)).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    println!("{} words, {} different, {} bytes of table", words.len(), counts.len(), counts.memory());
    for (count, word) in sorted.iter().take(10) {
        println!("{count:6}  {word}");
    }
    Ok(())
}
