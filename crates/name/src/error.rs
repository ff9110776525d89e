//! Why bytes are not a name.

/// The rule that an encoded name breaks, and the offset (octets from the start of the encoded name) where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside an element that starts at `at`.
    Truncated {
        /// Offset of the element.
        at: usize,
    },
}
