//! Words that bring every state back if they are repeated often enough, as steps by a table do.
//!
//! A step that is one to one among few states has an order: so many steps change nothing. Numbers with many
//! divisors are multiples of the orders of many words.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::keys::Keys;
use crate::subject::Lengths;
use std::collections::BTreeSet;

/// A word that is repeated, at another place of the key.
pub(super) struct Repeated;

/// Times that a word stands in a row: of 2^8 states, one word in 250 or in 450 has an order that divides
/// them.
const TIMES: [usize; 2] = [252, 240];

/// Words of one to four bytes that are tried.
const WORDS: [usize; 4] = [256, 768, 128, 128];

/// Bytes around the rows, if the keys have no stated length.
const AROUND: usize = 64;

/// Rows in a key, at most.
const ROWS: usize = 3;

/// Fresh keys and seeds for which a row must hold.
const TRIALS: usize = 4;

impl Attack for Repeated {
    fn about(&self) -> About {
        About {
            id: "repeated-words",
            title: "a short word, repeated often enough, leaves every state as it was",
            source: "steps by a table: Pearson, Fast hashing of variable-length text strings, CACM 33(6), 1990",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let fixed = match (target.subject.info().lengths, target.length) {
            (Lengths::Exactly(length), _) | (Lengths::Any, Some(length)) => Some(length),
            (Lengths::Any, None) => None,
        };
        let seed = target.key;
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for (bytes, words) in (1..).zip(WORDS) {
            let words: BTreeSet<Vec<u8>> = match bytes {
                1 => (0..=u8::MAX).map(|byte| vec![byte]).collect(),
                _ => (0..words).map(|_| target.draw.bytes(bytes)).collect(),
            };
            let all = words.iter().flat_map(|word| TIMES.map(|times| word.repeat(times)));
            rows.extend(all.filter(|row| fixed.is_none_or(|length| row.len() + AROUND / 4 <= length)));
        }
        let around = |row: &[u8]| fixed.map_or(AROUND, |length| length - row.len());
        let mut keys = Keys::default();
        for row in &rows {
            let base = target.draw.bytes(around(row));
            keys.extend(moved(&base, row));
        }
        let hashes = target.hash_under(&seed, &keys)?;
        let mut suspicious: Vec<&Vec<u8>> = rows
            .iter()
            .zip(hashes.as_chunks::<2>().0)
            .filter(|(_, [a, b])| a == b)
            .map(|(row, _)| row)
            .collect();
        suspicious.sort_by_key(|row| row.len());
        'rows: for row in suspicious {
            for _ in 0..TRIALS {
                let (seed, base) = (target.draw.key(), target.draw.bytes(around(row)));
                let [one, other] = moved(&base, row);
                if !target.collide(&seed, [&one, &other])? {
                    continue 'rows;
                }
            }
            let rows =
                (1..=ROWS).take_while(|rows| fixed.is_none_or(|length| rows * row.len() + FEWEST <= length));
            let rows = rows.last().unwrap_or(1);
            let base = target.draw.bytes(fixed.map_or(AROUND, |length| length - rows * row.len()));
            return target.colliding(placed(&base, row, rows, target.count));
        }
        Err(Miss::NotApplicable("no short word that is repeated leaves the state as it was".to_owned()))
    }
}

/// Two keys that have `row` at two places of `base`.
fn moved(base: &[u8], row: &[u8]) -> [Vec<u8>; 2] {
    [base.len() / 4, base.len() * 3 / 4].map(|at| [&base[..at], row, &base[at..]].concat())
}

/// Different keys with `rows` rows at all places of `base`, at most `count`.
fn placed(base: &[u8], row: &[u8], rows: usize, count: usize) -> Keys {
    let places = base.len() + 1;
    let all = (0..places.pow(rows as u32)).filter_map(|number| {
        let at = (0..rows as u32).map(|digit| number / places.pow(digit) % places).collect::<Vec<_>>();
        // Equal rows have no order.
        at.is_sorted().then(|| {
            let mut key = Vec::with_capacity(base.len() + rows * row.len());
            let mut from = 0;
            for at in at {
                key.extend_from_slice(&base[from..at]);
                key.extend_from_slice(row);
                from = at;
            }
            key.extend_from_slice(&base[from..]);
            key
        })
    });
    let mut seen = BTreeSet::new();
    all.filter(|key| seen.insert(key.clone())).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_all_places() {
        let keys = placed(b"ab", b"--", 2, 100);
        let mut keys: Vec<&[u8]> = keys.iter().collect();
        keys.sort_unstable();
        let expected: [&[u8]; 6] = [b"----ab", b"--a--b", b"--ab--", b"a----b", b"a--b--", b"ab----"];
        assert_eq!(keys, expected);
        assert_eq!(placed(b"ab", b"--", 2, 4).len(), 4);
        assert_eq!(moved(b"abcd", b"-"), [b"a-bcd", b"abc-d"]);
    }
}
