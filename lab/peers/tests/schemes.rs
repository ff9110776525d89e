//! Rules that every registered hash keeps, of this crate and of `hashlane-hash`.

use hashlane_hash::scheme::{BytesHash, CHECK_INPUT, Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::SipHash24;
use std::collections::HashMap;

struct Registered {
    info: SchemeInfo,
    hash: fn(&Key, &[u8]) -> u64,
}

fn schemes() -> Vec<Registered> {
    macro_rules! list {
        ($($group:ident: $($hash:ty),*;)*) => {
            vec![$($(Registered { info: <$hash>::INFO, hash: |key, bytes| <$hash>::new(key).hash(bytes) }),*),*]
        };
    }
    let mut all = hashlane_hash::for_each_hash!(list);
    all.extend(hashlane_peers::for_each_hash!(list));
    all
}

#[test]
fn every_check_value_holds() {
    for scheme in schemes() {
        let hash = (scheme.hash)(&Key::VECTOR, CHECK_INPUT);
        assert_eq!(hash, scheme.info.check, "{}: {hash:#x}", scheme.info.id);
        assert!(scheme.info.width == 64 || hash >> scheme.info.width == 0, "{}", scheme.info.id);
    }
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = schemes().iter().map(|scheme| scheme.info.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
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
