//! JSON lines: an object for each flow, its members named as the IPFIX information elements.
//!
//! Members without a value are left out. Counts are numbers, in packets and bytes; times are strings of
//! RFC 3339 in UTC, with nanoseconds; addresses are strings; flowEndReason and tcpControlBits are numbers.

use super::columns::{COLUMNS, Value};
use super::lines::Lines;
use super::{ExportError, Exporter, Sink};
use crate::record::FlowRecord;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Writes flows as JSON lines.
#[derive(Debug)]
pub struct JsonExporter {
    lines: Lines,
}

impl JsonExporter {
    /// Writes to `sink`; over UDP each line is a datagram.
    #[must_use]
    pub fn new(sink: Sink) -> Self {
        Self { lines: Lines::new(sink) }
    }
}

impl Exporter for JsonExporter {
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError> {
        self.lines.add(now, |line| {
            let done = serde_json::to_writer(&mut *line, &Object(flow));
            debug_assert!(done.is_ok(), "numbers and strings in memory");
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

struct Object<'a>(&'a FlowRecord);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in &COLUMNS {
            match (column.value)(self.0) {
                Value::Absent => {}
                Value::Number(number) => map.serialize_entry(column.name, &number)?,
                value => map.serialize_entry(column.name, &Text(value))?,
            }
        }
        map.end()
    }
}

struct Text(Value);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::FileOptions;
    use crate::export::testing::samples;

    #[test]
    fn each_line_is_an_object_with_standard_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.json");
        let mut exporter = JsonExporter::new(Sink::file(FileOptions::new(&path)).unwrap());
        let flows = samples();
        for flow in &flows {
            exporter.write(flow, 0).unwrap();
        }
        exporter.finish(0).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), flows.len());
        assert_eq!(exporter.totals().flows, flows.len() as u64);
        for (line, flow) in text.lines().zip(&flows) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object["octetDeltaCount"], flow.forward.bytes);
            let source = if flow.source.is_ipv4() { "sourceIPv4Address" } else { "sourceIPv6Address" };
            assert_eq!(object[source], flow.source.to_string());
            assert_eq!(object.get("reversePacketDeltaCount").is_some(), flow.is_biflow());
            assert_eq!(object.get("dot1qVlanId").is_some(), flow.vlan.is_some());
        }
        assert!(text.lines().next().unwrap().starts_with(
            "{\"flowStartNanoseconds\":\"2026-01-02T03:04:05.000000007Z\",\"flowEndNanoseconds\":\
             \"2026-01-02T03:04:06.500000000Z\",\"sourceIPv4Address\":\"192.0.2.1\","
        ));
    }
}
