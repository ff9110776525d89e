//! The one walk over a name's components, which the views, the conversions and the prefix hashes share.

use crate::error::ParseError;

/// A cursor over the components of one encoded name. It checks each component when it reaches it.
///
/// Positions are bytes in [`bytes`](Self::bytes): a component spans from the end of the one before it (0 for
/// the first) to its own end. For the TLV encodings that span includes the component's type and length.
pub trait Walk<'a>: Clone {
    /// The bytes that the components cover and that a prefix hash reads: the name's TLV-VALUE, or the
    /// segments of an offset name.
    fn bytes(&self) -> &'a [u8];

    /// The end of the next component, or `None` after the last.
    ///
    /// # Errors
    /// The rule that the component breaks, with its offset. A walk that has failed must not be continued.
    fn next_end(&mut self) -> Result<Option<usize>, ParseError>;

    /// Calls `each` with the end of every component that is left, in order: the walk as one loop, which an
    /// encoding can keep in registers.
    ///
    /// # Errors
    /// As [`next_end`](Self::next_end); `each` has then been called for the components before.
    #[inline(always)]
    fn for_each_end(mut self, mut each: impl FnMut(usize)) -> Result<(), ParseError> {
        while let Some(end) = self.next_end()? {
            each(end);
        }
        Ok(())
    }

    /// The end of component `index`, counted from the walk's next component, or `None` if there are fewer.
    /// Found by walking, or read from an encoding's array of ends.
    ///
    /// # Errors
    /// As [`next_end`](Self::next_end); an encoding that reads checks no component before this one.
    #[inline(always)]
    fn end_of(&self, index: usize) -> Result<Option<usize>, ParseError> {
        let mut walk = self.clone();
        for _ in 0..index {
            if walk.next_end()?.is_none() {
                return Ok(None);
            }
        }
        walk.next_end()
    }
}

/// One of the wire encodings of a name.
pub trait Encoding: Copy + 'static {
    /// The id in study files and records: `offset`, `ccnx` or `ndn`.
    const ID: &'static str;

    /// The walk over a name of this encoding.
    type Walk<'a>: Walk<'a>;

    /// Starts the walk over `name`, one whole encoded name, and checks the part before its components.
    ///
    /// # Errors
    /// The rule that the name's outer frame breaks, with the offset.
    fn walk(name: &[u8]) -> Result<Self::Walk<'_>, ParseError>;
}
