//! CSV: a line with the names of the IPFIX information elements, then a line for each flow (RFC 4180).
//!
//! Columns, their order and units are the same in every file; a value that a flow does not have is empty.

use super::columns::COLUMNS;
use super::lines::Lines;
use super::{ExportError, Exporter, Sink};
use crate::record::FlowRecord;
use std::io::Write;

/// Writes flows as CSV.
#[derive(Debug)]
pub struct CsvExporter {
    lines: Lines,
}

impl CsvExporter {
    /// Writes to `sink`; each file or connection starts with the names of the columns.
    #[must_use]
    pub fn new(mut sink: Sink) -> Self {
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        *sink.prelude() = (names.join(",") + "\n").into_bytes();
        Self { lines: Lines::new(sink) }
    }
}

impl Exporter for CsvExporter {
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError> {
        self.lines.add(now, |line| {
            for (at, column) in COLUMNS.iter().enumerate() {
                if at > 0 {
                    line.push(b',');
                }
                // Numbers, times and addresses need no quotes, and writing to memory cannot fail.
                let _ = write!(line, "{}", (column.value)(flow));
            }
            line.push(b'\n');
        })
    }

    fn tick(&mut self, now: u64) -> Result<(), ExportError> {
        self.lines.tick(now)
    }

    fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        self.lines.finish(now)
    }

    fn sink(&self) -> &Sink {
        &self.lines.sink
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::FileOptions;
    use crate::export::testing::samples;

    #[test]
    fn every_line_has_every_column() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.csv");
        let mut exporter = CsvExporter::new(Sink::file(FileOptions::new(&path)).unwrap());
        let flows = samples();
        for flow in &flows {
            exporter.write(flow, 0).unwrap();
        }
        exporter.finish(0).unwrap();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let at = |name: &str| COLUMNS.iter().position(|column| column.name == name).unwrap();
        assert_eq!(&reader.headers().unwrap()[at("octetDeltaCount")], "octetDeltaCount");
        let lines: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(lines.len(), flows.len());
        for (line, flow) in lines.iter().zip(&flows) {
            assert_eq!(line.len(), COLUMNS.len());
            assert_eq!(line[at("packetDeltaCount")], flow.forward.packets.to_string());
            assert_eq!(line[at("dot1qVlanId")].is_empty(), flow.vlan.is_none());
        }
    }

    #[test]
    fn a_file_without_flows_has_the_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.csv");
        CsvExporter::new(Sink::file(FileOptions::new(&path)).unwrap()).finish(0).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("flowStartNanoseconds,") && text.lines().count() == 1);
    }
}
