//! `hashlane_name_map::Rules`, a burst of names at a time or one name at a time.

use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use hashlane_hash::scheme::Key;
use hashlane_name_map::{Builder, Burst, Reversed, Rules, Target};

pub(super) struct Ours {
    rules: Rules,
    burst: Burst,
    in_bursts: bool,
}

impl Ours {
    /// `None` if a rule is no name, or the rules are too many.
    pub(super) fn new(rules: &Strings, key: &Key, in_bursts: bool) -> Option<Self> {
        let mut builder = Builder::new(key);
        for rule in rules.iter() {
            builder.block(0, Target::Subtree, rule).ok()?;
        }
        Some(Self { rules: builder.build().ok()?, burst: Burst::new(), in_bursts })
    }

    // Functions of their own, so that each is the disassembled code.
    #[inline(never)]
    fn find_bursts(&mut self, names: &Strings) -> Answer {
        let Self { rules, burst, .. } = self;
        let mut answer = Answer::default();
        let mut names = names.iter();
        while names.len() > 0 {
            burst.clear();
            for name in names.by_ref().take(Burst::NAMES) {
                // A name that breaks a rule matches nothing.
                let _ = burst.push(name);
            }
            for verdict in rules.verdicts(burst) {
                answer.add_labels(verdict.depth().unwrap_or(0));
            }
        }
        answer
    }

    #[inline(never)]
    fn find_singles(&self, names: &Strings) -> Answer {
        let (mut answer, mut name) = (Answer::default(), Reversed::new());
        for text in names.iter() {
            if name.set(text).is_ok() {
                answer.add_labels(self.rules.verdict(&name).depth().unwrap_or(0));
            }
        }
        answer
    }
}

impl Table for Ours {
    fn find(&mut self, names: &Strings) -> Answer {
        if self.in_bursts { self.find_bursts(names) } else { self.find_singles(names) }
    }

    fn memory(&self) -> Option<usize> {
        Some(self.rules.memory())
    }
}
