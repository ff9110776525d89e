//! Workloads on an interface: the rate at which softflowd loses packets, ours at twice that rate, a flood.

use crate::live::{self, Live, Packets, Search, Setup, Trial};
use crate::meters::Meter;
use crate::metric;
use crate::sizes::Sizes;
use crate::traffic::Flood;
use crate::workloads::{LIVE_LOSS, MODEL, OURS, SOFTFLOWD};
use hashlane_lab::study::{Fact, RunError, Session, TurnError, empty_folder};
use hashlane_rig::program::find;
use hashlane_stats::format::{count, significant};
use std::path::Path;

/// Steps of the workload of losses: the sender, a search, and ours.
pub(crate) const STEPS: usize = 3;

/// Share of lost packets from which a meter loses.
const LOSES: f64 = 0.001;

/// Share of a rate that the sender must reach.
const REACHED: f64 = 0.97;

/// Trials of ours at twice the rate.
const TRIALS: usize = 3;

/// Items of a study that are a second of packets.
const ITEMS_PER_SECOND: f64 = 800_000.0;

/// Packets on which the sender shows its highest rate, per item.
const WARM_UP: u64 = 2;

/// Measures a workload on an interface; without the rights for it, a note has the reason.
pub(crate) fn run(session: &mut Session<'_>, folder: &Path, label: &str) -> Result<(), RunError> {
    session.step(label, "making a pair of interfaces");
    if let Some(reason) = live::refused() {
        session.notes.push(format!("{label} was not measured: {reason}"));
        session.skip(if label == LIVE_LOSS { STEPS - 1 } else { 0 });
        return Ok(());
    }
    let folder = folder.join("live");
    let measured = if label == LIVE_LOSS { loss(session, &folder) } else { flood(session, &folder, label) };
    measured.or_else(|error| error.end(label, OURS))
}

fn loss(session: &mut Session<'_>, folder: &Path) -> Result<(), TurnError> {
    let (settings, stop) = (session.settings, session.stop);
    let items = settings.size.items;
    let setup = Setup { command: &settings.command, folder, stop };
    let highest = live::fastest(setup, u64::from(items) * WARM_UP)?;
    let packets = |rate: f64| Packets::Flows((rate * f64::from(items) / ITEMS_PER_SECOND).ceil() as u64);
    session.step(LIVE_LOSS, "rates of softflowd");
    let losing = match softflowd_missing(session) {
        Some(reason) => Err(reason),
        None => {
            let found = live::search(highest, |rate| {
                empty_folder(folder)?;
                let trial = live::run(setup, Live::Softflowd, packets(rate), Some(rate))?;
                Ok::<_, TurnError>((trial.rate, trial.share_lost() > LOSES))
            });
            match found {
                Ok(Search::Loses(rate)) => Ok(rate),
                Ok(Search::NeverLoses(rate)) => Err(format!(
                    "softflowd loses nothing at {} packets/s, the most that the sender reaches",
                    significant(rate)
                )),
                Err(TurnError::Stopped) => return Ok(()),
                // Another project's program may have its reasons.
                Err(error) => Err(format!("softflowd was not measured: {error}")),
            }
        }
    };
    // Without such a rate ours shows what it does at the highest one.
    let rate = losing.as_ref().map_or(highest, |rate| (2.0 * rate).min(highest));
    session.step(LIVE_LOSS, &format!("ours at {} packets/s", significant(rate)));
    let mut trials = Vec::new();
    for _ in 0..TRIALS {
        empty_folder(folder)?;
        trials.push(live::run(setup, Live::Ours(1 << 20), packets(rate), Some(rate))?);
    }
    record_loss(session, &losing, &trials);
    Ok(())
}

/// Reason for which there can be no search with softflowd.
fn softflowd_missing(session: &Session<'_>) -> Option<String> {
    if !session.definition.schemes.iter().any(|id| id == SOFTFLOWD) {
        return Some("softflowd is not selected".to_owned());
    }
    let control = || find("softflowctl").is_none().then(|| "softflowctl is missing".to_owned());
    Meter::Softflowd.missing().or_else(control)
}

/// Adds the rates and losses. [`metric::LOST`], which the criterion is on, is there only if ours got twice
/// the rate at which softflowd loses.
fn record_loss(session: &mut Session<'_>, losing: &Result<f64, String>, trials: &[Trial]) {
    let lost: u64 = trials.iter().map(Trial::lost).sum();
    let arrived: u64 = trials.iter().map(|trial| trial.arrived).sum();
    let rate = trials.iter().map(|trial| trial.rate).fold(f64::INFINITY, f64::min);
    let add = |session: &mut Session<'_>, scheme: &str, metric: &str, unit: &str, value: f64| {
        let fact = Fact::exact(value, trials.len());
        session.add(MODEL, LIVE_LOSS, scheme, "count", metric, unit, fact);
    };
    add(session, OURS, metric::RATE, "1/s", rate);
    add(session, OURS, metric::PACKETS, "packets", arrived as f64);
    add(session, OURS, metric::LOST_SHARE, "share", lost as f64 / arrived.max(1) as f64);
    let why = match losing {
        Err(why) => Some(why.clone()),
        Ok(losing) => {
            add(session, SOFTFLOWD, metric::LOSING_RATE, "1/s", *losing);
            (rate < REACHED * 2.0 * losing).then(|| {
                format!(
                    "softflowd loses packets from {} packets/s on, and the sender reaches {}, not twice as \
                     many",
                    significant(*losing),
                    significant(rate)
                )
            })
        }
    };
    match why {
        None => add(session, OURS, metric::LOST, "packets", lost as f64),
        Some(why) => session.notes.push(format!(
            "{LIVE_LOSS}: losses at twice softflowd's rate were not measured: {why}; at {} packets/s ours \
             lost {} of {}",
            significant(rate),
            count(lost as f64),
            count(arrived as f64)
        )),
    }
}

fn flood(session: &mut Session<'_>, folder: &Path, label: &str) -> Result<(), TurnError> {
    let (settings, stop) = (session.settings, session.stop);
    let sizes = Sizes::of(settings);
    let flood = Flood { syns: sizes.flows(), established: sizes.established() };
    let setup = Setup { command: &settings.command, folder, stop };
    let highest = live::fastest(setup, u64::from(sizes.items) * WARM_UP)?;
    empty_folder(folder)?;
    // Half of it, so that the sender leaves time to the meter also where both share a processor.
    let rate = highest / 2.0;
    let trial = live::run(setup, Live::Ours(sizes.limit()), Packets::Flood(flood), Some(rate))?;
    // The ring and the queues are the same with a smaller table.
    empty_folder(folder)?;
    let short = Packets::Flood(Flood { syns: sizes.items, established: 1 });
    let small = live::run(setup, Live::Ours(sizes.quarter()), short, Some(rate))?;
    record_flood(session, label, flood, sizes, [&trial, &small]);
    Ok(())
}

fn record_flood(
    session: &mut Session<'_>,
    label: &str,
    flood: Flood,
    sizes: Sizes,
    [trial, small]: [&Trial; 2],
) {
    let Trial { counted, usage, .. } = trial;
    let records = counted.records - counted.established;
    let lost = u64::from(flood.syns).saturating_sub(records);
    let stated = Summary::of(&trial.log);
    let peak = usage.peak as f64;
    let quarter = small.usage.peak as f64;
    let flows = f64::from(sizes.limit() - sizes.quarter());
    let facts = [
        (metric::RATE, "1/s", trial.rate),
        (metric::PACKETS, "packets", trial.arrived as f64),
        (metric::FLOWS, "flows", flood.flows() as f64),
        (metric::PEAK, "bytes", peak),
        (metric::QUARTER_PEAK, "bytes", quarter),
        (metric::BYTES_PER_FLOW, "bytes", (peak - quarter).max(0.0) / flows),
        (metric::RECORDS, "flows", counted.records as f64),
        (metric::EVICTED, "flows", counted.evicted as f64),
        (metric::MISCOUNTED, "packets", counted.miscounted as f64),
        (metric::LOST_FLOWS, "flows", lost as f64),
        (metric::LOST, "packets", stated.ring as f64),
        // A lost record or a lost packet is a lost flow here, as each SYN is a flow.
        (metric::UNCOUNTED_FLOWS, "flows", lost.saturating_sub(stated.flows + stated.ring) as f64),
    ];
    for (metric, unit, value) in facts {
        session.add(MODEL, label, OURS, "count", metric, unit, Fact::exact(value, 1));
    }
}

/// Losses that the meter states at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Summary {
    /// Records that the output was too slow for.
    flows: u64,
    /// Packets that the ring had no room for.
    ring: u64,
}

impl Summary {
    fn of(log: &str) -> Self {
        let before = |label: &str| {
            let (rest, _) = log.split_once(label)?;
            let number = rest.rsplit([' ', '\n']).next()?.replace(',', "");
            number.parse::<u64>().ok()
        };
        // Without losses there is no line.
        let [flows, ring] =
            [" flows lost: ", " lost before the meter"].map(|label| before(label).unwrap_or(0));
        Self { flows, ring }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_losses_of_a_summary() {
        let log = "10 packets, 400 bytes, 9 flows in 1.00 s (0.00 M packets/s)\n\
                   8,951,424 flows ended early as the table was full (--flows)\n\
                   1,234 flows lost: the outputs were too slow\n\
                   not metered: 3 not IP, 56,789 lost before the meter\nflows.ipfix: 9 flows, 1 bytes\n";
        assert_eq!(Summary::of(log), Summary { flows: 1_234, ring: 56_789 });
        assert_eq!(Summary::of("10 packets\n"), Summary::default());
    }
}
