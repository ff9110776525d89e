//! The crate aho-corasick: an automaton of the reversed rules, anchored at the end of a name.

use super::text::{Text, dots};
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

pub(super) struct Automaton(AhoCorasick);

impl Automaton {
    /// `None` if the automaton would have too many states.
    pub(super) fn new(rules: &Strings) -> Option<Self> {
        let mut text = Text::new();
        let reversed = rules.iter().map(|rule| text.reversed(rule).to_vec());
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).start_kind(StartKind::Anchored);
        Some(Self(builder.build(reversed).ok()?))
    }
}

impl Table for Automaton {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut answer, mut text) = (Answer::default(), Text::new());
        for name in names.iter() {
            let reversed = text.reversed(name);
            let found = self.0.find(Input::new(reversed).anchored(Anchored::Yes));
            let rule = found.and_then(|found| reversed.get(..found.end()));
            answer.add_labels(rule.map_or(0, dots));
        }
        answer
    }

    fn memory(&self) -> Option<usize> {
        Some(self.0.memory_usage())
    }
}
