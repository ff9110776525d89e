//! Console protocol of a kernel's first process: one report per line, and its only output.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Mark at the start of every line; the kernel's own lines do not have it.
const MARK: &str = "hashlane: ";

/// Results of a kernel's boot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of its hashes that were compared with ours.
    pub checked: u64,
    /// Mbit/s of all streams, of each slice of time, by the bytes of a message.
    pub streams: BTreeMap<u32, Vec<f64>>,
    /// Counts of the time-stamp counter per call, of each repetition, by what was timed.
    pub cycles: BTreeMap<String, Vec<f64>>,
    /// Counts per segment that meets no table.
    pub floor: Vec<f64>,
    /// Costs of hostile SYNs, by their set.
    pub syn: BTreeMap<String, SynReading>,
}

/// Cost of the SYNs of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SynReading {
    /// Counts per SYN, of each block, by the number of hostile SYNs before.
    pub points: BTreeMap<u32, Vec<f64>>,
    /// Entries of the fullest bucket, after the last.
    pub longest: u64,
    /// SYNs that were sent, and entries of the table after the last.
    pub table: (u64, u64),
    /// Entries that stayed in the table after each request was reset, if they are too many.
    pub left: Option<u64>,
    /// Number of SYNs sent, if the set was ended because it took too long.
    pub short: Option<u64>,
}

/// A report of the first process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Line {
    /// Work in progress, for the display.
    Doing(String),
    /// It cannot go on.
    Failed(String),
    /// All was done.
    Done(Reading),
}

impl Line {
    /// The report as a line of text.
    pub(crate) fn print(&self) -> String {
        // Texts and numbers have a form in JSON.
        format!("{MARK}{}", serde_json::to_string(self).unwrap_or_default())
    }

    /// Reads a line; `None` of a line of the kernel's, or one that was cut.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_passes_over_other_lines() {
        let syn = SynReading {
            points: BTreeMap::from([(0, vec![8.0]), (4096, vec![1e6, 9000.5])]),
            table: (16_640, 9052),
            ..SynReading::default()
        };
        let reading = Reading {
            checked: 257,
            streams: BTreeMap::from([(64, vec![13.25, 15.0])]),
            syn: BTreeMap::from([("xor".to_owned(), syn)]),
            ..Reading::default()
        };
        for line in [Line::Doing("64 bytes\n".into()), Line::Failed("\"".into()), Line::Done(reading)] {
            let printed = line.print();
            assert!(!printed.contains('\n'), "{printed}");
            assert_eq!(Line::parse(&format!("{printed}\r\n")), Some(line));
            assert_eq!(Line::parse(&printed[..printed.len() - 1]), None);
        }
        for other in ["", "Kernel panic - not syncing", "hashlane: ", "hashlane: done", "{\"Doing\":\"x\"}"] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }
}
