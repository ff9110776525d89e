//! An observation domain: its templates, its sequence number, its message.

use super::options::{Exported, OptionsTemplate, standing, statistics};
use super::{IpfixOptions, Output};
use crate::export::message::{Message, length};
use crate::export::shape::{Shape, template};
use crate::export::{DELAY, ExportError, SECOND, has_passed};
use crate::ipfix::{HEADER, OPTIONS_TEMPLATES, TEMPLATES, VERSION};
use crate::record::FlowRecord;
use crate::stats::MeterStats;

/// State of a domain. Methods return true if a message was sent.
#[derive(Debug)]
pub(super) struct Domain {
    id: u32,
    /// Data records in all messages that were sent.
    sequence: u32,
    message: Message,
    /// Kinds of flows whose templates were announced.
    shapes: u64,
    /// Options templates that were announced.
    kinds: u8,
    /// Templates that were announced: the id of their set, and the record.
    templates: Vec<(u16, Vec<u8>)>,
    /// Records about interfaces and sampling.
    standing: Vec<(OptionsTemplate, Vec<u8>)>,
    /// Tests if these were sent in this session.
    described: bool,
    /// Time and number of messages since templates were repeated.
    repeated: (u64, u32),
    exported: Exported,
    /// Messages that a new connection or file begins with.
    prelude: Vec<u8>,
    record: Vec<u8>,
}

impl Domain {
    pub(super) fn new(id: u32, options: &IpfixOptions, now: u64) -> Self {
        Self {
            id,
            sequence: 0,
            message: Message::new(HEADER, 1),
            shapes: 0,
            kinds: 0,
            templates: Vec::new(),
            standing: standing(options),
            described: false,
            repeated: (now, 0),
            exported: Exported::default(),
            prelude: Vec::new(),
            record: Vec::new(),
        }
    }

    pub(super) fn prelude(&self) -> &[u8] {
        &self.prelude
    }

    pub(super) fn write(
        &mut self,
        flow: &FlowRecord,
        now: u64,
        output: &mut Output,
    ) -> Result<bool, ExportError> {
        let sent = self.describe(now, output)? | self.repeat(now, output)?;
        let (shape, clock) = (Shape::of(flow), output.options.times.clock());
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        shape.put(flow, clock, &mut record);
        let made = || template(shape.template_id(), None, &shape.fields(clock));
        let known = self.shapes & shape.bit() != 0;
        let room = self.reserve(record.len() + if known { 0 } else { made().len() }, now, output);
        // A lost message takes its templates with it.
        if self.shapes & shape.bit() == 0 {
            self.announce(TEMPLATES, made());
            self.shapes |= shape.bit();
        }
        self.message.add(shape.template_id(), &record);
        self.message.data += 1;
        self.message.flows += 1;
        self.record = record;
        Ok(sent | room?)
    }

    pub(super) fn report(
        &mut self,
        stats: &MeterStats,
        now: u64,
        output: &mut Output,
    ) -> Result<bool, ExportError> {
        let mut sent = self.describe(now, output)? | self.repeat(now, output)?;
        for (kind, record) in statistics(self.id, self.exported, stats) {
            sent |= self.put_option(kind, &record, now, output)?;
        }
        Ok(sent)
    }

    pub(super) fn tick(&mut self, now: u64, output: &mut Output) -> Result<bool, ExportError> {
        let sent = self.repeat(now, output)?;
        if !self.message.is_empty() && has_passed(&mut self.message.since, DELAY, now) {
            return self.flush(now, output);
        }
        Ok(sent)
    }

    /// Sends the message.
    ///
    /// # Errors
    /// The message is lost; its templates are announced again.
    pub(super) fn flush(&mut self, now: u64, output: &mut Output) -> Result<bool, ExportError> {
        if self.message.is_empty() {
            return Ok(false);
        }
        let (records, flows, templates) = (self.message.data, self.message.flows, self.message.templates);
        let bytes = finish(&mut self.message, now, self.sequence, self.id);
        let len = bytes.len() as u64;
        let taken = output.sink.send(bytes, flows, now);
        self.message.clear();
        // Lost records count, too: collectors see the gap.
        self.sequence = self.sequence.wrapping_add(records);
        if matches!(taken, Ok(true)) {
            self.exported.messages += 1;
            self.exported.flows += flows;
            self.exported.bytes += len;
        } else if templates {
            (self.shapes, self.kinds, self.described) = (0, 0, false);
            self.templates.clear();
        }
        self.repeated.1 = self.repeated.1.saturating_add(1);
        if !output.sink.is_datagram() {
            self.refresh_prelude(now);
        }
        taken.map(|_| true)
    }

    /// Adds the records about interfaces and sampling, once a session.
    fn describe(&mut self, now: u64, output: &mut Output) -> Result<bool, ExportError> {
        if self.described {
            return Ok(false);
        }
        self.described = true;
        let mut sent = false;
        for (kind, record) in self.standing.clone() {
            sent |= self.put_option(kind, &record, now, output)?;
        }
        Ok(sent)
    }

    /// Repeats all templates over UDP, when it is time.
    fn repeat(&mut self, now: u64, output: &mut Output) -> Result<bool, ExportError> {
        let IpfixOptions { template_seconds, template_messages, .. } = output.options;
        let (since, messages) = &mut self.repeated;
        let due = has_passed(since, template_seconds.saturating_mul(SECOND), now)
            || *messages >= template_messages.max(1);
        if !output.sink.is_datagram() || !due {
            return Ok(false);
        }
        let mut sent = false;
        for (set, record) in self.templates.clone() {
            sent |= self.reserve(record.len(), now, output)?;
            self.message.add(set, &record);
            self.message.templates = true;
        }
        self.described = false;
        sent |= self.describe(now, output)?;
        self.repeated = (now, 0);
        Ok(sent)
    }

    fn put_option(
        &mut self,
        kind: OptionsTemplate,
        record: &[u8],
        now: u64,
        output: &mut Output,
    ) -> Result<bool, ExportError> {
        let template = template(kind.template_id(), Some(1), kind.fields());
        let room = self.reserve(record.len() + template.len(), now, output);
        if self.kinds & kind.bit() == 0 {
            self.announce(OPTIONS_TEMPLATES, template);
            self.kinds |= kind.bit();
        }
        self.message.add(kind.template_id(), record);
        self.message.data += 1;
        room
    }

    /// Adds a template, for which there is room, to the message and to those that are known.
    fn announce(&mut self, set: u16, template: Vec<u8>) {
        self.message.add(set, &template);
        self.message.templates = true;
        self.templates.push((set, template));
    }

    /// Sends the message if it has no room for a record and its template of `len` bytes together.
    fn reserve(&mut self, len: usize, now: u64, output: &mut Output) -> Result<bool, ExportError> {
        let full = self.message.is_full(len, output.limit);
        let done = if full { self.flush(now, output) } else { Ok(false) };
        if self.message.is_empty() {
            self.message.since = now;
        }
        done
    }

    /// A message with all templates and standing records, with the sequence number that makes the next
    /// message follow it.
    fn refresh_prelude(&mut self, now: u64) {
        let mut message = Message::new(HEADER, 1);
        for (set, record) in &self.templates {
            message.add(*set, record);
        }
        let mut count = 0;
        for (kind, record) in self.standing.iter().filter(|_| self.described) {
            message.add(kind.template_id(), record);
            count += 1;
        }
        self.prelude.clear();
        if !message.is_empty() {
            let bytes = finish(&mut message, now, self.sequence.wrapping_sub(count), self.id);
            self.prelude.extend_from_slice(bytes);
        }
    }
}

/// Fills the header, RFC 7011 section 3.1.
#[allow(clippy::cast_possible_truncation, reason = "seconds wrap in 2106")]
fn finish(message: &mut Message, now: u64, sequence: u32, domain: u32) -> &[u8] {
    let bytes = message.finish();
    let len = length(bytes.len());
    bytes[..2].copy_from_slice(&VERSION.to_be_bytes());
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    for (at, word) in [(4, (now / SECOND) as u32), (8, sequence), (12, domain)] {
        bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
    }
    bytes
}
