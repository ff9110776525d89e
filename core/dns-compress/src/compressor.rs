//! The interface between a writer of messages and its compressor.

use alloc::boxed::Box;
use hashlane_name::dns::{Case, Name, ParseError};

/// The first offset that a pointer cannot have: it has 14 bits.
pub const POINTER_LIMIT: usize = 0x4000;

/// The compressed form of a name. Four bytes, which functions return in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedName {
    literal: u16,
    /// 0 for none: the header is there.
    target: u16,
}

impl CompressedName {
    /// `literal` bytes of the name as they are (whole labels, and the root if there is no pointer), at most
    /// 255, and the offset in the message of the rest of the name, below [`POINTER_LIMIT`] and not 0.
    #[inline(always)]
    pub const fn new(literal: usize, pointer: Option<u16>) -> Self {
        let target = match pointer {
            Some(target) => target,
            None => 0,
        };
        Self { literal: literal as u16, target }
    }

    /// Places the whole name uncompressed.
    #[inline(always)]
    pub const fn whole(name: Name<'_>) -> Self {
        Self { literal: name.len() as u16, target: 0 }
    }

    /// `literal` bytes of the name and a pointer to the rest, or none if `target` is 0.
    #[inline(always)]
    pub(crate) const fn to(literal: usize, target: usize) -> Self {
        Self { literal: literal as u16, target: target as u16 }
    }

    /// A pointer to the whole name.
    #[inline(always)]
    pub(crate) const fn at(target: u16) -> Self {
        Self { literal: 0, target }
    }

    /// Bytes of the name to write as they are.
    #[inline(always)]
    pub const fn literal(self) -> usize {
        self.literal as usize
    }

    /// Offset in the message of the rest of the name.
    #[inline(always)]
    pub const fn pointer(self) -> Option<u16> {
        if self.target > 0 { Some(self.target) } else { None }
    }

    /// The pointer as it stands in the message, after the literal bytes.
    #[inline(always)]
    pub const fn pointer_bytes(self) -> Option<[u8; 2]> {
        if self.target > 0 { Some((0xc000 | self.target).to_be_bytes()) } else { None }
    }

    /// Bytes that the name takes so.
    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.literal() + if self.target > 0 { 2 } else { 0 }
    }
}

/// Finds pointers for the ends of names in a message, and remembers the names that it places.
///
/// Each message begins with one [`start`](Self::start). Names are placed in the order of the message, each
/// before it is written. After bytes are cut off the message, [`truncate`](Self::truncate) comes before the
/// next name; a name that was placed and not written is cut off the same way.
pub trait Compressor {
    /// Begins a message and forgets the names of the last one. `case` holds to the end of the message.
    fn start(&mut self, case: Case);

    /// Places `name` at the end of `written`, the message from its header on. The compressor assumes that the
    /// name is then written in this form.
    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName;

    /// Places the name `name`, bytes in wire form, as [`place`](Self::place) does: for programs whose names
    /// have a type of their own.
    ///
    /// # Errors
    /// `name` is no whole name without pointers; nothing has changed.
    #[inline]
    fn compress(&mut self, written: &[u8], name: &[u8]) -> Result<CompressedName, ParseError> {
        Ok(self.place(written, Name::parse(name)?))
    }

    /// Forgets every name that does not end within the first `len` bytes, to which the message was cut.
    fn truncate(&mut self, len: usize);
}

impl<C: Compressor> Compressor for Box<C> {
    #[inline]
    fn start(&mut self, case: Case) {
        (**self).start(case);
    }

    #[inline]
    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        (**self).place(written, name)
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        (**self).truncate(len);
    }
}
