//! Rules that every hash of the audit keeps.

use std::collections::HashSet;

use hashlane_hash::scheme::{BytesHash, CHECK_INPUT, Key, Keying, Scheme, SchemeInfo};
use hashlane_peers::audited::NOT_AUDITED;

struct Registered {
    info: SchemeInfo,
    hash: fn(&Key, &[u8]) -> u64,
}

macro_rules! list {
    ($($group:ident: $($hash:ty),*;)*) => {
        vec![$($(Registered { info: <$hash>::INFO, hash: |key, bytes| <$hash>::new(key).hash(bytes) }),*),*]
    };
}

fn audited() -> Vec<Registered> {
    hashlane_peers::for_each_audited_hash!(list)
}

#[test]
fn every_check_value_holds() {
    let mut wrong = Vec::new();
    for scheme in audited() {
        let hash = (scheme.hash)(&Key::VECTOR, CHECK_INPUT);
        if hash != scheme.info.check {
            wrong.push(format!("{}: {hash:#018x}", scheme.info.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ids_are_unique_also_among_the_other_hashes_and_those_not_audited() {
    let mut all = audited();
    all.extend(hashlane_hash::for_each_hash!(list));
    all.extend(hashlane_peers::for_each_hash!(list));
    let mut ids: Vec<_> = all.iter().map(|scheme| scheme.info.id).collect();
    ids.extend(NOT_AUDITED.iter().map(|missing| missing.id));
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

/// The row of a hash in the README's table: its id, the first part of its source, its width, its key.
fn row(info: &SchemeInfo) -> String {
    let end = info.source.find([',', ';']).unwrap_or(info.source.len());
    let key = match info.keying {
        Keying::None => "none".to_owned(),
        Keying::Seed(bits) => format!("seed, {bits} bits"),
        Keying::Secret(bits) => format!("secret, {bits} bits"),
    };
    format!("| `{}` | {} | {} | {key} |", info.id, &info.source[..end], info.width)
}

#[test]
fn the_readme_lists_every_hash_and_those_not_audited() {
    let readme = include_str!("../README.md");
    let rows: Vec<_> = audited().iter().map(|scheme| row(&scheme.info)).collect();
    assert!(readme.contains(&rows.join("\n")), "{}", rows.join("\n"));
    for missing in NOT_AUDITED.iter().filter(|missing| missing.id != "ahash-fallback") {
        assert!(readme.contains(&format!("- `{}`: ", missing.id)), "{}", missing.id);
    }
}

/// Bytes that differ from one another, from a multiplicative generator.
fn bytes() -> Vec<u8> {
    let step = |state: &u64| Some(state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1));
    std::iter::successors(Some(1), step).map(|state| (state >> 56) as u8).take(601).collect()
}

/// At every length, at the start of an allocation and one byte into it: overflows and reads out of bounds in
/// our own code and in checked code of the crates panic here.
#[test]
fn hashes_every_length_within_the_width_and_wherever_the_bytes_lie() {
    let bytes = bytes();
    for scheme in audited() {
        let id = scheme.info.id;
        for len in 0..=600 {
            let exact: Box<[u8]> = bytes[1..=len].into();
            let hash = (scheme.hash)(&Key::VECTOR, &exact);
            assert_eq!(hash, (scheme.hash)(&Key::VECTOR, &bytes[1..=len]), "{id}, {len} bytes");
            assert!(
                scheme.info.width == 64 || hash >> scheme.info.width == 0,
                "{id}, {len} bytes: {hash:#x}"
            );
        }
    }
}

#[test]
fn every_byte_reaches_the_result() {
    let bytes = bytes();
    for scheme in audited() {
        for len in [1, 3, 4, 7, 8, 9, 16, 17, 31, 33, 47, 64, 65, 96, 128, 129, 200, 257, 400, 600] {
            let hash = (scheme.hash)(&Key::VECTOR, &bytes[..len]);
            for at in 0..len {
                let mut other = bytes[..len].to_vec();
                other[at] ^= 0x10;
                assert_ne!(
                    hash,
                    (scheme.hash)(&Key::VECTOR, &other),
                    "{}, byte {at} of {len}",
                    scheme.info.id
                );
            }
        }
    }
}

#[test]
fn the_bits_of_the_key_that_the_keying_names_and_no_others_reach_the_result() {
    let bytes = bytes();
    for scheme in audited() {
        let bits = match scheme.info.keying {
            Keying::None => 0,
            Keying::Seed(bits) | Keying::Secret(bits) => bits,
        };
        for bit in 0..128 {
            let other = Key::new((u128::from_le_bytes(Key::VECTOR.to_bytes()) ^ 1 << bit).to_le_bytes());
            let reached = [9, 40, 150, 600].map(|len| {
                (scheme.hash)(&Key::VECTOR, &bytes[..len]) != (scheme.hash)(&other, &bytes[..len])
            });
            assert_eq!(reached, [bit < bits; 4], "{}, bit {bit} of {bits}", scheme.info.id);
        }
    }
}
