//! Zone files in pieces that threads read apart.

use crate::error::{Fault, FaultKind};
use crate::generate::Range as Values;
use crate::include::{Folder, Refused};
use crate::limits::MAX_ENTRY;
use crate::name;
use crate::scan::{Scanner, Start, Token, shown};
use hashlane_dns::slices::Parts as _;
use hashlane_name::dns::MAX_NAME_LEN;
use std::ops::Range;
use std::sync::Arc;

/// The text of a file.
#[derive(Debug)]
pub(super) struct Source {
    /// The file as its errors name it.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// A run of whole records of a file.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) source: Arc<Source>,
    /// The place of its text.
    pub(super) range: Range<usize>,
    /// The line of its first byte.
    pub(super) line: u32,
    /// The origin at its begin, in wire form.
    pub(super) origin: Option<Arc<[u8]>>,
    /// Files that include this one.
    pub(super) depth: usize,
    /// True for the first piece of a file.
    pub(super) first: bool,
    /// True if it ends within an entry that is too long. It is the last piece then.
    pub(super) cut_off: bool,
    /// Records that `$GENERATE` makes in the pieces before it.
    pub(super) generated: u64,
}

/// A file that is being split.
struct Frame {
    source: Arc<Source>,
    at: usize,
    line: u32,
    origin: Option<Arc<[u8]>>,
    first: bool,
}

/// Splits a zone file, and the files that it includes, into pieces in the order of their records.
///
/// A piece ends at the end of a record, outside of quotations and parentheses. An `$INCLUDE` line is a
/// separate piece, which is replaced by the pieces of that file; so is a `$GENERATE` line, as that makes many
/// records of few bytes.
pub(super) struct Splitter {
    frames: Vec<Frame>,
    folder: Folder,
    /// Least bytes of a piece, except the last of a file and those at directives.
    least: usize,
    max_bytes: u64,
    /// Records that `$GENERATE` makes so far.
    generated: u64,
}

/// The next piece, or the error of an `$INCLUDE`.
pub(super) enum Item {
    Piece(Piece),
    Fault {
        fault: Fault,
        /// True if it is the last item: the line is too long.
        stops: bool,
    },
}

/// A directive that ends pieces.
enum Directive {
    Include,
    Generate,
}

impl Splitter {
    pub(super) fn new(
        name: String,
        text: Vec<u8>,
        origin: Option<&[u8]>,
        folder: Folder,
        least: usize,
        max_bytes: u64,
    ) -> Self {
        let mut this = Self { frames: Vec::new(), folder, least, max_bytes, generated: 0 };
        this.push(name, text, origin.map(Arc::from));
        this
    }

    fn push(&mut self, name: String, text: Vec<u8>, origin: Option<Arc<[u8]>>) {
        // The byte order mark of UTF-8.
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let source = Arc::new(Source { name, text });
        self.frames.push(Frame { source, at, line: 1, origin, first: true });
    }

    /// Reads the `$INCLUDE` line at the offset of the last frame.
    fn include(&mut self) -> Option<Fault> {
        let frame = self.frames.last_mut()?;
        let source = Arc::clone(&frame.source);
        let text = source.text.part(frame.at..);
        let mut scanner = Scanner::new(text, frame.line);
        let read = include_line(&mut scanner, frame.origin.as_ref());
        if read.is_err() {
            scanner.skip_record();
        }
        frame.at += scanner.offset();
        frame.line = scanner.line();
        let place = scanner.place();
        let fault = |what| {
            let (line, column) = (Some(place.line), Some(place.column));
            Some(Fault { file: source.name.clone(), line, column, what })
        };
        if scanner.is_cut_off() {
            self.frames.clear();
            return fault(read.err().unwrap_or(FaultKind::EntryTooLong));
        }
        let (path, origin) = match read {
            Ok(read) => read,
            Err(what) => return fault(what),
        };
        match self.folder.open(&path) {
            Ok(text) => {
                self.push(String::from_utf8_lossy(&path).into_owned(), text, origin);
                None
            }
            Err(Refused::TooManyBytes) => fault(FaultKind::TooManyBytes(self.max_bytes)),
            Err(Refused::Include(why)) => fault(FaultKind::Include { path: shown(&path), why }),
        }
    }
}

impl Iterator for Splitter {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let depth = self.frames.len().checked_sub(1)?;
            let frame = self.frames.last_mut()?;
            if frame.at >= frame.source.text.len() {
                self.frames.pop();
                if depth > 0 {
                    self.folder.close();
                }
                continue;
            }
            let text = frame.source.text.part(frame.at..);
            let directive = directive(text);
            if let Some(Directive::Include) = directive {
                match self.include() {
                    Some(fault) => return Some(Item::Fault { fault, stops: self.frames.is_empty() }),
                    None => continue,
                }
            }
            let origin = frame.origin.clone();
            // More than the reader takes for one entry.
            let most = self.least.saturating_add(MAX_ENTRY + 2);
            let len = piece(text.get(..most).unwrap_or(text), self.least, &mut frame.origin);
            let cut_off = len == most && len < text.len();
            let generated = self.generated;
            if let Some(Directive::Generate) = directive {
                self.generated = generated.saturating_add(values(text));
            }
            let range = frame.at..frame.at + len;
            let text = text.part(..len);
            let breaks = text.iter().filter(|byte| **byte == b'\n').count();
            let line = frame.line;
            frame.at = range.end;
            frame.line = line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
            let first = std::mem::take(&mut frame.first);
            let source = Arc::clone(&frame.source);
            if cut_off {
                self.frames.clear();
            }
            let piece = Piece { source, range, line, origin, depth, first, cut_off, generated };
            return Some(Item::Piece(piece));
        }
    }
}

/// Records that a `$GENERATE` line makes; 0 if its range has an error, which is found when the piece is read.
fn values(text: &[u8]) -> u64 {
    let mut scanner = Scanner::new(text, 1);
    scanner.start();
    let mut token = || scanner.next().ok().flatten();
    token().and_then(|_| token()).and_then(|range| Values::parse(range.text).ok()).map_or(0, Values::count)
}

/// The path and the origin of an `$INCLUDE` line.
#[allow(clippy::type_complexity, reason = "a pair that is taken apart at once")]
fn include_line(
    scanner: &mut Scanner<'_>,
    origin: Option<&Arc<[u8]>>,
) -> Result<(Vec<u8>, Option<Arc<[u8]>>), FaultKind> {
    scanner.start();
    scanner.next()?;
    let missing = FaultKind::Expected { field: "a path", found: None };
    let mut path = Vec::new();
    name::text(scanner.next()?.ok_or(missing)?, &mut path)?;
    let Some(token) = scanner.next()? else { return Ok((path, origin.cloned())) };
    let stated = absolute(token, origin)?;
    match scanner.next()? {
        Some(token) => Err(FaultKind::Trailing(token.shown())),
        None => Ok((path, Some(stated))),
    }
}

/// The name of a token as an origin.
fn absolute(token: Token<'_>, origin: Option<&Arc<[u8]>>) -> Result<Arc<[u8]>, FaultKind> {
    let mut stated = Vec::with_capacity(MAX_NAME_LEN);
    name::name(token, origin.map(|origin| &origin[..]), &mut stated)?;
    Ok(stated.into())
}

/// The directive at the start of a record, if it ends pieces.
fn directive(text: &[u8]) -> Option<Directive> {
    let is = |word: &[u8]| {
        let (start, rest) = text.split_at_checked(word.len())?;
        let ends =
            rest.first().is_none_or(|next| matches!(next, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b'"'));
        (ends && start.eq_ignore_ascii_case(word)).then_some(())
    };
    if text.first() != Some(&b'$') {
        None
    } else if is(b"$INCLUDE").is_some() {
        Some(Directive::Include)
    } else {
        is(b"$GENERATE").map(|()| Directive::Generate)
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Bytes that are looked at one by one before that.
const NEAR: usize = 4;

/// Returns true for bytes that begin or end something that may hold a line break, and the sign of directives.
const fn special(byte: u8) -> bool {
    matches!(byte, b'"' | b'(' | b')' | b';' | b'\\' | b'$')
}

/// Number of bytes until the next special byte, or until the next line break if `breaks`.
#[inline]
fn run(text: &[u8], breaks: bool) -> usize {
    let stops = |byte: u8| special(byte) | (breaks & (byte == b'\n'));
    // Special bytes that are next to each other do not have a whole block looked at each.
    let (near, far) = text.split_at(NEAR.min(text.len()));
    if let Some(len) = near.iter().position(|byte| stops(*byte)) {
        return len;
    }
    let mut len = near.len();
    for block in far.chunks(BLOCK) {
        // Without a branch for each byte, so that many are compared at once.
        if block.iter().fold(false, |any, byte| any | stops(*byte)) {
            return len + block.iter().position(|byte| stops(*byte)).unwrap_or(block.len());
        }
        len += block.len();
    }
    len
}

/// Length of the piece that begins with `text`, which is not empty: at least `least` bytes, if no directive
/// ends it. `origin` follows the `$ORIGIN` lines.
fn piece(text: &[u8], least: usize, origin: &mut Option<Arc<[u8]>>) -> usize {
    if directive(text).is_some() {
        // Directives that end pieces have one of their own.
        return record(text);
    }
    let (mut at, mut depth) = (0, 0_u64);
    loop {
        // Line breaks count from `least` on; nothing is before it once it is passed.
        let before = text.get(at..least.min(text.len())).unwrap_or_default();
        at += run(before, false);
        if at >= least {
            at += run(text.part(at..), depth == 0);
        }
        let Some(rest @ [byte, ..]) = text.get(at..) else { return text.len() };
        match byte {
            b'\n' if depth == 0 && at >= least => return at + 1,
            b'$' if depth == 0 && (at == 0 || text.get(at - 1) == Some(&b'\n')) => {
                if directive(rest).is_some() {
                    return at;
                }
                if let Some(stated) = origin_line(rest, origin.as_ref()) {
                    *origin = Some(stated);
                }
                at += 1;
            }
            _ => at += step(rest, &mut depth),
        }
    }
}

/// Length of the record that begins with `text`.
fn record(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    loop {
        let rest = text.part(at..);
        at += run(rest, depth == 0);
        match text.get(at) {
            None => return text.len(),
            Some(b'\n') => return at + 1,
            Some(_) => at += step(text.part(at..), &mut depth),
        }
    }
}

/// Length of what begins with a special byte: an escape, a comment, a quotation, or the byte.
fn step(text: &[u8], depth: &mut u64) -> usize {
    match text.first() {
        Some(b'\\') => 2.min(text.len()),
        Some(b';') => text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len()),
        Some(b'"') => {
            let mut at = 1;
            loop {
                let rest = text.part(at..);
                let stop = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                let Some(stop) = stop else { return text.len() };
                at += stop + 1;
                match text.get(at - 1) {
                    Some(b'"') => return at,
                    _ if at < text.len() => at += 1,
                    _ => return at,
                }
            }
        }
        Some(b'(') => {
            *depth += 1;
            1
        }
        Some(b')') => {
            *depth = depth.saturating_sub(1);
            1
        }
        _ => 1,
    }
}

/// The origin of an `$ORIGIN` line; `None` if the line is another or has an error, which is found when the
/// piece is read.
fn origin_line(text: &[u8], origin: Option<&Arc<[u8]>>) -> Option<Arc<[u8]>> {
    let start = text.get(..b"$ORIGIN".len())?;
    if !start.eq_ignore_ascii_case(b"$ORIGIN") {
        return None;
    }
    let mut scanner = Scanner::new(text, 1);
    (scanner.start()? == Start::Word).then_some(())?;
    let word = scanner.next().ok()??;
    word.text.eq_ignore_ascii_case(b"$ORIGIN").then_some(())?;
    let stated = absolute(scanner.next().ok()??, origin).ok()?;
    // The line is as long as the next record break: a line that is not read is not obeyed.
    scanner.next().ok()?.is_none().then_some(stated)
}
