//! The entries of a line, and the pieces that all formats read it by.

use crate::reason::Reason;
use hashlane_name_map::Target;

/// A rule as a line states it. Its name is not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule<'a> {
    pub(crate) target: Target,
    pub(crate) exception: bool,
    pub(crate) name: &'a [u8],
}

impl<'a> Rule<'a> {
    pub(crate) const fn block(target: Target, name: &'a [u8]) -> Self {
        Self { target, exception: false, name }
    }
}

/// A rule, or the reason why the line has no rule.
pub(crate) type Entry<'a> = Result<Rule<'a>, Reason>;

/// Kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Nothing, or white space.
    Blank,
    Comment,
    /// A line of the format itself: a title, a directive, records of the zone.
    Header,
    /// One entry or more.
    Entries,
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The line before a byte, which begins a comment.
pub(crate) fn before(line: &[u8], byte: u8) -> &[u8] {
    memchr::memchr(byte, line).and_then(|at| line.get(..at)).unwrap_or(line)
}

/// The kind of a line that has nothing besides a comment.
pub(crate) fn without_entry(line: &[u8]) -> Line {
    if line.trim_ascii().is_empty() { Line::Blank } else { Line::Comment }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::string::{String, ToString as _};
    use std::vec::Vec;

    /// The entries of a line as text: target and name, or the id of the reason.
    pub(crate) fn shown(entries: impl FnOnce(&mut dyn FnMut(Entry<'_>)) -> Line) -> (Line, Vec<String>) {
        let mut shown = Vec::new();
        let line = entries(&mut |entry| {
            shown.push(match entry {
                Ok(Rule { target, exception, name }) => {
                    let sign = if exception { "!" } else { "" };
                    std::format!("{sign}{target:?} {}", name.escape_ascii())
                }
                Err(reason) => reason.id().to_string(),
            });
        });
        (line, shown)
    }
}
