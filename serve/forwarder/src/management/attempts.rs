//! A limit on the signatures of strangers: to verify one takes up to a third of a millisecond.

use hashlane_table::share::Owner;
use std::collections::HashMap;

/// Verifications in vain of one user or address in a second.
const OF_ONE: u32 = 32;
/// Most users and addresses counted.
const MAX_HOLDERS: usize = 4096;

/// Verifications of this second that have not succeeded, by user or address.
#[derive(Default)]
pub(super) struct Attempts {
    second: u64,
    failed: HashMap<Option<Owner>, u32>,
}

impl Attempts {
    /// Counts a verification, or returns false if too many have failed. `now` is in milliseconds.
    pub(super) fn admits(&mut self, owner: Option<Owner>, now: u64) -> bool {
        if self.second != now / 1000 || self.failed.len() >= MAX_HOLDERS {
            self.second = now / 1000;
            self.failed.clear();
        }
        let failed = self.failed.entry(owner).or_default();
        let admits = *failed < OF_ONE;
        *failed += u32::from(admits);
        admits
    }

    /// Takes back the count of a verification that has succeeded.
    pub(super) fn succeeded(&mut self, owner: Option<Owner>) {
        if let Some(failed) = self.failed.get_mut(&owner) {
            *failed = failed.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_in_vain_leaves_others_and_the_next_second() {
        let mut attempts = Attempts::default();
        let flood = (0..1000).filter(|_| attempts.admits(Some(Owner::Ipv4(1)), 5000)).count();
        assert_eq!(flood, OF_ONE as usize);
        for _ in 0..1000 {
            assert!(attempts.admits(Some(Owner::Ipv4(2)), 5999));
            attempts.succeeded(Some(Owner::Ipv4(2)));
        }
        assert!(!attempts.admits(Some(Owner::Ipv4(1)), 5999) && attempts.admits(Some(Owner::Ipv4(1)), 6000));
        assert!((0..100_000).all(|host| attempts.admits(Some(Owner::Ipv6(host)), 7000)));
        assert!(attempts.failed.len() <= MAX_HOLDERS);
    }
}
