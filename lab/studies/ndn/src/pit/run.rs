//! Indexes of the pending Interest table: operations on it in a forwarder without I/O, and forwarders under
//! full load and under a load of a steady pace.

use super::load::forwarders;
use super::work::{QUICK_COMPONENTS, QUICK_PENDING, Work, indexes, is_quick, parse};
use crate::load::{self, Index, Names};
use crate::metric;
use crate::model::digest;
use crate::model::exchanges::{self, BLOCK as EXCHANGES, PARTS};
use crate::model::pending::{self, BLOCK, Filling, Operation};
use hashlane_hash::scheme::Key;
use hashlane_lab::run::machine;
use hashlane_lab::study::Fact;
use hashlane_lab::study::{Rounds, order};
use hashlane_lab::study::{RunError, Session};

/// Models of the records. The operations' model is the study's.
pub(crate) const MODEL: &str = "pit";
const PARTS_MODEL: &str = "pit-parts";
const DIGEST_MODEL: &str = "pit-digest";

/// Blocks of an operation in a turn, in either size.
const BLOCKS: [usize; 2] = [16, 96];
/// Most memory of an entry, in bytes.
const PER_ENTRY: u64 = 700;

/// Samples of the parts and of the digests, for each round, and blocks of each.
const SAMPLES: usize = 4;
const PART_BLOCKS: usize = 8;

/// Measures a study of the indexes.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    for id in &definition.schemes {
        if Index::of(id).is_none() && digest::function(id).is_none() {
            let known = Index::ALL.iter().map(|(id, _)| *id).chain(digest::FUNCTIONS);
            let help = format!("known: {}", known.collect::<Vec<_>>().join(", "));
            return Err(RunError::UnknownScheme { id: id.clone(), help });
        }
    }
    let mut works = Vec::new();
    let mut left_out = 0;
    for label in &definition.workloads {
        let work = parse(label)?;
        if session.settings.full || definition.names_workloads() || is_quick(&work) {
            works.push((label.as_str(), work));
        } else {
            left_out += 1;
        }
    }
    let netns = |work: &Work| work.load().is_some_and(|load| load.link == load::Link::Netns);
    if works.iter().any(|(_, work)| netns(work))
        && !session.stopped()
        && let Some(why) = load::namespaces_refused()
    {
        works.retain(|(_, work)| !netns(work));
        session.notes.push(format!("no network of namespaces was measured, only loopback ports: {why}"));
    }
    if left_out > 0 {
        session.notes.push(format!(
            "{left_out} workloads were left out: names of other than {QUICK_COMPONENTS} components, more \
             than {QUICK_PENDING} entries, Unix sockets, namespaces, a busy core; --full measures them"
        ));
    }
    let rounds = session.settings.size.repetitions as usize;
    let mut fillings: Vec<Filling> = Vec::new();
    for (_, work) in &works {
        if let Work::Table(_, filling) = work
            && !fillings.contains(filling)
        {
            fillings.push(*filling);
        }
    }
    let loads = works.iter().filter(|(_, work)| work.load().is_some()).count();
    let others = works.iter().filter(|(_, work)| matches!(work, Work::Parts(_) | Work::Digest(_))).count();
    session.total = rounds
        * (fillings.len() * indexes(session, false).len() + loads * indexes(session, true).len())
        + others;
    for filling in &fillings {
        tables(session, filling, &works, rounds)?;
    }
    for (label, work) in &works {
        match work {
            Work::Parts(names) => parts(session, label, *names)?,
            Work::Digest(names) => digests(session, label, *names)?,
            _ => {}
        }
    }
    forwarders(session, &works, rounds)
}

/// Measures tables of one filling in alternation: each is made anew for each of its turns, so that only one
/// exists at a time.
fn tables(
    session: &mut Session<'_>,
    filling: &Filling,
    works: &[(&str, Work)],
    rounds: usize,
) -> Result<(), RunError> {
    let indexes = indexes(session, false);
    let asked: Vec<(&str, usize)> = works
        .iter()
        .filter_map(|(label, work)| match work {
            Work::Table(operation, of) if of == filling => {
                Some((*label, Operation::ALL.iter().position(|(_, known)| known == operation)?))
            }
            _ => None,
        })
        .collect();
    let Some((first, _)) = asked.first() else { return Ok(()) };
    if let Some(note) = too_large(filling.pending) {
        session.notes.push(note);
        return Ok(());
    }
    let [quick, full] = BLOCKS;
    let blocks = if session.settings.full { full } else { quick };
    let blocks = blocks.min(filling.pending / BLOCK / 2).max(1);
    // Of each operation, of each index, round by round.
    let mut figures = vec![vec![Vec::new(); indexes.len()]; Operation::ALL.len()];
    let mut whole = 0;
    'rounds: for round in 0..rounds {
        for at in order(indexes.len(), round) {
            let Some((id, index)) = indexes.get(at) else { continue };
            if session.stopped() {
                break 'rounds;
            }
            session.step(first, &format!("the table by {id}, round {} of {rounds}", round + 1));
            let seed = session.settings.seed + round as u64;
            let counts = pending::turn(*index, filling, blocks, &Key::new(session.settings.key), seed)
                .map_err(|what| RunError::Expectation {
                    workload: (*first).to_owned(),
                    what: format!("{id}: {what}"),
                })?;
            for (figures, count) in figures.iter_mut().zip(counts) {
                if let Some(figures) = figures.get_mut(at) {
                    figures.push(count);
                }
            }
        }
        whole = round + 1;
    }
    if whole < 2 {
        return Ok(());
    }
    let ids: Vec<String> = indexes.into_iter().map(|(id, _)| id).collect();
    let ghz = session.rates.counter_ghz;
    for (label, operation) in asked {
        let Some(figures) = figures.get_mut(operation) else { continue };
        figures.iter_mut().for_each(|figures| figures.truncate(whole));
        let rounds = Rounds::of(figures.clone());
        for (at, id) in ids.iter().enumerate() {
            let mut fact = rounds.time(at);
            session.add(MODEL, label, id, "cycles", metric::CYCLES, "cycles", fact);
            fact.scale(1.0 / ghz);
            session.add(MODEL, label, id, "cycles", metric::NS, "ns", fact);
        }
        session.add_ratios(MODEL, label, "cycles", &ids, |of, to| rounds.ratio(of, to));
    }
    Ok(())
}

/// Reason for which tables of so many entries are not filled here.
fn too_large(pending: usize) -> Option<String> {
    let need = pending as u64 * PER_ENTRY;
    let available = machine::available_memory()?;
    (need > available / 2).then(|| {
        format!(
            "tables of {pending} entries were left out: each may take {} MiB, and {} MiB are available",
            need >> 20,
            available >> 20
        )
    })
}

/// Time of each part of a forwarder under each index, without I/O; in alternation.
fn parts(session: &mut Session<'_>, label: &str, names: Names) -> Result<(), RunError> {
    session.step(label, "the parts of the forwarder without I/O");
    let failed = |what: String| RunError::Expectation { workload: label.to_owned(), what };
    let control = session.definition.control.as_ref().map(|(again, _)| again);
    let indexes: Vec<(String, Index)> =
        indexes(session, false).into_iter().filter(|(id, _)| Some(id) != control).collect();
    let size = session.settings.size;
    let mut forwardings = Vec::new();
    for (_, index) in &indexes {
        let made = exchanges::indexed(*index, names, &Key::new(session.settings.key));
        let mut forwarding = made.ok_or_else(|| failed("no packets have names of this shape".into()))?;
        let fill = forwarding.exchanges_to_fill().min(size.items as usize * 100);
        for _ in 0..fill.div_ceil(EXCHANGES) {
            forwarding.block().map_err(failed)?;
        }
        forwardings.push(forwarding);
    }
    let mut figures = vec![vec![Vec::new(); indexes.len()]; PARTS.len()];
    for _ in 0..SAMPLES * size.repetitions as usize {
        if session.stopped() {
            return Ok(());
        }
        for (at, forwarding) in forwardings.iter_mut().enumerate() {
            let mut sum = [0; PARTS.len()];
            for _ in 0..PART_BLOCKS {
                let counts = forwarding.block().map_err(failed)?;
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            for (figures, sum) in figures.iter_mut().zip(sum) {
                if let Some(figures) = figures.get_mut(at) {
                    figures.push(sum as f64 / (PART_BLOCKS * EXCHANGES) as f64);
                }
            }
        }
    }
    let ghz = session.rates.counter_ghz;
    for (part, figures) in PARTS.iter().zip(figures) {
        let rounds = Rounds::of(figures);
        for (at, (id, _)) in indexes.iter().enumerate() {
            let mut fact = rounds.time(at);
            fact.scale(1.0 / ghz);
            session.add(PARTS_MODEL, &format!("{label}/{part}"), id, "cycles", metric::NS, "ns", fact);
        }
    }
    Ok(())
}

/// Cost of computing a digest, by each function.
fn digests(session: &mut Session<'_>, label: &str, names: Names) -> Result<(), RunError> {
    session.step(label, "digests of Interests");
    let failed =
        || RunError::Expectation { workload: label.to_owned(), what: "no packets have such names".into() };
    let mut interests = digest::Interests::new(names, &Key::new(session.settings.key)).ok_or_else(failed)?;
    let ids: Vec<String> =
        session.definition.schemes.iter().filter(|id| digest::function(id).is_some()).cloned().collect();
    let mut subjects: Vec<_> = ids.iter().filter_map(|id| digest::function(id)).collect();
    let rounds = SAMPLES * session.settings.size.repetitions as usize;
    let stop = session.stop;
    let going = |_| !stop.load(std::sync::atomic::Ordering::Relaxed);
    let rounds = Rounds::run(&mut subjects, rounds, going, |function| interests.digest(*function));
    if rounds.len() < 2 {
        return Ok(());
    }
    let ghz = session.rates.counter_ghz;
    for (at, id) in ids.iter().enumerate() {
        let mut fact: Fact = rounds.time(at);
        session.add(DIGEST_MODEL, label, id, "cycles", metric::CYCLES, "cycles", fact);
        fact.scale(1.0 / ghz);
        session.add(DIGEST_MODEL, label, id, "cycles", metric::NS, "ns", fact);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pit;
    use crate::load::Workload;
    use crate::load::{Link, Pace};
    use hashlane_lab::definition::{Definition, Selection, Size};
    use hashlane_lab::study::{self, Settings};
    use hashlane_records::RecordSet;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn reads_ids() {
        let names = |components| Names { components, third_distinct: false };
        let table = Filling { pending: 64 << 10, names: names(11), prefixes: false };
        assert_eq!(parse("match/64Ki/11").unwrap(), Work::Table(Operation::Match, table));
        let with = Filling { prefixes: true, ..table };
        assert_eq!(parse("data/64Ki/11/prefixes").unwrap(), Work::Table(Operation::Data, with));
        let workload =
            Workload { link: Link::Udp, names: names(4), pending: 0, tables: None, pace: Pace::Full };
        assert_eq!(parse("paced/udp/4").unwrap(), Work::Paced(workload));
        assert_eq!(parse("load/udp/4").unwrap(), Work::Load(workload));
        assert_eq!(parse("busy/udp/4").unwrap(), Work::Busy(workload));
        assert_eq!(parse("parts/4").unwrap(), Work::Parts(names(4)));
        assert_eq!(parse("digest/20").unwrap(), Work::Digest(names(20)));
    }

    #[test]
    fn refuses_other_ids_and_says_what_there_is() {
        for id in [
            "match",
            "match/64Ki",
            "match/511/4",
            "match/17Mi/4",
            "match/1Ki/2",
            "find/1Ki/4",
            "load/tcp/4",
            "digest/x",
        ] {
            let error = parse(id).unwrap_err().to_string();
            assert!(error.contains("data"), "{error}");
        }
    }

    /// The study of these workloads.
    fn records(workloads: &[&str]) -> RecordSet {
        let text = include_str!("../../pit-index/study.toml");
        let mut definition = Definition::parse(text, "study.toml").unwrap();
        definition.workloads = workloads.iter().map(|id| (*id).to_owned()).collect();
        let size = Size { items: 10, repetitions: 2 };
        let settings = Settings { size, ..Settings::new(&definition, true, "hashlane".into()) };
        let outcome = study::run(&Pit, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
        assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
        outcome.records
    }

    #[test]
    fn a_tiny_run_leaves_records_of_each_index_and_function() {
        let records = records(&[
            "match/1024/4",
            "data/1024/4",
            "insert/1024/4",
            "expire/1024/4",
            "digest/4",
            "parts/4",
        ]);
        for workload in ["match/1024/4", "data/1024/4", "insert/1024/4", "expire/1024/4"] {
            for index in ["name", "name-again", "token", "digest"] {
                let value = records.metric("pit-index", workload, index, metric::CYCLES).unwrap().value;
                assert!(value > 0.0, "{workload} {index}");
            }
            assert!(records.ratio("pit-index", workload, "token", "name").is_some());
        }
        for function in digest::FUNCTIONS {
            assert!(records.metric("pit-index", "digest/4", function, metric::CYCLES).unwrap().value > 0.0);
        }
        for index in ["name", "token", "digest"] {
            assert!(records.metric("pit-index", "parts/4/pit", index, metric::NS).unwrap().value > 0.0);
        }
    }

    #[test]
    fn a_selection_runs_with_the_control_of_what_it_selects() {
        let run = |schemes: &[&str], workload: &str| {
            let text = include_str!("../../pit-index/study.toml");
            let mut definition = Definition::parse(text, "study.toml").unwrap();
            let (schemes, workloads) = (schemes.iter().map(|id| (*id).to_owned()), vec![workload.to_owned()]);
            let selection = Selection { schemes: schemes.collect(), workloads, repetitions: Some(2) };
            definition.select(&selection).unwrap();
            let settings = Settings::new(&definition, false, "hashlane".into());
            let outcome = study::run(&Pit, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
            assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
            outcome.records
        };
        // Not in the quick size, and measured because it is named.
        let records = run(&["name"], "match/1Ki/4");
        assert!(records.ratio("pit-index", "match/1Ki/4", "name-again", "name").is_some());
        for scheme in ["token", "digest", "digest-one", "sha1"] {
            for workload in ["match/1Ki/4", "parts/4", "digest/4"] {
                let records = run(&[scheme], workload);
                assert!(records.iter().all(|record| record.scheme == scheme), "{scheme} {workload}");
            }
        }
    }
}
