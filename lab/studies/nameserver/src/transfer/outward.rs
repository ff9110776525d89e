//! A whole zone to a client: the CPU time of the server.

use super::client::transfer;
use super::{MODEL, metric};
use crate::metric::CPU_US;
use crate::plan::Plan;
use crate::servers::{self, Program, Running, Source};
use crate::zone::Zone;
use hashlane_lab::study::Summary::{Median, Ratio};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, on_core, take_turns};
use std::time::Instant;

/// Rounds after which servers are started anew, so that no figure rests on a single process.
const ANEW: usize = 3;

/// Outcome of a transfer.
struct Turn {
    cpu_us: f64,
    rate: f64,
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Ratio, "cpu-clock", CPU_US, "us", |turn| turn.cpu_us),
        (Median, "wall-clock", metric::RATE, "1/s", |turn| turn.rate),
    ],
};

/// Steps, for the progress bar.
pub(super) fn steps(session: &Session<'_>, plan: &Plan<'_>, workload: &str) -> usize {
    1 + plan.rounds * servers::installed::<_, ()>(session, workload, |_| ()).len()
}

/// Measures all servers in turns.
pub(super) fn run(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    workload: &str,
    zone: Zone,
) -> Result<(), RunError> {
    session.step(workload, "writing the zone");
    let (path, records) = plan.write("out", zone)?;
    let mut contenders: Vec<Contender<Program, Turn>> =
        servers::installed(session, workload, |program| program);
    let programs: Vec<_> = contenders.iter().map(|each| (each.id.clone(), each.subject)).collect();
    let (mut running, mut started) = (Running::default(), None);
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Program, Turn>, round: usize| {
        if started.replace(round / ANEW) != Some(round / ANEW) {
            running.restart(session, plan, &programs, Source::Shared(&path), servers::PATIENCE)?;
        }
        running.turn(&contender.id, |server| {
            let address = server.target.address;
            let before = server.cpu()?;
            let begun = Instant::now();
            on_core(plan.cores.load, || transfer(address, records))?;
            let seconds = begun.elapsed().as_secs_f64();
            let cpu = server.cpu()?.saturating_sub(before).as_secs_f64();
            server.child.check()?;
            if cpu == 0.0 {
                return Err(TurnError::Failed("it used no CPU time".to_owned()));
            }
            Ok(Turn { cpu_us: cpu * 1e6 / records as f64, rate: records as f64 / seconds })
        })
    };
    take_turns(session, &mut contenders, plan.rounds, turn, |session, all| FIGURES.record(session, all))?;
    crate::costs::remove(&path)
}
