//! The records of a piece of a zone file.

use crate::error::{Fault, FaultKind};
use crate::field::{expect, found};
use crate::generate::{Range, Template};
use crate::number::time;
use crate::rdata::Data;
use crate::scan::{Position, Scanner, Start, Token};
use crate::split::Piece;
use crate::{Options, name, types};
use hashlane_dns::slices::Parts as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of a record beside its owner and its data, approximately.
const RECORD: usize = 80;

/// Limits of a zone that hold for all its pieces.
#[derive(Debug)]
pub(super) struct Limits {
    /// Errors of a piece.
    pub(super) faults: usize,
    /// Most records that `$GENERATE` makes.
    max_generated: u64,
    /// Most bytes that they take.
    max_generated_bytes: usize,
    /// Bytes that they take so far.
    generated: AtomicUsize,
}

impl Limits {
    pub(super) fn new(options: &Options) -> Self {
        let Options { max_errors, max_generated, max_generated_bytes, .. } = *options;
        let generated = AtomicUsize::new(0);
        Self { faults: max_errors.max(1), max_generated, max_generated_bytes, generated }
    }
}

/// Source of a record's TTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TtlFrom {
    /// The record, or a `$TTL` of its piece.
    Here,
    /// The last record of the piece that states one, unless a `$TTL` before the piece does.
    Record,
    /// A `$TTL` or a record before the piece.
    Before,
}

/// A record of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Place of the owner in the bytes; `None` if it is the last one before the piece.
    pub(super) owner: Option<Owner>,
    /// Offset and length of the data.
    data: u32,
    len: u16,
    pub(super) rtype: u16,
    pub(super) ttl: u32,
    pub(super) ttl_from: TtlFrom,
    pub(super) line: u32,
}

/// Place of an owner in the bytes of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    at: u32,
    len: u8,
}

/// The records of a piece, and what the next piece inherits.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) heads: Vec<Head>,
    bytes: Vec<u8>,
    /// The last owner.
    pub(super) owner: Option<Owner>,
    /// The last `$TTL`.
    pub(super) default_ttl: Option<u32>,
    /// The last TTL of a record.
    pub(super) last_ttl: Option<u32>,
    pub(super) faults: Vec<Fault>,
    /// The reader stops at the last of the errors: an entry that is too long.
    pub(super) cut_off: bool,
}

impl Records {
    /// An owner in wire form.
    pub(super) fn owner(&self, owner: Owner) -> &[u8] {
        let at = owner.at as usize;
        self.bytes.part(at..at + usize::from(owner.len))
    }

    /// The data of a record in wire form.
    pub(super) fn data(&self, head: &Head) -> &[u8] {
        let at = head.data as usize;
        self.bytes.part(at..at + usize::from(head.len))
    }
}

/// Reads the records of a piece.
pub(super) fn read(piece: &Piece, limits: &Limits) -> Records {
    let text = piece.source.text.part(piece.range.clone());
    let mut records = Records::default();
    records.bytes.reserve(text.len());
    let (origin, generated) = (piece.origin.clone(), piece.generated);
    let mut reader = Reader { origin, data: Data::default(), records, limits, generated };
    let mut scanner = Scanner::new(text, piece.line);
    let fault = |Position { line, column }, what| Fault {
        file: piece.source.name.clone(),
        line: Some(line),
        column: Some(column),
        what,
    };
    while let Some(start) = scanner.start() {
        let before = (reader.records.heads.len(), scanner.offset());
        let entry = scanner.place();
        let error = reader.record(start, &mut scanner).err().map(|what| (scanner.place(), what));
        if error.is_some() {
            // The rest of an unclosed quotation or parenthesis is the rest of the text.
            scanner.skip_record();
            reader.records.heads.truncate(before.0);
        }
        if scanner.is_cut_off() {
            // An error within the longest entry says more than its length.
            let (place, what) = error.unwrap_or((entry, FaultKind::EntryTooLong));
            reader.records.faults.push(fault(place, what));
            reader.records.cut_off = true;
            return reader.records;
        }
        reader.records.faults.extend(error.map(|(place, what)| fault(place, what)));
        if reader.records.faults.len() >= limits.faults {
            return reader.records;
        }
        debug_assert!(scanner.offset() > before.1, "each record takes bytes");
    }
    if scanner.is_cut_off() || piece.cut_off {
        debug_assert!(scanner.is_cut_off(), "the splitter cuts off what the reader does not read");
        reader.records.faults.push(fault(scanner.place(), FaultKind::EntryTooLong));
        reader.records.cut_off = true;
    }
    reader.records
}

struct Reader<'z> {
    origin: Option<Arc<[u8]>>,
    data: Data,
    records: Records,
    limits: &'z Limits,
    /// Records that `$GENERATE` makes in the pieces before this one.
    generated: u64,
}

impl Reader<'_> {
    fn record(&mut self, start: Start, scanner: &mut Scanner<'_>) -> Result<(), FaultKind> {
        let line = scanner.line();
        let mut first = None;
        if start == Start::Word {
            let Some(token) = scanner.next()? else { return Ok(()) };
            if !token.quoted && token.text.first() == Some(&b'$') {
                return self.directive(token, scanner);
            }
            self.records.owner = Some(self.owner(token)?);
        } else {
            first = scanner.next()?;
            if first.is_none() {
                return Ok(());
            }
        }
        let (ttl, rtype) = head(first, scanner)?;
        if ttl.is_some() {
            self.records.last_ttl = ttl;
        }
        self.add(self.records.owner, ttl, rtype, line, scanner)
    }

    /// Appends an owner.
    fn owner(&mut self, token: Token<'_>) -> Result<Owner, FaultKind> {
        let bytes = &mut self.records.bytes;
        let at = u32::try_from(bytes.len()).map_err(|_| FaultKind::DataTooLong)?;
        name::name(token, self.origin.as_deref(), bytes)?;
        // A name has at most 255 bytes.
        Ok(Owner { at, len: (bytes.len() - at as usize) as u8 })
    }

    /// Adds a record whose data come next.
    fn add(
        &mut self,
        owner: Option<Owner>,
        stated: Option<u32>,
        rtype: u16,
        line: u32,
        scanner: &mut Scanner<'_>,
    ) -> Result<(), FaultKind> {
        let Records { bytes, heads, default_ttl, last_ttl, .. } = &mut self.records;
        let start = bytes.len();
        let data = u32::try_from(start).map_err(|_| FaultKind::DataTooLong)?;
        let read = self.data.read(rtype, scanner, self.origin.as_deref(), bytes);
        let len = read.and_then(|()| u16::try_from(bytes.len() - start).map_err(|_| FaultKind::DataTooLong));
        let len = len.inspect_err(|_| bytes.truncate(start))?;
        let (ttl, ttl_from) = match (stated, *default_ttl, *last_ttl) {
            (Some(ttl), ..) | (None, Some(ttl), _) => (ttl, TtlFrom::Here),
            (None, None, Some(ttl)) => (ttl, TtlFrom::Record),
            (None, None, None) => (0, TtlFrom::Before),
        };
        heads.push(Head { owner, data, len, rtype, ttl, ttl_from, line });
        Ok(())
    }

    fn directive(&mut self, word: Token<'_>, scanner: &mut Scanner<'_>) -> Result<(), FaultKind> {
        // Where a file is split, directives are found at starts of lines alone.
        if scanner.place().column != 1 {
            return Err(found("an owner, or a directive at the start of its line", word));
        }
        let is = |name: &[u8]| word.text.eq_ignore_ascii_case(name);
        if is(b"$ORIGIN") {
            let mut stated = Vec::new();
            name::name(expect(scanner, "a name")?, self.origin.as_deref(), &mut stated)?;
            end(scanner)?;
            self.origin = Some(stated.into());
        } else if is(b"$TTL") {
            let field = "a time, such as 3600 or 1h30m";
            let token = expect(scanner, field)?;
            let ttl = time(token.text).ok_or_else(|| found(field, token))?;
            end(scanner)?;
            self.records.default_ttl = Some(ttl);
        } else if is(b"$GENERATE") {
            self.generate(scanner)?;
        } else {
            return Err(FaultKind::UnknownDirective(word.shown()));
        }
        Ok(())
    }

    /// Adds the records of `$GENERATE RANGE OWNER [TTL] [CLASS] TYPE DATA`. They change neither the last
    /// owner nor the last TTL.
    fn generate(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FaultKind> {
        let line = scanner.line();
        let range = Range::parse(expect(scanner, "a range")?.text)?;
        if self.generated.saturating_add(range.count()) > self.limits.max_generated {
            return Err(FaultKind::TooManyGenerated(self.limits.max_generated));
        }
        let owner = Template::parse(expect(scanner, "an owner")?.text)?;
        let (ttl, rtype) = head(None, scanner)?;
        let data = Template::parse(&rest(scanner)?)?;
        let mut expanded = Vec::new();
        for value in range.values() {
            expanded.clear();
            owner.expand(value, &mut expanded)?;
            let escaped = expanded.contains(&b'\\');
            let token = Token { text: &expanded, quoted: false, escaped, spaced: true };
            let start = self.records.bytes.len();
            let owner = self.owner(token)?;
            expanded.clear();
            data.expand(value, &mut expanded)?;
            // White space makes it the inside of a record.
            let mut scanner = Scanner::new(&expanded, line);
            self.add(Some(owner), ttl, rtype, line, &mut scanner)?;
            let cost = self.records.bytes.len() - start + RECORD;
            if self.limits.generated.fetch_add(cost, Ordering::Relaxed) > self.limits.max_generated_bytes {
                return Err(FaultKind::TooMuchGenerated(self.limits.max_generated_bytes));
            }
        }
        Ok(())
    }
}

/// The TTL and the type of a record, from the token `first` on if there is one. The class, which may precede
/// or follow the TTL, must be IN.
fn head(first: Option<Token<'_>>, scanner: &mut Scanner<'_>) -> Result<(Option<u32>, u16), FaultKind> {
    let (mut ttl, mut class, mut next) = (None, None, first);
    loop {
        let token = match next.take() {
            Some(token) => token,
            None => scanner.next()?.ok_or(FaultKind::NoType)?,
        };
        if token.quoted {
            return Err(found("a type", token));
        }
        if ttl.is_none() && token.text.first().is_some_and(u8::is_ascii_digit) {
            ttl = Some(time(token.text).ok_or_else(|| found("a TTL, a class or a type", token))?);
            continue;
        }
        if class.is_none() {
            class = types::class(token.text);
            match class {
                Some(1) => continue,
                Some(_) => return Err(FaultKind::Class(token.shown())),
                None => {}
            }
        }
        let unknown = || match types::is_meta(token.text) {
            true => FaultKind::NotForZones(token.shown()),
            false => FaultKind::UnknownType(token.shown()),
        };
        return Ok((ttl, types::rtype(token.text).ok_or_else(unknown)?));
    }
}

/// Checks that nothing follows.
fn end(scanner: &mut Scanner<'_>) -> Result<(), FaultKind> {
    match scanner.next()? {
        Some(token) => Err(FaultKind::Trailing(token.shown())),
        None => Ok(()),
    }
}

/// The rest of a record as text: the inside of a quotation, where `\"` is a quotation mark, if there is
/// nothing else.
fn rest(scanner: &mut Scanner<'_>) -> Result<Vec<u8>, FaultKind> {
    let first = expect(scanner, "data")?;
    let Some(mut next) = scanner.next()? else {
        return Ok(if first.quoted { without_escaped_quotes(first.text) } else { first.text.to_vec() });
    };
    let mut text = Vec::new();
    let mut push = |token: Token<'_>| {
        if token.spaced && !text.is_empty() {
            text.push(b' ');
        }
        let quote: &[u8] = if token.quoted { b"\"" } else { b"" };
        text.extend_from_slice(quote);
        text.extend_from_slice(token.text);
        text.extend_from_slice(quote);
    };
    push(first);
    loop {
        push(next);
        match scanner.next()? {
            Some(token) => next = token,
            None => return Ok(text),
        }
    }
}

fn without_escaped_quotes(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    loop {
        text = match *text {
            [] => return out,
            [b'\\', b'"', ref rest @ ..] => {
                out.push(b'"');
                rest
            }
            [b'\\', byte, ref rest @ ..] => {
                out.extend_from_slice(&[b'\\', byte]);
                rest
            }
            [byte, ref rest @ ..] => {
                out.push(byte);
                rest
            }
        };
    }
}
