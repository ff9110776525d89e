//! Rows of datasets, as text for people and as JSON.

use hashlane_command::terminal;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// One value of a row.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(u64),
    Text(String),
    Flag(bool),
    /// Numbers by name. Text has only those above 0.
    Counts(BTreeMap<String, u64>),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => plain(text),
            Self::Flag(flag) => if *flag { "on" } else { "off" }.into(),
            Self::Counts(counts) => {
                let counts = counts.iter().filter(|(_, number)| **number > 0);
                let each: Vec<_> = counts.map(|(name, number)| format!("{} {number}", plain(name))).collect();
                if each.is_empty() { "none".into() } else { each.join(", ") }
            }
        }
    }
}

/// Named values. All rows of a list have the same names in the same order; a row may lack some of them.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<(&'static str, Value)>);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Row {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn number(self, key: &'static str, number: u64) -> Self {
        self.value(key, Value::Number(number))
    }

    pub(super) fn text(self, key: &'static str, text: impl ToString) -> Self {
        self.value(key, Value::Text(text.to_string()))
    }

    pub(super) fn flag(self, key: &'static str, flag: bool) -> Self {
        self.value(key, Value::Flag(flag))
    }

    /// Adds the numbers, if there are any.
    pub(super) fn counts(self, key: &'static str, counts: Option<BTreeMap<String, u64>>) -> Self {
        match counts {
            Some(counts) => self.value(key, Value::Counts(counts)),
            None => self,
        }
    }

    /// Adds the number, if there is one.
    pub(super) fn maybe(self, key: &'static str, number: Option<u64>) -> Self {
        match number {
            Some(number) => self.number(key, number),
            None => self,
        }
    }

    fn value(mut self, key: &'static str, value: Value) -> Self {
        self.0.push((key, value));
        self
    }

    fn line(&self, out: &mut String) {
        for (at, (key, value)) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(out, "{space}{key}={}", value.text());
        }
    }
}

/// Prints rows, one to a line, or as one JSON array.
pub(super) fn print(rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = String::new();
    if json {
        out = to_json(rows)?;
    } else {
        for row in rows {
            row.line(&mut out);
            out.push('\n');
        }
    }
    terminal::print(&out)
}

/// Prints one row, a value to a line, or as a JSON object.
pub(super) fn print_one(row: &Row, json: bool) -> io::Result<()> {
    let mut out = String::new();
    if json {
        out = to_json(row)?;
    } else {
        let widest = row.0.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
        for (key, value) in &row.0 {
            let _ = writeln!(out, "{key:>widest$}  {}", value.text());
        }
    }
    terminal::print(&out)
}

/// A line of JSON. Control characters that JSON allows in strings, DEL and C1, are escaped, too: the text may
/// go to a terminal.
pub(super) fn to_json(value: &(impl Serialize + ?Sized)) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    let mut line = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        if character.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(character));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    Ok(line)
}

/// Escapes control characters: the text comes from the forwarder and goes to a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new().text("prefix", "/a\"\n").flag("served", true).maybe("none", None).number("face", 2)
    }

    #[test]
    fn a_row_is_one_line() {
        let mut line = String::new();
        row().line(&mut line);
        assert_eq!(line, "prefix=/a\"\\n served=on face=2");
    }

    #[test]
    fn counts_are_named() {
        let counts = |counts: &[(&str, u64)]| {
            let counts = counts.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
            Row::new().counts("dropped", Some(counts))
        };
        let row = counts(&[("loop", 3), ("a\n", 1), ("b", 0)]);
        assert_eq!(row.0[0].1.text(), "a\\n 1, loop 3");
        assert_eq!(to_json(&row).unwrap(), "{\"dropped\":{\"a\\n\":1,\"b\":0,\"loop\":3}}\n");
        assert_eq!(counts(&[("loop", 0)]).0[0].1.text(), "none");
    }

    #[test]
    fn json_keeps_the_order_and_escapes_every_control_character() {
        let row = Row::new().text("prefix", "/a\"\n\u{7f}\u{9b}é").flag("served", true).number("face", 2);
        let expected = r#"{"prefix":"/a\"\n\u007f\u009bé","served":true,"face":2}"#;
        assert_eq!(to_json(&row).unwrap(), format!("{expected}\n"));
        assert_eq!(to_json(&[&row, &row][..]).unwrap(), format!("[{expected},{expected}]\n"));
        let none: [Row; 0] = [];
        assert_eq!(to_json(&none[..]).unwrap(), "[]\n");
    }
}
