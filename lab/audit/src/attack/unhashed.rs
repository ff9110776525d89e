//! Bits of a key that do not move the hash.

use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use core::fmt;
use core::ops::Range;

/// Random keys whose bits are changed one by one, each key under a new seed: a bit that moves the hash under
/// half of the seeds, as a product by a random number has, is no unhashed one. Few bits are left after the
/// first keys.
const TRIALS: usize = 24;

/// Longest keys whose bits are probed one by one.
const MAX_PROBED: usize = 1024;

/// Bits of keys of one length that do not move the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unhashed {
    /// Their numbers; bit n is the bit of value 2^(n mod 8) in byte n / 8.
    pub bits: Vec<usize>,
    /// Bytes of the keys.
    pub length: usize,
    /// True if the function takes keys of other lengths, too.
    pub is_of_one_length: bool,
    /// Length of shorter keys up to which no such bits were found; `None` if short keys have some, too, or
    /// were not probed.
    pub none_up_to: Option<usize>,
}

impl Unhashed {
    /// The bytes none of whose bits move the hash, as ranges.
    pub fn bytes(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for group in self.bits.chunk_by(|a, b| a / 8 == b / 8) {
            let (Some(first), 8) = (group.first(), group.len()) else { continue };
            match ranges.last_mut() {
                Some(range) if range.end == first / 8 => range.end += 1,
                _ => ranges.push(first / 8..first / 8 + 1),
            }
        }
        ranges
    }

    /// The unhashed words of 32 bits of a [tuple](hashlane_flow::tuple::Tuple), by the names of its fields;
    /// empty if no whole word is unhashed.
    pub fn words_of_tuple(&self) -> String {
        let whole = |word: &usize| {
            self.bytes().iter().any(|range| range.start <= 4 * word && 4 * word + 4 <= range.end)
        };
        let fields = [("local address", 0..4), ("foreign address", 4..8)];
        let mut names = Vec::new();
        for (name, words) in fields {
            let unhashed: Vec<usize> = words.clone().filter(whole).map(|word| word - words.start).collect();
            match unhashed[..] {
                [] => {}
                [word] => names.push(format!("word {word} of the {name}")),
                [first, .., last] if last - first + 1 == unhashed.len() => {
                    names.push(format!("words {first}–{last} of the {name}"));
                }
                _ => names.push(format!("words {unhashed:?} of the {name}")),
            }
        }
        if whole(&8) {
            names.push("the ports".to_owned());
        }
        names.join(", ")
    }

    /// Verb of a sentence about these bits.
    pub fn verb(&self) -> &'static str {
        let bytes: usize = self.bytes().iter().map(Range::len).sum();
        let lone = self.bits.len() - 8 * bytes;
        if bytes + lone == 1 { "is" } else { "are" }
    }

    /// Sets [`Self::none_up_to`]: tries a few short lengths, and then lengths up to these keys' by bisection.
    ///
    /// # Errors
    /// The function fails.
    pub fn find_lengths(&mut self, subject: &mut dyn AuditedHash, draw: &mut Draw) -> Result<(), Fault> {
        const SHORT: [usize; 5] = [4, 8, 16, 36, 64];
        let (mut without, mut with) = (None, self.length);
        for length in SHORT.into_iter().filter(|length| *length < self.length) {
            if !unhashed(subject, length, draw)?.is_empty() {
                with = length;
                break;
            }
            without = Some(length);
        }
        while let Some(length) = without.filter(|without| without + 1 < with) {
            let middle = (length + with) / 2;
            match unhashed(subject, middle, draw)?.is_empty() {
                true => without = Some(middle),
                false => with = middle,
            }
        }
        self.none_up_to = without;
        Ok(())
    }

    /// True if every bit moves the hash.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }
}

impl fmt::Display for Unhashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        for (number, range) in bytes.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            match range.len() {
                1 => write!(f, "{comma}byte {}", range.start)?,
                _ => write!(f, "{comma}bytes {}–{}", range.start, range.end - 1)?,
            }
        }
        let lone = self.bits.iter().filter(|bit| !bytes.iter().any(|range| range.contains(&(**bit / 8))));
        match lone.count() {
            0 => {}
            lone => {
                let and = if bytes.is_empty() { "" } else { " and " };
                write!(f, "{and}{lone} single bit{}", if lone == 1 { "" } else { "s" })?;
            }
        }
        match (self.is_of_one_length, self.none_up_to) {
            (true, Some(longest)) => {
                write!(f, " of keys of {} bytes (none of keys of up to {longest} bytes)", self.length)
            }
            (true, None) => write!(f, " of keys of {} bytes", self.length),
            (false, _) => f.write_str(" of the key"),
        }
    }
}

/// Finds the bits of keys of `length` bytes that do not move the hash: each is changed in several random
/// keys, under several seeds. A hash of 32 bits keeps its value by chance in all trials with
/// a probability below 2⁻¹²⁸.
///
/// # Errors
/// The function fails.
pub fn unhashed(subject: &mut dyn AuditedHash, length: usize, draw: &mut Draw) -> Result<Unhashed, Fault> {
    let mut still: Vec<usize> = (0..8 * length.min(MAX_PROBED)).collect();
    let mut hashes = Vec::new();
    for _ in 0..TRIALS {
        let base = draw.bytes(length);
        let keys: Keys =
            core::iter::once(base.clone()).chain(still.iter().map(|bit| flipped(&base, *bit))).collect();
        subject.hash_all(&draw.key(), &keys, &mut hashes)?;
        let Some((of_base, of_flipped)) = hashes.split_first() else { break };
        let mut of_flipped = of_flipped.iter();
        still.retain(|_| of_flipped.next() == Some(of_base));
    }
    Ok(Unhashed { bits: still, length, ..Unhashed::default() })
}

fn flipped(base: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = base.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// Keys that differ in unhashed bits alone.
pub(super) struct UnhashedBits;

impl Attack for UnhashedBits {
    fn about(&self) -> About {
        About {
            id: "unhashed",
            title: "bits of the key that do not move the hash",
            source: "net/ipv6/inet6_hashtables.c (inet6_ehashfn); found here by changing each bit",
            knowledge: Knowledge::Nothing,
            aims_at: &[
                "ehash/base",
                "ehash/v1",
                "ehash/jhash2",
                "ehash/hsiphash",
                "ehash/siphash",
                "ehash/lport",
            ],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(super::USUAL_LENGTH);
        let found = unhashed(target.subject, length, target.draw)?;
        let count = 1usize.checked_shl(found.bits.len() as u32).unwrap_or(usize::MAX).min(target.count);
        if count < FEWEST {
            return Err(Miss::NotApplicable("every bit moves the hash".to_owned()));
        }
        let base = target.draw.bytes(length);
        Ok((0..count)
            .map(|number| {
                let mut bytes = base.clone();
                for (place, bit) in found.bits.iter().enumerate().take(usize::BITS as usize) {
                    bytes[bit / 8] ^= (((number >> place) & 1) as u8) << (bit % 8);
                }
                bytes
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_bytes_are_named_as_ranges() {
        let of = |bits: Vec<usize>| Unhashed { bits, ..Unhashed::default() }.to_string();
        assert_eq!(of((0..32).chain(40..48).collect()), "bytes 0–3, byte 5 of the key");
        assert_eq!(of((8..16).chain([17]).collect()), "byte 1 and 1 single bit of the key");
        assert_eq!(of(vec![3, 9]), "2 single bits of the key");
        let of_one =
            Unhashed { bits: (0..8).collect(), length: 36, is_of_one_length: true, none_up_to: None };
        assert_eq!(of_one.to_string(), "byte 0 of keys of 36 bytes");
        let words = |bits| Unhashed { bits, ..Unhashed::default() }.words_of_tuple();
        assert_eq!(words((0..96).collect()), "words 0–2 of the local address");
        assert_eq!(
            words((32..64).chain(128..160).chain(192..288).collect()),
            "word 1 of the local address, \
            words [0, 2, 3] of the foreign address, the ports"
        );
        assert_eq!(words((1..32).collect()), "");
    }
}
