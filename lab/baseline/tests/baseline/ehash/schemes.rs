//! Rules that every hash of [`hashlane_baseline::for_each_tuple_hash!`] keeps, together with the hashes of
//! `hashlane-flow`.

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, SchemeInfo};

macro_rules! list {
    ($($hash:ty),* $(,)?) => {
        vec![$((<$hash>::INFO, <$hash>::new(&Key::VECTOR).hash(&Tuple::CHECK))),*]
    };
}

fn registered() -> Vec<(SchemeInfo, u64)> {
    hashlane_baseline::for_each_tuple_hash!(list)
}

#[test]
fn every_check_value_holds() {
    for (info, hash) in registered() {
        assert_eq!(hash, info.check, "{}: {hash:#x}", info.id);
        assert!(info.width == 64 || hash >> info.width == 0, "{}", info.id);
    }
}

#[test]
fn ids_are_unique() {
    let mut all = registered();
    all.extend(hashlane_flow::for_each_tuple_hash!(list));
    let mut ids: Vec<_> = all.iter().map(|(info, _)| info.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}
