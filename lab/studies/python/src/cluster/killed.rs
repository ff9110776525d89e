//! Runs in which a worker of Ray is killed.

use super::driver::{Driver, ENGINES, Engine, Made};
use super::keys::Files;
use super::workloads::{MODEL, TWO};
use crate::metric;
use hashlane_lab::study::Summary::{Most, Sum};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, by_id, take_turns};
use std::time::Duration;

/// Attempts at a run in which a worker is busy when it is to be killed.
const ATTEMPTS: u32 = 5;

/// A run in which a worker was killed. Figures are not finite of a run in which none was.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Killed {
    kills: f64,
    /// 1 if the sketch has other bytes, or is missing.
    differing: f64,
    /// Largest peak of a worker, in bytes.
    peak: f64,
}

const FIGURES: Figures<Killed> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Sum, "count", metric::KILLS, "kills", |killed| killed.kills),
        (Sum, "count", metric::DIFFERING, "results", |killed| killed.differing),
        (Most, "proc", metric::PEAK, "bytes", |killed| killed.peak),
    ],
};

impl Killed {
    const NONE: Self = Self { kills: f64::NAN, differing: f64::NAN, peak: f64::NAN };

    /// A run whose sketch must have the bytes `expected`; without a sketch, it failed.
    fn new(made: Option<&Made>, expected: &[u8]) -> Self {
        let is_right = made.is_some_and(|made| made.bytes == expected);
        let peak = made.and_then(|made| made.peak).unwrap_or(0) as f64;
        Self { kills: 1.0, differing: if is_right { 0.0 } else { 1.0 }, peak }
    }
}

/// Kills a worker in each of `kills` runs over `files`, at moments that are spread over a run; `usual` is the
/// time of a run without a kill.
pub(super) fn run(
    session: &mut Session<'_>,
    driver: &mut Driver<'_>,
    label: &str,
    files: Files,
    kills: u32,
    usual: Duration,
    expected: &[u8],
) -> Result<(), RunError> {
    let Some(engine) = by_id(&ENGINES, TWO) else { return Ok(()) };
    let turn = |session: &mut Session<'_>, _: &mut Contender<Engine, Killed>, round: usize| {
        let after = usual.mul_f64((round + 1) as f64 / f64::from(kills + 1));
        for attempt in 0..ATTEMPTS {
            // A run may be shorter than the usual one.
            match driver.sketch(engine, files, Some(after / (1 << attempt))) {
                Ok(made) if made.killed.is_some() => return Ok(Killed::new(Some(&made), expected)),
                Ok(_) => {}
                Err(TurnError::Raised(why)) => {
                    session.notes.push(format!("{label}: a run with a killed worker failed: {why}"));
                    return Ok(Killed::new(None, expected));
                }
                Err(error) => return Err(error),
            }
        }
        let note = format!("{label}: no worker was busy when it was to be killed, in {ATTEMPTS} runs");
        session.notes.push(note);
        Ok(Killed::NONE)
    };
    let mut all = [Contender::new(label, TWO, engine, false)];
    take_turns(session, &mut all, kills as usize, turn, |session, all| FIGURES.record(session, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::role::Role;

    #[test]
    fn a_run_with_other_bytes_or_without_a_result_differs() {
        let made = Made {
            wall: Duration::ZERO,
            bytes: b"same".to_vec(),
            peak: Some(7),
            cpu: Role::ALL.map(|(role, _)| (role, Duration::ZERO)),
            killed: Some(1),
        };
        let same = Killed { kills: 1.0, differing: 0.0, peak: 7.0 };
        assert_eq!(Killed::new(Some(&made), b"same"), same);
        assert_eq!(Killed::new(Some(&made), b"other"), Killed { differing: 1.0, ..same });
        assert_eq!(Killed::new(None, b"same"), Killed { differing: 1.0, peak: 0.0, ..same });
    }
}
