//! The lines and entries of a list, counted.

use crate::entry::{Line, Rule};
use crate::reason::Reason;
use alloc::collections::BTreeMap;
use hashlane_name_map::Target;

/// Lines and entries of a list. Each line is blank, a comment, a header, or has entries: one, and in a hosts
/// file one for each name. Each entry is a rule, an exception, or refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All lines. The last one counts if it has no line feed, too.
    pub lines: u64,
    /// Lines without text.
    pub blank: u64,
    /// Lines of comment.
    pub comments: u64,
    /// Lines of the format itself: titles, directives, records of the zone.
    pub headers: u64,
    /// Rules that cover one name.
    pub exact: u64,
    /// Rules that cover a name and the names below.
    pub subtree: u64,
    /// Rules that cover the names below a name.
    pub below: u64,
    /// Exceptions.
    pub exceptions: u64,
    /// Entries that are no rules, by reason.
    pub refused: BTreeMap<Reason, Refused>,
}

/// Entries that were refused for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Number of entries.
    pub count: u64,
    /// Number of the first line that has one, from 1.
    pub first_line: u64,
}

impl Counts {
    /// Number of rules, without exceptions.
    pub const fn rules(&self) -> u64 {
        self.exact + self.subtree + self.below
    }

    /// Lines with entries.
    pub const fn entry_lines(&self) -> u64 {
        self.lines - self.blank - self.comments - self.headers
    }

    /// Number of refused entries, for all reasons.
    pub fn refused(&self) -> u64 {
        self.refused.values().map(|refused| refused.count).sum()
    }

    pub(crate) fn add_line(&mut self, line: Line) {
        match line {
            Line::Blank => self.blank += 1,
            Line::Comment => self.comments += 1,
            Line::Header => self.headers += 1,
            Line::Entries => {}
        }
    }

    pub(crate) fn add_rule(&mut self, rule: &Rule<'_>) {
        match rule.target {
            _ if rule.exception => self.exceptions += 1,
            Target::Exact => self.exact += 1,
            Target::Below => self.below += 1,
            _ => self.subtree += 1,
        }
    }

    /// Counts a refused entry of the current line.
    pub(crate) fn refuse(&mut self, reason: Reason) {
        let first = Refused { count: 0, first_line: self.lines };
        self.refused.entry(reason).or_insert(first).count += 1;
    }
}
