//! Indexes of the pending Interest table: operations on it in a forwarder without I/O, and forwarders under
//! full load and under a load of a steady pace.

use super::load::forwarders;
use super::work::{QUICK_COMPONENTS, QUICK_PENDING, Work, indexes, is_quick, parse};
use crate::load::{self, Index, Names};
use crate::metric;
use crate::model::digest;
use crate::model::exchanges::{self, PARTS};
use crate::model::pending::{self, BLOCK, Counts, Filling, Operation};
use hashlane_hash::scheme::Key;
use hashlane_lab::run::machine;
use hashlane_lab::study::{Contender, Rounds, RunError, Session, TurnError, by_id, ids_of, take_turns};

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
        if by_id(&Index::ALL, id).is_none() && by_id(&digest::FUNCTIONS, id).is_none() {
            let help = format!("known: {}, {}", ids_of(&Index::ALL), ids_of(&digest::FUNCTIONS));
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
    forwarders(session, &works)
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
    let key = Key::new(session.settings.key);
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Index, Counts>, round: usize| {
        let seed = session.settings.seed + round as u64;
        let counts = pending::turn(contender.subject, filling, blocks, &key, seed);
        counts.map_err(|what| {
            let (workload, what) = (contender.workload.clone(), format!("{}: {what}", contender.id));
            TurnError::Run(RunError::Expectation { workload, what })
        })
    };
    let mut contenders: Vec<_> =
        indexes.iter().map(|(id, index)| Contender::new(first, id, *index, false)).collect();
    let ids: Vec<String> = indexes.into_iter().map(|(id, _)| id).collect();
    take_turns(session, &mut contenders, rounds, turn, |session, contenders| {
        for (label, operation) in &asked {
            let count = |counts: &Counts| counts.get(*operation).copied();
            let counts = contenders.iter().map(|of| of.turns.iter().filter_map(count).collect());
            let rounds = Rounds::of(counts.collect());
            session.add_cycles(MODEL, label, &ids, &rounds);
            session.add_ratios(MODEL, label, "cycles", &ids, |of, to| rounds.ratio(of, to));
        }
    })
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
        forwarding.fill(size.items as usize * 100).map_err(failed)?;
        forwardings.push(forwarding);
    }
    let rounds = SAMPLES * size.repetitions as usize;
    let going = |_| !session.stopped();
    let parts = Rounds::try_run(&mut forwardings, rounds, going, |forwarding| forwarding.sample(PART_BLOCKS));
    let parts = parts.map_err(failed)?;
    if session.stopped() {
        return Ok(());
    }
    let ids: Vec<String> = indexes.into_iter().map(|(id, _)| id).collect();
    for (part, rounds) in PARTS.iter().zip(parts) {
        let ns = rounds.scaled(1.0 / session.rates.counter_ghz);
        session.add_rounds([PARTS_MODEL, &format!("{label}/{part}"), "cycles", metric::NS, "ns"], &ids, &ns);
    }
    Ok(())
}

/// Cost of computing a digest, by each function.
fn digests(session: &mut Session<'_>, label: &str, names: Names) -> Result<(), RunError> {
    session.step(label, "digests of Interests");
    let failed =
        || RunError::Expectation { workload: label.to_owned(), what: "no packets have such names".into() };
    let mut interests = digest::Interests::new(names, &Key::new(session.settings.key)).ok_or_else(failed)?;
    let schemes = session.definition.schemes.iter();
    let (ids, mut functions): (Vec<String>, Vec<_>) =
        schemes.filter_map(|id| Some((id.clone(), by_id(&digest::FUNCTIONS, id)?))).unzip();
    let rounds = SAMPLES * session.settings.size.repetitions as usize;
    let going = |_| !session.stopped();
    let rounds = Rounds::run(&mut functions, rounds, going, |function| interests.digest(*function));
    if rounds.len() > 1 {
        session.add_cycles(DIGEST_MODEL, label, &ids, &rounds);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PIT;
    use crate::load::Workload;
    use crate::load::{Link, Pace};
    use hashlane_lab::definition::{Definition, Selection, Size};
    use hashlane_lab::study::testing;
    use hashlane_records::RecordSet;

    #[test]
    fn reads_ids() {
        let names = |components| Names { components, third_distinct: false };
        let table = Filling { pending: 64 << 10, names: names(11), prefixes: false };
        assert_eq!(parse("match/64Ki/11").unwrap(), Work::Table(Operation::Match, table));
        let with = Filling { prefixes: true, ..table };
        assert_eq!(parse("data/64Ki/11/prefixes").unwrap(), Work::Table(Operation::Data, with));
        let workload = Workload {
            link: Link::Udp,
            names: names(4),
            pending: 0,
            tables: None,
            pace: Pace::Full,
            reliability: false,
        };
        assert_eq!(parse("paced/udp/4").unwrap(), Work::Paced(workload));
        assert_eq!(parse("load/udp/4").unwrap(), Work::Load(workload));
        assert_eq!(parse("busy/udp/4").unwrap(), Work::Busy(workload));
        assert_eq!(parse("parts/4").unwrap(), Work::Parts(names(4)));
        assert_eq!(parse("digest/20").unwrap(), Work::Digest(names(20)));
    }

    #[test]
    fn refuses_other_ids_and_says_what_there_is() {
        let wrong = "match match/64Ki match/511/4 match/17Mi/4 match/1Ki/2 find/1Ki/4 load/tcp/4 digest/x";
        for id in wrong.split(' ') {
            let error = parse(id).unwrap_err().to_string();
            assert!(error.contains("data"), "{error}");
        }
    }

    /// Records of workloads of the study, with a selection of schemes if one is named.
    fn records(workloads: &[&str], schemes: &[&str]) -> RecordSet {
        let text = include_str!("../../pit-index/study.toml");
        let mut definition = Definition::parse(text, "study.toml").unwrap();
        let [workloads, schemes] =
            [workloads, schemes].map(|ids| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        let schemes_are_all = schemes.is_empty();
        if schemes_are_all {
            definition.workloads = workloads;
        } else {
            definition.select(&Selection { schemes, workloads, repetitions: Some(2) }).unwrap();
        }
        // A selection measures what it names, and so also in the quick size.
        let size = Size { items: 10, repetitions: 2 };
        testing::records(&PIT, &definition, schemes_are_all, size)
    }

    #[test]
    fn a_tiny_run_leaves_records_of_each_index_and_function() {
        let tables = ["match/1024/4", "data/1024/4", "insert/1024/4", "expire/1024/4"];
        let records = records(&[&tables[..], &["digest/4", "parts/4"]].concat(), &[]);
        let value = |workload, id, metric| records.metric("pit-index", workload, id, metric).unwrap().value;
        for workload in tables {
            for index in ["name", "name-again", "token", "digest"] {
                assert!(value(workload, index, metric::CYCLES) > 0.0, "{workload} {index}");
            }
            assert!(records.ratio("pit-index", workload, "token", "name").is_some());
        }
        for (function, _) in digest::FUNCTIONS {
            assert!(value("digest/4", function, metric::CYCLES) > 0.0);
        }
        for index in ["name", "token", "digest"] {
            assert!(value("parts/4/pit", index, metric::NS) > 0.0);
        }
    }

    #[test]
    fn a_selection_runs_with_the_control_of_what_it_selects() {
        let of_name = records(&["match/1Ki/4"], &["name"]);
        assert!(of_name.ratio("pit-index", "match/1Ki/4", "name-again", "name").is_some());
        for scheme in ["token", "digest", "digest-one", "sha1"] {
            let records = records(&["match/1Ki/4", "parts/4", "digest/4"], &[scheme]);
            assert!(records.iter().all(|record| record.scheme == scheme), "{scheme}");
        }
    }
}
