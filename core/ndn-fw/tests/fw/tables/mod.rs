//! The tables against slow and plain ones.

mod cs;
mod fib;
mod names;
mod pit;

use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use proptest::prelude::*;

/// A name of a few letters: so few that names meet, and that one is often a prefix of another.
type Letters = Vec<u8>;

fn letters(most: usize) -> impl Strategy<Value = Letters> {
    prop::collection::vec(0..3_u8, 1..=most)
}

fn name(letters: &[u8]) -> OwnedName<Ndn> {
    let components =
        letters.iter().map(|letter| Component::generic([&b"a"[..], b"bb", b""][usize::from(*letter)]));
    OwnedName::from_components(components).expect("a short name")
}
