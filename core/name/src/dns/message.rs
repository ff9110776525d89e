//! Names in messages, which may end in a pointer to an earlier name (RFC 1035 §4.1.4).
//!
//! [`read`] reads one name. [`Reader`] reads all names of a message, in a time proportional to the length of
//! the message also where thousands of names point to one long name.

mod memory;
mod reader;

pub use reader::Reader;

use core::borrow::BorrowMut;

use super::{MAX_NAME_LEN, MAX_POINTERS, NameBuf, ParseError};

/// Reads the name at `at` of a message and resolves its pointers. Returns the name and the offset after it.
///
/// The time is proportional to the length of the name: each pointer must lead before the run of labels that
/// it ends, a name has at most 127 pointers, and none is longer than 255 bytes. So a name costs up to 254
/// steps, and has as few as 2 bytes in the message: read all names of a message with a [`Reader`].
///
/// # Errors
/// The first rule broken, and its offset.
pub fn read(message: &[u8], at: usize) -> Result<(NameBuf, usize), ParseError> {
    let mut walk = Walk::new(at, NameBuf::ROOT);
    while walk.step(message)? != Step::Root {}
    Ok(walk.finish())
}

/// A name that is being read, into a name or a reference to one: to move a name takes as long as to copy its
/// labels.
struct Walk<N> {
    /// The labels before the current run.
    name: N,
    /// Bytes of all labels so far.
    len: usize,
    /// Start of the current run of labels.
    run: usize,
    /// Offset of the next label or pointer; after the root, of the byte that follows it.
    next: usize,
    /// Offset after the first pointer.
    end: Option<usize>,
    /// Number of pointers so far.
    pointers: usize,
}

/// The kind of a step of a [`Walk`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Label,
    Pointer,
    Root,
}

impl<N: BorrowMut<NameBuf>> Walk<N> {
    /// Reads the name at `at` into `name`, the root.
    #[inline(always)]
    fn new(at: usize, name: N) -> Self {
        Self { name, len: 0, run: at, next: at, end: None, pointers: 0 }
    }

    /// Reads a label, a pointer or the root.
    #[inline(always)]
    fn step(&mut self, message: &[u8]) -> Result<Step, ParseError> {
        let at = self.next;
        match *message.get(at..).unwrap_or_default() {
            [0, ..] => {
                self.copy_run(message);
                self.next += 1;
                Ok(Step::Root)
            }
            [bytes @ 1..=63, ref rest @ ..] => {
                let bytes = usize::from(bytes);
                if rest.len() < bytes {
                    return Err(ParseError::Truncated { at });
                }
                // The root still needs one byte.
                if self.len + 1 + bytes >= MAX_NAME_LEN {
                    return Err(ParseError::NameTooLong { at });
                }
                self.len += 1 + bytes;
                self.next += 1 + bytes;
                Ok(Step::Label)
            }
            [high @ 0xc0..=0xff, low, ..] => {
                let target = usize::from(u16::from_be_bytes([high & 0x3f, low]));
                self.pointers += 1;
                if target >= self.run {
                    return Err(ParseError::PointerNotBackward { at, target });
                }
                if self.pointers > MAX_POINTERS {
                    return Err(ParseError::TooManyPointers { at });
                }
                self.copy_run(message);
                self.end = self.end.or(Some(at + 2));
                (self.run, self.next) = (target, target);
                Ok(Step::Pointer)
            }
            [] | [0xc0..=0xff] => Err(ParseError::Truncated { at }),
            [_, ..] => Err(ParseError::ReservedLabelType { at }),
        }
    }

    /// Copies the current run of labels: a run at once, as a copy of each label takes several times longer.
    #[inline(always)]
    fn copy_run(&mut self, message: &[u8]) {
        let copied = self.name.borrow_mut().append(message.get(self.run..self.next).unwrap_or_default());
        debug_assert!(copied, "each label was checked");
    }

    /// The name, and the offset after it.
    #[inline(always)]
    fn finish(self) -> (N, usize) {
        (self.name, self.end.unwrap_or(self.next))
    }
}
