//! Run of a study of columns: its workloads, one after the other, in one process of Python.

use super::data::{Columns, HASHED, SKEWED};
use crate::calls::run::{check_schemes, contenders, count_steps, figures, start};
use crate::calls::timed::{self, Timed};
use crate::data::Data;
use crate::process::Process;
use hashlane_hash::scheme::Key;
use hashlane_lab::study::{RunError, Session, TurnError, take_turns};
use std::fs;
use std::path::Path;

/// Model of all records.
pub(super) const MODEL: &str = "python-columns";

/// Packets of the capture, as the script writes it.
const PACKETS: usize = 1 << 14;

/// Workloads, the rows of each, and the schemes that can be measured on it.
const WORKLOADS: [(&str, usize, &[&str]); 5] = [
    ("strings-12", HASHED, &STRINGS),
    ("strings-50", HASHED, &STRINGS),
    ("distinct-12", SKEWED, &["hashlane", "polars"]),
    ("heavy-12", SKEWED, &["hashlane", "polars"]),
    ("capture", PACKETS, &["hashlane", "dpkt", "scapy"]),
];

const STRINGS: [&str; 7] = [
    "hashlane",
    "hashlane/polars",
    "hashlane/expression",
    "hashlane/crc32c",
    "polars",
    "duckdb",
    "duckdb/scan",
];

/// Measures a study of columns.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&WORKLOADS.map(|(id, ..)| id))?;
    check_schemes(session, is_known)?;
    if session.stopped() {
        return Ok(());
    }
    count_steps(session);
    session.with_folder("hashlane-python-", workloads)
}

/// `true` if a scheme can be measured on a workload.
pub(super) fn is_known(workload: &str, scheme: &str) -> bool {
    WORKLOADS.iter().any(|(id, _, schemes)| *id == workload && schemes.contains(&scheme))
}

/// Measures all workloads.
fn workloads(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    let definition = session.definition;
    let first = definition.workloads.first().map_or("", String::as_str);
    session.step(first, "writing the keys");
    let columns = Columns::new(session.settings.seed);
    let (mut python, absent) = match write(session, &columns, folder).and_then(|()| start(session, folder)) {
        Ok(started) => started,
        Err(TurnError::Stopped) => return Ok(()),
        Err(error) => return Err(RunError::other(error)),
    };
    for workload in &definition.workloads {
        if session.stopped() {
            break;
        }
        let measured = measure(session, &mut python, &absent, workload, &columns);
        measured.or_else(|(scheme, error)| error.end(workload, &scheme))?;
    }
    Ok(())
}

/// Writes the columns, the tuples of the capture, and the part of the script that this study needs.
fn write(session: &Session<'_>, columns: &Columns, folder: &Path) -> Result<(), TurnError> {
    columns.write(folder)?;
    Data::new(session.settings.seed, PACKETS).write(folder)?;
    fs::write(folder.join("columns.py"), include_str!("../script/columns.py"))
        .map_err(TurnError::io("cannot write a script"))
}

/// Measures a workload in rounds. An error is of a scheme.
fn measure(
    session: &mut Session<'_>,
    python: &mut Process<'_>,
    absent: &[String],
    workload: &str,
    columns: &Columns,
) -> Result<(), (String, TurnError)> {
    let rows = WORKLOADS.iter().find(|(id, ..)| *id == workload).map_or(1, |(_, rows, _)| *rows);
    let (rounds, key) = (session.settings.size.repetitions as usize, Key::new(session.settings.key));
    let expected = |scheme: &str| columns.expected(workload, scheme, &key);
    let mut all = contenders(session, python, absent, workload, rows, expected)?;
    let turn = |_: &mut Session<'_>, timed: &mut Timed, _| timed::turn(timed, python);
    let figures = figures(MODEL);
    let ended = take_turns(session, &mut all, rounds, turn, |session, all| figures.record(session, all));
    ended.map_err(|error| ("hashlane".to_owned(), error.into()))
}
