//! Recent parents: names without their first label, which are found without a hash of their bytes.

use super::recent::{SPREAD, few};
use crate::slices::copy;
use hashlane_name::dns::Case;

/// Number of remembered parents, of 64 bytes each. A parent has two places: of 40 that a message needs by
/// turns, one or two find both taken. With one place it would be six.
const PARENTS: usize = 256;

/// Longest parent in bytes.
pub(super) const LONGEST: usize = 48;

/// A name without its first label, in its most recent spelling. A cache line, and none of two.
#[derive(Clone, Copy)]
#[repr(align(64))]
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

    /// True if it has exactly these bytes.
    #[inline(always)]
    fn is(&self, bytes: &[u8]) -> bool {
        usize::from(self.len) == bytes.len()
            && self.bytes.get(..bytes.len()).is_some_and(|own| Case::Sensitive.eq(own, bytes))
    }
}

/// The first place of a parent; the second is its neighbour. An attacker who makes parents share them only
/// makes names slower.
#[derive(Clone, Copy)]
pub(super) struct ParentPlace(u8);

impl ParentPlace {
    /// The place of a parent with these bytes, by its first sixteen and its last eight.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mixed = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                // Of a shorter name the last one again, without a branch: lengths are hard to predict.
                let second = bytes.get((bytes.len() - 8).min(8)..).and_then(<[u8]>::first_chunk);
                let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
                let second = second.map_or(0, |word| u64::from_le_bytes(*word));
                first ^ second.rotate_left(23) ^ last.rotate_left(47)
            }
            _ => few(bytes),
        };
        Self(((mixed ^ bytes.len() as u64).wrapping_mul(SPREAD) >> 56) as u8)
    }
}

/// The parents, each at one of its places.
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
        // The second place is taken after the first.
        if parent.message != message {
            return None;
        }
        if parent.is(bytes) { Some(parent) } else { self.find_second(place, bytes, message) }
    }

    /// The parent at its second place.
    #[inline(never)]
    fn find_second(&self, place: ParentPlace, bytes: &[u8], message: u8) -> Option<&Parent> {
        let parent = &self.0[usize::from(place.0 ^ 1)];
        (parent.message == message && parent.is(bytes)).then_some(parent)
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
        let second = self.0[usize::from(place.0)].message == message;
        let parent = &mut self.0[usize::from(place.0 ^ u8::from(second))];
        if let Some(place) = parent.bytes.get_mut(..bytes.len()) {
            copy(place, bytes);
            (parent.len, parent.message) = (bytes.len() as u8, message);
            (parent.at, parent.left, parent.sum) = (at, left, sum);
        }
    }
}
