//! Errors of zone files.

use crate::limits::MAX_ENTRY;
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
    pub what: FaultKind,
}

/// Reasons for which a record, a directive or a file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A quotation that does not end.
    #[error("the quotation that begins in line {line} does not end; add a \"")]
    UnclosedQuote {
        /// The line where it begins.
        line: u32,
    },
    /// Parentheses that are not closed.
    #[error("the parenthesis of line {line} is not closed; add a )")]
    UnclosedParenthesis {
        /// The line of the first that is open.
        line: u32,
    },
    /// A closing parenthesis without an opening one.
    #[error("closing parenthesis without an opening one; remove it")]
    StrayParenthesis,
    /// A NUL byte.
    #[error("NUL byte; save the zone file as text in ASCII or UTF-8")]
    Nul,
    /// A first record without an owner.
    #[error("no owner, and no record before to take it from; begin the line with a name")]
    NoOwner,
    /// A relative name where there is no origin.
    #[error("relative name without an origin; end the name with a dot, or state $ORIGIN")]
    NoOrigin,
    /// A record without a TTL where no `$TTL` and no record has stated one.
    #[error("no TTL; state $TTL before the first record")]
    NoTtl,
    /// A record that ends before its type.
    #[error("the record has no type and no data")]
    NoType,
    /// An unknown type.
    #[error("unknown type \"{0}\"; write TYPE and its number, with data as \\# LENGTH HEX")]
    UnknownType(String),
    /// A type that only questions and messages have.
    #[error("type {0} is for questions and messages, not for zones; remove the record")]
    NotForZones(String),
    /// A type that is known, but not in text.
    #[error("data of type {0} are read in generic form only; write \\# LENGTH HEX")]
    TypeWithoutText(String),
    /// An unknown directive.
    #[error(
        "unknown directive \"{0}\", expected $ORIGIN, $TTL, $INCLUDE or $GENERATE; an owner that begins with \
         $ is written \\$"
    )]
    UnknownDirective(String),
    /// A class other than IN.
    #[error("class {0}; zone files are of class IN alone, remove the record")]
    Class(String),
    /// A label of no byte.
    #[error("empty label in the name \"{0}\"; remove a dot")]
    EmptyLabel(String),
    /// A label of more than 63 bytes.
    #[error("label longer than 63 bytes in the name \"{0}\"; shorten it")]
    LabelTooLong(String),
    /// A name of more than 255 bytes.
    #[error("name longer than 255 bytes with its origin: \"{0}\"; shorten it")]
    NameTooLong(String),
    /// A character string of more than 255 bytes.
    #[error("string longer than 255 bytes; split it into several")]
    StringTooLong,
    /// A backslash before digits that are not three or give more than 255, or before the end.
    #[error("bad escape in \"{0}\", expected \\ and a character or three digits up to 255")]
    Escape(String),
    /// Another field was expected.
    #[error(fmt = write_expected)]
    Expected {
        /// The field.
        field: &'static str,
        /// The token that stands there; `None` at the end of the record.
        found: Option<String>,
    },
    /// Tokens after the last field.
    #[error("expected the end of the record, found \"{0}\"; quote text that has spaces")]
    Trailing(String),
    /// Data in generic form (RFC 3597 §5) of another length than stated.
    #[error("data of {found} bytes where \\# states {stated}; correct the length")]
    GenericLength {
        /// The stated length in bytes.
        stated: usize,
        /// The length of the data in bytes.
        found: usize,
    },
    /// Data that the type cannot have.
    #[error("{0}")]
    Data(String),
    /// Data of more than 65,535 bytes.
    #[error("record data longer than 65,535 bytes; shorten them")]
    DataTooLong,
    /// An entry of more than [`MAX_ENTRY`] bytes. The reader stops there.
    #[error(
        "line or record of more than {MAX_ENTRY} bytes with its comments; end the line, or close a \
         parenthesis"
    )]
    EntryTooLong,
    /// An `$INCLUDE` that is not followed.
    #[error("$INCLUDE of \"{path}\": {why}")]
    Include {
        /// The path as the file has it.
        path: String,
        /// The reason.
        why: IncludeError,
    },
    /// A `$GENERATE` that cannot be expanded.
    #[error("$GENERATE: {0}")]
    Generate(&'static str),
    /// `$GENERATE` makes more than this number of records in the zone.
    #[error(
        "$GENERATE: the zone would have more than {0} records of it; shorten the range, or raise \
         zone_files.max_generated"
    )]
    TooManyGenerated(u64),
    /// The records that `$GENERATE` makes take more than this number of bytes.
    #[error("$GENERATE: the records of the zone take more than {0} bytes; write fewer")]
    TooMuchGenerated(usize),
    /// The zone file cannot be read.
    #[error("cannot read the zone file: {0}")]
    Io(String),
    /// The files of the zone are together longer than this number of bytes.
    #[error("the files of the zone have more than {0} bytes; raise zone_files.max_bytes")]
    TooManyBytes(u64),
    /// The zone has no name.
    #[error("neither a SOA record nor the name of the file names the zone; add the SOA record")]
    NoApex,
    /// A record that the zone cannot have, or a record that it lacks.
    #[error("{0}")]
    Zone(String),
}

fn write_expected(field: &str, found: &Option<String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match found {
        Some(found) => write!(f, "expected {field}, found \"{found}\""),
        None => write!(f, "expected {field}, found the end of the record"),
    }
}

/// Reasons for which `$INCLUDE` is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IncludeError {
    /// The zone has no folder: it is not read from a file.
    #[error("the zone is not read from a file, so it has no folder; insert the lines here")]
    NoFolder,
    /// An absolute path, one with `..`, or one that is not UTF-8.
    #[error("not a path inside the zone's folder; copy the file there, and name it without ..")]
    Path,
    /// The path leads out of the folder by a symbolic link.
    #[error("a symbolic link leads out of the zone's folder; copy the file into it")]
    Outside,
    /// The file includes itself.
    #[error("the file includes itself; remove the line")]
    Loop,
    /// More files than the limit include one another.
    #[error("more than {0} files include one another; nest them less")]
    Depth(usize),
    /// More files than the limit are included.
    #[error("more than {0} files are included; join some")]
    Count(usize),
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Io(String),
    /// Not a regular file.
    #[error("not a regular file; copy its text into one")]
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

impl std::error::Error for LoadError {}
impl std::error::Error for Fault {}
