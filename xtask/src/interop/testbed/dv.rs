//! ndn-dv, the distance-vector routing of ndnd, on a ring.

use super::fib::{self, Fib, Settled};
use super::lab::Lab;
use super::mesh::Mesh;
use super::node::Forwarder;
use super::report::{Report, first_line};
use super::topology::Topology;
use crate::interop::program::Program;
use std::fs;
use std::time::{Duration, Instant};

/// Programs that the run needs.
pub(super) const NEEDS: [&str; 2] = ["nfdc", "ndnd"];

/// As for NLSR; routers advertise every 5 s.
const QUIET: Duration = Duration::from_secs(20);
const LIMIT: Duration = Duration::from_secs(120);
/// Timeout of the faces to neighbours, which routers create when they start.
const FACES: Duration = Duration::from_secs(20);

/// Runs a ring over both forwarders, and adds a table. Returns what failed.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let topology = Topology::ring(6);
    let mut rows =
        vec![["forwarders", "last change of a FIB", "CPU of a forwarder"].map(str::to_owned).to_vec()];
    let (mut failed, mut fibs) = (Vec::new(), Vec::new());
    for forwarder in [Forwarder::Nfd, Forwarder::Hashlane] {
        println!("ndn-dv over {}", forwarder.name());
        if forwarder == Forwarder::Nfd && lab.programs.get("nfd").is_err() {
            rows.push(vec![forwarder.name().to_owned(), "not run: nfd is missing".to_owned()]);
            continue;
        }
        match one(lab, &topology, forwarder) {
            Ok((settled, cpu)) => {
                let (seconds, cpu) = (format!("{:.0} s", settled.seconds), format!("{cpu:.2} s"));
                rows.push(vec![forwarder.name().to_owned(), seconds, cpu]);
                fibs.push(settled.fibs);
            }
            Err(why) => {
                rows.push(vec![forwarder.name().to_owned(), format!("failed: {}", first_line(&why))]);
                failed.push(format!("ndn-dv over {}: {why}", forwarder.name()));
            }
        }
    }
    report.table("ndn-dv, a ring of 6 nodes", &rows);
    if let [theirs, ours] = &fibs[..] {
        let names: Vec<&str> = topology.sites.iter().map(|site| site.id.as_str()).collect();
        match fib::difference(theirs, ours, &names) {
            None => report.text("FIBs: equal."),
            Some(why) => {
                report.text(&format!("FIBs: different: {why}."));
                failed.push(format!("ndn-dv, FIBs: {why}"));
            }
        }
    }
    failed
}

fn one(lab: &Lab, topology: &Topology, forwarder: Forwarder) -> Result<(Settled, f64), String> {
    let mesh = Mesh::start(lab, topology, forwarder)?;
    let mut names = Vec::new();
    for (index, node) in mesh.nodes.iter().enumerate() {
        let mut text = format!("dv:\n  network: /ndn\n  router: /ndn/{}\n  keychain: insecure\n", node.name);
        text += "  neighbors:\n";
        for (other, _) in &topology.sites[index].neighbours {
            text += &format!("    - uri: {}\n      mtu: 1450\n", mesh.uri(topology, index, *other)?);
        }
        let path = node.dir.join("dv.yml");
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        names.push(format!("/ndn/{}", node.name));
    }
    let start = Instant::now();
    let routers: Vec<Program> = mesh
        .nodes
        .iter()
        .map(|node| node.spawn(&["ndnd", "dv", "run", "dv.yml"]))
        .collect::<Result<_, _>>()?;
    let logs = |why: String| {
        let said: String = routers.iter().take(2).map(Program::said).collect();
        let lines: Vec<&str> = said.lines().collect();
        format!("{why}\n{}", lines[lines.len().saturating_sub(20)..].join("\n"))
    };
    mesh.await_faces(topology, FACES).map_err(logs)?;
    let enough = |fibs: &[Fib]| names_all(fibs, &names);
    let settled = fib::settle(&mesh.nodes, start, QUIET, LIMIT, enough).map_err(logs)?;
    let (cpu, _) = mesh.cpu()?;
    drop(routers);
    mesh.stop()?;
    Ok((settled, cpu))
}

/// Fails if a node has no prefix with the name of another router in it. ndn-dv routes prefixes of its tables,
/// not the name itself.
fn names_all(fibs: &[Fib], names: &[String]) -> Result<(), String> {
    for (index, fib) in fibs.iter().enumerate() {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != index);
        if let Some((_, name)) = others.find(|(_, name)| !fib.keys().any(|prefix| prefix.contains(*name))) {
            let known: Vec<&String> = fib.keys().collect();
            return Err(format!("{} has no route for {name}: {known:?}", names[index]));
        }
    }
    Ok(())
}
