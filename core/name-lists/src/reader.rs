//! Lists in pieces: format, lines, rules.

use crate::counts::Counts;
use crate::detect::detect;
use crate::entry::Entry;
use crate::format::Format;
use crate::lines::{LineTooLong, Lines, MAX_LINE};
use crate::name::rule_name;
use crate::reason::Reason;
use crate::rpz::Rpz;
use crate::{adblock, dnsmasq, domains, hosts, psl, v2ray};
use alloc::vec::Vec;
use hashlane_name_map::{BuildError, Builder, Target};

/// Bytes of the beginning by which a format is detected.
const SAMPLE: usize = MAX_LINE;

/// Bytes of the beginning in which a zero byte tells that the list is no text.
const HEAD: usize = 64;

/// Meaning of a list's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; `None` detects it.
    pub format: Option<Format>,
    /// Target of the plain names of [`Format::Domains`].
    pub plain: Target,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, plain: Target::Exact }
    }
}

/// A list that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its format.
    pub format: Format,
    /// Its lines and rules.
    pub counts: Counts,
}

/// A list that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A line has no end.
    #[error(transparent)]
    LineTooLong(#[from] LineTooLong),
    /// A zero byte among the first bytes.
    #[error("not a text: zero byte at offset {at}")]
    NotText {
        /// Offset of the byte.
        at: usize,
    },
    /// The file is compressed.
    #[error("compressed by {by}; decompress it first")]
    Compressed {
        /// Name of the format.
        by: &'static str,
    },
    /// Lines that are no format's.
    #[error("unknown format: its lines are neither rules nor names; state the format if it has one")]
    UnknownFormat,
    /// The rules of all lists are too many, or there are too many lists.
    #[error(transparent)]
    Build(BuildError),
}

/// Reader of a list, which adds its rules to a builder.
#[derive(Clone, Debug)]
pub struct ListReader {
    list: usize,
    options: Options,
    /// The beginning, until the format is known.
    sample: Vec<u8>,
    lines: Lines,
    parser: Option<Parser>,
}

/// The rules of one format.
#[derive(Clone, Debug)]
struct Parser {
    format: Format,
    plain: Target,
    rpz: Rpz,
    counts: Counts,
}

impl ListReader {
    /// A reader of list number `list`.
    pub fn new(list: usize, options: Options) -> Self {
        Self { list, options, sample: Vec::new(), lines: Lines::default(), parser: None }
    }

    /// Takes the next bytes of the list. Rules are added to `builder` once the format is known, after
    /// 64 KiB at most.
    ///
    /// # Errors
    /// The list cannot be read; the builder may have some of its rules.
    pub fn push(&mut self, piece: &[u8], builder: &mut Builder) -> Result<(), ListError> {
        if self.parser.is_some() {
            return self.read(piece, builder);
        }
        let (first, rest) = piece.split_at(piece.len().min(SAMPLE - self.sample.len()));
        self.sample.extend_from_slice(first);
        if self.sample.len() == SAMPLE {
            self.begin(builder)?;
            self.read(rest, builder)?;
        }
        Ok(())
    }

    /// Ends the list.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(mut self, builder: &mut Builder) -> Result<Report, ListError> {
        if self.parser.is_none() {
            self.begin(builder)?;
        }
        let Self { list, lines, parser, .. } = self;
        let Some(mut parser) = parser else { return Err(ListError::UnknownFormat) };
        lines.finish(|line| parser.line(line, list, builder))?;
        Ok(Report { format: parser.format, counts: parser.counts })
    }

    /// Detects the format, and reads the sample.
    fn begin(&mut self, builder: &mut Builder) -> Result<(), ListError> {
        let sample = core::mem::take(&mut self.sample);
        let text = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&sample);
        for (magic, by) in
            [(&b"\x1f\x8b"[..], "gzip"), (b"\x28\xb5\x2f\xfd", "Zstandard"), (b"\xfd7zXZ", "xz")]
        {
            if text.starts_with(magic) {
                return Err(ListError::Compressed { by });
            }
        }
        if let Some(at) = memchr::memchr(0, text.get(..HEAD).unwrap_or(text)) {
            return Err(ListError::NotText { at });
        }
        let format = match self.options.format {
            Some(format) => format,
            None => {
                let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
                // The last line goes on, if there is more than one.
                if sample.len() == SAMPLE && lines.len() > 1 {
                    lines.pop();
                }
                let unknown = || match memchr::memchr(0, text) {
                    Some(at) => ListError::NotText { at },
                    None => ListError::UnknownFormat,
                };
                detect(lines.into_iter()).ok_or_else(unknown)?
            }
        };
        if format.closest_wins() {
            builder.closest_wins(self.list).map_err(ListError::Build)?;
        }
        let Options { plain, .. } = self.options;
        self.parser = Some(Parser { format, plain, rpz: Rpz::default(), counts: Counts::default() });
        self.read(text, builder)
    }

    fn read(&mut self, piece: &[u8], builder: &mut Builder) -> Result<(), ListError> {
        let Some(parser) = &mut self.parser else { return Ok(()) };
        self.lines.push(piece, |line| parser.line(line, self.list, builder))
    }
}

impl Parser {
    fn line(&mut self, line: &[u8], list: usize, builder: &mut Builder) -> Result<(), ListError> {
        let Self { format, plain, rpz, counts } = self;
        counts.lines += 1;
        let (mut result, mut refused) = (Ok(()), None);
        let mut each = |entry: Entry<'_>| {
            refused = entry.err();
            let added = add(entry, list, builder, counts);
            if result.is_ok() {
                result = added;
            }
        };
        let kind = match format {
            Format::Hosts => hosts::entries(line, &mut each),
            Format::Domains => domains::entries(line, *plain, &mut each),
            Format::Adblock => adblock::entries(line, &mut each),
            Format::V2ray => v2ray::entries(line, &mut each),
            Format::Rpz => rpz.entries(line, &mut each),
            Format::PublicSuffix => psl::entries(line, &mut each),
            Format::Dnsmasq => dnsmasq::entries(line, &mut each),
        };
        counts.add_line(kind);
        result?;
        match (format, refused) {
            // The zone has the name all the same: it stops the wildcards above it.
            (Format::Rpz, Some(Reason::RpzData | Reason::RpzAction)) => add_name(rpz.name(), list, builder),
            _ => Ok(()),
        }
    }
}

/// Adds a name without a rule. No query has one that breaks a rule.
fn add_name(name: &[u8], list: usize, builder: &mut Builder) -> Result<(), ListError> {
    let Ok(name) = rule_name(name) else { return Ok(()) };
    match builder.add_name(list, &name) {
        Ok(()) | Err(BuildError::Name(_)) => Ok(()),
        Err(error) => Err(ListError::Build(error)),
    }
}

/// Adds a rule to the builder, and counts it; or counts the reason why the line has no rule.
fn add(entry: Entry<'_>, list: usize, builder: &mut Builder, counts: &mut Counts) -> Result<(), ListError> {
    let checked = entry.and_then(|rule| Ok((rule, rule_name(rule.name)?)));
    let (rule, name) = match checked {
        Ok(checked) => checked,
        Err(reason) => {
            counts.refuse(reason);
            return Ok(());
        }
    };
    let added = match rule.exception {
        true => builder.except(list, rule.target, &name),
        false => builder.block(list, rule.target, &name),
    };
    match added {
        Ok(()) => counts.add_rule(&rule),
        Err(BuildError::Name(error)) => counts.refuse(Reason::from(error)),
        Err(error) => return Err(ListError::Build(error)),
    }
    Ok(())
}
