//! What a renderer asks about each name.

use hashlane_name::dns::{Case, Name};

/// The first offset that a pointer cannot have: it has 14 bits.
pub const POINTER_LIMIT: usize = 0x4000;

/// How a name is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of the name to write as they are: whole labels, and the root with them where there is no pointer.
    pub literal: usize,
    /// The offset in the message that stands for the rest; below [`POINTER_LIMIT`].
    pub pointer: Option<u16>,
}

impl Place {
    /// Bytes that the name takes so.
    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.literal + if self.pointer.is_some() { 2 } else { 0 }
    }

    /// As it is, to its root.
    #[inline(always)]
    pub const fn whole(name: Name<'_>) -> Self {
        Self { literal: name.len(), pointer: None }
    }
}

/// Finds in a message what the end of a name can be replaced by, and remembers the names that it is asked about.
///
/// One message is one [`start`](Self::start); the names are asked for in the order in which they are written, each before it is.
pub trait Compressor {
    /// Begins a message: what was remembered is forgotten. Whether the case of letters counts stays so to the end of the
    /// message.
    fn start(&mut self, case: Case);

    /// How `name` is to be written at the end of `written`, which is the message from its header on. The compressor takes it
    /// that the name is then written so.
    fn place(&mut self, written: &[u8], name: Name<'_>) -> Place;

    /// Forgets every name that does not end within the first `len` bytes, to which the message was cut.
    fn truncate(&mut self, len: usize);
}
