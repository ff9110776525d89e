//! ndn-dv, the distance-vector routing of ndnd, on a ring.

use super::fib::{self, Fib, Settled};
use super::lab::Lab;
use super::mesh::{self, Mesh};
use super::node::Forwarder;
use super::report::Report;
use super::topology::Topology;
use crate::interop::program::Program;
use std::fs;
use std::time::{Duration, Instant};

/// Programs that the run needs.
pub(super) const NEEDS: [&str; 2] = ["nfdc", "ndnd"];

/// As for NLSR; routers advertise every 5 s.
const QUIET: Duration = Duration::from_secs(20);
const LIMIT: Duration = Duration::from_secs(120);

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
                rows.push(vec![forwarder.name().to_owned(), format!("failed: {why}")]);
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
    let mut prefixes = Vec::new();
    for (index, node) in mesh.nodes.iter().enumerate() {
        let mut text = format!("dv:\n  network: /ndn\n  router: /ndn/{}\n  keychain: insecure\n", node.name);
        text += "  neighbors:\n";
        for (other, _) in &topology.sites[index].neighbours {
            text += &format!("    - uri: {}\n      mtu: 1450\n", mesh.uri(topology, index, *other)?);
        }
        let path = node.dir.join("dv.yml");
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        prefixes.push(vec![format!("/ndn/{}", node.name)]);
    }
    let start = Instant::now();
    let routers: Vec<Program> = mesh
        .nodes
        .iter()
        .map(|node| node.spawn(&["ndnd", "dv", "run", "dv.yml"]))
        .collect::<Result<_, _>>()?;
    // Routes of a router have components of their own below its name.
    let enough =
        |fibs: &[Fib]| mesh::reach(topology, &fibs.iter().map(shortened).collect::<Vec<_>>(), &prefixes);
    let settled = fib::settle(&mesh.nodes, start, QUIET, LIMIT, enough).map_err(|why| {
        let said: String = routers.iter().take(2).map(Program::said).collect();
        let lines: Vec<&str> = said.lines().collect();
        format!("{why}\n{}", lines[lines.len().saturating_sub(20)..].join("\n"))
    })?;
    let (cpu, _) = mesh.cpu()?;
    drop(routers);
    mesh.stop()?;
    Ok((settled, cpu))
}

/// A FIB by the first two components of its prefixes.
fn shortened(fib: &Fib) -> Fib {
    let mut short = Fib::new();
    for (prefix, hops) in fib {
        let end = prefix.match_indices('/').nth(2).map_or(prefix.len(), |(end, _)| end);
        short.entry(prefix[..end].to_owned()).or_default().extend(hops.iter().cloned());
    }
    short
}
