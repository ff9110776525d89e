//! Rounds of AES over a secret state.

use super::unseen::{is_flooded_by, siphash};
use super::*;
use crate::attack::{Miss, Target, attacks};
use crate::draw::Draw;
use aes::Block;
use aes::hazmat::{cipher_round, equiv_inv_cipher_round};

/// Blocks of 16 bytes, the last one filled with zeros.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = [u8; 16]> + '_ {
    bytes.chunks(16).map(|bytes| core::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0)))
}

fn sum(one: &[u8; 16], other: &[u8; 16]) -> [u8; 16] {
    core::array::from_fn(|at| one[at] ^ other[at])
}

/// A round of encryption or of decryption under a round key.
fn round(state: [u8; 16], key: &[u8; 16], is_forward: bool) -> [u8; 16] {
    let mut block = Block::from(state);
    match is_forward {
        true => cipher_round(&mut block, &Block::from(*key)),
        false => equiv_inv_cipher_round(&mut block, &Block::from(*key)),
    }
    block.into()
}

/// `lanes` states that take blocks in turn: each is combined with a block, and then goes through `rounds`
/// rounds.
fn chained(key: &Key, bytes: &[u8], (lanes, rounds, is_forward): (usize, usize, bool)) -> u64 {
    let key = key.to_bytes();
    let of_lane = |lane: usize| sum(&key, &[lane as u8 ^ bytes.len() as u8; 16]);
    let mut states: Vec<[u8; 16]> = (0..lanes).map(of_lane).collect();
    for (number, block) in blocks(bytes).enumerate() {
        let state = &mut states[number % lanes];
        *state = (0..rounds).fold(sum(state, &block), |state, _| round(state, &key, is_forward));
    }
    let (low, high) = key.split_at(8);
    let [low, high] = [low, high].map(|half| u64::from_le_bytes(half.try_into().unwrap()));
    siphash(low ^ high.rotate_left(1), &states.concat())
}

fn report_of_rounds(id: &str, chain: (usize, usize, bool), length: Option<usize>) -> Report {
    let info = SubjectInfo { id: id.to_owned(), keying: Keying::Seed(128), ..info_of_test() };
    let of = |key: &Key, bytes: &[u8], _| Ok(chained(key, bytes, chain));
    let settings = Settings { length, ..settings("chained", 1) };
    audit(&mut Broken(info, of, 0), &settings, &[], &mut |_| {})
}

#[test]
fn a_byte_behind_one_round_of_aes_moves_the_state_within_256_values() {
    for (id, chain, length) in [
        ("one lane", (1, 1, true), None),
        ("one lane, keys of 36 bytes", (1, 1, true), Some(36)),
        ("two lanes", (2, 1, true), None),
        ("rounds of decryption", (1, 1, false), None),
    ] {
        let report = report_of_rounds(id, chain, length);
        is_flooded_by(&report, "round-columns", Knowledge::Nothing);
        let flood = report.verdict.flood().unwrap();
        let [hostile, random] = flood.compared();
        assert!((8.0..10.0).contains(&hostile) && random < 2.0, "{id}: {}", report.verdict);
        let learnt = report.attempts.iter().find(|(about, _)| about.id == "round-columns-learnt");
        let Some((about, Outcome::Flood(learnt))) = learnt else { panic!("{id}: {learnt:?}") };
        assert_eq!((about.knowledge, learnt.deepest), (Knowledge::Results, 4096), "{id}");
        assert!(learnt.equal.is_some(), "{id}");
    }
}

#[test]
fn no_alarm_on_two_rounds_of_aes_for_each_block() {
    for (id, chain) in [("one lane", (1, 2, true)), ("decryption", (1, 2, false))] {
        let report = report_of_rounds(id, chain, None);
        assert!(!report.verdict.is_floodable(), "{id}: {}", report.verdict);
    }
}

/// The long form has 100 seeds: `HASHLANE_LONG=1`, as `cargo xtask nightly` sets it.
#[test]
fn no_alarm_on_functions_of_other_rounds() {
    let mut subjects = registered::subjects();
    let [geometry, ..] = Geometry::named();
    for id in
        ["siphash-1-3", "siphash-2-4", "highwayhash64", "blake3-keyed", "multilinear", "polymur", "ahash-aes"]
    {
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        for seed in 0..long::pick(2, 100) {
            for attack in attacks() {
                if !["round-columns", "round-columns-learnt", "progression-learnt"]
                    .contains(&attack.about().id)
                {
                    continue;
                }
                for length in [None, attack.longer()] {
                    let (draw, geometry) = (&mut Draw::new(seed), &geometry);
                    let key = draw.key();
                    let (note, pair) = (None, None);
                    let mut target = Target { subject, key, geometry, length, count: 4096, draw, note, pair };
                    let keys = attack.keys(&mut target);
                    let is_none = matches!(keys, Err(Miss::NotApplicable(_)));
                    assert!(is_none, "{}, {id}, seed {seed}", attack.about().id);
                }
            }
        }
    }
}
