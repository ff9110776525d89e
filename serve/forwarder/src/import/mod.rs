//! A configuration of NFD (nfd.conf) to one of this forwarder, with the outcome of each statement.
//!
//! [`import`] reads the text, and writes TOML. A statement is kept, says the default, has no effect here, or
//! is lost though it has one: see [`Fate`]. Access never becomes wider than it was: a policy that loses one
//! rule or one trust anchor is lost as a whole.
//!
//! The text is bounded by [`MAX_BYTES`] and [`MAX_STATEMENTS`].
//!
//! Source: NFD, `nfd.conf.sample.in`; ndn-cxx documentation, Validator Configuration File Format.

mod faces;
mod info;
mod model;
mod report;
mod rights;
mod rules;
mod settings;

pub use report::{Fate, Line};

use info::Node;
use model::Model;
use report::Report;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

/// Longest text, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// Most statements.
pub const MAX_STATEMENTS: usize = 1 << 16;

/// Reason for which a file is not read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Too much text.
    #[error("more than {MAX_BYTES} bytes")]
    TooLong,
    /// Too many statements.
    #[error("more than {MAX_STATEMENTS} keys")]
    TooManyStatements,
    /// The text is not in the INFO format.
    #[error("line {line}: {why}")]
    Syntax {
        /// Number of the line, from 1 on.
        line: u32,
        /// The rule that it breaks.
        why: &'static str,
    },
}

/// A new configuration, and the outcome of each statement of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The new configuration.
    pub toml: String,
    /// Statements, in the order of the file.
    pub lines: Vec<Line>,
    /// Number of blank lines and comments.
    pub blank: usize,
}

impl Import {
    /// True if no statement is lost.
    pub fn is_complete(&self) -> bool {
        !self.lines.iter().any(|line| matches!(line.fate, Fate::Lost(_)))
    }
}

/// Reads a section.
type Read = fn(&mut Reader, &Node);

/// Sections, and the functions that read them.
const SECTIONS: [(&str, Read); 7] = [
    ("general", settings::general),
    ("log", settings::log),
    ("forwarder", settings::forwarder),
    ("tables", settings::tables),
    ("face_system", faces::face_system),
    ("authorizations", rights::authorizations),
    ("rib", rights::rib),
];

/// Reads nfd.conf. Paths in it are relative to `folder`, the file's.
///
/// # Errors
/// The text is too long, or not in the INFO format.
pub fn import(text: &str, folder: &Path) -> Result<Import, ImportError> {
    if text.len() > MAX_BYTES {
        return Err(ImportError::TooLong);
    }
    let file = info::parse(text)?;
    let report = Report::new(file.places.len());
    let mut reader = Reader { report, model: Model::default(), folder: folder.into() };
    let sections = reader.first(&file.nodes);
    for (name, read) in SECTIONS {
        if let Some(section) = sections.get(name) {
            read(&mut reader, section);
        }
    }
    if !sections.contains_key("face_system") {
        faces::absent(&mut reader);
    }
    if !sections.contains_key("rib") {
        rights::absent(&mut reader);
    }
    let Reader { mut report, model, .. } = reader;
    let lines = file.places.into_iter().enumerate();
    let lines = lines.map(|(at, place)| Line { number: place.line, key: place.path, fate: report.take(at) });
    Ok(Import { toml: model.into_toml(), lines: lines.collect(), blank: file.blank })
}

/// The new configuration and the outcomes so far.
struct Reader {
    report: Report,
    model: Model,
    folder: PathBuf,
}

/// Statements of a section by their keys.
type Keys<'n> = BTreeMap<&'n str, &'n Node>;

impl Reader {
    /// Sets the outcome of a statement.
    fn set(&mut self, node: &Node, fate: Fate) {
        self.report.set(node.at, fate);
    }

    /// Sets the outcome of a statement and of all in its section.
    fn set_all(&mut self, node: &Node, fate: &Fate) {
        self.set(node, fate.clone());
        node.children.iter().for_each(|child| self.set_all(child, fate));
    }

    /// Statements by their keys. Of several with one key, NFD takes the first one.
    fn first<'n>(&mut self, nodes: &'n [Node]) -> Keys<'n> {
        let mut keys = Keys::new();
        for node in nodes {
            match keys.entry(&node.key) {
                Entry::Occupied(_) => {
                    self.set_all(node, &Fate::ignored("an earlier line has the same key"));
                }
                Entry::Vacant(place) => {
                    place.insert(node);
                }
            }
        }
        keys
    }

    /// Statements by their keys. Of several with one key, NFD takes the last one.
    fn last<'n>(&mut self, nodes: &'n [Node]) -> Keys<'n> {
        let mut keys = Keys::new();
        for node in nodes {
            if let Some(earlier) = keys.insert(&node.key, node) {
                self.set_all(earlier, &Fate::ignored("a later line has the same key"));
            }
        }
        keys
    }

    /// A path of the file.
    fn path(&self, text: &str) -> String {
        self.folder.join(text).display().to_string()
    }
}

/// The value of `yes` or `no`.
fn yes_or_no(node: &Node) -> Result<bool, Fate> {
    match node.value.as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Fate::lost("not a value that NFD takes: write yes or no")),
    }
}

/// The value as a number.
fn number(node: &Node, range: std::ops::RangeInclusive<u64>) -> Result<u64, Fate> {
    let digits = Some(&node.value).filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        Fate::lost(match *most {
            u64::MAX => "not a number".to_owned(),
            _ => format!("not a number that is possible here: write {least} to {most}"),
        })
    })
}
