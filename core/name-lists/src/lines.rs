//! Lines of a text that comes in pieces.

use alloc::vec::Vec;

/// Bytes of the longest line.
pub const MAX_LINE: usize = 64 << 10;

/// A line is longer than [`MAX_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is longer than {MAX_LINE} bytes; a list of names has a rule a line")]
pub struct LineTooLong {
    /// Number of the line, from 1.
    pub line: u64,
}

/// Divides a text into lines. It keeps the beginning of one line at most, [`MAX_LINE`] bytes.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
    /// Lines that have ended.
    ended: u64,
}

impl Lines {
    /// Passes each line that ends in the next piece of the text to `each`, without its line feed.
    ///
    /// # Errors
    /// A line is too long, or `each` failed: the text must not be continued.
    pub fn push<E: From<LineTooLong>>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((line, rest)) = memchr::memchr(b'\n', piece).and_then(|at| piece.split_at_checked(at))
        {
            piece = rest.get(1..).unwrap_or_default();
            if self.begun.is_empty() {
                self.check(line.len())?;
                each(line)?;
            } else {
                self.keep(line)?;
                each(&self.begun)?;
                self.begun.clear();
            }
            self.ended += 1;
        }
        Ok(self.keep(piece)?)
    }

    /// Passes the last line on, if it has no line feed.
    ///
    /// # Errors
    /// As `each`.
    pub fn finish<E>(self, each: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.begun.is_empty() { Ok(()) } else { each(&self.begun) }
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), LineTooLong> {
        self.check(self.begun.len() + part.len())?;
        self.begun.extend_from_slice(part);
        Ok(())
    }

    const fn check(&self, len: usize) -> Result<(), LineTooLong> {
        if len > MAX_LINE { Err(LineTooLong { line: self.ended + 1 }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &[u8], pieces: usize) -> Result<Vec<Vec<u8>>, LineTooLong> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        let mut each = |line: &[u8]| {
            found.push(line.to_vec());
            Ok(())
        };
        for piece in text.chunks(pieces) {
            lines.push(piece, &mut each)?;
        }
        lines.finish(each)?;
        Ok(found)
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_pieces(text in "[ab\n]{0,40}", pieces in 1..50_usize) {
            let expected: Vec<_> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(lines(text.as_bytes(), pieces), Ok(expected));
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_takes_memory() {
        let mut text = alloc::vec![b'a'; MAX_LINE];
        assert_eq!(lines(&text, 1000).map(|lines| lines.len()), Ok(1));
        text.insert(0, b'\n');
        text.push(b'b');
        for pieces in [1000, text.len()] {
            assert_eq!(lines(&text, pieces), Err(LineTooLong { line: 2 }));
        }
        text.push(b'\n');
        assert_eq!(lines(&text, text.len()), Err(LineTooLong { line: 2 }));
    }
}
