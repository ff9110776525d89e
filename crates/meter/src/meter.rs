//! A meter: frames in, records of flows out. It opens no file and reads no clock.

use crate::biflow::{Biflow, Observed};
use crate::record::{EndReason, FlowRecord};
use crate::stats::MeterStats;
use hashlane_flow::burst::{BURST, Visitor};
use hashlane_flow::dissect::{Dissected, Options as DissectOptions, Undissected, dissect};
use hashlane_flow::fragments::{FragmentLimits, FragmentTable};
use hashlane_flow::key::{MeterKey, Scope};
use hashlane_flow::table::{FlowsBy, Full, Limits};
use hashlane_hash::scheme::Key;
use hashlane_link::capture::Frame;
use std::net::Ipv6Addr;

/// Nanoseconds of a tick of the table.
const TICK: u64 = 100_000_000;

/// Rank of a flow for its eviction: never answered first, then those of few packets, then idle ones.
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

/// A packet of a flow, at its time of capture in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its flow and length.
    pub dissected: Dissected,
    /// Time of capture in nanoseconds since 1970.
    pub time: u64,
}

/// A meter with a table of its own; workers of a program have one each.
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
    /// The fields that all records have in common.
    base: FlowRecord,
    /// Time of the first packet, and the highest time seen.
    start: Option<u64>,
    now: u64,
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
        // A flow is idle for less than the time by one tick at most.
        let idle = u32::try_from(options.idle.div_ceil(TICK) + 1).unwrap_or(u32::MAX);
        let limits = Limits { flows: options.flows, idle };
        let fragments = FragmentLimits::default();
        Self {
            flows: FlowsBy::with_room(options.flows, key, limits, 0),
            fragments: FragmentTable::new(key, fragments),
            options,
            base: FlowRecord { domain: options.domain, ingress: options.ingress, ..FlowRecord::EMPTY },
            start: None,
            now: 0,
            skip: 0,
            stats: MeterStats::default(),
            undissected: Undissected::default(),
        }
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

    /// Counts packets that were lost before the meter.
    pub fn count_lost(&mut self, packets: u64) {
        self.stats.dropped.ring = self.stats.dropped.ring.saturating_add(packets);
    }

    /// Receives frames in order, 32 at a time, and passes the records of flows that end to `out`.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        frames: impl IntoIterator<Item = Frame<'a>>,
        out: &mut impl FnMut(&FlowRecord),
    ) {
        let mut packets = [NO_PACKET; BURST];
        let mut count = 0;
        for frame in frames {
            if let (Some(packet), Some(place)) = (self.dissect(&frame), packets.get_mut(count)) {
                *place = packet;
                count += 1;
                if count == BURST {
                    self.meter(&mut packets, out);
                    count = 0;
                }
            }
        }
        self.meter(packets.get_mut(..count).unwrap_or_default(), out);
    }

    /// Parses a frame and counts it: the first half of [`receive`](Self::receive). `None` if it is not
    /// metered.
    #[inline]
    pub fn dissect(&mut self, frame: &Frame<'_>) -> Option<Packet> {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(frame.original);
        if self.options.sampling > 1 && !self.samples() {
            return None;
        }
        let options = DissectOptions { tunnels: self.options.tunnels };
        match dissect(frame.link.unwrap_or(NO_LINK), frame.bytes, options) {
            Ok(dissected) => Some(Packet { dissected, time: frame.time }),
            Err(error) => {
                self.undissected.count(error);
                None
            }
        }
    }

    /// Counts packets in their flows: the second half of [`receive`](Self::receive). The packets may have
    /// been parsed by another meter. The keys of later fragments get their ports.
    #[inline]
    pub fn meter(&mut self, packets: &mut [Packet], out: &mut impl FnMut(&FlowRecord)) {
        for packets in packets.chunks_mut(BURST) {
            self.meter_burst(packets, out);
        }
    }

    #[inline]
    fn meter_burst(&mut self, packets: &mut [Packet], out: &mut impl FnMut(&FlowRecord)) {
        let mut keys = [EMPTY_KEY; BURST];
        let mut observed = [Observed::NONE; BURST];
        for (packet, (key, place)) in packets.iter_mut().zip(keys.iter_mut().zip(&mut observed)) {
            self.fragments.attribute(&mut packet.dissected, packet.time);
            self.now = self.now.max(packet.time);
            (*key, *place) = (packet.dissected.key, Observed::new(&packet.dissected, packet.time));
        }
        let now = self.tick();
        self.make_room(packets.len(), now, out);
        let Self { flows, options, base, stats, .. } = self;
        let keys = keys.get(..packets.len()).unwrap_or_default();
        flows.seen_or_insert_burst(
            keys,
            now,
            &mut Packets { keys, observed: &observed, options, base, stats, out },
        );
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

    /// The tick of the table.
    #[inline]
    fn tick(&mut self) -> u32 {
        let start = *self.start.get_or_insert(self.now);
        (self.now.saturating_sub(start) / TICK) as u32
    }

    /// Evicts flows until there is room for `count` others.
    fn make_room(&mut self, count: usize, now: u32, out: &mut impl FnMut(&FlowRecord)) {
        while self.flows.len() + count > self.options.flows {
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
        if self.start.is_none() {
            return false;
        }
        self.now = self.now.max(now);
        let tick = self.tick();
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

const EMPTY_KEY: MeterKey = MeterKey::new((Ipv6Addr::UNSPECIFIED, 0), (Ipv6Addr::UNSPECIFIED, 0), NO_SCOPE).0;
const NO_SCOPE: Scope = Scope {
    protocol: 0,
    version: 0,
    vlans: [0; 2],
    tunnel: hashlane_flow::key::TunnelKind::None,
    tunnel_id: 0,
};

/// A LINKTYPE number that is not assigned.
const NO_LINK: u32 = u32::MAX;

const NO_PACKET: Packet = Packet {
    dissected: Dissected {
        key: EMPTY_KEY,
        reversed: false,
        ip_bytes: 0,
        tcp_flags: 0,
        class: 0,
        cut: false,
        fragment: None,
    },
    time: 0,
};

/// The packets of a burst at their flows.
struct Packets<'a, F> {
    keys: &'a [MeterKey],
    observed: &'a [Observed; BURST],
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

#[cfg(test)]
mod tests;
