//! Our answers behind a validating resolver, unbound.

use crate::answer::{AA, Answer, DS};
use crate::exchange;
use crate::generate::Generator;
use crate::process::Server;
use crate::query::{Edns, Query, RD};
use crate::rules::{World, suffixes};
use crate::servers::{self, Maker, Running, free_port, installed};
use crate::zone::{Zone, folded, parse};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

/// Random queries that are validated beside those of [`CASES`].
const RANDOM: usize = 6_000;

/// AD in an answer.
const AD: u16 = 0x0020;

/// Result of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The answer is secure.
    Secure,
    /// The answer is not signed, and that is proved.
    Insecure,
    /// Secure, or insecure where the zone opts out.
    Proof,
}

/// Names of the zones with everything in them, types, the rcode and the result.
const CASES: [(&str, u16, u16, Expected); 20] = [
    ("www", 1, 0, Expected::Secure),
    ("www", 15, 0, Expected::Secure),
    ("nothing", 1, 3, Expected::Proof),
    ("a.b.nothing", 28, 3, Expected::Proof),
    ("b.c.ent", 1, 0, Expected::Proof),
    ("x.wild", 1, 0, Expected::Proof),
    ("x.y.wild", 16, 0, Expected::Proof),
    ("x.wildmx", 1, 0, Expected::Proof),
    ("x.entwild", 1, 0, Expected::Proof),
    ("x.wildcname", 1, 0, Expected::Proof),
    ("x.wildcnamenx", 1, 3, Expected::Proof),
    ("alias3", 28, 0, Expected::Secure),
    ("tonx2", 1, 3, Expected::Proof),
    ("x.dname", 1, 0, Expected::Secure),
    ("nothing.dname", 1, 3, Expected::Proof),
    ("large99", 1, 0, Expected::Secure),
    ("secure", 43, 0, Expected::Secure),
    ("insecure", 43, 0, Expected::Proof),
    ("cut.under.empty", 43, 0, Expected::Proof),
    ("types", 65_281, 0, Expected::Secure),
];

/// Starts unbound with the keys of the zones as anchors, and sends it queries that our server answers with
/// authority.
///
/// # Errors
/// Answers that are bogus, or have another rcode.
pub(crate) fn validate(
    server: SocketAddr,
    (zones, world): (&[Zone], &World),
    folder: &Path,
    seed: u64,
) -> Result<(), String> {
    let folder = folder.join("unbound");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let port = free_port()?;
    let settings = folder.join("settings");
    fs::write(&settings, text(port, server, zones, &folder)).map_err(failed)?;
    let mut command = Command::new(installed("unbound"));
    command.args(["-d", "-c"]).arg(&settings).current_dir(&folder);
    let log = folder.join("log");
    let mut resolver = Running {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        server: Server::start("unbound", &mut command, &log)?,
        name: servers::name(Maker::Unbound),
    };
    let mut queries = Vec::new();
    let mut expected = Vec::new();
    for (number, zone) in zones.iter().enumerate().filter(|(_, zone)| zone.is_signed()) {
        if !zone.names.contains_key(parse(&format!("large99.{}", zone.apex)).as_bytes()) {
            continue;
        }
        for (name, rtype, rcode, result) in CASES {
            let name = parse(&format!("{name}.{}", zone.apex));
            queries.push(query(Query { zone: number, ..Query::plain(name, rtype) }));
            expected.push((rcode, result));
        }
    }
    // A child that is served, too, and whose delegation is insecure.
    for apex in ["family.nsec.", "family.nsec3."] {
        for child in ["plain", "under.an.empty"] {
            queries.push(query(Query::plain(parse(&format!("www.{child}.{apex}")), 1)));
            expected.push((0, Expected::Insecure));
        }
    }
    random(server, (zones, world), seed, &mut queries, &mut expected)?;
    resolver.wait(&query(Query::plain(parse("www.nsec.test."), 1)), &log)?;
    check(resolver.address, zones, &queries, &expected)?;
    resolver.check()
}

fn query(query: Query) -> Query {
    Query { flags: RD, edns: Some(Edns { size: 1232, dnssec: true, ..Edns::default() }), ..query }
}

/// Adds queries for names of signed zones that our server answers with authority, and not with an alias.
fn random(
    server: SocketAddr,
    (zones, world): (&[Zone], &World),
    seed: u64,
    queries: &mut Vec<Query>,
    expected: &mut Vec<(u16, Expected)>,
) -> Result<(), String> {
    let mut generator = Generator::new(zones, seed + 1);
    let mut asked = Vec::new();
    while asked.len() < RANDOM {
        let random = generator.random();
        let is_record = matches!(random.rtype, 1..=39 | 43 | 48 | 51..=127 | 256..=65_279);
        // The name may be that of a zone below. The parents of the zones are not served.
        let name = folded(random.name.view());
        let Some(zone) = world.zone(&name) else { continue };
        let is_above = random.rtype == DS && folded(zones[zone].apex_name().view()) == name;
        if zones[zone].is_signed() && is_record && !is_above {
            asked.push(query(Query { zone, ..Query::plain(random.name, random.rtype) }));
        }
    }
    for chunk in asked.chunks(RANDOM) {
        let answers = exchange::udp(server, &messages(chunk))?;
        for (query, answer) in chunk.iter().zip(answers) {
            // The comparison reports malformed answers.
            let Ok(answer) = Answer::parse(&answer.unwrap_or_default()) else { continue };
            let is_alias = answer.sections[0].iter().any(|record| matches!(record.rtype, 5 | 39));
            // unbound 1.17 does not accept an empty wildcard above a delegation, nor a name that is made by a
            // wildcard and looks like one; from NSD neither.
            let name = query.name.as_bytes();
            let is_over_cut = suffixes(name).any(|name| name.starts_with(b"\x07starcut"));
            let is_star = name.starts_with(b"\x01*") && !answer.sections[0].is_empty();
            if answer.flags & AA > 0 && !is_alias && !is_over_cut && !is_star {
                queries.push(query.clone());
                expected.push((answer.rcode, Expected::Proof));
            }
        }
    }
    Ok(())
}

fn messages(queries: &[Query]) -> Vec<Vec<u8>> {
    queries.iter().enumerate().map(|(at, query)| query.to_bytes(exchange::id(at))).collect()
}

fn check(
    resolver: SocketAddr,
    zones: &[Zone],
    queries: &[Query],
    expected: &[(u16, Expected)],
) -> Result<(), String> {
    let answers = exchange::udp(resolver, &messages(queries))?;
    let (mut wrong, mut results) = (Vec::new(), BTreeMap::<String, usize>::new());
    for ((query, answer), (rcode, result)) in queries.iter().zip(answers).zip(expected) {
        let Some(answer) = answer else {
            wrong.push(format!("unbound has not answered {query}"));
            continue;
        };
        let answer = Answer::parse(&answer)?;
        let opts_out = zones[query.zone].opts_out();
        let is_secure = answer.flags & AD > 0;
        let is_right = match result {
            Expected::Secure => is_secure,
            Expected::Insecure => !is_secure,
            Expected::Proof => is_secure || opts_out,
        };
        if answer.rcode != *rcode || !is_right {
            wrong.push(format!("unbound to {query}: not rcode {rcode}, {result:?}:\n  {answer}"));
        }
        *results
            .entry(format!("rcode {rcode}, {}", if is_secure { "secure" } else { "insecure" }))
            .or_default() += 1;
    }
    for (result, count) in results {
        println!("{count:>8}  validated by unbound: {result}");
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let shown: Vec<_> = wrong.iter().take(20).cloned().collect();
    Err(format!("{}\n{} answers are not validated", shown.join("\n"), wrong.len()))
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
         trust-anchor-file: \"{}\"\n  local-zone: \"test.\" nodefault\nremote-control:\n  control-enable: no\n",
        folder.display(),
        anchors.display()
    );
    // The small zones are many and unsigned.
    for zone in zones.iter().filter(|zone| !zone.apex.ends_with(".small.")) {
        let _ =
            writeln!(text, "stub-zone:\n  name: \"{}\"\n  stub-addr: 127.0.0.1@{}", zone.apex, server.port());
    }
    text
}
