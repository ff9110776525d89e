//! What datasets hold, as text for people and as JSON.

use crate::output;
use std::fmt::Write as _;
use std::io;

/// One value of a row.
#[derive(Debug)]
pub(super) enum Value {
    Number(u64),
    Text(String),
    Flag(bool),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => plain(text),
            Self::Flag(flag) => if *flag { "on" } else { "off" }.into(),
        }
    }
}

/// Values by their names. Names and order are the same in every row of a list, but for what one does not have.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<(&'static str, Value)>);

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

    /// The number, where there is one.
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
            // Writing to a text cannot fail.
            let _ = write!(out, "{space}{key}={}", value.text());
        }
    }

    fn json(&self, out: &mut String) {
        out.push('{');
        for (at, (key, value)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(out, "{comma}{}:", quoted(key));
            let _ = match value {
                Value::Number(number) => write!(out, "{number}"),
                Value::Text(text) => write!(out, "{}", quoted(text)),
                Value::Flag(flag) => write!(out, "{flag}"),
            };
        }
        out.push('}');
    }
}

/// Prints rows, one to a line, or as one JSON array.
pub(super) fn print(rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = String::new();
    if json {
        list(rows, &mut out);
        out.push('\n');
    } else {
        for row in rows {
            row.line(&mut out);
            out.push('\n');
        }
    }
    output::print(&out)
}

/// Prints one row, a value to a line, or as a JSON object.
pub(super) fn print_one(row: &Row, json: bool) -> io::Result<()> {
    let mut out = String::new();
    if json {
        row.json(&mut out);
        out.push('\n');
    } else {
        let widest = row.0.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
        for (key, value) in &row.0 {
            let _ = writeln!(out, "{key:>widest$}  {}", value.text());
        }
    }
    output::print(&out)
}

fn list(rows: &[Row], out: &mut String) {
    out.push('[');
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        row.json(out);
    }
    out.push(']');
}

/// The text, with control characters spelled out: it comes from the forwarder, and goes to a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A string of JSON (RFC 8259 §7).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
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
    fn json_is_quoted() {
        let mut json = String::new();
        row().json(&mut json);
        assert_eq!(json, r#"{"prefix":"/a\"\u000a","served":true,"face":2}"#);
    }
}
