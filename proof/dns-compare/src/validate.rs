//! Verdicts of a validating resolver, unbound, on the answers of each server.

use crate::Options;
use crate::answer::{Answer, DS};
use crate::cases::{CASES, Expected, FAMILY};
use crate::exchange::{self, Answers};
use crate::generate::Generator;
use crate::process::Server;
use crate::query::{CD, Edns, Query, RD};
use crate::rules::World;
use crate::rules::verdicts::{REASONS, Trial};
use crate::servers::{self, Maker, Running, installed};
use crate::verdict::{State, Verdict};
use crate::zone::{Zone, folded, parent, parse};
use hashlane_rig::ports;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::thread;

/// Queries that are sent before the verdicts are read.
const BATCH: usize = 6_000;

/// Number of times that a query without an answer is sent again, for 2 s each.
const AGAIN: usize = 5;

/// Sends queries to the servers through a resolver each, which has the keys of the zones as anchors. Every
/// answer that is not validated, and every difference between the verdicts, must have a reason.
///
/// # Errors
/// Verdicts without a reason; named cases with another verdict than expected.
pub(crate) fn validate(
    servers: &[Running],
    (zones, world): (&[Zone], &World),
    folder: &Path,
    options: &Options,
) -> Result<BTreeMap<usize, usize>, String> {
    let trials = trials((zones, world), options.seed, options.validated);
    let queries: Vec<Query> = trials.iter().map(|(query, _)| query.clone()).collect();
    let verdicts = thread::scope(|scope| {
        let threads: Vec<_> =
            servers.iter().map(|server| scope.spawn(|| ask(server, zones, folder, &queries))).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a sender has failed".to_owned())?);
        joined.collect::<Result<Vec<Vec<Verdict>>, String>>()
    })?;
    // The comparison reports malformed answers.
    let answers = in_batches(servers[0].address, &queries, exchange::tcp)?;
    let (mut reasons, mut results, mut wrong) =
        (BTreeMap::new(), BTreeMap::<String, usize>::new(), Vec::new());
    for (at, (query, expected)) in trials.iter().enumerate() {
        let verdicts = [0, 1, 2].map(|server: usize| &verdicts[server][at]);
        let answer = answers[at].as_deref().ok_or_else(|| format!("no answer over TCP to {query}"))?;
        let (name, answer) = (folded(query.name.view()), Answer::parse(answer)?);
        let trial = Trial { zones, world, query, name: &name, answer: &answer, verdicts };
        for (server, verdict) in servers.iter().zip(verdicts) {
            *results.entry(format!("{}: {}", server.name, verdict.kind())).or_default() += 1;
        }
        let ours = verdicts[0];
        let is_expected = expected.is_none_or(|(rcode, result)| {
            ours.rcode == rcode && ours.is(result, zones[query.zone].opts_out())
        });
        let found: Vec<Option<usize>> = trial.deviations().map(|server| trial.reason(server)).collect();
        if !is_expected || found.contains(&None) {
            wrong.push(trial.to_string());
        }
        for reason in found.into_iter().flatten().collect::<BTreeSet<_>>() {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    for (result, count) in results {
        println!("{count:>8}  verdict of unbound on {result}");
    }
    for (reason, count) in &reasons {
        println!("{count:>8}  {}", REASONS[*reason].name);
    }
    if wrong.is_empty() {
        return Ok(reasons);
    }
    let shown: String = wrong.iter().take(options.show).cloned().collect();
    Err(format!("{shown}{} of {} verdicts without a reason", wrong.len(), trials.len()))
}

/// Queries, with the expected verdicts for queries of [`CASES`].
fn trials(
    (zones, world): (&[Zone], &World),
    seed: u64,
    queries: usize,
) -> Vec<(Query, Option<(u16, Expected)>)> {
    let mut trials = Vec::new();
    for (number, zone) in zones.iter().enumerate().filter(|(_, zone)| zone.is_signed()) {
        if !zone.names.contains_key(parse(&format!("large99.{}", zone.apex)).as_bytes()) {
            continue;
        }
        for (name, rtype, rcode, result) in CASES {
            let name = parse(&if name == "@" { zone.apex.clone() } else { format!("{name}.{}", zone.apex) });
            trials.push((query(Query { zone: number, ..Query::plain(name, rtype) }), Some((rcode, result))));
        }
    }
    // Children that are served, too: the chain of trust leads through their parent.
    for apex in ["family.nsec.", "family.nsec3."] {
        for (name, rcode, result) in FAMILY {
            let name = parse(&format!("{name}.{apex}"));
            let zone = world.zone(&folded(name.view())).unwrap_or(0);
            trials.push((query(Query { zone, ..Query::plain(name, 1) }), Some((rcode, result))));
        }
    }
    let mut generator = Generator::new(zones, seed + 1);
    let mut asked = generator.systematic();
    let step = (asked.len() / queries.max(1)).max(1);
    let mut random: Vec<Query> = (0..queries / 2).map(|_| generator.random()).collect();
    random.extend(asked.drain(..).step_by(step));
    for random in random {
        let name = folded(random.name.view());
        // No signatures and meta types; no NSEC, for which a resolver follows an alias of its cache.
        let is_record = matches!(random.rtype, 1..=39 | 43 | 48 | 50..=127 | 256..=65_279);
        let is_above = |zone: usize| random.rtype == DS && folded(zones[zone].apex_name().view()) == name;
        // The name may belong to a zone below. Not all parents of the zones are served.
        let Some(zone) = world.zone(&name) else { continue };
        let above = world.zone(&folded(parent(random.name.view())));
        if zones[zone].is_signed() && is_record && (!is_above(zone) || above.is_some()) {
            trials.push((query(Query { zone, ..Query::plain(random.name, random.rtype) }), None));
        }
    }
    trials
}

fn query(query: Query) -> Query {
    Query { flags: RD, edns: Some(Edns { size: 1232, dnssec: true, ..Edns::default() }), ..query }
}

/// Starts a resolver behind which only `server` is, and sends it the queries.
fn ask(server: &Running, zones: &[Zone], folder: &Path, queries: &[Query]) -> Result<Vec<Verdict>, String> {
    let own = folder.join(format!("unbound-{}", server.address.port()));
    let port = ports::free().map_err(|error| format!("no free port: {error}"))?;
    let failed = |error: std::io::Error| format!("{}: {error}", own.display());
    fs::create_dir_all(&own).map_err(failed)?;
    let settings = own.join("settings");
    fs::write(&settings, text(port, server.address, zones, &own)).map_err(failed)?;
    let mut command = Command::new(installed("unbound"));
    command.args(["-d", "-c"]).arg(&settings).current_dir(&own);
    let log = own.join("log");
    let mut resolver = Running {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        server: Server::start("unbound", &mut command, &log)?,
        name: servers::name(Maker::Unbound),
    };
    resolver.wait(&query(Query::plain(parse("www.nsec.test."), 1)), &log)?;
    let verdicts = verdicts(resolver.address, queries)?;
    resolver.check()?;
    Ok(verdicts)
}

/// Verdicts on the answers to queries. Where the resolver has none to pass on, it is asked again with CD,
/// with which it passes on what it does not validate.
fn verdicts(resolver: SocketAddr, queries: &[Query]) -> Result<Vec<Verdict>, String> {
    let verdicts = |queries: &[Query]| {
        let mut answers = in_batches(resolver, queries, exchange::udp)?;
        // The resolver may take longer for an answer than the client waits.
        for _ in 0..AGAIN {
            let silent: Vec<usize> = (0..queries.len()).filter(|at| answers[*at].is_none()).collect();
            let again: Vec<Query> = silent.iter().map(|at| queries[*at].clone()).collect();
            for (at, answer) in silent.into_iter().zip(in_batches(resolver, &again, exchange::udp)?) {
                answers[at] = answer;
            }
        }
        answers.iter().map(|answer| Verdict::parse(answer.as_deref())).collect::<Result<Vec<_>, _>>()
    };
    let mut found = verdicts(queries)?;
    let failed: Vec<usize> = (0..queries.len()).filter(|at| found[*at].state == State::Failed).collect();
    let with_cd = |at: &usize| Query { flags: RD | CD, ..queries[*at].clone() };
    let again = verdicts(&failed.iter().map(with_cd).collect::<Vec<_>>())?;
    for (at, _) in failed.into_iter().zip(again).filter(|(_, again)| again.is_validated()) {
        found[at].state = State::Bogus;
    }
    Ok(found)
}

fn in_batches(
    server: SocketAddr,
    queries: &[Query],
    way: fn(SocketAddr, &[Vec<u8>]) -> Result<Answers, String>,
) -> Result<Answers, String> {
    let mut answers = Vec::new();
    for batch in queries.chunks(BATCH) {
        let messages: Vec<Vec<u8>> =
            batch.iter().enumerate().map(|(at, query)| query.to_bytes(exchange::id(at))).collect();
        answers.extend(way(server, &messages)?);
    }
    Ok(answers)
}

/// Settings of unbound: each zone at our server, and the keys of the signed ones as anchors.
fn text(port: u16, server: SocketAddr, zones: &[Zone], folder: &Path) -> String {
    let anchors = folder.with_file_name("anchors");
    let mut text = format!(
        "server:\n  interface: 127.0.0.1\n  port: {port}\n  do-daemonize: no\n  username: \"\"\n  \
         chroot: \"\"\n  \
         directory: \"{}\"\n  pidfile: \"unbound.pid\"\n  use-syslog: no\n  logfile: \"\"\n  \
         module-config: \"validator iterator\"\n  do-not-query-localhost: no\n  val-log-level: 2\n  \
         aggressive-nsec: no\n  qname-minimisation: no\n  num-threads: 1\n  num-queries-per-thread: 4096\n  \
         trust-anchor-file: \"{}\"\n  local-zone: \"test.\" nodefault\n  \
         do-not-query-address: 192.0.2.0/24\n  do-not-query-address: 198.51.100.0/24\n  \
         do-not-query-address: 203.0.113.0/24\n  do-not-query-address: 2001:db8::/32\nremote-control:\n  control-enable: no\n",
        folder.display(),
        anchors.display()
    );
    let _ = writeln!(text, "stub-zone:\n  name: \".\"\n  stub-addr: 127.0.0.1@{}", server.port());
    // The small zones are many and unsigned.
    for zone in zones.iter().filter(|zone| !zone.apex.ends_with(".small.")) {
        let _ =
            writeln!(text, "stub-zone:\n  name: \"{}\"\n  stub-addr: 127.0.0.1@{}", zone.apex, server.port());
    }
    text
}
