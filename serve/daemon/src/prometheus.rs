//! The text format of Prometheus.

use std::fmt::{Display, Write as _};

/// A name, its type and its help.
#[derive(Debug)]
pub struct Metric<'t> {
    text: &'t mut String,
    name: &'static str,
}

impl<'t> Metric<'t> {
    /// Begins a metric: its whole name, its kind (`counter`, `gauge`), and a line of help.
    pub fn new(text: &'t mut String, name: &'static str, kind: &str, help: &str) -> Self {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Self { text, name }
    }

    /// Adds a value with its labels; their contents are escaped.
    pub fn value(&mut self, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        self.text.push_str(self.name);
        for (at, (label, content)) in labels.iter().enumerate() {
            let _ = write!(self.text, "{}{label}=\"", if at == 0 { '{' } else { ',' });
            for character in content.chars() {
                match character {
                    '\\' => self.text.push_str("\\\\"),
                    '"' => self.text.push_str("\\\""),
                    '\n' => self.text.push_str("\\n"),
                    other => self.text.push(other),
                }
            }
            self.text.push('"');
        }
        let _ = writeln!(self.text, "{} {value}", if labels.is_empty() { "" } else { "}" });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut text = String::new();
        Metric::new(&mut text, "zones", "gauge", "Zones.")
            .value(&[("a", "x\"\\\ny"), ("b", "")], 7)
            .value(&[], 1.5);
        assert_eq!(
            text,
            "# HELP zones Zones.\n# TYPE zones gauge\nzones{a=\"x\\\"\\\\\\ny\",b=\"\"} 7\nzones 1.5\n"
        );
    }
}
