//! Rules that every hash of [`hashlane_flow::for_each_tuple_hash!`] keeps.

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, SchemeInfo};

fn registered() -> Vec<(SchemeInfo, u64)> {
    macro_rules! list {
        ($($hash:ty),* $(,)?) => {
            vec![$((<$hash>::INFO, <$hash>::new(&Key::VECTOR).hash(&Tuple::CHECK))),*]
        };
    }
    hashlane_flow::for_each_tuple_hash!(list)
}

/// Ids of `hashlane-hash`: a hash over the bytes of a tuple keeps the id and the check value of the hash of
/// bytes.
fn ids_of_bytes() -> Vec<&'static str> {
    use hashlane_hash::scheme::Scheme;
    macro_rules! ids {
        ($($group:ident: $($hash:ty),*;)*) => { vec![$($(<$hash>::INFO.id),*),*] };
    }
    hashlane_hash::for_each_hash!(ids)
}

#[test]
fn every_check_value_holds() {
    let of_bytes = ids_of_bytes();
    for (info, hash) in registered() {
        assert!(info.width == 64 || hash >> info.width == 0, "{}", info.id);
        if !of_bytes.contains(&info.id) {
            assert_eq!(hash, info.check, "{}: {hash:#x}", info.id);
        }
    }
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = registered().iter().map(|(info, _)| info.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}
