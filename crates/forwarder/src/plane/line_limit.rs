//! A limit on the log lines that remote parties cause.

use hashlane_table::share::Owner;
use std::collections::HashMap;

/// Lines a second that one party may cause, and all of them together.
const OF_ONE: u32 = 4;
const OF_ALL: u32 = 64;

/// Lines of this second, by the party that has caused them.
///
/// Holds at most as many parties as lines.
#[derive(Debug, Default)]
pub(super) struct LineLimit {
    lines: HashMap<Owner, u32>,
    all: u32,
    suppressed: u64,
}

impl LineLimit {
    /// Returns true if a party may cause a line; otherwise counts the line as suppressed.
    pub(super) fn admits(&mut self, owner: Owner) -> bool {
        let of_one = self.lines.get(&owner).copied().unwrap_or(0);
        let admits = of_one < OF_ONE && self.all < OF_ALL;
        if admits {
            self.lines.insert(owner, of_one + 1);
            self.all += 1;
        } else {
            self.suppressed += 1;
        }
        admits
    }

    /// Begins another second. Returns the number of lines suppressed in the last one.
    pub(super) fn next_second(&mut self) -> u64 {
        std::mem::take(self).suppressed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Owner {
        Owner::of(text.parse().expect("an address"))
    }

    #[test]
    fn one_address_leaves_lines_to_others() {
        let mut limit = LineLimit::default();
        let flood = (0..100_000).filter(|_| limit.admits(address("192.0.2.1"))).count();
        assert_eq!(flood, OF_ONE as usize);
        assert!(limit.admits(address("192.0.2.2")));
        assert_eq!((limit.next_second(), limit.next_second()), (100_000 - u64::from(OF_ONE), 0));
        assert!(limit.admits(address("192.0.2.1")));
    }

    #[test]
    fn addresses_of_one_network_or_of_many_cause_a_bounded_number_of_lines() {
        let mut limit = LineLimit::default();
        let network = (0..1000).filter(|host| limit.admits(address(&format!("2001:db8::{host:x}")))).count();
        assert_eq!(network, OF_ONE as usize);
        let mapped = (0..10).filter(|_| limit.admits(address("::ffff:192.0.2.1"))).count();
        assert_eq!((mapped, limit.admits(address("192.0.2.1"))), (OF_ONE as usize, false));
        let many = (0..10_000_u32).filter(|host| limit.admits(Owner::Ipv4(*host))).count();
        assert_eq!(many, (OF_ALL - 2 * OF_ONE) as usize);
        assert!(limit.lines.len() <= OF_ALL as usize);
    }
}
