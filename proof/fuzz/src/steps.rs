//! The bytes of an input as the steps of a state machine.

use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;

/// The bytes of the steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps<'a>(pub(crate) &'a [u8]);

impl<'a> Steps<'a> {
    /// True after the last byte.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte; 0 after the last.
    pub(crate) fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// The next two bytes as a number.
    pub(crate) fn number(&mut self) -> u64 {
        u16::from_be_bytes([self.octet(), self.octet()]).into()
    }

    /// The next bytes, at most `len`.
    pub(crate) fn octets(&mut self, len: usize) -> &'a [u8] {
        let (octets, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        octets
    }

    /// A name of up to four letters below one of three first components, from one byte.
    pub(crate) fn name(&mut self) -> OwnedName<Ndn> {
        let octet = self.octet();
        let first: &[u8] = [&b"a"[..], b"localhost", b"localhop", b"a"][usize::from(octet >> 6)];
        let letters = (0..octet >> 4 & 3).map(|bit| if octet >> bit & 1 == 0 { &b"a"[..] } else { b"b" });
        let parts = [first].into_iter().chain(letters).map(Component::generic);
        let parts: Vec<Component<'_>> = parts.collect();
        OwnedName::from_components(parts).expect("a short name")
    }
}
