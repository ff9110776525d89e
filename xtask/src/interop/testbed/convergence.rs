//! Time in which NLSR converges, in rounds that alternate between the forwarders.

use super::fib::{self, Fib};
use super::lab::Lab;
use super::node::{Forwarder, Setup};
use super::report::{Report, first_line};
use super::routers;
use super::topology::Topology;
use std::time::{Duration, Instant};

/// Fewest rounds whose extreme differences bound the median difference at 95 %.
const FEWEST: usize = 6;
/// Timeout of a round.
const LIMIT: Duration = Duration::from_secs(180);
/// Criterion: CPU time of a forwarder over ours, divided by that over NFD.
const CPU_CRITERION: f64 = 0.3;

/// Seconds until all FIBs were final, and the mean CPU seconds of a forwarder until then.
#[derive(Clone, Copy, Debug)]
struct Round {
    seconds: f64,
    cpu: f64,
}

/// Runs `rounds` rounds over both forwarders until all FIBs are `target`, and adds a table. Returns what
/// failed over ours: a round that fails over NFD is no check of ours, and is left out.
pub(super) fn run(
    lab: &Lab,
    topology: &Topology,
    rounds: usize,
    target: &[Fib],
    report: &mut Report,
) -> Vec<String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let (mut failed, mut left_out) = (Vec::new(), String::new());
    for number in 1..=rounds {
        // Each forwarder is first in every other round.
        let mut order = [(Forwarder::Nfd, &mut theirs), (Forwarder::Hashlane, &mut ours)];
        order.rotate_left(number % 2);
        for (forwarder, all) in order {
            let name = forwarder.name();
            let ended = round(lab, topology, forwarder, target);
            match &ended {
                Ok(Round { seconds, .. }) => println!("NLSR over {name}, round {number}: {seconds:.1} s"),
                Err(why) => {
                    println!("NLSR over {name}, round {number}: {why}");
                    left_out += &format!(" Left out: round {number} over {name}: {}.", first_line(why));
                    if forwarder == Forwarder::Hashlane {
                        failed.push(format!("round {number} of NLSR over {name}: {why}"));
                    }
                }
            }
            all.push(ended.ok());
        }
    }
    let mut rows = vec![["", "over NFD", "over hashlane"].map(str::to_owned).to_vec()];
    let mut row = |title: &str, text: &dyn Fn(&[Option<Round>]) -> String| {
        rows.push([vec![title.to_owned()], [&theirs, &ours].map(|all| text(all)).to_vec()].concat());
    };
    let of = |value: fn(&Round) -> f64| {
        move |all: &[Option<Round>]| spread(&all.iter().flatten().map(value).collect::<Vec<_>>())
    };
    row("all FIBs are final, from the start, s", &of(|round| round.seconds));
    row("CPU of a forwarder until then, mean of the nodes, s", &of(|round| round.cpu));
    row("rounds, s", &|all| {
        let cell =
            |round: &Option<Round>| round.map_or("–".to_owned(), |round| format!("{:.1}", round.seconds));
        all.iter().map(cell).collect::<Vec<_>>().join(", ")
    });
    report.table(&format!("NLSR, {}: convergence", topology.name), &rows);
    report.text(&format!(
        "Median [smallest, largest] of {rounds} rounds, in which the forwarders alternate.{left_out} {}",
        verdict(&theirs, &ours)
    ));
    failed
}

/// Compares the rounds that both forwarders have ended.
fn verdict(theirs: &[Option<Round>], ours: &[Option<Round>]) -> String {
    let pairs: Vec<(Round, Round)> =
        theirs.iter().zip(ours).filter_map(|(theirs, ours)| Some(((*theirs)?, (*ours)?))).collect();
    if pairs.len() < FEWEST {
        return format!("Fewer than {FEWEST} pairs of rounds: no verdict.");
    }
    let differences: Vec<f64> = pairs.iter().map(|(theirs, ours)| ours.seconds - theirs.seconds).collect();
    let (low, high) = bounds(&differences);
    let time = if low > 0.0 {
        "does not hold"
    } else if high <= 0.0 {
        "holds"
    } else {
        "is undecided: no difference was found"
    };
    let ratios: Vec<f64> = pairs.iter().map(|(theirs, ours)| ours.cpu / theirs.cpu).collect();
    let cpu = if bounds(&ratios).1 <= CPU_CRITERION { "holds" } else { "does not hold in every round" };
    format!(
        "Difference of a round, hashlane − NFD: {} s, whose ends bound the median difference with a probability of \
         {:.1} %. The criterion \"in no more time than over NFD\" {time}. CPU time, hashlane / NFD: {}; the criterion \
         {CPU_CRITERION} {cpu}.",
        spread(&differences),
        100.0 * (1.0 - 0.5_f64.powi(pairs.len() as i32 - 1)),
        spread(&ratios)
    )
}

fn round(lab: &Lab, topology: &Topology, forwarder: Forwarder, target: &[Fib]) -> Result<Round, String> {
    let (mesh, routers, start) = routers::start(lab, topology, forwarder, &Setup::default())?;
    let seconds = arrive(&mesh.nodes, start, target)?;
    let (cpu, _) = mesh.cpu()?;
    drop(routers);
    mesh.stop()?;
    Ok(Round { seconds, cpu })
}

/// Seconds until all FIBs are `target`. Reads one FIB at a time, node after node, to take little CPU time.
fn arrive(nodes: &[super::node::Node<'_>], start: Instant, target: &[Fib]) -> Result<f64, String> {
    loop {
        for (node, target) in nodes.iter().zip(target) {
            while fib::read(node)? != *target {
                if start.elapsed() > LIMIT {
                    return Err(format!("the FIB of {} is not final after {} s", node.name, LIMIT.as_secs()));
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        // A node may have changed again meanwhile.
        if fib::read_all(nodes)? == target {
            return Ok(seconds);
        }
    }
}

/// Smallest and largest value.
fn bounds(values: &[f64]) -> (f64, f64) {
    (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Median, smallest and largest value.
fn spread(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    if sorted.is_empty() {
        return "failed".to_owned();
    }
    let median = f64::midpoint(middle((sorted.len() - 1) / 2), middle(sorted.len() / 2));
    let (low, high) = bounds(values);
    format!("{median:.2} [{low:.2}, {high:.2}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(seconds: &[f64], cpu: f64) -> Vec<Option<Round>> {
        seconds.iter().map(|seconds| Some(Round { seconds: *seconds, cpu })).collect()
    }

    #[test]
    fn the_verdict_is_drawn_from_the_bounds_of_the_differences() {
        let theirs = rounds(&[25.0; 6], 0.4);
        let faster = verdict(&theirs, &rounds(&[24.0, 23.0, 24.5, 24.0, 24.0, 22.0], 0.08));
        assert!(faster.contains("-1.00 [-3.00, -0.50] s") && faster.contains("96.9 %"), "{faster}");
        assert!(faster.contains("\" holds. CPU time, hashlane / NFD: 0.20 [0.20, 0.20]"), "{faster}");
        let slower = verdict(&theirs, &rounds(&[26.0; 6], 0.4));
        assert!(slower.contains("\" does not hold. ") && slower.contains("0.3 does not hold"), "{slower}");
        let alike = verdict(&theirs, &rounds(&[26.0, 24.0, 25.0, 25.0, 25.0, 25.0], 0.08));
        assert!(alike.contains("no difference was found"), "{alike}");
        let mut fewer = rounds(&[26.0; 6], 0.4);
        fewer[2] = None;
        assert!(verdict(&theirs, &fewer).contains("no verdict"));
    }

    #[test]
    fn the_median_of_an_even_number_of_values_is_between_two() {
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), "2.50 [1.00, 4.00]");
        assert_eq!(spread(&[]), "failed");
    }
}
