//! A label: up to 32 bytes of a link header, which neighbours return to each other.

use super::lp::MAX_PIT_TOKEN;
use crate::invariant::part;

/// Bytes that neighbours give one another in link headers: 32 at the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    len: u8,
    bytes: [u8; MAX_PIT_TOKEN],
}

/// What a downstream wants back with the answer.
pub type PitToken = Label;

impl Label {
    /// None.
    pub const NONE: Self = Self { len: 0, bytes: [0; MAX_PIT_TOKEN] };

    /// The label of these bytes, of which those after the 32nd are left out.
    #[inline]
    pub fn new(token: &[u8]) -> Self {
        let mut bytes = [0; MAX_PIT_TOKEN];
        let len = token.len().min(MAX_PIT_TOKEN);
        bytes.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
        Self { len: len as u8, bytes }
    }

    /// The bytes; none where there are none.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        part(&self.bytes, ..usize::from(self.len))
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02x?}", self.as_bytes())
    }
}
