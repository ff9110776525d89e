//! Errors of zone files.

use super::limits::MAX_ENTRY;
use std::fmt;

/// A zone file that cannot be used: its errors in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The first errors, at least one.
    pub faults: Vec<Fault>,
    /// True if the reader stopped at the greatest number of errors, so that there may be more.
    pub more: bool,
}

/// An error and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file: the path as it was given, or as `$INCLUDE` has it.
    pub file: String,
    /// The line, from 1; `None` for an error of the whole file.
    pub line: Option<u32>,
    /// The column in bytes, from 1, where it is known.
    pub column: Option<u32>,
    /// The error.
    pub what: What,
}

/// Reasons for which a record, a directive or a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A quotation that does not end.
    UnclosedQuote {
        /// The line where it begins.
        line: u32,
    },
    /// Parentheses that are not closed.
    UnclosedParenthesis {
        /// The line of the first that is open.
        line: u32,
    },
    /// A closing parenthesis without an opening one.
    StrayParenthesis,
    /// A NUL byte.
    Nul,
    /// A first record without an owner.
    NoOwner,
    /// A relative name where there is no origin.
    NoOrigin,
    /// A record without a TTL where no `$TTL` and no record has stated one.
    NoTtl,
    /// A record that ends before its type.
    NoType,
    /// An unknown type.
    UnknownType(String),
    /// A type that only questions and messages have.
    NotForZones(String),
    /// A type that is known, but not in text.
    TypeWithoutText(String),
    /// An unknown directive.
    UnknownDirective(String),
    /// A class other than IN.
    Class(String),
    /// A label of no byte.
    EmptyLabel(String),
    /// A label of more than 63 bytes.
    LabelTooLong(String),
    /// A name of more than 255 bytes.
    NameTooLong(String),
    /// A character string of more than 255 bytes.
    StringTooLong,
    /// A backslash before digits that are not three or give more than 255, or before the end.
    Escape(String),
    /// Another field was expected.
    Expected {
        /// The field.
        field: &'static str,
        /// The token that stands there; `None` at the end of the record.
        found: Option<String>,
    },
    /// Tokens after the last field.
    Trailing(String),
    /// Data in generic form (RFC 3597 §5) of another length than stated.
    GenericLength {
        /// The stated length in bytes.
        stated: usize,
        /// The length of the data in bytes.
        found: usize,
    },
    /// Data that the type cannot have.
    Data(String),
    /// Data of more than 65,535 bytes.
    DataTooLong,
    /// An entry of more than [`MAX_ENTRY`] bytes. The reader stops there.
    EntryTooLong,
    /// An `$INCLUDE` that is not followed.
    Include {
        /// The path as the file has it.
        path: String,
        /// The reason.
        why: IncludeError,
    },
    /// A `$GENERATE` that cannot be expanded.
    Generate(&'static str),
    /// `$GENERATE` makes more than this number of records in the zone.
    TooManyGenerated(u64),
    /// The records that `$GENERATE` makes take more than this number of bytes.
    TooMuchGenerated(usize),
    /// The zone file cannot be read.
    Io(String),
    /// The files of the zone are together longer than this number of bytes.
    TooManyBytes(u64),
    /// The zone has no name.
    NoApex,
    /// A record that the zone cannot have, or a record that it lacks.
    Zone(String),
}

/// Reasons for which `$INCLUDE` is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncludeError {
    /// The zone has no folder: it is not read from a file.
    NoFolder,
    /// An absolute path, one with `..`, or one that is not UTF-8.
    Path,
    /// The path leads out of the folder by a symbolic link.
    Outside,
    /// The file includes itself.
    Loop,
    /// More files than the limit include one another.
    Depth(usize),
    /// More files than the limit are included.
    Count(usize),
    /// The file cannot be read.
    Io(String),
    /// Not a regular file.
    NotAFile,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.faults.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        if self.more {
            let errors = if self.faults.len() == 1 { "error" } else { "errors" };
            write!(f, "\nstopped after {} {errors}; mend these and check again", self.faults.len())?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnclosedQuote { line } => {
                write!(f, "the quotation that begins in line {line} does not end; add a \"")
            }
            Self::UnclosedParenthesis { line } => {
                write!(f, "the parenthesis of line {line} is not closed; add a )")
            }
            Self::StrayParenthesis => f.write_str("closing parenthesis without an opening one; remove it"),
            Self::Nul => f.write_str("NUL byte; save the zone file as text in ASCII or UTF-8"),
            Self::NoOwner => {
                f.write_str("no owner, and no record before to take it from; begin the line with a name")
            }
            Self::NoOrigin => {
                f.write_str("relative name without an origin; end the name with a dot, or state $ORIGIN")
            }
            Self::NoTtl => f.write_str("no TTL; state $TTL before the first record"),
            Self::NoType => f.write_str("the record has no type and no data"),
            Self::UnknownType(word) => {
                write!(f, "unknown type \"{word}\"; write TYPE and its number, with data as \\# LENGTH HEX")
            }
            Self::NotForZones(word) => {
                write!(f, "type {word} is for questions and messages, not for zones; remove the record")
            }
            Self::TypeWithoutText(word) => {
                write!(f, "data of type {word} are read in generic form only; write \\# LENGTH HEX")
            }
            Self::UnknownDirective(word) => {
                write!(
                    f,
                    "unknown directive \"{word}\", expected $ORIGIN, $TTL, $INCLUDE or $GENERATE; \
                     an owner that begins with $ is written \\$"
                )
            }
            Self::Class(word) => {
                write!(f, "class {word}; zone files are of class IN alone, remove the record")
            }
            Self::EmptyLabel(name) => write!(f, "empty label in the name \"{name}\"; remove a dot"),
            Self::LabelTooLong(name) => {
                write!(f, "label longer than 63 bytes in the name \"{name}\"; shorten it")
            }
            Self::NameTooLong(name) => {
                write!(f, "name longer than 255 bytes with its origin: \"{name}\"; shorten it")
            }
            Self::StringTooLong => f.write_str("string longer than 255 bytes; split it into several"),
            Self::Escape(text) => {
                write!(f, "bad escape in \"{text}\", expected \\ and a character or three digits up to 255")
            }
            Self::Expected { field, found: Some(found) } => {
                write!(f, "expected {field}, found \"{found}\"")
            }
            Self::Expected { field, found: None } => {
                write!(f, "expected {field}, found the end of the record")
            }
            Self::Trailing(found) => {
                write!(f, "expected the end of the record, found \"{found}\"; quote text that has spaces")
            }
            Self::GenericLength { stated, found } => {
                write!(f, "data of {found} bytes where \\# states {stated}; correct the length")
            }
            Self::Data(why) | Self::Zone(why) => f.write_str(why),
            Self::EntryTooLong => write!(
                f,
                "line or record of more than {} bytes with its comments; end the line, or close a parenthesis",
                MAX_ENTRY
            ),
            Self::DataTooLong => f.write_str("record data longer than 65,535 bytes; shorten them"),
            Self::Include { path, why } => write!(f, "$INCLUDE of \"{path}\": {why}"),
            Self::Generate(why) => write!(f, "$GENERATE: {why}"),
            Self::TooManyGenerated(most) => write!(
                f,
                "$GENERATE: the zone would have more than {most} records of it; \
                 shorten the range, or raise zone_files.max_generated"
            ),
            Self::TooMuchGenerated(most) => {
                write!(f, "$GENERATE: the records of the zone take more than {most} bytes; write fewer")
            }
            Self::Io(why) => write!(f, "cannot read the zone file: {why}"),
            Self::TooManyBytes(most) => {
                write!(f, "the files of the zone have more than {most} bytes; raise zone_files.max_bytes")
            }
            Self::NoApex => f.write_str(
                "neither a SOA record nor the name of the file names the zone; add the SOA record",
            ),
        }
    }
}

impl fmt::Display for IncludeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => {
                f.write_str("the zone is not read from a file, so it has no folder; insert the lines here")
            }
            Self::Path => f.write_str(
                "not a path inside the zone's folder; copy the file there, and name it without ..",
            ),
            Self::Outside => {
                f.write_str("a symbolic link leads out of the zone's folder; copy the file into it")
            }
            Self::Loop => f.write_str("the file includes itself; remove the line"),
            Self::Depth(most) => write!(f, "more than {most} files include one another; nest them less"),
            Self::Count(most) => write!(f, "more than {most} files are included; join some"),
            Self::Io(error) => write!(f, "cannot read the file: {error}"),
            Self::NotAFile => f.write_str("not a regular file; copy its text into one"),
        }
    }
}

impl std::error::Error for LoadError {}
impl std::error::Error for Fault {}
impl std::error::Error for What {}
impl std::error::Error for IncludeError {}
