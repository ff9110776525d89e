//! The crate qp-trie: a trie of the reversed rules by half bytes.

use super::text::{Text, dots};
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use ::qp_trie::{Break, Trie};
use std::borrow::Borrow;

pub(super) struct QpTrie(Trie<Rule, ()>);

/// A reversed rule.
struct Rule(Box<[u8]>);

impl Borrow<[u8]> for Rule {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Break for Rule {
    type Split = [u8];

    fn empty<'a>() -> &'a [u8] {
        &[]
    }

    fn find_break(&self, at: usize) -> &[u8] {
        self.0.get(..at).unwrap_or(&self.0)
    }
}

impl QpTrie {
    pub(super) fn new(rules: &Strings) -> Self {
        let mut text = Text::new();
        Self(rules.iter().map(|rule| (Rule(text.reversed(rule).into()), ())).collect())
    }
}

impl Table for QpTrie {
    /// The crate has no lookup of the longest prefix: one search for the part that the name shares with any
    /// rule, then one for each label within it.
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut answer, mut text) = (Answer::default(), Text::new());
        for name in names.iter() {
            let mut rest = self.0.longest_common_prefix(text.reversed(name));
            let longest = loop {
                let Some(dot) = rest.iter().rposition(|byte| *byte == b'.') else { break 0 };
                let rule = rest.get(..=dot).unwrap_or_default();
                if self.0.contains_key(rule) {
                    break dots(rule);
                }
                rest = rest.get(..dot).unwrap_or_default();
            };
            answer.add_labels(longest);
        }
        answer
    }

    /// The crate does not state it.
    fn memory(&self) -> Option<usize> {
        None
    }
}
