//! Shares of a bounded table: how many entries one face may hold.
//!
//! - Non-local faces together hold at most three quarters of the table, so that a quarter is left for local
//!   faces, no matter how many remote faces come, in sequence or at once.
//! - A face holds at most as many entries as are still free: a face that floods takes half, the next one half
//!   of the rest (Choudhury and Hahne, "Dynamic queue length thresholds", 1998).
//! - An eighth of a large table is reserved for the first few entries of each face, which a new face gets no
//!   matter how much the others hold.

use crate::face::{MAX_FACES, Scope};

/// Entries in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Entries of all faces.
    pub all: usize,
    /// Entries of all non-local faces.
    pub remote: usize,
}

impl Used {
    /// Adds an entry of a face with this scope.
    #[inline(always)]
    pub fn add(&mut self, scope: Scope) {
        self.all += 1;
        self.remote += usize::from(scope == Scope::NonLocal);
    }

    /// Removes an entry of a face with this scope.
    #[inline(always)]
    pub fn remove(&mut self, scope: Scope) {
        let remote = usize::from(scope == Scope::NonLocal);
        debug_assert!(self.all > 0 && self.remote >= remote, "an entry is removed once");
        self.all = self.all.saturating_sub(1);
        self.remote = self.remote.saturating_sub(remote);
    }
}

/// Shares of a table with a given limit.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    limit: usize,
    /// Most entries of all non-local faces together.
    remote: usize,
    /// Entries reserved for each face.
    floor: usize,
}

impl Shares {
    /// Creates the shares of a table with at most `limit` entries.
    pub const fn new(limit: usize) -> Self {
        Self { limit, remote: limit - limit / 4, floor: limit / 8 / MAX_FACES }
    }

    /// Entries reserved for each face; 0 for tables with fewer than 131,072.
    #[inline]
    pub const fn floor(&self) -> usize {
        self.floor
    }

    /// Most entries of all non-local faces together.
    #[inline]
    pub const fn remote(&self) -> usize {
        self.remote
    }

    /// True if a face with this scope and `own` entries may add one, when all faces hold `used`.
    #[inline(always)]
    pub fn admits(&self, scope: Scope, own: usize, used: Used) -> bool {
        let floors = self.floor * MAX_FACES;
        let room = |limit: usize, used: usize| {
            let free = limit.saturating_sub(used);
            if own < self.floor { free } else { free.saturating_sub(floors).saturating_sub(own) }
        };
        let fits = room(self.limit, used.all) > 0;
        fits && (scope == Scope::Local || room(self.remote, used.remote) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Lets one face take as many entries as it may; returns their number.
    fn fill(shares: &Shares, scope: Scope, used: &mut Used) -> usize {
        let mut own = 0;
        while shares.admits(scope, own, *used) {
            own += 1;
            used.add(scope);
        }
        own
    }

    #[test]
    fn remote_faces_leave_a_quarter_to_local_ones() {
        for limit in [4, 100, 4096, 1 << 20] {
            let (shares, mut used) = (Shares::new(limit), Used::default());
            for _ in 0..100 {
                fill(&shares, Scope::NonLocal, &mut used);
            }
            assert!(used.remote <= limit / 4 * 3, "{used:?} of {limit}");
            // The first local face still gets half of the rest, apart from the reserve for each face.
            let kept = shares.floor() * MAX_FACES;
            assert!(2 * fill(&shares, Scope::Local, &mut used) + kept >= limit / 4, "{used:?} of {limit}");
        }
    }

    #[test]
    fn a_face_that_comes_last_gets_its_floor() {
        let (shares, mut used) = (Shares::new(1 << 20), Used::default());
        assert_eq!(shares.floor(), 8);
        for scope in [Scope::Local, Scope::NonLocal, Scope::Local] {
            for _ in 0..100 {
                assert!(fill(&shares, scope, &mut used) >= 8);
            }
        }
        assert!(used.all <= 1 << 20);
    }

    #[test]
    fn the_smallest_tables_hold_something() {
        for limit in 1..8 {
            for scope in [Scope::Local, Scope::NonLocal] {
                assert!(fill(&Shares::new(limit), scope, &mut Used::default()) > 0, "{limit}");
            }
        }
        assert_eq!(fill(&Shares::new(0), Scope::Local, &mut Used::default()), 0);
    }

    proptest! {
        #[test]
        fn limits_hold_whatever_comes_and_goes(
            limit in prop_oneof![0..200_usize, (1 << 17)..(1_usize << 18)],
            steps in vec((0..24_usize, any::<bool>()), 0..2000),
        ) {
            let (shares, mut used) = (Shares::new(limit), Used::default());
            let mut own = [0_usize; 24];
            for (face, leaves) in steps {
                let scope = if face % 3 == 0 { Scope::Local } else { Scope::NonLocal };
                if leaves && own[face] > 0 {
                    own[face] -= 1;
                    used.remove(scope);
                } else if shares.admits(scope, own[face], used) {
                    own[face] += 1;
                    used.add(scope);
                } else {
                    prop_assert!(own[face] >= shares.floor());
                }
                prop_assert!(used.all <= limit && used.remote <= shares.remote());
            }
        }
    }
}
