//! Floods on the standard input of our meter: memory of flows, and counters of established ones.

use crate::counted::Counted;
use crate::error::MeterError;
use crate::metric;
use crate::process::Process;
use crate::sizes::Sizes;
use crate::traffic::Flood;
use crate::turn;
use crate::usage::Usage;
use crate::workloads::{FLOOD, MODEL, OURS};
use hashlane_lab::study::{Fact, RunError, Session};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
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

/// Measures a workload on standard input.
pub(crate) fn run(session: &mut Session<'_>, folder: &Path, label: &str) -> Result<(), RunError> {
    let sizes = Sizes::of(session.settings);
    let (stream, rounds) = (Stream::of(label, sizes), sizes.turns());
    let mut turns = Vec::new();
    let mut small = None;
    if label == FLOOD {
        // The buffers are the same with a smaller table.
        let flood = Flood { syns: session.settings.size.items, established: 1 };
        let smaller = Stream { flood, limit: sizes.quarter() };
        session.step(label, "a smaller table");
        match turn(&session.settings.command, smaller, &folder.join("out"), session.stop) {
            Ok((usage, _)) => small = Some((usage.peak as f64, smaller.limit)),
            Err(error) => return turn::failure(label, OURS, error),
        }
    }
    for round in 0..rounds {
        if session.stopped() {
            break;
        }
        session.step(label, &format!("round {} of {rounds}", round + 1));
        match turn(&session.settings.command, stream, &folder.join("out"), session.stop) {
            Ok(turn) => turns.push(turn),
            Err(error) => {
                record(session, label, stream, small, &turns);
                return turn::failure(label, OURS, error);
            }
        }
    }
    record(session, label, stream, small, &turns);
    Ok(())
}

/// Meters a flood once.
fn turn(
    command: &Path,
    stream: Stream,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Usage, Counted), MeterError> {
    turn::empty(folder)?;
    let output = folder.join("flows.ipfix");
    let mut program: Vec<OsString> = vec![command.into()];
    program.extend(["flow", "meter", "-", "--flows", &stream.limit.to_string()].map(OsString::from));
    program.extend(["--ipfix".into(), output.clone().into()]);
    let mut process = Process::start(command, folder.with_extension("log"), &program, true)?;
    let input = process.input();
    let (used, log) = thread::scope(|scope| {
        // It fails once the meter has ended, for which the meter's output has the reason.
        scope.spawn(move || input.map(|input| stream.flood.capture(input)));
        process.wait(PATIENCE, stop)
    })?;
    if used.code != Some(0) {
        return Err(MeterError::Program(format!("it failed ({:?}): {}", used.code, log.trim())));
    }
    let counted = Counted::read(&output, Some(stream.flood))?;
    if counted.packets != stream.flood.packets() {
        let (counted, sent) = (counted.packets, stream.flood.packets());
        return Err(MeterError::Program(format!("its records have {counted} packets of {sent}")));
    }
    Ok((used, counted))
}

/// Adds the records of the turns; `small` is the peak of memory with a smaller
/// table, and its limit.
fn record(
    session: &mut Session<'_>,
    label: &str,
    stream: Stream,
    small: Option<(f64, u32)>,
    turns: &[(Usage, Counted)],
) {
    if turns.is_empty() {
        return;
    }
    let Stream { flood, limit } = stream;
    let mut add = |probe: &str, metric: &str, unit: &str, fact: Fact| {
        session.add(MODEL, label, OURS, probe, metric, unit, fact);
    };
    let peak = turns.iter().map(|(usage, _)| usage.peak).max().unwrap_or(0) as f64;
    let exact = |value| Fact::exact(value, turns.len());
    add("rusage", metric::PEAK, "bytes", exact(peak));
    let mut more = (peak, limit);
    if let Some((peak, smaller)) = small {
        add("rusage", metric::QUARTER_PEAK, "bytes", exact(peak));
        more = ((more.0 - peak).max(0.0), limit - smaller);
    }
    add("rusage", metric::BYTES_PER_FLOW, "bytes", exact(more.0 / f64::from(more.1)));
    // The worst turn.
    let worst = |of: fn(&Counted) -> u64| turns.iter().map(|(_, counted)| of(counted)).max().unwrap_or(0);
    // A SYN is a flow of one packet, and so has one record.
    let lost = |counted: &Counted| {
        u64::from(flood.syns).saturating_sub(counted.records.saturating_sub(counted.established))
    };
    let lost = turns.iter().map(|(_, counted)| lost(counted)).max().unwrap_or(0);
    let counts = [
        (metric::FLOWS, flood.flows()),
        (metric::RECORDS, worst(|counted| counted.records)),
        (metric::EVICTED, worst(|counted| counted.evicted)),
        (metric::LOST_FLOWS, lost),
    ];
    for (metric, count) in counts {
        add("count", metric, "flows", exact(count as f64));
    }
    if flood.established > 0 {
        let miscounted = exact(worst(|counted| counted.miscounted) as f64);
        add("count", metric::MISCOUNTED, "packets", miscounted);
    }
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
