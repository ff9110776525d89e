//! Goodput of a large object through two nodes, for each second of CPU time of the forwarders.

use super::apps::{DIGEST, wait_for_route};
use super::lab::Lab;
use super::network::Loss;
use super::node::Forwarder;
use super::pair::Pair;
use super::report::Report;
use crate::interop::program::Program;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of the object.
const OBJECT: usize = 100_000_000;
/// Rounds; each runs every forwarder, in turn.
const ROUNDS: usize = 3;
/// Lost datagrams in each direction, in thousandths.
const LOSSES: [u32; 2] = [0, 10];
/// Timeout of a transfer.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Criterion: MB per CPU second over ours divided by those over NFD.
const CRITERION: f64 = 3.0;

/// Programs that the table needs.
pub(super) const NEEDS: [&str; 3] = ["nfdc", "ndncatchunks", "ndnputchunks"];

/// A transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    seconds: f64,
    /// CPU seconds of both forwarders.
    cpu: f64,
}

impl Transfer {
    /// MB for each second of CPU time.
    fn efficiency(&self) -> f64 {
        OBJECT as f64 / 1e6 / self.cpu
    }
}

/// Runs all transfers, and adds the table. Returns the ones that failed.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let forwarders: Vec<Forwarder> = [Forwarder::Nfd, Forwarder::Hashlane]
        .into_iter()
        .filter(|forwarder| *forwarder != Forwarder::Nfd || lab.programs.get("nfd").is_ok())
        .collect();
    let header = ["forwarders", "loss", "MB per CPU second", "CPU s", "MB/s"];
    let (mut rows, mut failed) = (vec![header.map(str::to_owned).to_vec()], Vec::new());
    for thousandths in LOSSES {
        let mut all: Vec<(Forwarder, Vec<Transfer>)> =
            forwarders.iter().map(|one| (*one, Vec::new())).collect();
        for round in 0..ROUNDS {
            for (forwarder, transfers) in &mut all {
                println!("goodput, {}, {} %, round {}", forwarder.name(), thousandths / 10, round + 1);
                match transfer(lab, *forwarder, thousandths) {
                    Ok(transfer) => transfers.push(transfer),
                    Err(why) => failed.push(format!("goodput, {}: {why}", forwarder.name())),
                }
            }
        }
        let loss = format!("{} %", thousandths / 10);
        for (forwarder, transfers) in &all {
            let of = |value: fn(&Transfer) -> f64| spread(transfers.iter().map(value).collect());
            rows.push(vec![
                forwarder.name().to_owned(),
                loss.clone(),
                of(Transfer::efficiency),
                of(|transfer| transfer.cpu),
                of(|transfer| OBJECT as f64 / 1e6 / transfer.seconds),
            ]);
        }
        if let [(_, theirs), (_, ours)] = &all[..]
            && !theirs.is_empty()
            && !ours.is_empty()
        {
            let median = |transfers: &[Transfer]| {
                median(transfers.iter().map(Transfer::efficiency).collect()).unwrap_or(f64::NAN)
            };
            let ratio = median(ours) / median(theirs);
            let verdict = if ratio >= CRITERION { "holds" } else { "does not hold" };
            rows.push(vec![
                "hashlane / NFD".to_owned(),
                loss,
                format!("{ratio:.2} (criterion {CRITERION:.0}: {verdict})"),
            ]);
        }
    }
    report.table("Goodput", &rows);
    report.text(&format!(
        "{} MB by ndnputchunks and ndncatchunks (AIMD) through two forwarders, whose link has the MTU 1450 and \
         reliability on; segments are signed with a digest. Median [smallest, largest] of {ROUNDS} rounds; CPU time \
         of both forwarders, user and system.",
        OBJECT / 1_000_000
    ));
    failed
}

/// Transfers the object between two new nodes.
fn transfer(lab: &Lab, forwarder: Forwarder, thousandths: u32) -> Result<Transfer, String> {
    let pair = Pair::start(lab, [forwarder; 2])?;
    if thousandths > 0 {
        Loss::find(&pair.link)?.set(&pair.link, thousandths)?;
    }
    pair.connect("/app", "on")?;
    let (from, to) = (pair.b.dir.join("object"), pair.a.dir.join("object"));
    let object: Vec<u8> =
        (0..OBJECT).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(&from, &object).map_err(|error| format!("{}: {error}", from.display()))?;
    // Files, so that no pipe of this process slows the programs down.
    let put = lab.programs.get("ndnputchunks")?;
    let line = format!("exec {} -q -S {DIGEST} /app/object < {}", put.display(), from.display());
    let mut server = Program::start("ndnputchunks", pair.b.command_at(Path::new("sh")).args(["-c", &line]))?;
    wait_for_route(&pair, "/app/object", &mut server)?;
    let cpu = |pair: &Pair<'_>| Ok::<f64, String>(pair.a.cpu()? + pair.b.cpu()?);
    let (before, start) = (cpu(&pair)?, Instant::now());
    let get = lab.programs.get("ndncatchunks")?;
    let line = format!("exec {} -q -p aimd /app/object > {}", get.display(), to.display());
    Program::run("ndncatchunks", pair.a.command_at(Path::new("sh")).args(["-c", &line]), TIMEOUT)?;
    let (seconds, after) = (start.elapsed().as_secs_f64(), cpu(&pair)?);
    let got = fs::read(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    if got != object {
        return Err(format!("{} bytes arrived, not the {OBJECT} that were published", got.len()));
    }
    drop(server);
    pair.stop()?;
    Ok(Transfer { seconds, cpu: after - before })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Median, smallest and largest value.
fn spread(values: Vec<f64>) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match median(values) {
        Some(middle) => format!("{middle:.2} [{low:.2}, {high:.2}]"),
        None => "failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_no_values_is_a_failure() {
        assert_eq!(spread(vec![]), "failed");
        assert_eq!(spread(vec![3.0, 1.0, 2.0]), "2.00 [1.00, 3.00]");
    }
}
