//! Recent parents: names without their first label, which are found without a hash of their bytes.

use super::recent::SPREAD;
use crate::render::writer::copy;
use hashlane_name::dns::Case;

/// Number of remembered parents, of 64 bytes each. Of 40 that a message needs by turns, six share a place.
const PARENTS: usize = 256;

/// Longest parent in bytes.
const LONGEST: usize = 48;

/// A name without its first label, in its most recent spelling.
#[derive(Clone, Copy)]
pub(super) struct Parent {
    bytes: [u8; LONGEST],
    /// Length in bytes.
    len: u8,
    /// The message; 0 for none.
    message: u8,
    /// Offset in the message; 0 for the root.
    pub(super) at: u16,
    /// Offset of the label before it, of the same name; 0 if it is the first of its name.
    pub(super) left: u16,
    /// The sum over its whole words.
    pub(super) sum: u64,
}

impl Parent {
    const NONE: Self = Self { bytes: [0; LONGEST], len: 0, message: 0, at: 0, left: 0, sum: 0 };
}

/// The place of a parent. An attacker who makes parents share it only makes names slower.
#[derive(Clone, Copy)]
pub(super) struct ParentPlace(u8);

impl ParentPlace {
    /// The place of a parent with these bytes, by its first sixteen and its last eight.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mixed = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                let second = bytes.get(8..).and_then(<[u8]>::first_chunk);
                let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
                let second = second.map_or(0, |word| u64::from_le_bytes(*word));
                first ^ second.rotate_left(23) ^ last.rotate_left(47)
            }
            _ => bytes.iter().fold(0, |few, byte| few << 8 | u64::from(*byte)),
        };
        Self(((mixed ^ bytes.len() as u64).wrapping_mul(SPREAD) >> 56) as u8)
    }
}

/// The parents, each at its place.
#[derive(Clone)]
pub(super) struct Parents([Parent; PARENTS]);

impl Parents {
    pub(super) const NONE: Self = Self([Parent::NONE; PARENTS]);

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|parent| parent.message = 0);
    }

    /// The parent with exactly these bytes in that message.
    #[inline(always)]
    pub(super) fn find(&self, place: ParentPlace, bytes: &[u8], message: u8) -> Option<&Parent> {
        let parent = &self.0[usize::from(place.0)];
        let same = usize::from(parent.len) == bytes.len()
            && parent.message == message
            && Case::Sensitive.eq(parent.bytes.get(..bytes.len())?, bytes);
        same.then_some(parent)
    }

    /// Remembers a parent, unless it is too long: its bytes, message, offset, the label before it, and sum.
    #[inline]
    pub(super) fn keep(
        &mut self,
        place: ParentPlace,
        bytes: &[u8],
        message: u8,
        at: u16,
        left: u16,
        sum: u64,
    ) {
        let parent = &mut self.0[usize::from(place.0)];
        if let Some(place) = parent.bytes.get_mut(..bytes.len()) {
            copy(place, bytes);
            (parent.len, parent.message) = (bytes.len() as u8, message);
            (parent.at, parent.left, parent.sum) = (at, left, sum);
        }
    }
}
