//! The user's own rules and names: domain names in dotted text, one a line.

use super::corpus::Corpus;
use super::host_names::{HostNames, below};
use super::strings::Strings;
use super::timing::{build, find, schemes_on};
use super::workload::{Kind, Operation};
use crate::file::{self, Lines, Unread};
use crate::input;
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session};
use hashlane_name_map::Reversed;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::HashSet;
use std::error::Error;
use std::path::Path;

/// Option for the user's own rules.
pub(crate) const RULES: Input = Input {
    option: "rules",
    help: "Look up names by these suffix rules, plain domains, one per line; - reads standard input",
    conflicts: &[],
};

/// Names or rules that are read from a file.
const MOST: usize = 10_000_000;

/// Generated rules if there are names alone.
const GENERATED: usize = 1_000_000;

/// The user's rules or names, or both.
pub(crate) struct Own {
    rules: Option<Strings>,
    names: Option<Strings>,
}

impl Lines for Strings {
    const EXAMPLES: &'static str = "example.com";

    fn count(&self) -> usize {
        self.len()
    }

    /// Adds a domain name in lower case. A dot at its end, spaces around it, and text from a `#` on are left
    /// out.
    fn add(&mut self, line: &[u8]) -> Result<(), Unread> {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let mut name = Reversed::new();
        name.set(line).map_err(|error| Unread::Skipped(error.to_string()))?;
        self.push(&line.strip_suffix(b".").unwrap_or(line).to_ascii_lowercase());
        Ok(())
    }
}

/// Reads the user's rules and names.
///
/// # Errors
/// A file cannot be read, or has no domain name.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
    let (mut labels, mut notes) = (Vec::new(), Vec::new());
    let mut read = |option: &str, what: &str| -> Result<Option<Strings>, Box<dyn Error + Send + Sync>> {
        let Some(path) = paths.get(option) else { return Ok(None) };
        let read = file::read::<Strings>(path, MOST)?;
        labels.push(Loaded::label(option, Path::new(&*file::shown(path))));
        notes.extend(input::notes(path, &read, what));
        Ok(Some(read.names))
    };
    let rules = read(RULES.option, "rule")?.map(|rules| distinct(&rules));
    let names = read(input::NAMES.option, "name")?;
    if labels.is_empty() {
        return Ok(None);
    }
    let mut loaded = Loaded::new(labels.join(","), Own { rules, names });
    loaded.notes = notes;
    Ok(Some(loaded))
}

/// Each string once.
fn distinct(strings: &Strings) -> Strings {
    let mut seen = HashSet::with_capacity(strings.len());
    strings.iter().filter(|string| seen.insert(*string)).collect()
}

impl Own {
    /// Steps of a run.
    pub(super) const STEPS: usize = 3;

    /// Measures the names against the rules. Without names, those one label below a rule, and others; without
    /// rules, generated ones.
    pub(super) fn run(&self, session: &mut Session<'_>, label: &str) -> Result<(), RunError> {
        session.step(label, "building the tables");
        let seed = session.settings.seed;
        let rules = match &self.rules {
            Some(rules) => HostNames::of(rules.clone(), Kind::Hosts, seed),
            None => HostNames::new(Kind::Hosts, GENERATED, seed),
        };
        let corpus: Box<dyn Corpus> = match &self.names {
            Some(names) => Box::new(InOrder { rules, names: names.clone() }),
            None => Box::new(OwnRules(rules)),
        };
        let mut schemes = schemes_on(session, label, true);
        if corpus.entries().len() > MOST_OF_AUTOMATON {
            schemes.retain(|id| id != AUTOMATON);
        }
        let mut tables = build(session, label, &schemes, true, &*corpus)?;
        let workloads: &[(&str, Operation)] = match self.names {
            Some(_) => &[("", Operation::Zipf(0.0))],
            None => &[("/hit-1", Operation::Hit(1)), ("/miss", Operation::Miss)],
        };
        for (suffix, operation) in workloads {
            let workload = format!("{label}{suffix}");
            session.step(&workload, "timing");
            find(session, &workload, *operation, &*corpus, &mut tables)?;
        }
        Ok(())
    }
}

/// Scheme whose table takes some hundred bytes a rule, and rules up to which it is built.
const AUTOMATON: &str = "aho-corasick/single";
const MOST_OF_AUTOMATON: usize = 100_000;

/// The user's rules, whose generated misses may match some of them.
struct OwnRules(HostNames);

impl Corpus for OwnRules {
    fn entries(&self) -> &Strings {
        self.0.entries()
    }

    fn draw(&self, operation: Operation, count: usize, random: &mut Xoshiro256PlusPlus, names: &mut Strings) {
        self.0.draw(operation, count, random, names);
    }

    fn matching(&self, _: Operation, _: usize) -> Option<u64> {
        None
    }
}

/// The user's names in the order of their file, from a place drawn at random on.
struct InOrder {
    rules: HostNames,
    names: Strings,
}

impl Corpus for InOrder {
    fn entries(&self) -> &Strings {
        self.rules.entries()
    }

    fn draw(&self, _: Operation, count: usize, random: &mut Xoshiro256PlusPlus, names: &mut Strings) {
        let from = below(random, self.names.len());
        (from..from + count).for_each(|at| names.push(self.names.get(at % self.names.len())));
    }

    fn matching(&self, _: Operation, _: usize) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_plain_domains() {
        let mut names = Strings::default();
        for line in [&b"Example.COM."[..], b"  a.b # a comment", b"# a comment", b"xn--nxasmq6b"] {
            names.add(line).unwrap();
        }
        assert!(names.iter().eq([&b"example.com"[..], b"a.b", b"xn--nxasmq6b"]));
        for line in [&b"a..b"[..], &[b'a'; 64], b".", &b"a.".repeat(200)] {
            assert!(matches!(names.add(line), Err(Unread::Skipped(_))), "{}", line.escape_ascii());
        }
        names.add(b"a.b").unwrap();
        assert_eq!((names.len(), distinct(&names).len()), (4, 3));
    }
}
