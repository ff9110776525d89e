//! The operations of all sketches.

use crate::error::{Error, ReadError};
use crate::wire::SketchKind;

/// A summary of keys of a fixed size, which another one of the same parameters can be merged into.
///
/// Sketches of parts of a data set, merged in any order, are the sketch of the whole: merging is associative
/// and commutative. All but [`HeavyHitters`](crate::HeavyHitters) then have the same bytes, whatever the
/// parts.
pub trait Sketch: Clone + Sized {
    /// Kind in the header of the bytes.
    const KIND: SketchKind;

    /// Adds the keys of another sketch to this one.
    ///
    /// # Errors
    /// The sketches differ in a parameter, which the error names. This one then stays as it was.
    fn merge(&mut self, other: &Self) -> Result<(), Error>;

    /// The sketch as bytes: a header, the parameters, and the content. It has no key, only a number to
    /// recognise it by.
    fn to_bytes(&self) -> Vec<u8>;

    /// The sketch of these bytes, without a key: it can be merged and has a result. Bytes that are accepted
    /// are those that [`to_bytes`](Self::to_bytes) gives back. Needs at most 128 bytes of memory for each
    /// byte, and 64 KiB; [`Groups`](crate::Groups), whose sketches may have most of their bytes in common,
    /// 1 GiB.
    ///
    /// # Errors
    /// The bytes are no sketch of this kind, or damaged: the field and its offset.
    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError>;
}
