//! Floods on the standard input of our meter: memory of flows, and counters of established ones.

use crate::counted::Counted;
use crate::meters;
use crate::metric;
use crate::sizes::Sizes;
use crate::traffic::Flood;
use crate::usage::{self, Usage};
use crate::workloads::{FLOOD, MODEL, OURS};
use hashlane_lab::study::Summary::Most;
use hashlane_lab::study::{
    Contender, Figures, RunError, Session, Start, TurnError, empty_folder, take_turns,
};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Time in which the meter must have read a flood.
const PATIENCE: Duration = Duration::from_secs(600);

/// A flood, and the limit of the meter's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stream {
    flood: Flood,
    limit: u32,
}

impl Stream {
    fn of(label: &str, sizes: Sizes) -> Self {
        if label == FLOOD {
            let flood = Flood { syns: sizes.flows(), established: sizes.established() };
            return Self { flood, limit: sizes.limit() };
        }
        let syns = sizes.memory_flows();
        Self { flood: Flood { syns, established: 0 }, limit: syns }
    }
}

/// Outcome of a turn. A figure that is not finite is not of this workload.
struct Metered {
    flows: u64,
    peak: f64,
    quarter_peak: f64,
    bytes_per_flow: f64,
    counted: Counted,
    lost: u64,
    miscounted: f64,
}

/// The worst turn counts.
const FIGURES: Figures<Metered> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Most, "rusage", metric::PEAK, "bytes", |metered| metered.peak),
        (Most, "rusage", metric::QUARTER_PEAK, "bytes", |metered| metered.quarter_peak),
        (Most, "rusage", metric::BYTES_PER_FLOW, "bytes", |metered| metered.bytes_per_flow),
        (Most, "count", metric::FLOWS, "flows", |metered| metered.flows as f64),
        (Most, "count", metric::RECORDS, "flows", |metered| metered.counted.records as f64),
        (Most, "count", metric::EVICTED, "flows", |metered| metered.counted.evicted as f64),
        (Most, "count", metric::LOST_FLOWS, "flows", |metered| metered.lost as f64),
        (Most, "count", metric::MISCOUNTED, "packets", |metered| metered.miscounted),
    ],
};

/// Measures a workload on standard input.
pub(crate) fn run(session: &mut Session<'_>, folder: &Path, label: &str) -> Result<(), RunError> {
    let sizes = Sizes::of(session.settings);
    let (stream, out) = (Stream::of(label, sizes), folder.join("out"));
    // Peak of memory with a smaller table, and its limit.
    let mut small = (f64::NAN, 0);
    if label == FLOOD {
        // The buffers are the same with a smaller table.
        let flood = Flood { syns: session.settings.size.items, established: 1 };
        let smaller = Stream { flood, limit: sizes.quarter() };
        session.step(label, "a smaller table");
        match turn(session, smaller, &out) {
            Ok((usage, _)) => small = (usage.peak as f64, smaller.limit),
            Err(error) => return error.end(label, OURS),
        }
    }
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Stream, Metered>, _| {
        let Stream { flood, limit } = contender.subject;
        let (usage, counted) = turn(session, contender.subject, &out)?;
        let (peak, smaller) = (usage.peak as f64, if small.0.is_nan() { 0.0 } else { small.0 });
        // A SYN is a flow of one packet, and so has one record.
        let lost = u64::from(flood.syns).saturating_sub(counted.records.saturating_sub(counted.established));
        Ok(Metered {
            flows: flood.flows(),
            peak,
            quarter_peak: small.0,
            bytes_per_flow: (peak - smaller).max(0.0) / f64::from(limit - small.1),
            counted,
            lost,
            miscounted: if flood.established > 0 { counted.miscounted as f64 } else { f64::NAN },
        })
    };
    let mut ours = [Contender::new(label, OURS, stream, false)];
    take_turns(session, &mut ours, sizes.turns(), turn, |session, ours| FIGURES.record(session, ours))
}

/// Meters a flood once.
fn turn(session: &Session<'_>, stream: Stream, folder: &Path) -> Result<(Usage, Counted), TurnError> {
    empty_folder(folder)?;
    let command = &session.settings.command;
    let program = meters::ours(command, &["-", "--flows", &stream.limit.to_string()], folder);
    let start = Start { is_fed: true, ..Start::usage(command) };
    let mut child = start.spawn(&program, folder.with_extension("log"))?;
    let input = child.program.child().stdin.take();
    let (used, log) = thread::scope(|scope| {
        // It fails once the meter has ended, for which the meter's output has the reason.
        scope.spawn(move || input.map(|input| stream.flood.capture(input)));
        usage::wait(child, PATIENCE, session.stop)
    })?;
    used.check(&log)?;
    let counted = Counted::read(&folder.join(meters::OUTPUT), Some(stream.flood))?;
    if counted.packets != stream.flood.packets() {
        let (counted, sent) = (counted.packets, stream.flood.packets());
        return Err(TurnError::Failed(format!("its records have {counted} packets of {sent}")));
    }
    Ok((used, counted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::MEMORY;

    #[test]
    fn memory_has_room_for_all_flows_and_a_flood_has_not() {
        let sizes = Sizes { items: 2_000_000, full: true };
        let memory = Stream::of(MEMORY, sizes);
        assert_eq!((memory.limit, memory.flood.flows()), (10_000_000, 10_000_000));
        let flood = Stream::of(FLOOD, sizes);
        assert_eq!((flood.limit, flood.flood.syns, flood.flood.established), (1 << 20, 10_000_000, 1_000));
    }
}
