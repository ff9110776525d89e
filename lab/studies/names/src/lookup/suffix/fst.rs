//! The crate fst: a set of the reversed rules as a minimal automaton of bytes.

use super::text::Text;
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use ::fst::Set;

pub(super) struct Transducer(Set<Vec<u8>>);

impl Transducer {
    /// `None` if the crate refuses the rules.
    pub(super) fn new(rules: &Strings) -> Option<Self> {
        let mut text = Text::new();
        let mut reversed: Vec<Vec<u8>> = rules.iter().map(|rule| text.reversed(rule).to_vec()).collect();
        reversed.sort_unstable();
        Some(Self(Set::from_iter(reversed).ok()?))
    }
}

impl Table for Transducer {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut answer, mut text) = (Answer::default(), Text::new());
        let automaton = self.0.as_fst();
        for name in names.iter() {
            let (mut node, mut labels, mut longest) = (automaton.root(), 0, 0);
            for byte in text.reversed(name) {
                let Some(at) = node.find_input(*byte) else { break };
                node = automaton.node(node.transition_addr(at));
                labels += usize::from(*byte == b'.');
                if node.is_final() {
                    longest = labels;
                }
            }
            answer.add_labels(longest);
        }
        answer
    }

    fn memory(&self) -> Option<usize> {
        Some(self.0.as_fst().as_bytes().len())
    }
}
