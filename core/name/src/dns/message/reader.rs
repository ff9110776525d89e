//! A reader of many names of one message.

use super::memory::Memory;
use super::{Step, Walk, read};
use crate::dns::{NameBuf, ParseError};
use core::borrow::BorrowMut;

/// Steps after the first pointer that a name may take without being remembered: more than names of hosts take
/// in ordinary messages, so that these allocate nothing.
const FORGOTTEN: usize = 8;

/// Reads names of one message, with the results of [`read`]: same names, same errors, same offsets.
///
/// A pointer leads to one of the first 16,384 bytes. Where a name takes more than 8 labels and pointers after
/// its first pointer, the reader remembers the rest of the name for each of them; a later name that comes to
/// one of these offsets copies the rest. So, where names are read from first to last:
///
/// - time: each name costs the labels before its first pointer, at most 9 further steps, and one copy of at
///   most 255 bytes. All names together cost at most 2 × 16,640 steps more, for what is remembered. A
///   malformed name may cost another 254.
/// - memory: nothing until a name takes more than 8 such steps; then at most 614 KiB, and 872 KiB while that
///   grows: 6 bytes for each byte of the message up to 16,640, and 258 for each remembered name, at most
///   1,848 names.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    message: &'a [u8],
    memory: Memory,
    steps: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the names of `message`.
    pub const fn new(message: &'a [u8]) -> Self {
        Self { message, memory: Memory::new(), steps: 0 }
    }

    /// The message.
    pub const fn message(&self) -> &'a [u8] {
        self.message
    }

    /// Labels, pointers and roots read so far: a measure of the work, without copies and malformed names.
    pub const fn steps(&self) -> usize {
        self.steps
    }

    /// Reads the name at `at`. Returns the name and the offset after it.
    ///
    /// # Errors
    /// The same as of [`read`].
    #[inline]
    pub fn read(&mut self, at: usize) -> Result<(NameBuf, usize), ParseError> {
        self.read_within(at, self.message.len())
    }

    /// Reads the name at `at` as if the message ended at offset `end`, or where it ends itself if that is
    /// earlier. Names in the data of a record must end within the data.
    ///
    /// # Errors
    /// The same as of [`read`] for the message up to `end`.
    #[inline]
    pub fn read_within(&mut self, at: usize, end: usize) -> Result<(NameBuf, usize), ParseError> {
        self.walk(at, end, NameBuf::ROOT)
    }

    /// Acts as [`read_within`](Self::read_within), with the name written into `name`, which a program can use
    /// for name after name; after an error it is unspecified. Returns the offset after the name.
    ///
    /// # Errors
    /// The same as of [`read_within`](Self::read_within).
    pub fn read_into(&mut self, at: usize, end: usize, name: &mut NameBuf) -> Result<usize, ParseError> {
        name.clear();
        self.walk(at, end, name).map(|(_, end)| end)
    }

    #[inline(always)]
    fn walk<N: BorrowMut<NameBuf>>(
        &mut self,
        at: usize,
        end: usize,
        name: N,
    ) -> Result<(N, usize), ParseError> {
        let message = self.message.get(..end).unwrap_or(self.message);
        let mut walk = Walk::new(at, name);
        let mut first = 0;
        let target = loop {
            first += 1;
            match walk.step(message)? {
                Step::Label => {}
                Step::Pointer => break walk.next,
                Step::Root => {
                    self.steps += first;
                    return Ok(walk.finish());
                }
            }
        };
        let mut steps = 0;
        loop {
            if let Some(tail) = self.memory.find(walk.next) {
                if !tail.continues(&mut walk, message) {
                    // The rest of the name breaks a rule: which one, and its offset.
                    let (name, end) = read(message, at)?;
                    *walk.name.borrow_mut() = name;
                    return Ok((walk.name, end));
                }
                break;
            }
            steps += 1;
            if walk.step(message)? == Step::Root {
                break;
            }
        }
        self.steps += first + steps;
        if steps > FORGOTTEN {
            self.steps += self.memory.remember(self.message.len(), message, target);
        }
        Ok(walk.finish())
    }
}
