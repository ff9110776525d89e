//! NLSR on all nodes of a topology: convergence, a link that fails and comes back, and equal FIBs.

use super::convergence;
use super::fib::{self, Fib, Settled};
use super::lab::Lab;
use super::mesh::{self, Mesh};
use super::node::{Forwarder, Setup};
use super::report::{Report, first_line};
use super::routers;
use super::topology::Topology;
use crate::interop::program::Program;
use std::time::{Duration, Instant};

/// Programs that the runs need.
pub(super) const NEEDS: [&str; 4] = ["nfdc", "nlsr", "nlsrc", "ndnsec"];

/// Time without changes after which the FIBs are final: longer than NLSR's delays between a change of the
/// topology and the registration of routes.
const QUIET: Duration = Duration::from_secs(30);
/// Timeout of convergence, and of a change of the topology: NLSR finds a dead neighbour by its hello
/// Interests.
const LIMIT: Duration = Duration::from_secs(300);

/// A run over one forwarder.
struct Run {
    converged: Settled,
    /// Mean and largest CPU time of a forwarder until the FIBs were final, in seconds.
    cpu: (f64, f64),
    failed: Settled,
    recovered: Settled,
    /// Commands that nlsrc gave.
    tools: String,
}

/// FIBs of a run, in one state of the topology.
type State = fn(&Run) -> &Settled;

/// Runs a topology over both forwarders, and adds a table; then `rounds` rounds of convergence alone. Returns
/// what failed.
pub(super) fn run(lab: &Lab, topology: &Topology, rounds: usize, report: &mut Report) -> Vec<String> {
    let name = topology.name;
    let mut failed = Vec::new();
    let mut over = |forwarder: Forwarder| {
        println!("NLSR, {name}, over {}", forwarder.name());
        if forwarder == Forwarder::Nfd
            && let Err(why) = lab.programs.get("nfd")
        {
            return Err(format!("not run: {why}"));
        }
        one(lab, topology, forwarder).map_err(|why| {
            failed.push(format!("NLSR, {name}, over {}: {why}", forwarder.name()));
            format!("failed: {}", first_line(&why))
        })
    };
    let theirs = over(Forwarder::Nfd);
    let ours = over(Forwarder::Hashlane);
    let mut rows = vec![["", "over NFD", "over hashlane"].map(str::to_owned).to_vec()];
    let both = [&theirs, &ours];
    let row = |title: &str, text: fn(&Run) -> String| {
        let cell = |run: &Result<Run, String>| run.as_ref().map_or_else(Clone::clone, text);
        [vec![title.to_owned()], both.map(cell).to_vec()].concat()
    };
    rows.push(row("last change of a FIB, from the start", |run| format!("{:.0} s", run.converged.seconds)));
    rows.push(row("… from the failure of a link", |run| format!("{:.0} s", run.failed.seconds)));
    rows.push(row("… from its recovery", |run| format!("{:.0} s", run.recovered.seconds)));
    rows.push(row("FIBs after the recovery as before", |run| {
        if run.recovered.fibs == run.converged.fibs { "yes" } else { "no" }.to_owned()
    }));
    rows.push(row("CPU of a forwarder until then, mean", |run| format!("{:.2} s", run.cpu.0)));
    rows.push(row("… largest", |run| format!("{:.2} s", run.cpu.1)));
    rows.push(row("nlsrc", |run| run.tools.clone()));
    let (count, links) = (topology.sites.len(), topology.links().len());
    report.table(&format!("NLSR, {name}: {count} nodes, {links} links"), &rows);
    if let (Ok(theirs), Ok(ours)) = (&theirs, &ours) {
        let names: Vec<&str> = topology.sites.iter().map(|site| site.id.as_str()).collect();
        let states: [(&str, State); 3] = [
            ("converged", |run| &run.converged),
            ("after the failure of a link", |run| &run.failed),
            ("after its recovery", |run| &run.recovered),
        ];
        for (state, of) in states {
            let entries: usize = of(theirs).fibs.iter().map(Fib::len).sum();
            match fib::difference(&of(theirs).fibs, &of(ours).fibs, &names) {
                None => report.text(&format!("FIBs {state}: equal, {entries} entries.")),
                Some(why) => {
                    report.text(&format!("FIBs {state}: different: {why}."));
                    failed.push(format!("NLSR, {name}, FIBs {state}: {why}"));
                }
            }
        }
        if rounds > 0 {
            failed.extend(convergence::run(lab, topology, rounds, &theirs.converged.fibs, report));
        }
    }
    failed
}

fn one(lab: &Lab, topology: &Topology, forwarder: Forwarder) -> Result<Run, String> {
    let (mesh, routers, start) = routers::start(lab, topology, forwarder, &Setup::default())?;
    let prefixes: Vec<Vec<String>> = topology.sites.iter().map(|site| site.prefixes.clone()).collect();
    let whole = |fibs: &[Fib]| mesh::reach(topology, fibs, &prefixes);
    let logs = |why: String| {
        let said: String = routers.iter().take(3).map(Program::said).collect();
        let lines: Vec<&str> = said.lines().collect();
        format!("{why}\n{}", lines[lines.len().saturating_sub(20)..].join("\n"))
    };
    let converged = fib::settle(&mesh.nodes, start, QUIET, LIMIT, whole).map_err(logs)?;
    let cpu = mesh.cpu()?;
    let tools = nlsrc(&mesh, topology)?;

    let down = topology.spare_link().ok_or("every link is a bridge")?;
    let [a, b] = topology.links()[down];
    mesh.set_link(down, "down")?;
    let start = Instant::now();
    let uri = mesh.uri(topology, a, b)?;
    let avoids = |fibs: &[Fib]| {
        whole(fibs)?;
        // Routes to the neighbour itself are NLSR's own, and stay.
        let neighbour = topology.sites[b].prefixes.first().ok_or("no prefix")?;
        match fibs[a].get(neighbour).is_some_and(|hops| hops.iter().any(|(remote, _)| *remote == uri)) {
            true => Err(format!("{} still uses the link for {neighbour}", topology.sites[a].id)),
            false => Ok(()),
        }
    };
    let failed = fib::settle(&mesh.nodes, start, QUIET, LIMIT, avoids)?;
    mesh.set_link(down, "up")?;
    let start = Instant::now();
    let before = &converged.fibs;
    let again = |fibs: &[Fib]| match fibs == &before[..] {
        true => Ok(()),
        false => Err("FIBs are not as before the failure".to_owned()),
    };
    let recovered = fib::settle(&mesh.nodes, start, QUIET, LIMIT, again)?;
    drop(routers);
    mesh.stop()?;
    Ok(Run { converged, cpu, failed, recovered, tools })
}

/// Uses every command of nlsrc at the first node; the last node sees the prefix that is advertised.
fn nlsrc(mesh: &Mesh<'_>, topology: &Topology) -> Result<String, String> {
    let (Some(first), Some(last)) = (mesh.nodes.first(), mesh.nodes.last()) else {
        return Err("no nodes".to_owned());
    };
    let name = topology.sites[topology.sites.len() - 1].name();
    for command in ["lsdb", "routing", "status"] {
        let said = first.output(&["nlsrc", command])?;
        if !said.contains(&name) {
            return Err(format!("nlsrc {command} does not show {name}: {said}"));
        }
    }
    let prefix = "/ndn/added";
    let wait = |present: bool| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if fib::read(last)?.contains_key(prefix) == present {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        Err(format!("{prefix} is {} at {}", if present { "missing" } else { "still there" }, last.name))
    };
    first.output(&["nlsrc", "advertise", prefix])?;
    wait(true)?;
    first.output(&["nlsrc", "withdraw", prefix])?;
    wait(false)?;
    Ok("lsdb, routing, status, advertise, withdraw".to_owned())
}
