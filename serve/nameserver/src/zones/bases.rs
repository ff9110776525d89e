//! Versions from which differences may lead: those whose content is the same for all who have them.

use hashlane_dns::zone::is_before;

/// The serial numbers up to which others may have content that differs from what was served last: of the
/// version at the start, of versions that were edited without a raised serial number, and of those before one
/// that was lowered. Differences from there would leave them with records that no version has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bases {
    unsure: Option<u32>,
}

impl Bases {
    /// Notes that the version with this serial number, and those before it, may have several contents.
    pub(super) fn doubt(&mut self, serial: u32) {
        self.unsure = match self.unsure {
            Some(known) if !is_before(known, serial) => Some(known),
            _ => Some(serial),
        };
    }

    /// True if differences may lead from this version.
    pub(super) fn is_sure(self, serial: u32) -> bool {
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
