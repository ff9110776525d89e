//! Keys that suit the bits by which each table chooses a bucket.

use super::unseen::words;
use super::*;

/// Report of a hash of integers of `bytes` bytes.
fn report_of_integers(
    id: &str,
    bytes: usize,
    geometry: &str,
    seed: u64,
    hash: fn(u64, u64) -> u64,
) -> Report {
    let info = SubjectInfo { id: id.to_owned(), lengths: Lengths::Exactly(bytes), ..info_of_test() };
    let of = |key: &Key, bytes: &[u8], _| Ok(hash(key.halves().0, words(bytes).next().unwrap_or(0)));
    audit(&mut Broken(info, of, 0), &settings(geometry, seed), &[], &mut |_| {})
}

/// A random line modulo the least prime above 2^32.
fn line(seed: u64, word: u64) -> u64 {
    let sum = u128::from(seed & 0xffff_ffff) * u128::from(word) + u128::from(seed >> 32);
    (sum % 4_294_967_311) as u64
}

/// The product of the sum of a number and the seed with a constant, its halves combined by exclusive or.
fn folded(seed: u64, word: u64) -> u64 {
    let product = u128::from(word.wrapping_add(seed)) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

const TABLES: [&str; 5] = ["chained", "linear", "swiss", "hashbrown", "linux-ehash"];

#[test]
fn learnt_words_of_a_line_modulo_a_prime_flood_every_table() {
    // Tags of the highest bits, which are 0, compare all keys of a group, also random ones.
    for table in TABLES.into_iter().filter(|table| *table != "hashbrown") {
        for seed in 1..=long::pick(2, 10) {
            let report = report_of_integers("line", 4, table, seed, line);
            let Verdict::Floodable(Knowledge::Results, "progression-learnt", flood) = &report.verdict else {
                panic!("{table}, seed {seed}: {}", report.verdict)
            };
            assert!(flood.growth() > 64.0, "{table}, seed {seed}: {}", report.verdict);
        }
    }
}

#[test]
fn words_of_a_folded_product_flood_every_table_under_fresh_seeds() {
    for table in TABLES {
        for seed in 1..=long::pick(2, 10) {
            let report = report_of_integers("folded", 8, table, seed, folded);
            let Verdict::Floodable(Knowledge::Nothing, "progression-learnt", flood) = &report.verdict else {
                panic!("{table}, seed {seed}: {}", report.verdict)
            };
            assert!(flood.growth() > 64.0, "{table}, seed {seed}: {}", report.verdict);
        }
    }
}
