//! Writing messages, with names compressed (RFC 1035 §4.1.4).
//!
//! A [`Renderer`] keeps a [`Compressor`] and a buffer from message to message and starts a [`Message`], which
//! takes questions and records. [`SuffixTable`] is the compressor of the planes; others are in the crate
//! `baseline`, for studies.

mod edns;
mod marks;
mod message;
mod writer;

pub use edns::Edns;
pub use hashlane_dns_compress::{CompressedName, Compressor, POINTER_LIMIT, SuffixTable};
use marks::Marks;
pub use message::{Mark, Message};
pub use writer::Writer;

use crate::MAX_MESSAGE_LEN;
use crate::wire::{HEADER_LEN, Header, Section};
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::Case;

/// Minimum size in bytes of a renderer's own buffer after large messages.
const MIN_BUFFER: usize = 16 * 1024;

/// Messages in a row that need at most [`MIN_BUFFER`] bytes before a larger buffer is given back.
const SMALL_MESSAGES: u8 = 64;

/// The transport of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One datagram, as over UDP.
    #[default]
    Datagram,
    /// After two bytes of length, as over TCP (RFC 1035 §4.2.2). Offsets are from the header nevertheless.
    Stream,
}

/// Options of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum length of the message in bytes, 12 to 65,535, without the length before it on a stream.
    pub limit: usize,
    /// The transport.
    pub framing: Framing,
    /// Case sensitivity of compression: [`Case::Ignored`] points to names that differ only in the case of
    /// letters.
    pub case: Case,
}

impl Default for Options {
    /// A datagram of 512 bytes, as without EDNS.
    fn default() -> Self {
        Self { limit: 512, framing: Framing::Datagram, case: Case::Ignored }
    }
}

impl Options {
    /// The longest message that there is, on a stream.
    pub const fn stream() -> Self {
        Self { limit: MAX_MESSAGE_LEN, framing: Framing::Stream, case: Case::Ignored }
    }

    const fn prefix(&self) -> usize {
        match self.framing {
            Framing::Datagram => 0,
            Framing::Stream => 2,
        }
    }

    fn limit(&self) -> usize {
        self.limit.clamp(HEADER_LEN, MAX_MESSAGE_LEN)
    }
}

/// Renders message after message.
///
/// Once it has rendered one of a size, it allocates nothing for others of that size, and clears nothing
/// between them. It gives a buffer or a table for large messages back once 64 small ones have followed.
#[derive(Debug)]
pub struct Renderer<C = SuffixTable> {
    compressor: C,
    own: Vec<u8>,
    /// Messages in a row that needed at most [`MIN_BUFFER`] bytes of a larger buffer.
    small_messages: u8,
    marks: Marks,
}

/// A clone's messages are others: it refuses marks of the messages of the renderer that it was made of.
impl<C: Compressor + Clone> Clone for Renderer<C> {
    fn clone(&self) -> Self {
        Self { own: self.own.clone(), ..Self::with(self.compressor.clone()) }
    }
}

impl Renderer {
    /// A renderer with a [`SuffixTable`] under `key`, a secret random key.
    pub fn new(key: &Key) -> Self {
        Self::with(SuffixTable::new(key))
    }

    /// Acts as [`new`](Self::new), under a key from the operating system's random numbers.
    ///
    /// # Errors
    /// The operating system provides no random numbers.
    #[cfg(feature = "getrandom")]
    pub fn with_random_key() -> Result<Self, getrandom::Error> {
        Ok(Self::new(&Key::random()?))
    }
}

impl<C: Compressor> Renderer<C> {
    /// A renderer that compresses so.
    pub fn with(compressor: C) -> Self {
        Self { compressor, own: Vec::new(), small_messages: 0, marks: Marks::new() }
    }

    /// The compressor.
    pub const fn compressor(&self) -> &C {
        &self.compressor
    }

    /// Starts a message in the renderer's own buffer. A limit below 12 or above 65,535 bytes is taken as
    /// that.
    #[inline]
    pub fn start(&mut self, header: Header, options: Options) -> Message<'_, C> {
        let len = options.prefix() + options.limit();
        if self.own.len() < len {
            self.own.resize(len, 0);
        } else if len > MIN_BUFFER {
            self.small_messages = 0;
        } else if self.own.len() > MIN_BUFFER {
            self.shrink();
        }
        let buffer = &mut self.own[..len];
        match start(&mut self.compressor, buffer, header, &options, &mut self.marks) {
            Ok(message) => message,
            // The buffer was made long enough for a header.
            Err(_) => unreachable!("a limit of {} bytes has room for a header", options.limit()),
        }
    }

    /// Takes a smaller buffer after enough small messages in a row, so that large ones may alternate with
    /// small ones.
    #[cold]
    fn shrink(&mut self) {
        self.small_messages += 1;
        if self.small_messages == SMALL_MESSAGES {
            (self.own, self.small_messages) = (vec![0; MIN_BUFFER], 0);
        }
    }

    /// Starts a message in the caller's buffer, which bounds the message as the limit does.
    ///
    /// # Errors
    /// The buffer has no room for a header.
    #[inline]
    pub fn start_in<'a>(
        &'a mut self,
        buffer: &'a mut [u8],
        header: Header,
        options: Options,
    ) -> Result<Message<'a, C>, RenderError> {
        start(&mut self.compressor, buffer, header, &options, &mut self.marks)
    }

    /// Bytes of the renderer's own buffer.
    pub const fn buffer(&self) -> usize {
        self.own.capacity()
    }
}

#[inline]
fn start<'a, C: Compressor>(
    compressor: &'a mut C,
    buffer: &'a mut [u8],
    header: Header,
    options: &Options,
    marks: &'a mut Marks,
) -> Result<Message<'a, C>, RenderError> {
    let len = buffer.len().min(options.prefix() + options.limit());
    if len < options.prefix() + HEADER_LEN {
        return Err(RenderError::Full);
    }
    Message::new(Writer::new(&mut buffer[..len], options.prefix(), compressor, options.case), header, marks)
}

/// The reason that an entry was not written; the message is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// There is no room below the limit.
    #[error("no room in the message")]
    Full,
    /// The section comes before one that has been written into.
    #[error("section {section:?} cannot follow section {after:?}")]
    SectionOrder {
        /// The section.
        section: Section,
        /// The one written into.
        after: Section,
    },
    /// The section has 65,535 entries.
    #[error("section {section:?} already has 65,535 entries")]
    TooManyRecords {
        /// The section.
        section: Section,
    },
    /// The data of a record have more than 65,535 bytes.
    #[error("record data longer than 65,535 bytes")]
    RdataTooLong,
    /// The mark is of another message, or of a part of this one that was rolled back.
    #[error(
        "cannot roll back: the mark is of another message or of a part already rolled back; take a new mark"
    )]
    Mark,
}
