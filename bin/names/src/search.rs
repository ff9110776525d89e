//! Names of a text, looked up in bursts.

use crate::output::Output;
use hashlane_name_lists::{MAX_NAME, Reason, Refused, ascii_name, query_name};
use hashlane_name_map::{Burst, Match, Rules};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// The names that are written, and how many of their rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Names that match, with the longest rule.
    Longest,
    /// Names that match, with all their rules.
    All,
    /// Names that match nothing.
    Inverted,
    /// No names, as they are only counted.
    Nothing,
}

/// Names so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Lines, blank and refused ones included.
    pub(crate) lines: u64,
    /// Names that were looked up.
    pub(crate) looked_up: u64,
    /// Names that a list matches.
    pub(crate) matched: u64,
    /// Lines that are no names.
    pub(crate) refused: BTreeMap<Reason, Refused>,
    /// Times that other rules came into use.
    pub(crate) reloads: u64,
}

impl Names {
    /// Counts the current line as no name.
    pub(crate) fn refuse(&mut self, reason: Reason) {
        let first = Refused { count: 0, first_line: self.lines };
        self.refused.entry(reason).or_insert(first).count += 1;
    }
}

/// Lookup of all names of a text.
pub(crate) struct Search {
    rules: Rules,
    wanted: Wanted,
    burst: Burst,
    /// Lines of the burst's names in the current block.
    spans: [Range<usize>; Burst::NAMES],
    /// Room for the rules of a name.
    found: Vec<Match>,
    pub(crate) names: Names,
}

impl Search {
    pub(crate) fn new(rules: Rules, wanted: Wanted) -> Self {
        Self {
            rules,
            wanted,
            burst: Burst::new(),
            spans: [const { 0..0 }; Burst::NAMES],
            found: Vec::new(),
            names: Names::default(),
        }
    }

    /// Looks the next lines up by these rules.
    pub(crate) fn replace(&mut self, rules: Rules) {
        self.rules = rules;
        self.names.reloads += 1;
    }

    /// Looks up the names of whole lines, each with its line feed.
    ///
    /// # Errors
    /// The output is closed, or full.
    pub(crate) fn block(&mut self, block: &[u8], out: &mut Output) -> io::Result<()> {
        // Nothing to take off a line, to convert or to refuse, in most texts.
        let is_plain =
            |byte: &u8| (byte.is_ascii_graphic() & (*byte != b'/') & (*byte != b':')) | (*byte == b'\n');
        let is_plain = block.iter().fold(true, |plain, byte| plain & is_plain(byte));
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let line = block.get(start..end).unwrap_or_default();
            self.names.lines += 1;
            match is_plain {
                true if line.is_empty() => {}
                true => self.add(line, start..end),
                false => self.add_trimmed(line, start),
            }
            start = end + 1;
            if self.burst.is_full() {
                self.look_up(block, out)?;
            }
        }
        self.look_up(block, out)
    }

    /// Adds a name to the burst.
    #[inline(always)]
    fn add(&mut self, name: &[u8], span: Range<usize>) {
        let at = self.burst.len();
        match self.burst.push(name) {
            Ok(()) => {
                if let Some(place) = self.spans.get_mut(at) {
                    *place = span;
                }
            }
            Err(error) => self.names.refuse(error.into()),
        }
    }

    /// Adds the name of any line.
    #[cold]
    fn add_trimmed(&mut self, line: &[u8], start: usize) {
        // As one that does not end in its block is refused before its end is known.
        if line.len() > MAX_LINE {
            return self.names.refuse(Reason::TooLong);
        }
        let before = line.len() - line.trim_ascii_start().len();
        let line = line.trim_ascii();
        let start = start + before;
        if !line.is_empty() {
            match query_name(line) {
                Ok(name) => self.add(&name, start..start + line.len()),
                Err(reason) => self.names.refuse(reason),
            }
        }
    }

    /// Looks up the burst, whose names are in `block`.
    fn look_up(&mut self, block: &[u8], out: &mut Output) -> io::Result<()> {
        let len = self.burst.len();
        let verdicts = self.rules.verdicts(&mut self.burst).iter().enumerate();
        let hits = verdicts.fold(0, |hits, (at, verdict)| hits | u32::from(verdict.lists() != 0) << at);
        self.names.looked_up += len as u64;
        self.names.matched += u64::from(hits.count_ones());
        let written = match self.wanted {
            Wanted::Longest | Wanted::All => hits,
            Wanted::Inverted => !hits & u32::MAX.checked_shr((Burst::NAMES - len) as u32).unwrap_or(0),
            Wanted::Nothing => 0,
        };
        for at in bits(written) {
            let name = self.spans.get(at).and_then(|span| block.get(span.clone())).unwrap_or_default();
            match self.wanted {
                Wanted::Inverted => out.name(name)?,
                _ => self.write(at, name, out)?,
            }
        }
        self.burst.clear();
        Ok(())
    }

    /// Writes a name of the burst with its rules.
    fn write(&mut self, at: usize, name: &[u8], out: &mut Output) -> io::Result<()> {
        self.found.clear();
        self.rules.matches_in(&self.burst, at, |found| self.found.push(found));
        let wanted = if self.wanted == Wanted::All { usize::MAX } else { 1 };
        let ascii = ascii_name(name).unwrap_or_default();
        for Match { list, depth, target } in self.found.iter().take(wanted) {
            out.rule(name, *list, last_labels(&ascii, *depth), *target)?;
        }
        Ok(())
    }
}

/// The places of the bits that are set.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(at)
    })
}

/// The last labels of a name, without the dot at its end.
fn last_labels(name: &[u8], labels: usize) -> &[u8] {
    let name = name.strip_suffix(b".").unwrap_or(name);
    let before = memchr::memrchr_iter(b'.', name).nth(labels.saturating_sub(1));
    before.and_then(|dot| name.get(dot + 1..)).unwrap_or(name)
}

/// Bytes of a line that may be a name. Longer lines are refused before they end.
pub(crate) const MAX_LINE: usize = MAX_NAME;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_rule_is_the_end_of_a_name() {
        assert_eq!(last_labels(b"a.b.c.", 2), b"b.c");
        assert_eq!(last_labels(b"a.b.c", 3), b"a.b.c");
        assert_eq!(last_labels(b"a", 1), b"a");
        assert_eq!(bits(0b1010).collect::<Vec<_>>(), [1, 3]);
    }
}
