//! Properties of the reader of IPFIX, and of exporters on flows from outside.

use hashlane_meter::{
    CsvExporter, Exporter, FlowRecord, IpfixExporter, IpfixOptions, IpfixReader, JsonExporter,
    Netflow9Exporter, Netflow9Options, ReadReport, Sink, Times,
};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Flows that are exported again.
const FLOWS: usize = 200;

/// Messages are read to their end or to an error. The flows, exported in each format and with each element
/// for times, are all written; as IPFIX they are read back, the same after the first rounding of their times.
pub fn check_ipfix(bytes: &[u8]) {
    let mut reader = IpfixReader::new(bytes);
    let flows: Vec<_> = reader.by_ref().map_while(Result::ok).take(FLOWS).collect();
    let report = reader.report();
    assert!(report.flows <= bytes.len() as u64 / 8 && report.messages <= bytes.len() as u64 / 16);
    for times in [Times::Milliseconds, Times::Nanoseconds] {
        let limit = 512 + bytes.len() % 2_000;
        let again = round_trip(&flows, times, limit);
        assert_eq!(again.len(), flows.len());
        assert_eq!(round_trip(&again, times, limit), again);
    }
    let formats: [fn(Sink) -> Box<dyn Exporter>; 3] = [
        |sink| Box::new(JsonExporter::new(sink)),
        |sink| Box::new(CsvExporter::new(sink)),
        |sink| Box::new(Netflow9Exporter::new(sink, Netflow9Options::default())),
    ];
    for format in formats {
        let mut exporter = format(Sink::writer("nothing", Box::new(io::sink())));
        write(&mut *exporter, &flows);
        assert_eq!(exporter.totals().flows_lost, 0);
    }
}

/// The flows exported and read back.
fn round_trip(flows: &[FlowRecord], times: Times, limit: usize) -> Vec<FlowRecord> {
    let memory = Memory::default();
    let options = IpfixOptions { message_limit: Some(limit), times, ..IpfixOptions::default() };
    let sink = Sink::writer("memory", Box::new(memory.clone()));
    write(&mut IpfixExporter::new(sink, options), flows);
    let bytes = memory.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut reader = IpfixReader::new(&*bytes);
    let mut again: Vec<_> = reader.by_ref().map(|flow| flow.expect("an exported message")).collect();
    let ReadReport { missing, sets_without_template, cut_off, .. } = reader.report();
    assert_eq!((missing, sets_without_template, cut_off), (0, 0, 0));
    // Messages of one domain leave in order; messages of several domains leave as they fill.
    again.sort_by_key(|flow| flow.domain);
    again
}

fn write(exporter: &mut dyn Exporter, flows: &[FlowRecord]) {
    for flow in flows {
        exporter.write(flow, 0).expect("memory");
    }
    exporter.finish(0).expect("memory");
}

/// Bytes that a sink wrote.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
