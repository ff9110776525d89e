//! The tokens of a zone file (RFC 1035 §5.1).

use crate::error::FaultKind;
use crate::limits::MAX_ENTRY;
use hashlane_dns::slices::Parts as _;

/// A token: a word, or a quoted string without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    /// The text, with its escapes.
    pub(super) text: &'t [u8],
    /// True for a quoted string.
    pub(super) quoted: bool,
    /// True if the text has a backslash.
    pub(super) escaped: bool,
    /// True if white space, a comment or a parenthesis precedes it.
    pub(super) spaced: bool,
}

impl Token<'_> {
    /// Returns true if this is the unquoted word `word`, which has no escapes.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        !self.quoted && self.text == word
    }

    /// The text for an error message: cut off after 64 bytes.
    pub(super) fn shown(&self) -> String {
        shown(self.text)
    }
}

/// Text for an error message: printable, and cut off after 64 bytes.
pub(super) fn shown(text: &[u8]) -> String {
    let cut = text.get(..64);
    let mut shown = cut.unwrap_or(text).escape_ascii().to_string();
    if cut.is_some_and(|cut| cut.len() < text.len()) {
        shown.push('…');
    }
    shown
}

/// A position in a file, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    /// In bytes.
    pub(super) column: u32,
}

/// Start of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// White space: the owner is the same as the previous record's.
    Blank,
    /// The owner, or a directive.
    Word,
}

/// Reads tokens, record by record.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'t> {
    whole: &'t [u8],
    /// The text up to the end of the longest entry that may begin with the current line.
    text: &'t [u8],
    at: usize,
    line: u32,
    /// Offset of the line's first byte.
    line_start: usize,
    /// Open parentheses, and the line of the first.
    depth: u32,
    opened: u32,
    /// Position of the last token.
    place: Position,
}

/// Returns true for bytes that end a word.
const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b')' | b'"' | 0)
}

/// Bytes that end a word, and the backslash.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = ends_word(byte as u8) || byte as u8 == b'\\';
        byte += 1;
    }
    table
};

/// The text up to the end of the longest entry that begins at `start`, and its line break.
fn longest_entry(text: &[u8], start: usize) -> &[u8] {
    text.get(..start.saturating_add(MAX_ENTRY + 1)).unwrap_or(text)
}

impl<'t> Scanner<'t> {
    /// A scanner of text that begins at a record, in line `line` of its file.
    pub(super) fn new(text: &'t [u8], line: u32) -> Self {
        let place = Position { line, column: 1 };
        Self {
            whole: text,
            text: longest_entry(text, 0),
            at: 0,
            line,
            line_start: 0,
            depth: 0,
            opened: line,
            place,
        }
    }

    /// Returns true at the end of an entry that is longer than [`MAX_ENTRY`], or of a line without one.
    pub(super) fn is_cut_off(&self) -> bool {
        self.at >= self.text.len() && self.text.len() < self.whole.len()
    }

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The line of the next byte.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Position of the last token.
    pub(super) fn place(&self) -> Position {
        self.place
    }

    /// Returns false if the next token cannot begin with a backslash.
    pub(super) fn may_escape(&self) -> bool {
        let rest = self.text.part(self.at..);
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        matches!(next, Some(b'\\' | b'(' | b')' | b';' | b'\r' | b'\n'))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn mark(&mut self) {
        let column = u32::try_from(self.at - self.line_start).unwrap_or(u32::MAX - 1) + 1;
        self.place = Position { line: self.line, column };
    }

    /// Goes past the line break at the current offset.
    fn break_line(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
        self.line_start = self.at;
    }

    fn skip_comment(&mut self) {
        let rest = self.text.part(self.at..);
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    /// Goes to the next line that is not empty; `None` at the end of the text. Call it only after
    /// [`next`](Self::next) has returned `None`, or after [`skip_record`](Self::skip_record).
    pub(super) fn start(&mut self) -> Option<Start> {
        loop {
            let blank = matches!(self.peek()?, b' ' | b'\t');
            self.mark();
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
                self.at += 1;
            }
            match self.peek()? {
                b'\n' => {
                    self.break_line();
                    self.text = longest_entry(self.whole, self.at);
                }
                b';' => self.skip_comment(),
                _ if blank => return Some(Start::Blank),
                _ => return Some(Start::Word),
            }
        }
    }

    /// The next token of the record; `None` at its end.
    ///
    /// # Errors
    /// A quotation or parenthesis is not closed or not opened, or a byte is NUL.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Token<'t>>, FaultKind> {
        let mut spaced = false;
        loop {
            let Some(byte) = self.peek() else {
                return match self.depth {
                    0 => Ok(None),
                    _ => Err(FaultKind::UnclosedParenthesis { line: self.opened }),
                };
            };
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if self.depth == 0 => return Ok(None),
                b'\n' => self.break_line(),
                b';' => self.skip_comment(),
                b'(' => {
                    if self.depth == 0 {
                        self.opened = self.line;
                    }
                    self.depth = self.depth.saturating_add(1);
                    self.at += 1;
                }
                b')' => {
                    self.mark();
                    self.at += 1;
                    self.depth = self.depth.checked_sub(1).ok_or(FaultKind::StrayParenthesis)?;
                }
                b'"' => return self.quoted(spaced).map(Some),
                0 => {
                    self.mark();
                    self.at += 1;
                    return Err(FaultKind::Nul);
                }
                _ => return Ok(Some(self.word(spaced))),
            }
            spaced = true;
        }
    }

    fn word(&mut self, spaced: bool) -> Token<'t> {
        self.mark();
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = self.text.part(self.at..);
            let end = rest.iter().position(|byte| SPECIAL[usize::from(*byte)]).unwrap_or(rest.len());
            self.at += end;
            if self.peek() != Some(b'\\') {
                break;
            }
            escaped = true;
            self.escape();
        }
        Token { text: self.text.part(start..self.at), quoted: false, escaped, spaced }
    }

    /// Goes past a backslash and the byte after it.
    fn escape(&mut self) {
        self.at += 1;
        match self.peek() {
            Some(b'\n') => self.break_line(),
            Some(_) => self.at += 1,
            None => {}
        }
    }

    fn quoted(&mut self, spaced: bool) -> Result<Token<'t>, FaultKind> {
        self.mark();
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = self.text.part(self.at..);
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n' | 0);
            self.at += rest.iter().position(special).unwrap_or(rest.len());
            match self.peek() {
                Some(b'\\') => {
                    escaped = true;
                    self.escape();
                }
                Some(b'\n') => self.break_line(),
                Some(0) => {
                    // The rest of the quotation is skipped with the record.
                    let line = self.place.line;
                    let open = self.clone();
                    self.mark();
                    self.at += 1;
                    if self.end_quotation().is_err() {
                        *self = Self { at: self.text.len(), ..open };
                        return Err(FaultKind::UnclosedQuote { line });
                    }
                    return Err(FaultKind::Nul);
                }
                Some(_) => {
                    let text = self.text.part(start..self.at);
                    self.at += 1;
                    return Ok(Token { text, quoted: true, escaped, spaced });
                }
                None => return Err(FaultKind::UnclosedQuote { line: self.place.line }),
            }
        }
    }

    /// Goes past the end of a quotation.
    fn end_quotation(&mut self) -> Result<(), ()> {
        loop {
            match self.peek().ok_or(())? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape(),
                b'\n' => self.break_line(),
                _ => self.at += 1,
            }
        }
    }

    /// Goes to the end of a record in which an error was found.
    pub(super) fn skip_record(&mut self) {
        let place = self.place;
        // Errors within the rest belong to the same record.
        while let Ok(Some(_)) | Err(FaultKind::StrayParenthesis | FaultKind::Nul) = self.next() {}
        (self.depth, self.place) = (0, place);
    }
}
