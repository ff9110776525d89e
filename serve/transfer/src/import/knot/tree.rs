//! The sections, items and entries of knot.conf.

use super::super::report::{Fate, Place};
use super::super::words::{Word, words};
use super::super::{ImportError, Reader};
use std::sync::Arc;

/// Sections whose entries do not concern what is served.
const IGNORED: [&str; 9] = [
    "log",
    "control",
    "statistics",
    "database",
    "keystore",
    "submission",
    "policy",
    "dnskey-sync",
    "external",
];

/// Sections that are read.
const KNOWN: [&str; 9] =
    ["server", "key", "remote", "remotes", "acl", "template", "zone", "mod-rrl", "mod-queryacl"];

/// A section.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    /// Items of a list, or the entries as one item.
    pub(super) items: Vec<Item>,
}

/// Entries that belong together.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) entries: Vec<Entry>,
    /// Name in an item that is lost, as it is a flow mapping.
    pub(super) flow: Option<String>,
}

impl Item {
    /// The last entry with this key.
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.key == key)
    }
}

/// A key and its values.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Values, each with the number of its line in the report.
    pub(super) values: Vec<(String, usize)>,
    /// Number of the key's line in the report.
    pub(super) at: usize,
    /// Numbers of the lines after it.
    others: Vec<usize>,
}

impl Entry {
    /// The first value.
    pub(super) fn value(&self) -> &str {
        self.values.first().map_or("", |(value, _)| value)
    }

    /// The lines of the entry.
    pub(super) fn lines(&self) -> impl Iterator<Item = usize> {
        [self.at].into_iter().chain(self.others.iter().copied())
    }
}

/// Reads a configuration to its sections. Lines of sections that are known have no fate yet that holds.
pub(super) fn read(reader: &mut Reader<'_>, text: &str) -> Result<Vec<Section>, ImportError> {
    let mut tree = Tree { sections: Vec::new(), is_open: false, braces: 0 };
    tree.file(reader, None, text, 0)?;
    Ok(tree.sections)
}

struct Tree {
    sections: Vec<Section>,
    /// A list in brackets has not ended.
    is_open: bool,
    /// Braces of a flow mapping that have not ended.
    braces: usize,
}

impl Tree {
    fn file(
        &mut self,
        reader: &mut Reader<'_>,
        file: Option<Arc<str>>,
        text: &str,
        depth: usize,
    ) -> Result<(), ImportError> {
        reader.take(text)?;
        for (number, line) in (1..).zip(text.lines()) {
            let words = words(line, "[],");
            let place = Place { file: file.clone(), number };
            let Some((first, rest)) = words.split_first() else {
                reader.report.blank += 1;
                continue;
            };
            let is_indented = line.starts_with([' ', '\t']);
            let is_dash = first.text == "-" && !first.is_quoted;
            let content = if is_dash { rest } else { &words };
            if self.braces > 0 || content.first().is_some_and(opens_mapping) && !self.is_open {
                self.flow(reader, &place, content, is_dash)?;
                continue;
            }
            match (first.key(), rest.first().and_then(Word::key)) {
                _ if self.is_open => self.more(reader, &place, &words)?,
                (Some("include"), _) if !is_indented => self.include(reader, &place, rest, depth)?,
                (Some(key), _) if !is_indented => self.section(reader, &place, key, rest)?,
                (Some(key), _) => self.entry(reader, &place, key, rest, false)?,
                (None, Some(key)) if is_dash => {
                    self.entry(reader, &place, key, rest.get(1..).unwrap_or_default(), true)?;
                }
                (None, _) if is_dash => self.more(reader, &place, rest)?,
                _ => drop(reader.add(&place, &first.text, Fate::lost("not understood"))?),
            }
        }
        (self.is_open, self.braces) = (false, 0);
        Ok(())
    }

    /// A line of a flow mapping, which is lost. What follows it belongs to no item before it.
    fn flow(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        words: &[Word<'_>],
        is_dash: bool,
    ) -> Result<(), ImportError> {
        let is_first = self.braces == 0;
        for word in words.iter().filter(|word| !word.is_quoted) {
            let closed = word.text.matches('}').count();
            self.braces = (self.braces + word.text.matches('{').count()).saturating_sub(closed);
        }
        let name = named(words);
        let section = self.sections.last_mut();
        let mut of = section.as_ref().map_or_else(|| "-".to_owned(), |section| section.name.clone());
        if let Some(name) = name.as_ref().filter(|_| is_first) {
            of = format!("{of} {name}");
        }
        let is_ignored = section.as_ref().is_some_and(|section| IGNORED.contains(&section.name.as_str()));
        if let Some(section) = section {
            if is_dash && is_first || section.items.is_empty() {
                section.items.push(Item::default());
            }
            if let Some(item) = section.items.last_mut() {
                item.flow = item.flow.take().or(name).or(Some(String::new()));
            }
        }
        let fate = match is_ignored {
            true => Fate::ignored("no counterpart to its section"),
            false => Fate::lost("flow mapping; write it as a block"),
        };
        reader.add(place, &of, fate).map(drop)
    }

    fn include(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        values: &[Word<'_>],
        depth: usize,
    ) -> Result<(), ImportError> {
        let path = values.first().map_or("", |word| &word.text);
        match reader.include(path, depth) {
            Ok((name, text)) => {
                reader.add(place, "include", Fate::kept("the lines of the file"))?;
                self.file(reader, Some(name), &text, depth + 1)
            }
            Err(fate) => reader.add(place, "include", fate).map(drop),
        }
    }

    fn section(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        name: &str,
        rest: &[Word<'_>],
    ) -> Result<(), ImportError> {
        let fate = match name {
            _ if !rest.is_empty() => Fate::lost("a section has its values in the lines below"),
            "server" => Fate::kept("[server]"),
            "key" => Fate::kept("[[key]]"),
            "zone" => Fate::kept("[[zone]]"),
            "mod-rrl" => Fate::kept("[rate_limit]"),
            "remote" | "remotes" | "acl" | "template" | "mod-queryacl" => {
                Fate::kept("the zones that name its items")
            }
            _ if IGNORED.contains(&name) => Fate::ignored("no counterpart"),
            _ => Fate::lost("no counterpart"),
        };
        reader.add(place, name, fate)?;
        self.sections.push(Section { name: name.to_owned(), items: Vec::new() });
        Ok(())
    }

    fn entry(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        key: &str,
        values: &[Word<'_>],
        is_new: bool,
    ) -> Result<(), ImportError> {
        let Some(section) = self.sections.last_mut() else {
            return reader.add(place, key, Fate::lost("outside of a section")).map(drop);
        };
        let fate = match section.name.as_str() {
            name if IGNORED.contains(&name) => Fate::ignored("no counterpart to its section"),
            name if KNOWN.contains(&name) => Fate::kept("its section"),
            _ => Fate::lost("no counterpart to its section"),
        };
        let at = reader.add(place, key, fate)?;
        if is_new || section.items.is_empty() {
            section.items.push(Item::default());
        }
        if let Some(item) = section.items.last_mut() {
            item.entries.push(Entry { key: key.to_owned(), values: Vec::new(), at, others: Vec::new() });
        }
        self.values(values, at);
        Ok(())
    }

    /// A line with values of the entry above.
    fn more(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        values: &[Word<'_>],
    ) -> Result<(), ImportError> {
        let entry = self.sections.last_mut().and_then(|section| section.items.last_mut()?.entries.last_mut());
        let Some(entry) = entry else {
            self.is_open = false;
            return reader.add(place, "-", Fate::lost("outside of an entry")).map(drop);
        };
        let fate = reader.report.lines.get(entry.at).map(|line| line.fate.clone());
        let at = reader.add(place, &entry.key, fate.unwrap_or_else(|| Fate::lost("outside of an entry")))?;
        entry.others.push(at);
        self.values(values, at);
        Ok(())
    }

    /// Adds words to the values of the last entry.
    fn values(&mut self, words: &[Word<'_>], at: usize) {
        let entry = self.sections.last_mut().and_then(|section| section.items.last_mut()?.entries.last_mut());
        let Some(entry) = entry else { return };
        for word in words {
            match &*word.text {
                "[" if !word.is_quoted => self.is_open = true,
                "]" if !word.is_quoted => self.is_open = false,
                "," if !word.is_quoted => {}
                text => entry.values.push((text.to_owned(), at)),
            }
        }
    }
}

/// True for the first word of a flow mapping.
fn opens_mapping(word: &Word<'_>) -> bool {
    !word.is_quoted && word.text.starts_with('{')
}

/// The value of `domain` or `id` in a flow mapping.
fn named(words: &[Word<'_>]) -> Option<String> {
    let bare = |word: &Word<'_>| word.text.trim_matches(['{', '}', ':']).to_owned();
    let mut words = words.iter().map(bare).filter(|word| !word.is_empty());
    words.find(|word| matches!(word.as_str(), "domain" | "id"))?;
    words.next()
}
