//! Rules that every hash of [`hashlane_hash::for_each_hash!`] keeps.

use hashlane_hash::scheme::{CHECK_INPUT, Key, Scheme, SchemeInfo};

fn check_value_holds<H: Scheme>() {
    let SchemeInfo { id, width, check, .. } = H::INFO;
    let hash = H::new(&Key::VECTOR).hash(CHECK_INPUT);
    assert_eq!(hash, check, "{id}: {hash:#x}");
    assert!(width == 64 || hash >> width == 0, "{id}");
}

#[test]
fn every_check_value_holds() {
    macro_rules! check {
        ($($group:ident: $($hash:ty),*;)*) => { $($(check_value_holds::<$hash>();)*)* };
    }
    hashlane_hash::for_each_hash!(check);
}

#[test]
fn ids_are_unique() {
    macro_rules! ids {
        ($($group:ident: $($hash:ty),*;)*) => { [$($(<$hash>::INFO.id),*),*] };
    }
    let mut ids = hashlane_hash::for_each_hash!(ids);
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}
