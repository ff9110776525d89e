//! Kinds of functions that need a search of their own. Each is written here from the description of its kind.

use super::unseen::{Hash, is_flooded_by, mixed, report_of, report_with, second_key, siphash, words};
use super::*;
use crate::constants::Constants;

fn with_numbers(numbers: &[u64]) -> Constants {
    Constants { numbers: numbers.to_vec(), ..Constants::default() }
}

#[test]
fn a_word_that_equals_a_constant_of_the_code_erases_the_state() {
    const SECRET: u64 = 0x6c62_272e_07bb_0142;
    // The factors are the state and a word: all before is erased. Then two words: one erases the other.
    let functions: [(&str, Constants, Hash); 3] = [
        ("state", with_numbers(&[SECRET]), |seed, bytes| {
            let start = mixed(seed ^ bytes.len() as u64);
            let step = |state: u64, word: u64| {
                let product = u128::from(mixed(state)) * u128::from(word ^ SECRET);
                product as u64 ^ (product >> 64) as u64
            };
            siphash(seed, &words(bytes).fold(start, step).to_le_bytes())
        }),
        ("two words of 32 bits", with_numbers(&[0x9e37_79b9, 0x7f4a_7c15]), |seed, bytes| {
            let step = |state: u64, word: u64| {
                let (low, high) = (word as u32, (word >> 32) as u32);
                let [low, high] = [low.wrapping_sub(0x9e37_79b9), high ^ !0x7f4a_7c15];
                mixed(state).wrapping_add(u64::from(low) * u64::from(high))
            };
            siphash(seed, &words(bytes).fold(seed, step).to_le_bytes()) ^ mixed(bytes.len() as u64)
        }),
        (
            "a table of data",
            Constants { table: vec![0x1234_5678_9abc_def1, SECRET], ..Constants::default() },
            |seed, bytes| {
                let step = |state: u64, word: u64| {
                    let product = u128::from(mixed(state)) * u128::from(word.wrapping_add(SECRET));
                    product as u64 ^ (product >> 64) as u64
                };
                siphash(seed, &words(bytes).fold(mixed(seed), step).to_le_bytes())
            },
        ),
    ];
    for (id, constants, hash) in functions {
        let report = report_with(constants, id, hash);
        is_flooded_by(&report, "erase-constants", Knowledge::Nothing);
        assert!(report.verdict.flood().unwrap().equal.is_some(), "{id}");
    }
}

#[test]
fn keys_of_equal_parts_have_one_hash_if_their_parts_cancel() {
    let halves = |seed: u64, bytes: &[u8]| {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        siphash(seed, first) ^ siphash(seed, second)
    };
    let complement = |seed: u64, bytes: &[u8]| {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let second: Vec<u8> = second.iter().map(|byte| !byte).collect();
        siphash(seed, first).wrapping_sub(siphash(seed, &second))
    };
    let palindromes = |seed: u64, bytes: &[u8]| {
        let turned: Vec<u8> = bytes.iter().rev().copied().collect();
        siphash(seed, bytes) ^ siphash(seed, &turned)
    };
    // The verdict does not depend on the seed of the audit.
    for (id, hash) in [("halves", halves as Hash), ("complements", complement), ("palindromes", palindromes)]
    {
        for seed in 1..4 {
            let info = SubjectInfo { id: id.to_owned(), ..info_of_test() };
            let of = |key: &Key, bytes: &[u8], _| Ok(hash(key.halves().0, bytes));
            let report = audit(&mut Broken(info, of, 0), &settings("chained", seed), &[], &mut |_| {});
            is_flooded_by(&report, "related-parts", Knowledge::Nothing);
            if id == "halves" {
                assert_eq!(second_key(&report), 0.0);
            }
        }
    }
}

#[test]
fn polynomials_modulo_a_power_of_two_are_flooded_whatever_their_base() {
    let functions: [(&str, Hash); 3] = [
        ("bytes, an odd base", |seed, bytes| {
            let base = mixed(seed) | 1;
            let step = |sum: u64, byte: &u8| sum.wrapping_mul(base).wrapping_add(u64::from(*byte));
            mixed(bytes.iter().fold(bytes.len() as u64, step) ^ mixed(!seed))
        }),
        ("words of two bytes, big-endian", |seed, bytes| {
            let (base, pairs) = (mixed(seed) | 1, bytes.chunks(2));
            let step = |sum: u64, pair: &[u8]| {
                let word = pair.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                sum.wrapping_mul(base).wrapping_add(word)
            };
            mixed(pairs.fold(mixed(!seed), step) ^ mixed(bytes.len() as u64 ^ seed))
        }),
        ("words of four bytes", |seed, bytes| {
            let base = mixed(seed) | 1;
            let words = bytes.chunks(4).map(|bytes| words(bytes).next().unwrap_or(0));
            let sum = words.fold(seed, |sum, word| sum.wrapping_mul(base).wrapping_add(word));
            mixed(sum ^ mixed(bytes.len() as u64 ^ seed))
        }),
    ];
    for (id, hash) in functions {
        let report = report_of(id, 64, hash);
        is_flooded_by(&report, "thue-morse", Knowledge::Nothing);
        assert_eq!(report.verdict.flood().unwrap().deepest, 4096, "{id}");
    }
}

#[test]
fn progressions_are_learnt_under_a_secret_multiplier() {
    fn shifted(key: &Key, word: u64, bits: u32) -> u64 {
        let (a, b) = key.halves();
        match bits {
            64 => {
                let a = u128::from(mixed(a)) << 64 | u128::from(mixed(b));
                (a.wrapping_mul(u128::from(word)).wrapping_add(u128::from(mixed(!a as u64)) << 50) >> 64)
                    as u64
            }
            _ => mixed(a).wrapping_mul(word).wrapping_add(mixed(b)) >> 32,
        }
    }
    for (bits, length) in [(64, 8), (32, 4)] {
        let info = SubjectInfo {
            id: format!("multiply-shift of {bits} bits"),
            lengths: Lengths::Exactly(length),
            keying: Keying::Secret(128),
            width: bits,
            ..info_of_test()
        };
        let of = |key: &Key, bytes: &[u8], _| Ok(shifted(key, words(bytes).next().unwrap_or(0), bits));
        let report = audit(&mut Broken(info, of, 0), &settings("chained", 1), &[], &mut |_| {});
        is_flooded_by(&report, "progression-learnt", Knowledge::Results);
    }
}

#[test]
fn words_change_places_together_with_their_offsets() {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let functions: [(&str, Constants, Hash); 3] = [
        ("exclusive or, from one on", with_numbers(&[ODD]), |seed, bytes| {
            let term = |(place, word): (u64, u64)| mixed(word ^ (place + 1).wrapping_mul(ODD) ^ mixed(seed));
            let sum = (0..)
                .zip(words(bytes))
                .map(term)
                .fold(mixed(!seed), |sum, term| sum ^ siphash(seed, &term.to_le_bytes()));
            siphash(seed, &[sum, bytes.len() as u64].map(u64::to_le_bytes).concat())
        }),
        ("sum", with_numbers(&[ODD]), |seed, bytes| {
            let term = |(place, word): (u64, u64)| {
                siphash(seed, &word.wrapping_add(place.wrapping_mul(ODD)).to_le_bytes())
            };
            let sum = (0..).zip(words(bytes)).map(term).fold(0, u64::wrapping_add);
            siphash(seed, &[sum, bytes.len() as u64].map(u64::to_le_bytes).concat())
        }),
        ("the places themselves", Constants::default(), |seed, bytes| {
            let term = |(place, word): (u64, u64)| siphash(seed, &(word ^ place).to_le_bytes());
            let sum = (0..).zip(words(bytes)).map(term).fold(0, |sum, term| sum ^ term);
            siphash(seed, &[sum, bytes.len() as u64].map(u64::to_le_bytes).concat())
        }),
    ];
    for (id, constants, hash) in functions {
        let report = report_with(constants, id, hash);
        is_flooded_by(&report, "offset-swaps", Knowledge::Nothing);
    }
}

#[test]
fn words_of_blocks_far_apart_change_places() {
    // Each block of 512 bytes is hashed alike, and the results are added.
    let report = report_of("blocks", 64, |seed, bytes| {
        let of = |block: &[u8]| {
            let term = |(place, word): (u64, u64)| siphash(mixed(seed ^ place), &word.to_le_bytes());
            (0..).zip(words(block)).map(term).fold(0, u64::wrapping_add)
        };
        mixed(bytes.chunks(512).map(of).fold(mixed(!seed) ^ bytes.len() as u64, u64::wrapping_add))
    });
    is_flooded_by(&report, "swapped-words", Knowledge::Nothing);
}

#[test]
fn words_change_behind_a_mixing_of_two_rotations_or_two_shifts() {
    const ODD: u64 = 0x9fb2_1c65_1e98_df25;
    let constants = |right: &[u32]| Constants {
        numbers: vec![ODD, 0xd6e8_feb8_6659_fd93],
        right: right.to_vec(),
        rotations: vec![15, 40],
        ..Constants::default()
    };
    fn entered(state: u64, word: u64) -> u64 {
        (state ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
    let functions: [(&str, Constants, Hash); 2] = [
        ("rotations", constants(&[28]), |seed, bytes| {
            let mixing = |word: u64| {
                let word = (word ^ word.rotate_left(15) ^ word.rotate_left(40)).wrapping_mul(ODD);
                let word = (word ^ word >> 28).wrapping_mul(ODD);
                word ^ word >> 28
            };
            let start = mixed(seed ^ bytes.len() as u64);
            siphash(seed, &words(bytes).fold(start, |state, word| entered(state, mixing(word))).to_le_bytes())
        }),
        ("shifts", constants(&[23, 51]), |seed, bytes| {
            let mixing = |word: u64| {
                let word = word.wrapping_mul(ODD);
                let word = (word ^ word >> 23 ^ word >> 51).wrapping_mul(ODD);
                word ^ word >> 23 ^ word >> 51
            };
            let start = mixed(seed ^ bytes.len() as u64);
            siphash(seed, &words(bytes).fold(start, |state, word| entered(state, mixing(word))).to_le_bytes())
        }),
    ];
    for (id, constants, hash) in functions {
        let report = report_with(constants, id, hash);
        is_flooded_by(&report, "mixed-words", Knowledge::Nothing);
    }
}

#[test]
fn two_keys_that_always_collide_are_found_whatever_the_seed_of_the_audit() {
    // Zeros are hashed as if one bit of them were set.
    let hash = |seed: u64, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if bytes.iter().all(|byte| *byte == 0) {
            bytes.iter_mut().skip(5).take(1).for_each(|byte| *byte = 4);
        }
        siphash(seed, &bytes)
    };
    for seed in 1..4 {
        let of = |key: &Key, bytes: &[u8], _| Ok(hash(key.halves().0, bytes));
        let report = audit(&mut Broken(info_of_test(), of, 0), &settings("chained", seed), &[], &mut |_| {});
        assert!(matches!(report.verdict, Verdict::PairAlways), "seed {seed}: {}", report.verdict);
    }
}

#[test]
fn keys_that_are_no_more_than_the_hashes_may_have_no_second_one() {
    for (length, bits) in [(4, 32.0), (8, 64.0)] {
        let info = SubjectInfo { lengths: Lengths::Exactly(length), ..info_of_test() };
        let of = |key: &Key, bytes: &[u8], _| {
            let (before, after) = key.halves();
            Ok(mixed(mixed(words(bytes).next().unwrap_or(0) ^ before).wrapping_add(after)))
        };
        let report = audit(&mut Broken(info, of, 0), &settings("chained", 1), &[], &mut |_| {});
        for claim in report.identity.unwrap().claims {
            let chance = if claim.goal == identity::Goal::TwoKeys { 32.0 } else { bits };
            assert_eq!((claim.log2_work, claim.may_not_exist), (chance, true), "{length} bytes: {claim:?}");
        }
    }
    let report = report_of("keyed", 64, siphash);
    assert!(report.identity.unwrap().claims.iter().all(|claim| !claim.may_not_exist));
}

#[test]
fn the_verdict_names_the_lengths_of_which_all_bits_are_hashed() {
    // Of keys of more than 96 bytes, two bytes are left out.
    let report = report_of("samples", 64, |seed, bytes| match bytes.len() {
        0..=96 => siphash(seed, bytes),
        length => siphash(seed ^ length as u64, &[&bytes[..64], &bytes[66..]].concat()),
    });
    let expected =
        "partial: bytes 64–65 of keys of 256 bytes (none of keys of up to 96 bytes) are not hashed; ";
    assert!(report.verdict.to_string().starts_with(expected), "{}", report.verdict);
    let report = report_of("one byte", 64, |seed, bytes| {
        siphash(seed, &bytes.iter().take(1).chain(bytes.iter().skip(2)).copied().collect::<Vec<_>>())
    });
    let expected = "partial: byte 1 of keys of 36 bytes is not hashed; ";
    assert!(report.verdict.to_string().starts_with(expected), "{}", report.verdict);
}

#[test]
fn the_change_of_words_names_no_constant_that_its_keys_do_not_need() {
    // Combination with shifted copies, after Boost. The code has a number that is no factor.
    let constants = Constants {
        numbers: vec![0x489e_3779, 0x9e37_79b9],
        right: vec![2, 33],
        left: vec![6],
        ..Constants::default()
    };
    let report = report_with(constants, "shifted copies", |seed, bytes| {
        let step = |state: u64, word: u64| {
            let shifted = (state << 6).wrapping_add(state >> 2);
            state ^ word.wrapping_add(0x9e37_79b9).wrapping_add(shifted)
        };
        mixed(step(words(bytes).fold(seed, step), bytes.len() as u64))
    });
    is_flooded_by(&report, "mixed-words", Knowledge::Nothing);
    let note = report.verdict.flood().unwrap().note.clone().unwrap();
    assert_eq!(note, "bit 63 of a word of 64 bits changes, and bits 63 and 61 of the next one");
}
