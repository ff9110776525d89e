//! Rules that every registered hash keeps, of this crate and of `hashlane-hash`.

use hashlane_hash::scheme::{BytesHash, CHECK_INPUT, Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::SipHash24;
use std::collections::{HashMap, HashSet};

struct Registered {
    info: SchemeInfo,
    hash: fn(&Key, &[u8]) -> u64,
}

macro_rules! list {
    ($($group:ident: $($hash:ty),*;)*) => {
        vec![$($(Registered { info: <$hash>::INFO, hash: |key, bytes| <$hash>::new(key).hash(bytes) }),*),*]
    };
}

/// The hashes of this crate.
fn peers() -> Vec<Registered> {
    let mut all = hashlane_peers::for_each_hash!(list);
    #[cfg(feature = "audited")]
    all.extend(hashlane_peers::for_each_audited_hash!(list));
    all
}

fn schemes() -> Vec<Registered> {
    let mut all = hashlane_hash::for_each_hash!(list);
    all.extend(peers());
    all
}

#[test]
fn every_check_value_holds() {
    let hash = |scheme: &Registered| (scheme.hash)(&Key::VECTOR, CHECK_INPUT);
    let all = schemes();
    let wrong: Vec<_> = all.iter().filter(|scheme| hash(scheme) != scheme.info.check).collect();
    let wrong: Vec<_> = wrong.iter().map(|s| format!("{}: {:#018x}", s.info.id, hash(s))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ids_are_unique_also_among_those_not_audited() {
    let mut ids: Vec<_> = schemes().iter().map(|scheme| scheme.info.id).collect();
    #[cfg(feature = "audited")]
    ids.extend(hashlane_peers::audited::NOT_AUDITED.iter().map(|missing| missing.id));
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

/// The row of a hash in the README's table: its id, the first part of its source, its width, its key.
#[cfg(feature = "audited")]
#[test]
fn the_readme_lists_every_audited_hash_and_those_not_audited() {
    let readme = include_str!("../README.md");
    let audited: Vec<Registered> = hashlane_peers::for_each_audited_hash!(list);
    let rows = audited.iter().map(|Registered { info, .. }| {
        let end = info.source.find([',', ';']).unwrap_or(info.source.len());
        let key = match info.keying {
            Keying::None => "none".to_owned(),
            Keying::Seed(bits) => format!("seed, {bits} bits"),
            Keying::Secret(bits) => format!("secret, {bits} bits"),
        };
        format!("| `{}` | {} | {} | {key} |\n", info.id, &info.source[..end], info.width)
    });
    let rows: String = rows.collect();
    assert!(readme.contains(&rows), "{rows}");
    for missing in
        hashlane_peers::audited::NOT_AUDITED.iter().filter(|missing| missing.id != "ahash-fallback")
    {
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
    for scheme in peers() {
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
    for scheme in peers() {
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
    for scheme in peers() {
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

/// Inputs that differ in length, in trailing zeros, and in a byte or word that could cancel a mixed-in
/// length.
fn lengths_and_zeros() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for len in 0..=80_u8 {
        for at in 0..usize::from(len).min(24) {
            for byte in [0x60 ^ len, 0x60_u8.wrapping_sub(len), 0x60 + len, 0x60 ^ len << 3] {
                let mut input = vec![0; usize::from(len)];
                input[at] = byte;
                all.push(input);
            }
        }
        all.push(vec![0; usize::from(len)]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Two inputs may collide by chance in 32 bits under one key, but not under two.
#[test]
fn no_two_inputs_collide_under_many_keys_of_a_scheme_against_attackers() {
    let inputs = lengths_and_zeros();
    // The universal hashes claim it of inputs that are chosen without knowledge of results, as these are.
    let against_attackers =
        |info: &SchemeInfo| matches!(info.keying, Keying::Secret(_)) || info.id.starts_with("multilinear");
    let draw = SipHash24::new(&Key::VECTOR);
    let mut tested = 0;
    for scheme in schemes().iter().filter(|scheme| against_attackers(&scheme.info)) {
        tested += 1;
        let mut colliding = HashMap::new();
        for number in 0..32_u8 {
            let halves = [0, 1].map(|half| draw.hash(&[number, half]).to_le_bytes());
            let key = Key::new(halves.concat().try_into().unwrap());
            let mut seen = HashMap::new();
            for input in &inputs {
                if let Some(other) = seen.insert((scheme.hash)(&key, input), input) {
                    *colliding.entry((other, input)).or_insert(0) += 1;
                }
            }
        }
        let most = colliding.iter().max_by_key(|(_, keys)| **keys);
        let id = scheme.info.id;
        assert!(most.is_none_or(|(_, keys)| *keys < 2), "{id}: {} pairs, {most:?}", colliding.len());
        assert!(scheme.info.width < 64 || most.is_none(), "{id}: {most:?}");
    }
    assert!(tested >= 7, "{tested}");
}
