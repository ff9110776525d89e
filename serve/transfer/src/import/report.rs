//! The fate of each line.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Characters of a statement's key that a report has.
const MAX_KEY: usize = 40;

/// Characters of a reason that a report has.
const MAX_REASON: usize = 300;

/// Outcome of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The new configuration says it, by this key.
    Kept(Cow<'static, str>),
    /// It has no counterpart, and no effect on what is served.
    Ignored(Cow<'static, str>),
    /// It changes what is served or to whom, and cannot be kept.
    Lost(Cow<'static, str>),
}

impl Fate {
    pub(super) fn kept(key: impl Into<Cow<'static, str>>) -> Self {
        Self::Kept(key.into())
    }

    pub(super) fn ignored(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Ignored(why.into())
    }

    pub(super) fn lost(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Lost(clip(why.into(), MAX_REASON))
    }
}

fn clip(text: Cow<'static, str>, most: usize) -> Cow<'static, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => text,
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(key) => write!(f, "→ {key}"),
            Self::Ignored(why) => write!(f, "{why}; ignored"),
            Self::Lost(why) => write!(f, "cannot be kept: {why}"),
        }
    }
}

/// A statement and its fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Path of an included file; `None` for the file itself.
    pub file: Option<Arc<str>>,
    /// Number of the line in its file, from 1 on.
    pub number: u32,
    /// The statement's key, shortened. Values are left out, as one may be a secret.
    pub key: Box<str>,
    /// The fate.
    pub fate: Fate,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}, ")?;
        }
        write!(f, "line {}: {}: {}", self.number, self.key, self.fate)
    }
}

/// The place of a statement.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: Option<Arc<str>>,
    pub(super) number: u32,
}

/// The lines so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) lines: Vec<Line>,
    pub(super) blank: usize,
}

impl Report {
    /// Adds a statement; returns its number.
    pub(super) fn add(&mut self, place: &Place, key: &str, fate: Fate) -> usize {
        let Place { file, number } = place.clone();
        let key = key.chars().take(MAX_KEY).collect::<String>().into();
        self.lines.push(Line { file, number, key, fate });
        self.lines.len() - 1
    }

    /// Sets the fate of a statement that was not lost before.
    pub(super) fn set(&mut self, at: usize, fate: Fate) {
        if let Some(line) = self.lines.get_mut(at)
            && !matches!(line.fate, Fate::Lost(_))
        {
            line.fate = fate;
        }
    }
}
