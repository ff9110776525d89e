//! IPFIX, RFC 7011, with biflows by RFC 5103; files by RFC 5655.
//!
//! Our own writer: the kept crate that writes IPFIX (netgauze-flow-pkt) builds a value on the heap for each
//! field of each record, generates the whole registry at compile time, and knows neither a limit of messages
//! nor the repetition of templates. A record here is one pass over a plain struct.
//!
//! A template is announced in the message that first needs it. Over UDP all templates are repeated by time
//! and by number of messages; each new connection and each new file begins with them. Sequence numbers count
//! the data records of an observation domain, options records included, whether a collector got them or not;
//! they go on after a reconnection.
//!
//! The registry has an element for the VNI of VXLAN (layer2SegmentId) and none for other tunnels, so records
//! from inside those have the inner addresses alone.

mod domain;
mod options;

use super::shape::Clock;
use super::{ExportError, Exporter, Sink};
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use domain::Domain;
use std::collections::BTreeMap;

/// Largest message in a file or over TCP, in bytes.
pub(super) const MAX_MESSAGE: usize = 65_535;
/// Smallest limit of a message, which a record with its template and headers fits in.
pub(super) const MIN_MESSAGE: usize = 512;

/// Settings of an IPFIX exporter.
#[derive(Clone, Debug)]
pub struct IpfixOptions {
    /// Largest message in bytes. Valid: 512..=65,535; others are brought into the range. `None`: 1,400 over
    /// UDP, which fits the path MTU of most tunnels, else 65,535.
    pub message_limit: Option<usize>,
    /// Elements for the times of flows.
    pub times: Times,
    /// Seconds after which templates are repeated over UDP. Default: 60.
    pub template_seconds: u64,
    /// Messages after which templates are repeated over UDP. Default: 1,000.
    pub template_messages: u32,
    /// Index and name of each interface, for an options record each.
    pub interfaces: Vec<(u32, String)>,
    /// One packet of this many is metered, for an options record; 0 or 1: all are.
    pub sampling: u32,
}

/// Elements for the times of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// flowStartMilliseconds and flowEndMilliseconds, which every collector knows.
    #[default]
    Milliseconds,
    /// flowStartNanoseconds and flowEndNanoseconds.
    Nanoseconds,
}

impl Times {
    const fn clock(self) -> Clock {
        match self {
            Self::Milliseconds => Clock::Milliseconds,
            Self::Nanoseconds => Clock::Nanoseconds,
        }
    }
}

impl Default for IpfixOptions {
    fn default() -> Self {
        Self {
            message_limit: None,
            times: Times::Milliseconds,
            template_seconds: 60,
            template_messages: 1_000,
            interfaces: Vec::new(),
            sampling: 1,
        }
    }
}

/// Writes flows as IPFIX messages, the messages of each observation domain apart.
#[derive(Debug)]
pub struct IpfixExporter {
    output: Output,
    domains: BTreeMap<u32, Domain>,
}

/// The parts that all domains share.
#[derive(Debug)]
struct Output {
    sink: Sink,
    options: IpfixOptions,
    limit: usize,
}

impl IpfixExporter {
    /// Writes to `sink`.
    #[must_use]
    pub fn new(sink: Sink, options: IpfixOptions) -> Self {
        let default = if sink.is_datagram() { 1_400 } else { MAX_MESSAGE };
        let limit = options.message_limit.unwrap_or(default).clamp(MIN_MESSAGE, MAX_MESSAGE);
        Self { output: Output { sink, options, limit }, domains: BTreeMap::new() }
    }

    /// The domain, whose first records describe interfaces and sampling.
    fn domain<'a>(
        domains: &'a mut BTreeMap<u32, Domain>,
        id: u32,
        options: &IpfixOptions,
        now: u64,
    ) -> &'a mut Domain {
        domains.entry(id).or_insert_with(|| Domain::new(id, options, now))
    }

    /// Start of the next connection or file: the templates of all domains.
    fn refresh_prelude(&mut self) {
        if self.output.sink.is_datagram() {
            return;
        }
        let prelude = self.output.sink.prelude();
        prelude.clear();
        for domain in self.domains.values() {
            prelude.extend_from_slice(domain.prelude());
        }
    }

    /// After a domain has sent messages.
    fn sent(&mut self, done: Result<bool, ExportError>) -> Result<(), ExportError> {
        if !matches!(done, Ok(false)) {
            self.refresh_prelude();
        }
        done.map(drop)
    }
}

impl Exporter for IpfixExporter {
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError> {
        let domain = Self::domain(&mut self.domains, flow.domain, &self.output.options, now);
        let done = domain.write(flow, now, &mut self.output);
        self.sent(done)
    }

    fn tick(&mut self, now: u64) -> Result<(), ExportError> {
        self.output.sink.tick(now);
        let mut done = Ok(false);
        for domain in self.domains.values_mut() {
            done = either(done, domain.tick(now, &mut self.output));
        }
        self.sent(done)
    }

    /// Adds the options records of RFC 7011 sections 4.1 to 4.3: messages, flows and bytes exported; packets
    /// ignored by the meter; flows not sent.
    fn report(&mut self, domain: u32, stats: &MeterStats, now: u64) -> Result<(), ExportError> {
        let domain = Self::domain(&mut self.domains, domain, &self.output.options, now);
        let done = domain.report(stats, now, &mut self.output);
        self.sent(done)
    }

    fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        let mut done = Ok(false);
        for domain in self.domains.values_mut() {
            done = either(done, domain.flush(now, &mut self.output));
        }
        let done = self.sent(done);
        done.and(self.output.sink.finish(now))
    }

    fn sink(&self) -> &Sink {
        &self.output.sink
    }
}

/// The first error, else true if either has sent messages.
fn either(one: Result<bool, ExportError>, other: Result<bool, ExportError>) -> Result<bool, ExportError> {
    Ok(one? | other?)
}
