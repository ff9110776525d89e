//! Limits on what remote parties may cause in a second: log lines, faces in place of others.

use hashlane_table::share::Owner;
use std::collections::HashMap;

/// Log lines that one party may cause, and all of them together.
const LINES: [u32; 2] = [4, 64];

/// Faces of others that one party may replace, and all of them together.
const REPLACED: [u32; 2] = [64, 1024];

/// Items that each party has caused in this second.
///
/// Holds at most as many parties as the limit of all.
#[derive(Debug)]
pub(super) struct RateLimit {
    of_one: u32,
    of_all: u32,
    counts: HashMap<Owner, u32>,
    all: u32,
    refused: u64,
}

impl RateLimit {
    fn new([of_one, of_all]: [u32; 2]) -> Self {
        Self { of_one, of_all, counts: HashMap::new(), all: 0, refused: 0 }
    }

    /// The limit of log lines.
    pub(super) fn for_lines() -> Self {
        Self::new(LINES)
    }

    /// The limit of faces in place of others.
    pub(super) fn for_replaced_faces() -> Self {
        Self::new(REPLACED)
    }

    /// Returns true if a party may cause one more.
    pub(super) fn admits(&mut self, owner: Owner) -> bool {
        let of_one = self.counts.get(&owner).copied().unwrap_or(0);
        let admits = of_one < self.of_one && self.all < self.of_all;
        if admits {
            self.counts.insert(owner, of_one + 1);
            self.all += 1;
        } else {
            self.refused += 1;
        }
        admits
    }

    /// Begins another second. Returns how many were refused in the last one.
    pub(super) fn next_second(&mut self) -> u64 {
        self.counts.clear();
        self.all = 0;
        std::mem::take(&mut self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ONE: u32 = LINES[0];
    const OF_ALL: u32 = LINES[1];

    fn address(text: &str) -> Owner {
        Owner::of(text.parse().expect("an address"))
    }

    #[test]
    fn one_address_leaves_lines_to_others() {
        let mut limit = RateLimit::for_lines();
        let flood = (0..100_000).filter(|_| limit.admits(address("192.0.2.1"))).count();
        assert_eq!(flood, OF_ONE as usize);
        assert!(limit.admits(address("192.0.2.2")));
        assert_eq!((limit.next_second(), limit.next_second()), (100_000 - u64::from(OF_ONE), 0));
        assert!(limit.admits(address("192.0.2.1")));
    }

    #[test]
    fn addresses_of_one_network_or_of_many_cause_a_bounded_number_of_lines() {
        let mut limit = RateLimit::for_lines();
        let network = (0..1000).filter(|host| limit.admits(address(&format!("2001:db8::{host:x}")))).count();
        assert_eq!(network, OF_ONE as usize);
        let mapped = (0..10).filter(|_| limit.admits(address("::ffff:192.0.2.1"))).count();
        assert_eq!((mapped, limit.admits(address("192.0.2.1"))), (OF_ONE as usize, false));
        let many = (0..10_000_u32).filter(|host| limit.admits(Owner::Ipv4(*host))).count();
        assert_eq!(many, (OF_ALL - 2 * OF_ONE) as usize);
        assert!(limit.counts.len() <= OF_ALL as usize);
    }
}
