//! Configurations of NSD and Knot DNS to one of `hashlane dns serve`, with the fate of each line.
//!
//! [`import`] reads nsd.conf or knot.conf, and writes TOML. A statement is kept, has no effect here, or is
//! lost though it matters: see [`Fate`]. Access never becomes wider by a statement that is lost: an entry
//! with refused addresses is lost, and so is a zone whose limits of queries are.
//!
//! The text is bounded by [`MAX_BYTES`] and [`MAX_LINES`], and the result by [`MAX_OUTPUT`], which patterns
//! that many zones include could exceed.

mod address;
mod knot;
mod model;
mod nsd;
mod report;
mod source;
mod words;
mod write;

pub use report::{Fate, Line};

use model::Model;
use report::{Place, Report};
use std::fmt;
use std::sync::Arc;

/// Most bytes of all files.
pub const MAX_BYTES: usize = 32 << 20;

/// Most lines with statements of all files.
pub const MAX_LINES: usize = 1 << 20;

/// Most files.
pub const MAX_FILES: usize = 1000;

/// Most bytes of the new configuration, approximately.
pub const MAX_OUTPUT: usize = 64 << 20;

/// Files that include each other, at most this deep.
const MAX_DEPTH: usize = 10;

/// The server whose configuration is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// nsd.conf.
    Nsd,
    /// knot.conf.
    Knot,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nsd => "nsd.conf",
            Self::Knot => "knot.conf",
        })
    }
}

/// Reasons for which a file is not read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Too much text.
    #[error("more than {MAX_BYTES} bytes; import parts of it")]
    TooLong,
    /// Too many statements.
    #[error("more than {MAX_LINES} lines with statements; import parts of it")]
    TooManyLines,
}

/// A new configuration, and the fate of each line of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The new configuration.
    pub toml: String,
    /// Lines with statements, in the order of the files. A line with several statements stands here for each.
    pub lines: Vec<Line>,
    /// Number of blank lines and comments.
    pub blank: usize,
}

impl Import {
    /// Returns true if nothing that matters was lost.
    pub fn is_complete(&self) -> bool {
        !self.lines.iter().any(|line| matches!(line.fate, Fate::Lost(_)))
    }
}

/// Reads a file that is included, by the path in the configuration. The error is a reason in words.
pub type Include<'i> = &'i mut dyn FnMut(&str) -> Result<String, String>;

/// The server that a configuration is of, by its first telling line; `None` if no line tells.
pub fn detect(text: &str) -> Option<Dialect> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let (is_item, line) = match line.strip_prefix("- ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, line),
        };
        match line.split_once(':')?.0 {
            "id" | "domain" if is_item => Some(Dialect::Knot),
            "listen" | "storage" | "rundir" | "target" => Some(Dialect::Knot),
            "ip-address" | "zonesdir" | "zonefile" | "include-pattern" | "request-xfr" | "provide-xfr"
            | "server-count" | "name" => Some(Dialect::Nsd),
            _ => None,
        }
    })
}

/// Reads the configuration `text` of another server. `include` reads the files that it includes.
///
/// # Errors
/// The text and the included files are longer than [`MAX_BYTES`], or have more lines than [`MAX_LINES`].
pub fn import(dialect: Dialect, text: &str, include: Include<'_>) -> Result<Import, ImportError> {
    let mut reader = Reader { report: Report::default(), include, bytes: 0, files: 0 };
    let mut model = Model::default();
    match dialect {
        Dialect::Nsd => nsd::read(&mut reader, text, &mut model)?,
        Dialect::Knot => knot::read(&mut reader, text, &mut model)?,
    }
    let toml = model.into_toml(&mut reader.report);
    let Report { lines, blank } = reader.report;
    Ok(Import { toml, lines, blank })
}

/// The files, and what is reported of their lines.
struct Reader<'i> {
    report: Report,
    include: Include<'i>,
    /// Bytes and files so far.
    bytes: usize,
    files: usize,
}

impl Reader<'_> {
    /// Counts the bytes of a file.
    fn take(&mut self, text: &str) -> Result<(), ImportError> {
        self.bytes += text.len();
        if self.bytes > MAX_BYTES { Err(ImportError::TooLong) } else { Ok(()) }
    }

    /// Reports a statement.
    fn add(&mut self, place: &Place, key: &str, fate: Fate) -> Result<usize, ImportError> {
        if self.report.lines.len() == MAX_LINES {
            return Err(ImportError::TooManyLines);
        }
        Ok(self.report.add(place, key, fate))
    }

    /// The text of an included file and its name for the report; or the fate of a line that includes none.
    fn include(&mut self, path: &str, depth: usize) -> Result<(Arc<str>, String), Fate> {
        if depth >= MAX_DEPTH || self.files >= MAX_FILES {
            return Err(Fate::lost(format!(
                "files are included {MAX_DEPTH} deep or more than {MAX_FILES} times"
            )));
        }
        if path.contains(['*', '?', '[']) {
            return Err(Fate::lost("a pattern of files: import each, or name them one by one"));
        }
        self.files += 1;
        match (self.include)(path) {
            Ok(text) => Ok((path.into(), text)),
            Err(why) => Err(Fate::lost(why)),
        }
    }
}
