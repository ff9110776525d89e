//! Patterns of names: NDN regular expressions, as the validators of ndn-cxx and NFD have them.
//!
//! | pattern | matches |
//! | --- | --- |
//! | `<text>` | one component whose URI is this regular expression; `<>`: any one |
//! | `[<a><b>]`, `[^<a><b>]` | one component that is, or is not, one of these |
//! | `( … )` | the same, and keeps what the last repetition matched, for [`Expansion`] |
//! | `*`, `+`, `?`, `{n}`, `{n,}`, `{,n}`, `{m,n}` | repetitions of the component, set or group before |
//! | `^`, `$` | the start and the end of the name |
//!
//! Quantifiers take as much as they can. Without `^` a pattern that does not match at the start may begin at
//! any component, the last one first. The expression of a component covers its whole URI, and has
//! characters, `.`, classes, `\d \w \s`, `(?:…)`, `|` and quantifiers.
//!
//! Matching takes time linear in the name, for every pattern. A pattern has at most 2048 steps, with its
//! repetitions counted, and 16 groups.
//!
//! Source: ndn-cxx documentation, NDN Regular Expression.

mod component;
mod expansion;
mod parse;
mod program;
#[cfg(test)]
mod tests;

pub use expansion::Expansion;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use component::ComponentTest;
use core::fmt;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use program::{Program, Spans};

/// Most steps of a pattern.
const MAX_STEPS: usize = 2048;
/// Most groups of a pattern.
const MAX_GROUPS: usize = 16;
/// Longest pattern, in bytes.
const MAX_LEN: usize = 4096;

/// Rule that a pattern breaks, with the offset in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A character that cannot stand here.
    #[error("unexpected {character:?} at offset {at}")]
    Unexpected {
        /// Offset of the character.
        at: usize,
        /// The character.
        character: char,
    },
    /// A component, set, group or quantifier without its end.
    #[error("no end of what begins at offset {at}")]
    Unclosed {
        /// Offset of its start.
        at: usize,
    },
    /// A quantifier other than `{n}`, `{n,}`, `{,n}` and `{m,n}`.
    #[error("not a quantifier at offset {at}: expected {{n}}, {{n,}}, {{,n}} or {{m,n}}")]
    Quantifier {
        /// Offset of the brace.
        at: usize,
    },
    /// A malformed class of characters.
    #[error("not a class of characters at offset {at}")]
    Class {
        /// Offset of the class.
        at: usize,
    },
    /// A group that keeps part of a component.
    #[error("group within a component at offset {at}: write (?:…), as only groups of components are kept")]
    ComponentGroup {
        /// Offset of the group.
        at: usize,
    },
    /// Too many groups.
    #[error("more than {MAX_GROUPS} groups")]
    Groups,
    /// Groups too deep in each other.
    #[error("groups nested too deep at offset {at}")]
    TooDeep {
        /// Offset of the innermost group.
        at: usize,
    },
    /// Too long, with its repetitions.
    #[error("pattern too long at offset {at}, with its repetitions")]
    TooLong {
        /// Offset of the part that is too long.
        at: usize,
    },
    /// A reference to a group that the pattern does not have.
    #[error("no group {number} in the pattern")]
    NoGroup {
        /// Number of the group, from 1 on.
        number: usize,
    },
    /// A malformed expansion.
    #[error("not an expansion at offset {at}: expected \\1, \\2, … or <component>")]
    Expansion {
        /// Offset of the malformed part.
        at: usize,
    },
}

/// A parsed pattern.
#[derive(Clone)]
pub struct NamePattern {
    text: String,
    program: Program,
    tests: Vec<NameTest>,
    groups: usize,
}

/// Test of one component.
#[derive(Clone, Debug)]
struct NameTest {
    is_negated: bool,
    choices: Vec<ComponentTest>,
}

impl NameTest {
    fn passes(&self, uri: &str) -> bool {
        self.choices.iter().any(|choice| choice.passes(uri)) != self.is_negated
    }

    fn is_any(&self) -> bool {
        !self.is_negated && self.choices.iter().any(|choice| matches!(choice, ComponentTest::Any))
    }
}

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The first rule that the text breaks.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_LEN {
            return Err(PatternError::TooLong { at: MAX_LEN });
        }
        parse::parse(text)
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// True if the pattern matches a name.
    pub fn is_match(&self, name: NdnName<'_>) -> bool {
        self.spans(name).is_some()
    }

    /// Matches a name. Returns what the groups have kept.
    pub fn find<'n>(&self, name: NdnName<'n>) -> Option<Match<'n>> {
        Some(Match { name, spans: self.spans(name)? })
    }

    fn spans(&self, name: NdnName<'_>) -> Option<Spans> {
        let is_read = self.tests.iter().any(|test| !test.is_any());
        let uris: Vec<String> = match is_read {
            true => name.components().map(|component| component.to_string()).collect(),
            false => Vec::new(),
        };
        let passes = |test: usize, at: usize| {
            let uri = uris.get(at).map_or("", String::as_str);
            self.tests.get(test).is_some_and(|test| test.passes(uri))
        };
        self.program.run(name.len(), passes)
    }
}

impl fmt::Debug for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for NamePattern {}

/// A name that a pattern matched.
#[derive(Clone, Debug)]
pub struct Match<'n> {
    name: NdnName<'n>,
    spans: Spans,
}

impl Match<'_> {
    /// Components that a group kept, by its number from 1 on; none if the group matched nothing. Group 0 is
    /// the whole name.
    pub fn group(&self, number: usize) -> OwnedName<Ndn> {
        let (first, end) = match number.checked_sub(1) {
            None => (0, self.name.len()),
            Some(index) => self.spans.get(index).copied().flatten().unwrap_or_default(),
        };
        let components = self.name.components().skip(first).take(end.saturating_sub(first));
        // Part of a name is not longer than the name.
        OwnedName::from_components(components).unwrap_or_else(|_| OwnedName::from(&self.name))
    }
}
