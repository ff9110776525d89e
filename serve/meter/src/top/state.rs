//! Content of the view: totals, rates and rows, from samples of a run.

use crate::largest::{FlowList, Ranking};
use crate::record::{Counters, FlowRecord};
use crate::stats::MeterStats;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

/// State of a run at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// Time since the start of the run.
    pub(super) at: Duration,
    /// Counters of all workers.
    pub(super) total: MeterStats,
    /// The largest flows of each worker.
    pub(super) lists: Vec<FlowList>,
}

/// A flow with its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) flow: FlowRecord,
    /// Bits per second since the list before, or since its first packet if it was not in that list.
    pub(super) bits: f64,
}

impl Row {
    pub(super) const fn packets(&self) -> u64 {
        self.flow.forward.packets.saturating_add(self.flow.reverse.packets)
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.flow.forward.bytes.saturating_add(self.flow.reverse.bytes)
    }
}

/// End of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Running,
    /// The user has ended the run; the flows are being exported.
    Stopping,
    /// All captures are read and all flows exported.
    Ended,
}

/// Flows of one worker: the last list, and the bytes of each flow in it.
#[derive(Debug, Default)]
struct Listed {
    number: u64,
    time: u64,
    rows: Vec<Row>,
    bytes: HashMap<FlowRecord, u64>,
}

/// The view.
#[derive(Debug)]
pub(super) struct State {
    /// Interface or captures, for the title.
    pub(super) source: String,
    /// True for an interface.
    pub(super) live: bool,
    /// Limit of the flows in the table.
    pub(super) limit: u64,
    pub(super) ranking: Ranking,
    pub(super) paused: bool,
    pub(super) phase: Phase,
    pub(super) at: Duration,
    pub(super) total: MeterStats,
    /// Packets and bits per second since the last sample; at the end, over the whole run.
    pub(super) rates: [f64; 2],
    /// Rows by `ranking`.
    pub(super) rows: Vec<Row>,
    /// Time and counters from which the next rates are computed.
    before: (Duration, MeterStats),
    listed: Vec<Listed>,
}

/// A key as the view knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Rank(Ranking),
    Pause,
}

/// Shortest time between two samples from which a rate is computed.
const SHORTEST: Duration = Duration::from_millis(200);

impl State {
    pub(super) fn new(source: String, live: bool, limit: u64) -> Self {
        Self {
            source,
            live,
            limit,
            ranking: Ranking::default(),
            paused: false,
            phase: Phase::Running,
            at: Duration::ZERO,
            total: MeterStats::default(),
            rates: [0.0; 2],
            rows: Vec::new(),
            before: (Duration::ZERO, MeterStats::default()),
            listed: Vec::new(),
        }
    }

    /// Acts on a key.
    pub(super) fn on_key(&mut self, key: Key) {
        match key {
            Key::Rank(ranking) => self.ranking = ranking,
            Key::Pause => self.paused = !self.paused,
        }
        self.sort();
    }

    /// Takes the next sample. While the view is paused it stays as it is, until the run ends.
    pub(super) fn refresh(&mut self, sample: Sample, phase: Phase) {
        if self.phase == Phase::Ended {
            return;
        }
        self.phase = phase;
        if phase == Phase::Ended {
            self.paused = false;
        }
        if self.paused {
            return;
        }
        let Sample { at, total, lists } = sample;
        if phase == Phase::Ended {
            self.before = (Duration::ZERO, MeterStats::default());
        }
        let (then, before) = self.before;
        let since = at.saturating_sub(then);
        if since >= SHORTEST || phase == Phase::Ended {
            let seconds = since.as_secs_f64().max(1e-3);
            let per_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
            let packets = per_second(total.packets, before.packets);
            self.rates = [packets, 8.0 * per_second(total.bytes, before.bytes)];
            self.before = (at, total);
        }
        (self.at, self.total) = (at, total);
        self.listed.resize_with(lists.len(), Listed::default);
        for (listed, list) in self.listed.iter_mut().zip(lists) {
            listed.refresh(list);
        }
        self.rows = self.listed.iter().flat_map(|listed| &listed.rows).copied().collect();
        self.sort();
    }

    fn sort(&mut self) {
        let ranking = self.ranking;
        self.rows.sort_unstable_by_key(|row| {
            let rank = match ranking {
                Ranking::Bytes => row.bytes(),
                Ranking::Packets => row.packets(),
                Ranking::Rate => row.bits as u64,
            };
            // Flows of equal rank stay in their places.
            let FlowRecord { source, destination, source_port, destination_port, protocol, .. } = row.flow;
            (Reverse(rank), source, destination, source_port, destination_port, protocol)
        });
    }
}

impl Listed {
    fn refresh(&mut self, list: FlowList) {
        if list.number == self.number {
            return;
        }
        let FlowList { number, time, flows } = list;
        let since = time.saturating_sub(self.time) as f64 / 1e9;
        let mut bytes = HashMap::with_capacity(flows.len());
        self.rows = flows
            .into_iter()
            .map(|flow| {
                let mut row = Row { flow, bits: 0.0 };
                let now = row.bytes();
                row.bits = match self.bytes.get(&identity(&flow)) {
                    Some(before) if since > 0.0 => now.saturating_sub(*before) as f64 / since,
                    _ => Ranking::Rate.of(&flow, time) as f64,
                } * 8.0;
                bytes.insert(identity(&flow), now);
                row
            })
            .collect();
        (self.number, self.time, self.bytes) = (number, time, bytes);
    }
}

/// The parts of a flow that stay while it is open.
const fn identity(flow: &FlowRecord) -> FlowRecord {
    let forward = Counters { first: flow.forward.first, ..Counters::NONE };
    FlowRecord { forward, reverse: Counters::NONE, ..*flow }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn flow(client: u8, packets: u64, bytes: u64) -> FlowRecord {
        FlowRecord {
            source: [10, 0, 0, client].into(),
            destination: [192, 0, 2, 1].into(),
            forward: Counters { packets, bytes, first: SECOND, last: SECOND, ..Counters::NONE },
            ..FlowRecord::EMPTY
        }
    }

    fn sample(seconds: u64, packets: u64, number: u64, flows: Vec<FlowRecord>) -> Sample {
        Sample {
            at: Duration::from_secs(seconds),
            total: MeterStats { packets, bytes: 100 * packets, ..MeterStats::default() },
            lists: vec![FlowList { number, time: (10 + seconds) * SECOND, flows }],
        }
    }

    fn clients(state: &State) -> Vec<String> {
        state.rows.iter().map(|row| row.flow.source.to_string()).collect()
    }

    #[test]
    fn rates_are_those_since_the_last_sample() {
        let mut state = State::new("eth0".into(), true, 100);
        state.refresh(sample(1, 50, 1, vec![flow(1, 5, 1000), flow(2, 9, 500)]), Phase::Running);
        assert_eq!(state.rates, [50.0, 40_000.0]);
        // Since the first packet, 10 s ago.
        assert_eq!(state.rows[0].bits, 800.0);
        state.refresh(sample(3, 60, 2, vec![flow(1, 5, 1000), flow(2, 10, 700)]), Phase::Running);
        assert_eq!(state.rates, [5.0, 4000.0]);
        assert_eq!(state.rows.iter().map(|row| row.bits).collect::<Vec<_>>(), [0.0, 800.0]);
        // The same list again says nothing new.
        state.refresh(sample(4, 60, 2, vec![]), Phase::Running);
        assert_eq!((state.rates, state.rows[1].bits), ([0.0, 0.0], 800.0));
        state.refresh(sample(5, 60, 2, vec![]), Phase::Ended);
        assert_eq!(state.rates, [12.0, 9600.0]);
    }

    #[test]
    fn keys_rank_and_pause() {
        let mut state = State::new("eth0".into(), true, 100);
        state.refresh(
            sample(1, 50, 1, vec![flow(1, 5, 1000), flow(2, 9, 500), flow(3, 1, 500)]),
            Phase::Running,
        );
        state.refresh(
            sample(2, 60, 2, vec![flow(1, 5, 1000), flow(2, 9, 500), flow(3, 2, 600)]),
            Phase::Running,
        );
        assert_eq!(clients(&state), ["10.0.0.1", "10.0.0.3", "10.0.0.2"]);
        state.on_key(Key::Rank(Ranking::Packets));
        assert_eq!(clients(&state), ["10.0.0.2", "10.0.0.1", "10.0.0.3"]);
        state.on_key(Key::Rank(Ranking::Rate));
        assert_eq!(clients(&state), ["10.0.0.3", "10.0.0.1", "10.0.0.2"]);
        state.on_key(Key::Pause);
        state.refresh(sample(3, 90, 3, vec![]), Phase::Running);
        assert_eq!((state.total.packets, state.rows.len()), (60, 3));
        state.on_key(Key::Pause);
        state.refresh(sample(4, 90, 4, vec![]), Phase::Running);
        assert_eq!((state.total.packets, state.rows.len(), state.rates[0]), (90, 0, 15.0));
    }
}
