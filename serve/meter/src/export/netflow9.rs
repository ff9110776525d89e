//! NetFlow v9, RFC 3954. A flow with packets in both directions becomes two records.
//!
//! Times are milliseconds since the start of the exporter in the header of the packet, 32 bits, which hold 49
//! days. So that each collector computes the same times, the start is a whole second, a day before the first
//! flow. It moves when a flow does not fit. Flows of old captures are exported with the time of the newest of
//! them as the time of the packet.
//!
//! Elements that v9 does not define have the numbers of IPFIX, whose registry began with v9's: flowEndReason,
//! dot1qCustomerVlanId, layer2SegmentId. Reverse records repeat the type and the code of the first ICMP
//! message.

use super::message::Message;
use super::shape::{Clock, Shape, field, template};
use super::{DELAY, ExportError, Exporter, SECOND, Sink, has_passed};
use crate::export::ipfix::{MAX_MESSAGE, MIN_MESSAGE};
use crate::ipfix::{FIRST_TEMPLATE, element as ie};
use crate::record::FlowRecord;
use std::collections::BTreeMap;

const VERSION: u16 = 9;
/// Bytes of the header of a packet.
const HEADER: usize = 20;
/// Ids of the sets of templates and options templates.
const TEMPLATES: u16 = 0;
const OPTIONS_TEMPLATES: u16 = 1;
/// Id of the options template for sampling.
const SAMPLING: u16 = FIRST_TEMPLATE + Shape::COUNT;
/// Nanoseconds between the start of the exporter and the first flow.
const MARGIN: u64 = 24 * 3_600 * SECOND;
/// Nanoseconds that 32 bits of milliseconds hold, less the margin for what is under way.
const SPAN: u64 = 48 * 24 * 3_600 * SECOND;

/// Settings of a NetFlow v9 exporter.
#[derive(Clone, Debug)]
pub struct Netflow9Options {
    /// Largest packet in bytes. Valid: 512..=65,535; others are brought into the range. Default: 1,400.
    pub packet_limit: usize,
    /// Seconds after which templates are repeated. Default: 60.
    pub template_seconds: u64,
    /// Packets after which templates are repeated. Default: 1,000.
    pub template_packets: u32,
    /// One packet of this many is metered, for an options record; 0 or 1: all are.
    pub sampling: u32,
}

impl Default for Netflow9Options {
    fn default() -> Self {
        Self { packet_limit: 1_400, template_seconds: 60, template_packets: 1_000, sampling: 1 }
    }
}

/// Writes flows as NetFlow v9 packets, with the observation domain as the source id.
#[derive(Debug)]
pub struct Netflow9Exporter {
    sink: Sink,
    options: Netflow9Options,
    sources: BTreeMap<u32, Source>,
}

/// State of a source id.
#[derive(Debug)]
struct Source {
    id: u32,
    /// Packets so far.
    sequence: u32,
    packet: Message,
    /// Start of the exporter, in nanoseconds since 1970, a whole second.
    boot: u64,
    /// Latest time of a flow in the packet.
    latest: u64,
    /// Kinds of flows whose templates were announced since they were repeated last.
    shapes: u64,
    /// Time and number of packets since then.
    repeated: (u64, u32),
    sampling_told: bool,
    record: Vec<u8>,
}

impl Netflow9Exporter {
    /// Writes to `sink`.
    #[must_use]
    pub fn new(sink: Sink, mut options: Netflow9Options) -> Self {
        options.packet_limit = options.packet_limit.clamp(MIN_MESSAGE, MAX_MESSAGE);
        Self { sink, options, sources: BTreeMap::new() }
    }
}

impl Exporter for Netflow9Exporter {
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError> {
        let source = self.sources.entry(flow.domain).or_insert_with(|| Source::new(flow.domain, now));
        let mut done = Ok(());
        if flow.forward.packets > 0 {
            done = source.write(flow, now, &self.options, &mut self.sink);
        }
        if flow.is_biflow() {
            done = done.and(source.write(&flow.reversed(), now, &self.options, &mut self.sink));
        }
        done
    }

    fn tick(&mut self, now: u64) -> Result<(), ExportError> {
        self.sink.tick(now);
        let mut done = Ok(());
        for source in self.sources.values_mut() {
            if !source.packet.is_empty() && has_passed(&mut source.packet.since, DELAY, now) {
                done = done.and(source.flush(now, &mut self.sink));
            }
        }
        done
    }

    fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        let mut done = Ok(());
        for source in self.sources.values_mut() {
            done = done.and(source.flush(now, &mut self.sink));
        }
        done.and(self.sink.finish(now))
    }

    /// A flow with two records is counted as two.
    fn sink(&self) -> &Sink {
        &self.sink
    }
}

impl Source {
    const fn new(id: u32, now: u64) -> Self {
        Self {
            id,
            sequence: 0,
            packet: Message::new(HEADER, 4),
            boot: 0,
            latest: 0,
            shapes: 0,
            repeated: (now, 0),
            sampling_told: false,
            record: Vec::new(),
        }
    }

    /// Adds the forward direction of a flow.
    fn write(
        &mut self,
        flow: &FlowRecord,
        now: u64,
        options: &Netflow9Options,
        sink: &mut Sink,
    ) -> Result<(), ExportError> {
        let one = FlowRecord { reverse: crate::record::Counters::NONE, ..*flow };
        let mut done = Ok(());
        let (since, packets) = &mut self.repeated;
        if has_passed(since, options.template_seconds.saturating_mul(SECOND), now)
            || *packets >= options.template_packets.max(1)
        {
            self.forget_templates(now);
        }
        let (first, last) = (one.forward.first, one.forward.last);
        if first < self.boot || last.saturating_sub(self.boot) > SPAN {
            // Times in the packet count from the old start.
            done = self.flush(now, sink);
            let start = first.saturating_sub(MARGIN);
            self.boot = start - start % SECOND;
        }
        let (shape, clock) = (Shape::of(&one), Clock::Uptime(self.boot));
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        shape.put(&one, clock, &mut record);
        let announcement = template(shape.template_id(), None, &shape.fields(clock));
        // With room for the records about sampling.
        if self.packet.is_full(record.len() + announcement.len() + 64, options.packet_limit) {
            done = done.and(self.flush(now, sink));
        }
        if self.packet.is_empty() {
            self.packet.since = now;
        }
        self.tell_sampling(options.sampling);
        if self.shapes & shape.bit() == 0 {
            self.shapes |= shape.bit();
            self.packet.add(TEMPLATES, &announcement);
            self.packet.templates = true;
        }
        self.packet.add(shape.template_id(), &record);
        self.record = record;
        self.packet.flows += 1;
        self.latest = self.latest.max(last);
        done
    }

    /// Adds the record about sampling, if it is due.
    fn tell_sampling(&mut self, sampling: u32) {
        if sampling <= 1 || self.sampling_told {
            return;
        }
        self.sampling_told = true;
        // The scope is the system (1), of four bytes; 4 and 8 are the lengths of the specifiers.
        let mut record = Vec::new();
        let scope = field(1, 4);
        let fields = [scope, field(ie::SAMPLING_INTERVAL, 4), field(ie::SAMPLING_ALGORITHM, 1)];
        for word in [SAMPLING, 4, 8] {
            record.extend_from_slice(&word.to_be_bytes());
        }
        for field in fields {
            record.extend_from_slice(&field.id.to_be_bytes());
            record.extend_from_slice(&field.len.to_be_bytes());
        }
        self.packet.add(OPTIONS_TEMPLATES, &record);
        let mut record = self.id.to_be_bytes().to_vec();
        record.extend_from_slice(&sampling.to_be_bytes());
        // Deterministic sampling.
        record.push(1);
        self.packet.add(SAMPLING, &record);
        self.packet.templates = true;
    }

    const fn forget_templates(&mut self, now: u64) {
        self.shapes = 0;
        self.sampling_told = false;
        self.repeated = (now, 0);
    }

    /// Sends the packet.
    ///
    /// # Errors
    /// The packet is lost; its templates are announced again.
    #[allow(clippy::cast_possible_truncation, reason = "uptime and seconds are fields of 32 bits")]
    fn flush(&mut self, now: u64, sink: &mut Sink) -> Result<(), ExportError> {
        if self.packet.is_empty() {
            return Ok(());
        }
        let (count, flows, templates) = (self.packet.records, self.packet.flows, self.packet.templates);
        // A packet of an old capture has the time of its newest flow.
        let fits = now >= self.latest.max(self.boot) && now - self.boot <= SPAN;
        let time = if fits { now } else { self.latest }.div_ceil(SECOND);
        let uptime = time.saturating_sub(self.boot / SECOND) * 1_000;
        let bytes = self.packet.finish();
        bytes[..2].copy_from_slice(&VERSION.to_be_bytes());
        bytes[2..4].copy_from_slice(&count.to_be_bytes());
        for (at, word) in [(4, uptime as u32), (8, time as u32), (12, self.sequence), (16, self.id)] {
            bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        let taken = sink.send(bytes, flows, now);
        self.packet.clear();
        self.latest = 0;
        self.sequence = self.sequence.wrapping_add(1);
        self.repeated.1 = self.repeated.1.saturating_add(1);
        if templates && !matches!(taken, Ok(true)) {
            self.forget_templates(now);
        }
        taken.map(drop)
    }
}
