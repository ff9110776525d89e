//! A meter: frames in, records of flows out. It opens no file and reads no clock.

mod clock;

pub use crate::packet::Packet;

use crate::biflow::{Biflow, Observed};
use crate::pipeline::{Batch, Pipeline};
use crate::record::{EndReason, FlowRecord};
use crate::stats::MeterStats;
use clock::{Clock, TICK};
use hashlane_flow::burst::{BURST, Visitor};
use hashlane_flow::dissect::{Options as DissectOptions, Undissected, dissect_to};
use hashlane_flow::fragments::{FragmentLimits, FragmentTable};
use hashlane_flow::key::MeterKey;
use hashlane_flow::table::{FlowsBy, Full, Limits};
use hashlane_hash::scheme::Key;
use hashlane_link::capture::Frame;

/// Rank of a flow for its eviction: never answered first, then flows of few packets, then idle ones.
fn rank(_: &MeterKey, flow: &Biflow, idle: u32) -> u64 {
    let few = u64::from(MANY - flow.packets().min(u64::from(MANY)) as u32);
    u64::from(!flow.is_answered()) << 63 | few << 32 | u64::from(idle)
}

/// Packets from which on their number does not count in a rank.
const MANY: u32 = u32::MAX >> 1;

/// Rank of flows of one or two packets that were never answered.
const ENOUGH: u64 = 1 << 63 | ((MANY - 2) as u64) << 32;

/// Flows that may expire per burst: twice as many as it can begin.
const EXPIRED_PER_BURST: usize = 2 * BURST;

/// Ticks of an idle timeout. A flow is idle for less than the time by one tick at most.
fn idle_ticks(idle: u64) -> u32 {
    u32::try_from(idle.div_ceil(TICK) + 1).unwrap_or(u32::MAX)
}

/// Settings of a [`Meter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterOptions {
    /// Limit of the flows in the table; it takes at most [`MeterOptions::FLOW_BYTES`] for each. At least 64.
    pub flows: usize,
    /// Nanoseconds without a packet after which a flow ends. At most 19 days.
    pub idle: u64,
    /// Nanoseconds since its first packet after which the next packet ends a flow and begins another.
    pub active: u64,
    /// Meter the packets inside tunnels: IP in IP, GRE, VXLAN, GTP-U.
    pub tunnels: bool,
    /// Meter every n-th packet only (systematic count-based sampling, RFC 5475 §5.1). At least 1.
    pub sampling: u32,
    /// observationDomainId of the records.
    pub domain: u32,
    /// ingressInterface of the records; 0 for captures.
    pub ingress: u32,
}

impl MeterOptions {
    /// Bytes of memory for each flow of the limit at most, in a table at its limit.
    pub const FLOW_BYTES: usize = 150;
}

impl Default for MeterOptions {
    /// A million flows, 60 s idle, 300 s active, no tunnels, every packet.
    fn default() -> Self {
        let second = crate::export::SECOND;
        Self {
            flows: 1 << 20,
            idle: 60 * second,
            active: 300 * second,
            tunnels: false,
            sampling: 1,
            domain: 0,
            ingress: 0,
        }
    }
}

/// A meter with its flow table; workers of a program have one each.
///
/// A flow ends before a packet that comes [`idle`](MeterOptions::idle) after the last one or
/// [`active`](MeterOptions::active) after the first one, and before the SYN of a TCP connection that was
/// closed. Those without further packets end when time has gone on so far. In a full table, a flow of one or
/// two packets that were never answered gives way to a new one; if none is found among 1,024, the first of
/// them in this order: not answered, fewest packets, idle for longest. It is exported with that reason.
#[derive(Clone)]
pub struct Meter {
    flows: FlowsBy<MeterKey, Biflow>,
    fragments: FragmentTable,
    options: MeterOptions,
    /// Limit of the table itself: the highest that [`MeterOptions::flows`] has had.
    capacity: usize,
    /// The fields that all records have in common.
    base: FlowRecord,
    clock: Clock,
    /// Packets until the next that is sampled.
    skip: u32,
    stats: MeterStats,
    undissected: Undissected,
}

impl Meter {
    /// A meter without flows, whose tables are hashed under `key`, which must be random.
    #[must_use]
    pub fn new(key: &Key, options: MeterOptions) -> Self {
        let options = MeterOptions {
            flows: options.flows.max(2 * BURST),
            sampling: options.sampling.max(1),
            ..options
        };
        let limits = Limits { flows: options.flows, idle: idle_ticks(options.idle) };
        let fragments = FragmentLimits::default();
        Self {
            flows: FlowsBy::with_room(options.flows, key, limits, 0),
            fragments: FragmentTable::new(key, fragments),
            options,
            capacity: options.flows,
            base: FlowRecord { domain: options.domain, ingress: options.ingress, ..FlowRecord::EMPTY },
            clock: Clock::default(),
            skip: 0,
            stats: MeterStats::default(),
            undissected: Undissected::default(),
        }
    }

    /// Changes timeouts, the limit of the flows, and the metering of tunnels; other options stay as they are.
    /// It takes time in proportion to the flows in the table. Those beyond a lower limit are evicted in
    /// steps, as packets come.
    pub fn change(&mut self, options: &MeterOptions) {
        let MeterOptions { flows, idle, active, tunnels, .. } = *options;
        let flows = flows.max(2 * BURST);
        self.capacity = self.capacity.max(flows);
        self.options = MeterOptions { flows, idle, active, tunnels, ..self.options };
        let now = if self.clock.has_begun() { self.clock.tick() } else { 0 };
        self.flows.set_limits(Limits { flows: self.capacity, idle: idle_ticks(idle) }, now);
    }

    /// Counters since the start.
    #[must_use]
    pub fn stats(&self) -> MeterStats {
        let mut stats = self.stats;
        stats.flows_open = self.flows.len() as u64;
        stats.dropped.not_ip = self.undissected.not_ip;
        stats.dropped.malformed = self.undissected.total() - self.undissected.not_ip;
        stats.dropped.fragments = self.fragments.counters.without_ports;
        stats
    }

    /// Packets that have no flow, by cause.
    #[must_use]
    pub const fn undissected(&self) -> &Undissected {
        &self.undissected
    }

    /// Bytes of memory of the tables.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.flows.memory()
    }

    /// The highest time of a packet, or of [`advance`](Self::advance).
    pub(crate) const fn time(&self) -> u64 {
        self.clock.now()
    }

    /// Lets time go on from `now`, nanoseconds since 1970, if the clock was set back: the highest time is
    /// more than a second ahead, and has not changed since the last call. Open flows stay idle for as long as
    /// they are. To be called a few times a second, with the clock that stamps the packets.
    pub fn follow_clock(&mut self, now: u64) {
        self.clock.follow(now);
    }

    /// The record so far of a flow in the table.
    pub(crate) fn open_flow(&self, key: &MeterKey) -> Option<FlowRecord> {
        self.flows.find(key).map(|flow| flow.record(key, EndReason::ForcedEnd, &self.base))
    }

    /// Passes the flows in some slots of the table to `each`: see [`FlowsBy::scan`].
    pub(crate) fn scan(&self, from: u32, slots: u32, each: impl FnMut(&MeterKey, &Biflow)) -> Option<u32> {
        self.flows.scan(from, slots, each)
    }

    /// Counts packets that were lost before the meter.
    pub fn count_lost(&mut self, packets: u64) {
        self.stats.dropped.ring = self.stats.dropped.ring.saturating_add(packets);
    }

    /// Receives frames in order, and passes the records of flows that end to `out`.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        frames: impl IntoIterator<Item = Frame<'a>>,
        out: &mut impl FnMut(&FlowRecord),
    ) {
        let mut pipeline = Pipeline::new();
        for frame in frames {
            self.dissect(&frame, |meter, packet| meter.meter_packet(&mut pipeline, packet, out));
        }
        self.drain(&mut pipeline, out);
    }

    /// Parses a frame and counts it: the first half of [`receive`](Self::receive). Passes the packet to
    /// `take` if it is metered.
    #[inline(always)]
    pub fn dissect(&mut self, frame: &Frame<'_>, take: impl FnOnce(&mut Self, Packet)) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(frame.original);
        if self.options.sampling > 1 && !self.samples() {
            return;
        }
        let options = DissectOptions { tunnels: self.options.tunnels };
        let link = frame.link.unwrap_or(NO_LINK);
        let taken = dissect_to(link, frame.bytes, options, |dissected| {
            take(self, Packet { dissected, time: frame.time });
        });
        if let Err(error) = taken {
            self.undissected.count(error);
        }
    }

    /// Counts packets in their flows: the second half of [`receive`](Self::receive). The packets may have
    /// been parsed by another meter.
    #[inline]
    pub fn meter<'p>(
        &mut self,
        packets: impl IntoIterator<Item = &'p Packet>,
        out: &mut impl FnMut(&FlowRecord),
    ) {
        let mut pipeline = Pipeline::new();
        for packet in packets {
            // Without a copy, but for fragments.
            match packet.dissected.fragment {
                None => self.add(&mut pipeline, packet, out),
                Some(_) => self.meter_packet(&mut pipeline, *packet, out),
            }
        }
        self.drain(&mut pipeline, out);
    }

    /// Adds a packet that was just parsed to the newest batch. A later fragment gets its ports.
    #[inline(always)]
    fn meter_packet(
        &mut self,
        pipeline: &mut Pipeline,
        mut packet: Packet,
        out: &mut impl FnMut(&FlowRecord),
    ) {
        self.fragments.attribute(&mut packet.dissected, packet.time);
        self.add(pipeline, &packet, out);
    }

    /// Adds a packet with its ports to the newest batch.
    #[inline(always)]
    fn add(&mut self, pipeline: &mut Pipeline, packet: &Packet, out: &mut impl FnMut(&FlowRecord)) {
        self.clock.see(packet.time);
        if pipeline.push(packet) {
            self.advance_batches(pipeline, out);
        }
    }

    /// Lets each batch go on by a step: the newest is hashed and its buckets are prefetched, the entries of
    /// the one before are prefetched, and the oldest is counted. So each cache miss has the time of a batch.
    #[inline(never)]
    fn advance_batches(&mut self, pipeline: &mut Pipeline, out: &mut impl FnMut(&FlowRecord)) {
        let tick = self.clock.tick();
        let newest = pipeline.newest();
        newest.tick = tick;
        self.flows.begin_batch(&mut newest.keys());
        self.flows.prefetch_entries(pipeline.middle().hashes());
        self.count(pipeline.oldest(), out);
        pipeline.turn();
    }

    /// Counts the packets that are under way.
    fn drain(&mut self, pipeline: &mut Pipeline, out: &mut impl FnMut(&FlowRecord)) {
        while !pipeline.is_empty() {
            self.advance_batches(pipeline, out);
        }
    }

    /// Counts the packets of a batch in their flows.
    #[inline(always)]
    fn count(&mut self, batch: &mut Batch, out: &mut impl FnMut(&FlowRecord)) {
        let now = batch.tick;
        self.make_room(batch.len(), now, out);
        let Self { flows, options, base, stats, .. } = self;
        let (mut keys, observed) = batch.parts();
        let known = keys.keys();
        flows.finish_batch(&mut keys, now, &mut Packets { keys: known, observed, options, base, stats, out });
        self.expire(now, EXPIRED_PER_BURST, out);
    }

    /// Decides if a packet is metered.
    fn samples(&mut self) -> bool {
        if self.skip == 0 {
            self.skip = self.options.sampling - 1;
            return true;
        }
        self.skip -= 1;
        self.stats.dropped.sampled += 1;
        false
    }

    /// Evicts flows until there is room for `count` others, or, after the limit was lowered, so many that
    /// their number falls.
    fn make_room(&mut self, count: usize, now: u32, out: &mut impl FnMut(&FlowRecord)) {
        for _ in 0..count + 2 * BURST {
            if self.flows.len() + count <= self.options.flows {
                break;
            }
            let Some((key, flow)) = self.flows.evict(now, ENOUGH, rank) else { break };
            self.stats.flows_evicted += 1;
            self.stats.flows_exported += 1;
            out(&flow.record(&key, EndReason::LackOfResources, &self.base));
        }
    }

    /// Ends flows that are idle at the tick. Returns true if there may be more.
    fn expire(&mut self, now: u32, budget: usize, out: &mut impl FnMut(&FlowRecord)) -> bool {
        let Self { flows, base, stats, .. } = self;
        !flows.expire(now, budget, |key, flow| {
            stats.flows_exported += 1;
            out(&flow.record(&key, flow.end(EndReason::IdleTimeout), base));
        })
    }

    /// Lets time go on to `now`, nanoseconds since 1970, without a packet, and ends flows that are idle: at
    /// most 4,096 of them. Returns true if there may be more.
    pub fn advance(&mut self, now: u64, out: &mut impl FnMut(&FlowRecord)) -> bool {
        if !self.clock.has_begun() {
            return false;
        }
        self.clock.see(now);
        let tick = self.clock.tick();
        self.expire(tick, 4096, out)
    }

    /// Ends all flows, and returns the counters.
    pub fn finish(mut self, out: &mut impl FnMut(&FlowRecord)) -> MeterStats {
        for (key, flow) in self.flows.iter() {
            self.stats.flows_exported += 1;
            out(&flow.record(key, flow.end(EndReason::ForcedEnd), &self.base));
        }
        MeterStats { flows_open: 0, ..self.stats() }
    }
}

/// The packets of a burst at their flows.
struct Packets<'a, F> {
    keys: &'a [MeterKey],
    observed: &'a [Observed],
    options: &'a MeterOptions,
    base: &'a FlowRecord,
    stats: &'a mut MeterStats,
    out: &'a mut F,
}

impl<F: FnMut(&FlowRecord)> Visitor<Biflow, MeterKey> for Packets<'_, F> {
    #[inline(always)]
    fn on_known_flow(&mut self, number: usize, flow: &mut Biflow) {
        let Some(packet) = self.observed.get(number) else { return };
        let Some(end) = flow.ends_before(packet, self.options.idle, self.options.active) else {
            return flow.add(packet);
        };
        if let Some(key) = self.keys.get(number) {
            self.stats.flows_exported += 1;
            self.stats.flows_opened += 1;
            (self.out)(&flow.record(key, end, self.base));
        }
        *flow = Biflow::begin(packet);
    }

    #[inline(always)]
    fn on_new_flow(&mut self, number: usize, _: &MeterKey) -> Option<Biflow> {
        self.stats.flows_opened += 1;
        self.observed.get(number).map(Biflow::begin)
    }

    fn on_table_full(&mut self, _: usize, _: Full<Biflow>) {
        debug_assert!(false, "there is room for a burst");
        self.stats.dropped.table += 1;
    }
}

/// A LINKTYPE number that is not assigned.
const NO_LINK: u32 = u32::MAX;

#[cfg(test)]
mod tests;
