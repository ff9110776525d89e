//! The comparison from start to end.

use crate::answer::{Answer, TC};
use crate::compare::{Difference, differences};
use crate::exchange::Answers;
use crate::generate::{Generator, META};
use crate::query::Query;
use crate::rules::{Case, RULES, World, excuse};
use crate::servers::{self, Maker, Running, installed};
use crate::validate::validate;
use crate::zone::{Zone, folded};
use crate::{Options, content, document, exchange, sign};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// Queries sent before the answers are compared.
const BATCH: usize = 6_000;

/// The class of queries about the server.
const CH: u16 = 3;

/// Results of the comparison.
#[derive(Default)]
struct Totals {
    queries: usize,
    /// Compared over TCP among them.
    tcp: usize,
    /// Answers equal to each other server's.
    equal: [usize; 2],
    /// Queries with a difference that each rule excuses.
    excused: BTreeMap<usize, usize>,
    /// Kinds of unexplained differences: their number, and the first one.
    kinds: BTreeMap<String, (usize, String)>,
    unexplained: usize,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let start = Instant::now();
    let failed = |error: std::io::Error| format!("{}: {error}", options.folder.display());
    fs::create_dir_all(options.folder.join("zones")).map_err(failed)?;
    let folder = options.folder.canonicalize().map_err(failed)?;
    let zones = zones(options, &folder)?;
    println!("{} zones after {:.1} s", zones.len(), start.elapsed().as_secs_f64());
    let ours = match &options.hashlane {
        Some(program) => {
            let path = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
            (Maker::Ours, path)
        }
        None => (Maker::Nsd, installed("nsd")),
    };
    let makers = [ours, (Maker::Nsd, installed("nsd")), (Maker::Bind, installed("named"))];
    let mut running = Vec::new();
    for (number, (maker, program)) in makers.iter().enumerate() {
        running.push(servers::start(*maker, program, &zones, &folder.join(number.to_string()))?);
        println!("{maker:?} has loaded the zones after {:.1} s", start.elapsed().as_secs_f64());
    }
    let world = World::new(&zones);
    let mut totals = Totals::default();
    let mut generator = Generator::new(&zones, options.seed);
    let mut queries = generator.systematic();
    println!("{} systematic queries", queries.len());
    queries.extend(generator.special());
    queries.truncate(options.queries);
    while queries.len() < options.queries {
        queries.push(generator.random());
    }
    // BIND limits the rate of answers in class CH over UDP.
    let (about_server, queries): (Vec<Query>, Vec<Query>) =
        queries.into_iter().partition(|query| query.class == CH);
    over_tcp((&zones, &world), &mut running, &about_server, &mut totals)?;
    for batch in queries.chunks(BATCH) {
        round((&zones, &world), &mut running, batch, &mut totals)?;
    }
    println!("{} queries after {:.1} s", totals.queries, start.elapsed().as_secs_f64());
    let validated = validate(&running, (&zones, &world), &folder, options);
    println!("validated after {:.1} s", start.elapsed().as_secs_f64());
    if options.markdown {
        let reasons = validated.as_ref().ok().cloned().unwrap_or_default();
        print!("{}", document::lists([&totals.excused, &reasons]));
    }
    let explained = options.document.as_deref().map_or(Ok(()), document::check);
    let wrong: Vec<String> = [report(&totals, options.show), validated.map(drop), explained]
        .into_iter()
        .filter_map(Result::err)
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Writes and signs the zones.
fn zones(options: &Options, folder: &Path) -> Result<Vec<Zone>, String> {
    let path = folder.join("anchors");
    let folder = folder.join("zones");
    let mut zones = content::zones(options.seed);
    let anchors = sign::sign(&mut zones, &folder)?;
    fs::write(&path, anchors).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(zones)
}

/// Sends a batch over UDP, and a part of it over TCP, and compares the answers.
fn round(
    zones: (&[Zone], &World),
    running: &mut [Running],
    batch: &[Query],
    totals: &mut Totals,
) -> Result<(), String> {
    let asked: Vec<Vec<u8>> =
        batch.iter().enumerate().map(|(at, query)| query.to_bytes(exchange::id(at))).collect();
    let answers = ask(running, &asked, exchange::udp)?;
    compare(zones, batch, &answers, true, totals);
    let truncated = |at: &usize| {
        let is_cut =
            |answer: &Option<Vec<u8>>| answer.as_ref().is_some_and(|answer| answer[2] & (TC >> 8) as u8 > 0);
        answers.iter().any(|answers| is_cut(&answers[*at]))
    };
    let again = (0..batch.len()).filter(|at| at % 25 == 0 || truncated(at));
    let again: Vec<Query> =
        again.map(|at| batch[at].clone()).filter(|query| !META.contains(&query.rtype)).collect();
    over_tcp(zones, running, &again, totals)
}

fn over_tcp(
    zones: (&[Zone], &World),
    running: &mut [Running],
    queries: &[Query],
    totals: &mut Totals,
) -> Result<(), String> {
    let asked: Vec<Vec<u8>> =
        queries.iter().enumerate().map(|(at, query)| query.to_bytes(exchange::id(at))).collect();
    let answers = ask(running, &asked, exchange::tcp)?;
    compare(zones, queries, &answers, false, totals);
    totals.tcp += queries.len();
    running.iter_mut().try_for_each(Running::check)
}

/// Asks all servers at the same time.
fn ask(
    running: &[Running],
    asked: &[Vec<u8>],
    way: fn(SocketAddr, &[Vec<u8>]) -> Result<Answers, String>,
) -> Result<Vec<Answers>, String> {
    thread::scope(|scope| {
        let threads: Vec<_> =
            running.iter().map(|server| scope.spawn(move || way(server.address, asked))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a sender has failed".to_owned())?)
            .collect()
    })
}

fn compare(
    (zones, world): (&[Zone], &World),
    queries: &[Query],
    answers: &[Answers],
    is_udp: bool,
    totals: &mut Totals,
) {
    for (at, query) in queries.iter().enumerate() {
        totals.queries += 1;
        let parsed: Vec<Option<Result<Answer, String>>> =
            answers.iter().map(|answers| answers[at].as_deref().map(Answer::parse)).collect();
        let [ours, others @ ..] = &parsed[..] else { return };
        let found: Vec<Vec<Difference>> = others
            .iter()
            .map(|theirs| match (ours, theirs) {
                (Some(Ok(ours)), Some(Ok(theirs))) => differences(ours, theirs),
                _ => Vec::new(),
            })
            .collect();
        let name = folded(query.name.view());
        for (index, maker) in [Maker::Nsd, Maker::Bind].into_iter().enumerate() {
            let (ours, theirs) = match (ours, &others[index]) {
                (Some(Ok(ours)), Some(Ok(theirs))) => (ours, theirs),
                (None, None) => {
                    totals.equal[index] += 1;
                    continue;
                }
                (ours, theirs) => {
                    let kind = |answer: &Option<Result<Answer, String>>| match answer {
                        None => "none".to_owned(),
                        Some(Err(why)) => format!("malformed, {why}"),
                        Some(Ok(answer)) => format!("rcode {}", answer.rcode),
                    };
                    let kind = format!("{maker:?}: answer {}, and theirs {}", kind(ours), kind(theirs));
                    unexplained(totals, format!("{query}\n"), kind);
                    continue;
                }
            };
            if found[index].is_empty() {
                totals.equal[index] += 1;
                continue;
            }
            let other = &found[1 - index][..];
            let case = Case { zones, world, query, name: &name, is_udp, ours, theirs, other, maker };
            let mut used = Vec::new();
            let mut without = Vec::new();
            for difference in &found[index] {
                match excuse(&case, difference) {
                    Some(rule) => used.push(rule),
                    None => without.push(difference),
                }
            }
            used.sort_unstable();
            used.dedup();
            for rule in used {
                *totals.excused.entry(rule).or_default() += 1;
            }
            if without.is_empty() {
                continue;
            }
            let alone = |difference: &Difference| if case.is_alone(difference) { "neither " } else { "" };
            let mut kinds: Vec<String> = without
                .iter()
                .map(|difference| format!("{}{}", alone(difference), difference.kind()))
                .collect();
            kinds.sort();
            kinds.dedup();
            let kind = format!("{maker:?}: {}", kinds.join(", "));
            let text = describe(&case, &without);
            unexplained(totals, text, kind);
        }
    }
}

fn unexplained(totals: &mut Totals, text: String, kind: String) {
    totals.unexplained += 1;
    totals.kinds.entry(kind).or_insert((0, text)).0 += 1;
}

fn describe(case: &Case<'_>, differences: &[&Difference]) -> String {
    let Case { zones, query, maker, .. } = case;
    let mut text = format!("query over {}: {query}\n", if case.is_udp { "UDP" } else { "TCP" });
    let _ = write!(text, "  ours: {}  {maker:?}: {}", case.ours, case.theirs);
    for difference in differences {
        let _ = writeln!(text, "  difference: {difference}");
    }
    let Some(zone) = zones.get(query.zone) else { return text };
    for line in zone.lines_near(query.name.view()) {
        let _ = writeln!(text, "  zone: {}", line.get(..160).unwrap_or(line));
    }
    text
}

fn report(totals: &Totals, shown: usize) -> Result<(), String> {
    println!(
        "{} queries, {} of them over TCP; {} answers equal NSD's and {} BIND's",
        totals.queries, totals.tcp, totals.equal[0], totals.equal[1]
    );
    for (rule, count) in &totals.excused {
        println!("{count:>8}  {}", RULES[*rule].name);
    }
    if totals.unexplained == 0 {
        return Ok(());
    }
    let mut kinds: Vec<_> = totals.kinds.iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let mut text = String::new();
    for (kind, (count, first)) in kinds.iter().take(shown) {
        let _ = writeln!(text, "{count} times {kind}, first:\n{first}");
    }
    for (kind, (count, _)) in kinds {
        let _ = writeln!(text, "{count:>8}  {kind}");
    }
    Err(format!("{text}{} unexplained differences", totals.unexplained))
}
