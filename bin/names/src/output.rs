//! Names and their rules, as text or JSON.

use crate::input::BLOCK;
use crate::loaded::List;
use anyhow::{Context as _, Result};
use hashlane_name_map::Target;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

/// Standard output behind a large buffer.
pub(crate) struct Output {
    file: File,
    text: Vec<u8>,
    json: bool,
    /// The name of each list, for JSON with quotes.
    lists: Vec<String>,
}

/// A word for a target.
fn word(target: Target) -> &'static str {
    match target {
        Target::Exact => "exact",
        Target::Below => "below",
        Target::OneBelow => "one-below",
        _ => "subtree",
    }
}

/// A text with quotes, as JSON has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Output {
    /// # Errors
    /// There is no standard output.
    pub(crate) fn new(lists: &[List], json: bool) -> Result<Self> {
        let file = io::stdout().as_fd().try_clone_to_owned().context("cannot write to standard output")?;
        let mut output =
            Self { file: file.into(), text: Vec::with_capacity(2 * BLOCK), json, lists: Vec::new() };
        output.set_lists(lists);
        Ok(output)
    }

    /// Takes the names of the lists, for the next lines.
    pub(crate) fn set_lists(&mut self, lists: &[List]) {
        let name = |list: &List| if self.json { quoted(&list.about.name) } else { list.about.name.clone() };
        self.lists = lists.iter().map(name).collect();
    }

    /// Writes a name that matches nothing.
    ///
    /// # Errors
    /// Standard output is closed, or full.
    pub(crate) fn name(&mut self, name: &[u8]) -> io::Result<()> {
        if self.json {
            self.text.extend_from_slice(b"{\"name\":");
            self.text.extend_from_slice(quoted(&String::from_utf8_lossy(name)).as_bytes());
            self.text.push(b'}');
        } else {
            self.text.extend_from_slice(name);
        }
        self.end_line()
    }

    /// Writes a name that matches a rule.
    ///
    /// # Errors
    /// As [`name`](Self::name).
    pub(crate) fn rule(&mut self, name: &[u8], list: usize, rule: &[u8], target: Target) -> io::Result<()> {
        let list = self.lists.get(list).map_or("", String::as_str);
        if self.json {
            let (name, rule) = (String::from_utf8_lossy(name), String::from_utf8_lossy(rule));
            let rule = rule.to_ascii_lowercase();
            let (name, rule, target) = (quoted(&name), quoted(&rule), word(target));
            let line = format!("{{\"name\":{name},\"list\":{list},\"rule\":{rule},\"target\":\"{target}\"}}");
            self.text.extend_from_slice(line.as_bytes());
        } else {
            [name, b"\t", list.as_bytes(), b"\t"].iter().for_each(|part| self.text.extend_from_slice(part));
            self.text.extend(rule.iter().map(u8::to_ascii_lowercase));
            self.text.push(b'\t');
            self.text.extend_from_slice(word(target).as_bytes());
        }
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.text.push(b'\n');
        if self.text.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Writes what is in the buffer.
    ///
    /// # Errors
    /// As [`name`](Self::name).
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}
