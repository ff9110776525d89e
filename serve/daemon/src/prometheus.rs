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

/// Adds a histogram: its whole name without a suffix, a line of help, the number of values in each bucket by
/// its upper bound in ascending order, the number of those above all bounds, and the sum of all values.
pub fn histogram(
    text: &mut String,
    name: &'static str,
    help: &str,
    buckets: impl IntoIterator<Item = (f64, u64)>,
    above: u64,
    sum: f64,
) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} histogram\n");
    let mut count = 0;
    for (bound, values) in buckets {
        count += values;
        let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
    }
    count += above;
    let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_of_a_histogram_are_cumulative() {
        let mut text = String::new();
        histogram(&mut text, "wait_seconds", "Waits.", [(0.0001, 2), (0.5, 0), (1.0, 3)], 1, 2.5);
        assert_eq!(
            text,
            "# HELP wait_seconds Waits.\n# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"0.0001\"} 2\n\
             wait_seconds_bucket{le=\"0.5\"} 2\nwait_seconds_bucket{le=\"1\"} 5\n\
             wait_seconds_bucket{le=\"+Inf\"} 6\nwait_seconds_sum 2.5\nwait_seconds_count 6\n"
        );
    }

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
