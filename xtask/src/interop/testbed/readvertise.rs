//! Prefixes of clients: the forwarder asks the NLSR of its host to advertise them, and to withdraw them.

use super::fib;
use super::lab::Lab;
use super::mesh;
use super::node::{Forwarder, Node, Setup};
use super::report::{Report, first_line};
use super::routers;
use super::topology::Topology;
use crate::interop::program::Program;
use std::time::{Duration, Instant};

/// Programs that the runs need.
pub(super) const NEEDS: [&str; 6] = ["nfdc", "nlsr", "nlsrc", "ndnsec", "ndnping", "ndnpingserver"];

/// Timeout of a program that answers, and of one that asks.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of convergence, and of a prefix to come or go at all nodes.
const LIMIT: Duration = Duration::from_secs(120);
/// Interval between two reads of the FIBs.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time in which a prefix comes or goes at all nodes.
const PROPAGATION: Duration = Duration::from_secs(10);

/// Prefix of the application, whose route has the origin *client*.
const APP: &str = "/ndn/client/app";
/// Prefix below that the application registers itself, with the origin *app*.
const OWN: &str = "/ndn/client/app/ping";
/// Prefix whose route is removed by a command.
const ROUTE: &str = "/ndn/client/route";

/// A step of a run, and the seconds that it took.
type Step = (&'static str, f64);

/// Runs a ring of three over both forwarders, and adds a table. Returns what failed.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let mut failed = Vec::new();
    let mut over = |forwarder: Forwarder| {
        println!("prefixes of clients in NLSR, over {}", forwarder.name());
        if forwarder == Forwarder::Nfd
            && let Err(why) = lab.programs.get("nfd")
        {
            return (Vec::new(), Some(format!("not run: {why}")));
        }
        let mut steps = Vec::new();
        let ended = one(lab, forwarder, &mut steps).err().map(|why| {
            failed.push(format!("prefixes of clients over {}: {why}", forwarder.name()));
            format!("failed: {}", first_line(&why))
        });
        (steps, ended)
    };
    let both = [over(Forwarder::Nfd), over(Forwarder::Hashlane)];
    let mut rows = vec![["step", "over NFD", "over hashlane"].map(str::to_owned).to_vec()];
    let titles = both.iter().map(|(steps, _)| steps).max_by_key(|steps| steps.len());
    for (index, (title, _)) in titles.into_iter().flatten().enumerate() {
        let cell = |(steps, ended): &(Vec<Step>, Option<String>)| match steps.get(index) {
            Some((_, seconds)) => format!("{seconds:.1} s"),
            None => ended.clone().unwrap_or_default(),
        };
        rows.push([vec![(*title).to_owned()], both.iter().map(cell).collect()].concat());
    }
    if both.iter().any(|(_, ended)| ended.is_some()) {
        let cell = |(_, ended): &(Vec<Step>, Option<String>)| ended.clone().unwrap_or("ok".to_owned());
        rows.push([vec!["end".to_owned()], both.iter().map(cell).collect()].concat());
    }
    report.table("NLSR advertises the prefixes of clients, a ring of 3 nodes", &rows);
    failed
}

/// Runs all steps over a forwarder.
fn one(lab: &Lab, forwarder: Forwarder, steps: &mut Vec<Step>) -> Result<(), String> {
    let topology = Topology::ring(3);
    let setup = Setup { readvertises: true, ..Setup::default() };
    let mesh = routers::prepare(lab, &topology, forwarder, &setup)?;
    let (first, others) = mesh.nodes.split_first().ok_or("no nodes")?;

    // A client that is there before NLSR.
    let mut app = first.spawn(&["ndnpingserver", APP])?;
    app.wait_until(|| face_of(first, OWN).is_ok(), TIMEOUT)?;
    let face = face_of(first, OWN)?;
    add(first, APP, &face)?;
    let start = Instant::now();
    let mut routers: Vec<Program> = mesh.nodes.iter().map(routers::router).collect::<Result<_, _>>()?;
    let prefixes: Vec<Vec<String>> = topology.sites.iter().map(|site| site.prefixes.clone()).collect();
    await_until(|| mesh::reach(&topology, &fib::read_all(&mesh.nodes)?, &prefixes))?;
    steps.push(("NLSR starts: all nodes have routes for all sites", start.elapsed().as_secs_f64()));
    await_until(|| routed(others, APP, true))?;
    steps.push(("NLSR starts: the others have the client's route", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    let said = others[others.len() - 1].output(&["ndnping", "-i", "50", "-c", "10", APP])?;
    if !said.contains("10 packets transmitted, 10 received") {
        return Err(format!("ndnping: {said}"));
    }
    steps.push(("10 pings of another node are answered", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    add(first, ROUTE, &face)?;
    await_until(|| routed(others, ROUTE, true))?;
    steps.push(("a second prefix is registered", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    first.output(&["nfdc", "route", "remove", ROUTE, &face, "origin", "client"])?;
    await_until(|| routed(others, ROUTE, false))?;
    steps.push(("it is removed", start.elapsed().as_secs_f64()));

    // Long enough for the prefix of an application: it was registered before all others.
    std::thread::sleep(PROPAGATION);
    routed(others, OWN, false).map_err(|why| format!("origin app: {why}"))?;

    let router_of_first = routers.first_mut().ok_or("no router")?;
    router_of_first.kill();
    let start = Instant::now();
    *router_of_first = routers::router(first)?;
    // Its own database is empty at first.
    await_until(|| match first.output(&["nlsrc", "lsdb"]).is_ok_and(|said| names(&said, APP)) {
        true => routed(others, APP, true),
        false => Err(format!("the new NLSR of {} does not advertise {APP}", first.name)),
    })?;
    steps.push(("NLSR is killed and started again: advertised again", start.elapsed().as_secs_f64()));
    // The others have the database of the new one by then.
    std::thread::sleep(PROPAGATION);
    routed(others, APP, true)?;

    let start = Instant::now();
    app.kill();
    await_until(|| routed(others, APP, false))?;
    steps.push(("the application is killed: withdrawn", start.elapsed().as_secs_f64()));
    drop(routers);
    mesh.stop()
}

/// Adds a route of origin *client*.
fn add(node: &Node<'_>, prefix: &str, face: &str) -> Result<(), String> {
    node.output(&["nfdc", "route", "add", prefix, face, "origin", "client"]).map(drop)
}

/// ID of the face that has registered a prefix.
fn face_of(node: &Node<'_>, prefix: &str) -> Result<String, String> {
    let routes = node.output(&["nfdc", "route", "list"])?;
    let line = routes.lines().find(|line| line.starts_with(&format!("prefix={prefix} ")));
    let id = line.and_then(|line| line.split_whitespace().find_map(|word| word.strip_prefix("nexthop=")));
    id.map(str::to_owned).ok_or_else(|| format!("no route for {prefix}: {routes}"))
}

/// True if an LSDB, as nlsrc prints it, names a prefix.
fn names(said: &str, prefix: &str) -> bool {
    said.split_whitespace().any(|word| word == prefix)
}

/// Fails unless all nodes have a route for a prefix, or none has.
fn routed(nodes: &[Node<'_>], prefix: &str, is_present: bool) -> Result<(), String> {
    for node in nodes {
        if fib::read(node)?.contains_key(prefix) != is_present {
            return Err(format!(
                "{prefix} is {} at {}",
                if is_present { "missing" } else { "there" },
                node.name
            ));
        }
    }
    Ok(())
}

/// Waits until `check` succeeds.
///
/// # Errors
/// The last error within [`LIMIT`].
fn await_until(check: impl Fn() -> Result<(), String>) -> Result<(), String> {
    let start = Instant::now();
    loop {
        match check() {
            Ok(()) => return Ok(()),
            Err(why) if start.elapsed() > LIMIT => {
                return Err(format!("after {} s: {why}", LIMIT.as_secs()));
            }
            Err(_) => std::thread::sleep(INTERVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_found_in_a_database_by_whole_words() {
        let said = "  NAME LSA:\n    Names:\n      Name 0 : /a/b\n      Name 1: /a/c\n";
        assert!(names(said, "/a/b"));
        assert!(!names(said, "/a"));
    }
}
