//! Versions from which differences may lead: those whose content is the same for all who have them.

use hashlane_dns::zone::{Zone, is_before};
use hashlane_hash::scheme::Key;

/// The serial numbers up to which others may have content that differs from what was served last: of the
/// version at the start, of versions that were edited without a raised serial number, and of those before one
/// that was lowered. Differences from there would leave them with records that no version has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bases {
    unsure: Option<u32>,
}

impl Bases {
    /// Bases of a version on the disk.
    pub(crate) fn new(unsure: Option<u32>) -> Self {
        Self { unsure }
    }

    /// The serial number up to which versions may have several contents, for the disk.
    pub(crate) fn unsure(self) -> Option<u32> {
        self.unsure
    }

    /// Notes a change to a version: others may have had a first one with another content, and so both sides
    /// of a change that does not raise the serial number. Returns true if there is such a doubt. `key` should
    /// be random.
    pub(crate) fn note(&mut self, old: Option<&Zone>, new: &Zone, key: &Key) -> bool {
        if let Some(old) = old {
            let is_raised = is_before(old.serial(), new.serial());
            let is_same = || old.serial() == new.serial() && old.fingerprint(key) == new.fingerprint(key);
            if is_raised || is_same() {
                return false;
            }
            self.doubt(old.serial());
        }
        self.doubt(new.serial());
        true
    }

    /// Notes that the version with this serial number, and those before it, may have several contents.
    fn doubt(&mut self, serial: u32) {
        self.unsure = match self.unsure {
            Some(known) if !is_before(known, serial) => Some(known),
            _ => Some(serial),
        };
    }

    /// True if differences may lead from this version.
    pub(crate) fn is_sure(self, serial: u32) -> bool {
        self.unsure.is_none_or(|unsure| is_before(unsure, serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_up_to_the_last_doubt_are_no_bases() {
        let mut bases = Bases::default();
        assert!(bases.is_sure(1));
        bases.doubt(3);
        assert_eq!([2, 3, 4].map(|serial| bases.is_sure(serial)), [false, false, true]);
        bases.doubt(2);
        assert!(!bases.is_sure(3), "a lowered number takes no doubt away");
        let mut bases = Bases::default();
        bases.doubt(u32::MAX - 1);
        bases.doubt(1);
        assert_eq!([u32::MAX, 1, 2].map(|serial| bases.is_sure(serial)), [false, false, true]);
    }
}
