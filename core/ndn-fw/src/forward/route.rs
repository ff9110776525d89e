//! Lookup of next hops, by name or by forwarding hint.

use crate::fib::{Fib, NextHop};
use crate::hashed::{HashedName, NameHasher};
use hashlane_name_map::map::Candidate;
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::tlv::Elements;

/// Candidate of an Interest's name in the FIB, found by the prefetch stage; valid while the tables have the
/// generation `tables`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FibCandidate {
    pub(super) candidate: Candidate,
    pub(super) tables: u32,
}

/// Finds the next hops of an Interest, and the hash of their prefix. Looks up its name, from the candidate if
/// there is one, or, with a forwarding hint, the first name in the hint that has next hops.
#[inline(always)]
pub(super) fn next_hops<'f>(
    fib: &'f Fib,
    hasher: &mut NameHasher,
    name: &HashedName<'_>,
    hint: &[u8],
    candidate: Option<Candidate>,
) -> (u64, &'f [NextHop]) {
    if hint.is_empty() {
        let found = match candidate {
            Some(candidate) => fib.longest_from(name, candidate),
            None => fib.longest(name),
        };
        return found.map_or((0, &[]), |(len, hops)| (name.prefix(len), hops));
    }
    hinted_next_hops(fib, hasher, hint)
}

#[inline(never)]
fn hinted_next_hops<'f>(fib: &'f Fib, hasher: &mut NameHasher, hint: &[u8]) -> (u64, &'f [NextHop]) {
    let mut names = Elements::new(hint);
    while let Ok(Some(element)) = names.next() {
        let name = hasher.parse(part(hint, element.at..element.end())).ok();
        let Some(name) = name.invariant("the names of a hint were checked") else { break };
        if let Some((len, hops)) = fib.longest(&name) {
            return (name.prefix(len), hops);
        }
    }
    (0, &[])
}
