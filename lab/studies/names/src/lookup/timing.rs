//! Tables of all schemes, and the times of their turns.

use super::corpus::Corpus;
use super::strings::Strings;
use super::table::{Answer, Build, Table};
use super::workload::Operation;
use super::{MODEL, prefix, suffix};
use crate::metric;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{Fact, Rounds, RunError, Session, by_id, order};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

/// Lookups of a turn before the timed ones. They, and a pass over the names, leave the same code, predictors
/// and names in the caches to each turn, whichever table had the turn before.
const UNTIMED: usize = 1024;

/// Lookups for each entry that is removed and inserted in a turn.
const LOOKUPS_PER_UPDATE: usize = 32;

/// A scheme and its table.
pub(super) struct Entry {
    id: String,
    table: Box<dyn Table>,
    /// Nanoseconds of its building.
    built: f64,
}

/// The way to build the table of a scheme, of suffixes or of prefixes; `None` of another kind's.
pub(super) fn build_of(id: &str, suffixes: bool) -> Option<Build> {
    by_id(if suffixes { suffix::SCHEMES } else { prefix::DESIGNS }, subject(id))
}

/// Schemes on a workload that are of its kind.
pub(super) fn schemes_on(session: &Session<'_>, workload: &str, suffixes: bool) -> Vec<String> {
    let schemes = session.definition.schemes_on(workload).iter();
    schemes.filter(|id| build_of(id, suffixes).is_some()).cloned().collect()
}

/// Builds the tables of all schemes.
pub(super) fn build(
    session: &mut Session<'_>,
    workload: &str,
    schemes: &[String],
    suffixes: bool,
    corpus: &dyn Corpus,
) -> Result<Vec<Entry>, RunError> {
    let key = Key::new(session.settings.key);
    let mut tables = Vec::new();
    for at in order(schemes.len(), 0) {
        if session.stopped() {
            break;
        }
        let Some((id, build)) = schemes.get(at).and_then(|id| Some((id, build_of(id, suffixes)?))) else {
            continue;
        };
        session.doing(workload, &format!("building {id}"));
        let start = cpu_ns();
        let Some(table) = build(corpus.entries(), &key) else {
            let why = format!("{} entries cannot be built", corpus.entries().len());
            return Err(RunError::Subject { workload: workload.into(), scheme: id.clone(), why });
        };
        tables.push(Entry { id: id.clone(), table, built: cpu_ns() - start });
    }
    Ok(tables)
}

/// Looks up names drawn anew for each round, or updates entries, and records the times.
pub(super) fn find(
    session: &mut Session<'_>,
    workload: &str,
    operation: Operation,
    corpus: &dyn Corpus,
    tables: &mut [Entry],
) -> Result<(), RunError> {
    let schemes = session.definition.schemes_on(workload);
    let mut tables: Vec<&mut Entry> = tables.iter_mut().filter(|entry| schemes.contains(&entry.id)).collect();
    let rounds = if operation == Operation::Update {
        update(session, workload, corpus, &mut tables)?
    } else {
        look_up(session, workload, operation, corpus, &mut tables)?
    };
    record(session, workload, corpus.entries(), &tables, &rounds);
    Ok(())
}

/// Looks up all names: the answer, and nanoseconds of CPU time for each.
fn time(table: &mut dyn Table, names: &Strings) -> (Answer, f64) {
    let start = cpu_ns();
    let answer = table.find(names);
    (answer, (cpu_ns() - start) / names.len() as f64)
}

/// Times lookups again and again while another thread makes and drops a `T`: the last answer, and the mean of
/// the times.
fn beside<T>(make: impl FnOnce() -> T + Send, mut time: impl FnMut() -> (Answer, f64)) -> (Answer, f64) {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| drop(black_box(make())));
        let (mut answer, mut sum) = time();
        let mut times = 1;
        while !other.is_finished() {
            let (last, ns) = time();
            (answer, sum, times) = (last, sum + ns, times + 1);
        }
        (answer, sum / f64::from(times))
    })
}

fn look_up(
    session: &Session<'_>,
    workload: &str,
    operation: Operation,
    corpus: &dyn Corpus,
    tables: &mut [&mut Entry],
) -> Result<Rounds, RunError> {
    let (queries, rounds) =
        (session.settings.size.items as usize, session.settings.size.repetitions as usize);
    let seed = session.settings.seed ^ 0x6c6f_6f6b;
    let random = RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed));
    let (untimed, timed) = (RefCell::new(Strings::default()), RefCell::new(Strings::default()));
    let (expected, mut wrong) = (Cell::new(None::<Answer>), None);
    let key = Key::new(session.settings.key);
    let rounds = Rounds::run(
        tables,
        rounds,
        |_| {
            for (names, count) in [(&untimed, UNTIMED), (&timed, queries)] {
                let names = &mut *names.borrow_mut();
                names.clear();
                corpus.draw(operation, count, &mut random.borrow_mut(), names);
            }
            expected.set(None);
            !session.stopped()
        },
        |Entry { id, table, .. }| {
            let (untimed, timed) = (untimed.borrow(), timed.borrow());
            black_box(timed.bytes().iter().fold(0, |bits, byte| bits ^ byte));
            table.find(&untimed);
            let reload = || build_of(id, true).and_then(|build| build(corpus.entries(), &key));
            let (answer, ns) = match operation {
                Operation::Reload => beside(reload, || time(&mut **table, &timed)),
                _ => time(&mut **table, &timed),
            };
            if subject(id) != prefix::HASHING {
                let first = expected.get().unwrap_or(answer);
                expected.set(Some(first));
                let matching = corpus.matching(operation, queries).unwrap_or(first.names);
                if answer != first || answer.names != matching {
                    wrong = Some((id.clone(), answer, first, matching));
                }
            }
            ns
        },
    );
    match wrong {
        Some((id, Answer { names, sum }, first, matching)) => {
            let what = format!(
                "{id}: {names} of {queries} names match, with a sum of {sum}; others: {matching}, {}",
                first.sum
            );
            Err(RunError::Expectation { workload: workload.into(), what })
        }
        None => Ok(rounds),
    }
}

/// Removes and inserts a part of the entries in each round: nanoseconds for one of the two.
fn update(
    session: &Session<'_>,
    workload: &str,
    corpus: &dyn Corpus,
    tables: &mut [&mut Entry],
) -> Result<Rounds, RunError> {
    let entries = corpus.entries();
    let count = (session.settings.size.items as usize / LOOKUPS_PER_UPDATE).clamp(1, entries.len());
    let (part, first) = (RefCell::new(Strings::default()), Cell::new(0));
    let mut wrong = None;
    let rounds = Rounds::run(
        tables,
        session.settings.size.repetitions as usize,
        |round| {
            first.set(round * count % (entries.len() - count + 1));
            *part.borrow_mut() = (0..count).map(|at| entries.get(first.get() + at)).collect();
            !session.stopped()
        },
        |Entry { id, table, .. }| {
            let part = part.borrow();
            black_box(part.bytes().iter().fold(0, |bits, byte| bits ^ byte));
            let start = cpu_ns();
            let removed = table.replace(&part, first.get() as u32);
            let ns = (cpu_ns() - start) / (2 * count) as f64;
            if removed != Some(count as u64) {
                wrong = Some(format!("{id} removed {removed:?} of {count} entries"));
            }
            ns
        },
    );
    match wrong {
        Some(what) => Err(RunError::Expectation { workload: workload.into(), what }),
        None => Ok(rounds),
    }
}

fn record(
    session: &mut Session<'_>,
    workload: &str,
    entries: &Strings,
    tables: &[&mut Entry],
    rounds: &Rounds,
) {
    if rounds.len() < 2 {
        return;
    }
    let ids: Vec<String> = tables.iter().map(|entry| entry.id.clone()).collect();
    session.add_rounds([MODEL, workload, "rounds", metric::NS, "ns"], &ids, rounds);
    session.add_ratios(MODEL, workload, "rounds", &ids, |of, to| rounds.ratio(of, to));
    let count = entries.len() as f64;
    for Entry { id, table, built } in tables {
        if subject(id) == prefix::HASHING {
            continue;
        }
        let mut add = |probe: &str, metric: &str, unit: &str, value: f64| {
            session.add(MODEL, workload, id, probe, metric, unit, Fact::exact(value, 1));
        };
        add("build", metric::BUILD_NS, "ns", built / count);
        if let Some(bytes) = table.memory() {
            add("count", metric::BYTES, "bytes", bytes as f64 / count);
            let beyond = (bytes as f64 - entries.bytes().len() as f64) / count;
            add("count", metric::BYTES_BEYOND, "bytes", beyond);
        }
    }
}
