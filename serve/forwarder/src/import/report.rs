//! Outcomes of statements.

use std::borrow::Cow;
use std::fmt;

/// Characters of a key that a report has, its sections included.
const MAX_KEY: usize = 80;
/// Characters of a reason that a report has.
const MAX_REASON: usize = 300;

/// Outcome of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The new configuration says it, by this key.
    Kept(Cow<'static, str>),
    /// The default, or the only behaviour, is the same.
    Default(Cow<'static, str>),
    /// It has no counterpart, and no effect on forwarding and access.
    Ignored(Cow<'static, str>),
    /// It has an effect that the new configuration does not have: the reason and the next step.
    Lost(Cow<'static, str>),
}

impl Fate {
    pub(super) fn kept(key: impl Into<Cow<'static, str>>) -> Self {
        Self::Kept(key.into())
    }

    pub(super) fn default(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Default(what.into())
    }

    pub(super) fn ignored(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Ignored(why.into())
    }

    pub(super) fn lost(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Lost(clip(why.into(), MAX_REASON))
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(key) => write!(f, "→ {key}"),
            Self::Default(what) => write!(f, "default here: {what}"),
            Self::Ignored(why) => write!(f, "{why}; ignored"),
            Self::Lost(why) => write!(f, "not supported: {why}"),
        }
    }
}

/// A statement and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the line, from 1 on.
    pub number: u32,
    /// Sections and key of the statement, shortened. Values are left out.
    pub key: Box<str>,
    /// The outcome.
    pub fate: Fate,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.number, self.key, self.fate)
    }
}

/// The outcomes so far, by the numbers of the statements.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Option<Fate>>);

impl Report {
    pub(super) fn new(statements: usize) -> Self {
        Self(vec![None; statements])
    }

    /// Sets the outcome of a statement.
    pub(super) fn set(&mut self, at: usize, fate: Fate) {
        self.0.iter_mut().skip(at).take(1).for_each(|old| *old = Some(fate.clone()));
    }

    /// Takes the outcome of a statement; one that no section knows is lost.
    pub(super) fn take(&mut self, at: usize) -> Fate {
        let fate = self.0.get_mut(at).and_then(Option::take);
        fate.unwrap_or_else(|| Fate::lost("unknown key; NFD refuses or ignores it, too: remove the line"))
    }
}

/// The sections and the key of a statement as one text.
pub(super) fn path(section: &str, key: &str) -> Box<str> {
    let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
    clip(path.into(), MAX_KEY).into()
}

fn clip(text: Cow<'static, str>, most: usize) -> Cow<'static, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => text,
    }
}
