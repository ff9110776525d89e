//! Runs in which a worker of Ray is killed.

use super::driver::{Driver, ENGINES, Made};
use super::keys::Files;
use super::workloads::{MODEL, TWO};
use crate::metric;
use hashlane_lab::study::{Fact, RunError, Session, TurnError, by_id};
use std::time::Duration;

/// Attempts at a run in which a worker is busy when it is to be killed.
const ATTEMPTS: u32 = 5;

/// Counts of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Workers killed, one in each run.
    kills: u64,
    /// Runs whose sketch has other bytes, or that failed.
    differing: u64,
    /// Largest peak of a worker, in bytes.
    peak: u64,
}

impl Counts {
    /// Counts a run in which a worker was killed, and whose sketch must have the bytes `expected`.
    fn add(&mut self, made: &Made, expected: &[u8]) {
        self.kills += 1;
        self.differing += u64::from(made.bytes != expected);
        self.peak = self.peak.max(made.peak.unwrap_or(0));
    }

    /// Counts a run that failed.
    fn fail(&mut self) {
        self.kills += 1;
        self.differing += 1;
    }
}

/// Kills a worker in each of `kills` runs over `files`, at moments that are spread over a run; `usual` is the
/// time of a run without a kill.
pub(super) fn run(
    session: &mut Session<'_>,
    driver: &mut Driver,
    label: &str,
    files: Files,
    kills: u32,
    usual: Duration,
    expected: &[u8],
) -> Result<(), RunError> {
    let mut counts = Counts::default();
    let mut failed = None;
    for number in 1..=kills {
        if session.stopped() || failed.is_some() {
            break;
        }
        session.step(label, &format!("kill {number} of {kills}"));
        match one(session, driver, files, usual.mul_f64(f64::from(number) / f64::from(kills + 1))) {
            Ok(Some(made)) => counts.add(&made, expected),
            Ok(None) => {
                session.notes.push(format!(
                    "{label}: no worker was busy when it was to be killed, in {ATTEMPTS} runs"
                ));
            }
            Err(TurnError::Stopped) => break,
            Err(TurnError::Raised(why)) => {
                counts.fail();
                session.notes.push(format!("{label}: a run with a killed worker failed: {why}"));
            }
            Err(error) => failed = Some(error),
        }
    }
    record(session, label, counts);
    failed.map_or(Ok(()), |error| error.end(label, TWO))
}

/// A run in which a worker was killed; `None` if none was busy then, in several attempts.
fn one(
    session: &Session<'_>,
    driver: &mut Driver,
    files: Files,
    after: Duration,
) -> Result<Option<Made>, TurnError> {
    let Some(engine) = by_id(&ENGINES, TWO) else { return Ok(None) };
    for attempt in 0..ATTEMPTS {
        // A run may be shorter than the usual one.
        let made = driver.sketch_and_kill(engine, files, after / (1 << attempt), session.stop)?;
        if made.killed.is_some() {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// Adds the records of the runs.
fn record(session: &mut Session<'_>, label: &str, counts: Counts) {
    let Counts { kills, differing, peak } = counts;
    if kills == 0 {
        return;
    }
    let exact = |value: u64| Fact::exact(value as f64, kills as usize);
    session.add(MODEL, label, TWO, "count", metric::KILLS, "kills", exact(kills));
    session.add(MODEL, label, TWO, "count", metric::DIFFERING, "results", exact(differing));
    session.add(MODEL, label, TWO, "proc", metric::PEAK, "bytes", exact(peak));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::role::Role;

    #[test]
    fn a_run_with_other_bytes_or_without_a_result_differs() {
        let made = |bytes: &[u8]| Made {
            wall: Duration::ZERO,
            bytes: bytes.to_vec(),
            peak: Some(7),
            cpu: Role::ALL.map(|(role, _)| (role, Duration::ZERO)),
            killed: Some(1),
        };
        let mut counts = Counts::default();
        counts.add(&made(b"same"), b"same");
        assert_eq!(counts, Counts { kills: 1, differing: 0, peak: 7 });
        counts.add(&made(b"other"), b"same");
        counts.fail();
        assert_eq!(counts, Counts { kills: 3, differing: 2, peak: 7 });
    }
}
