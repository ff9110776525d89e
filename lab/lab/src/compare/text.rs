//! Comparisons as tables for the terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::terminal::{table, wrapped};
use hashlane_records::Key;
use hashlane_records::compare::repeats::Repeats;
use hashlane_records::compare::{Comparison, Judged, Rank, Row, Study, Verdict, is_ratio, name};
use hashlane_stats::Interval;
use hashlane_stats::format::{figure, interval, none, plain, plural, ratio};

/// Longest list of rows that one side lacks.
const MAX_LISTED: usize = 5;

/// Rows of the ranking, in each direction.
const MAX_RANKED: usize = 5;

/// Reason why ratios of two runs decide nothing. The figures are of six runs of name-encodings by one build,
/// compared in pairs.
const NO_VERDICT: &str = "No verdict: A and B are separate runs. They did not alternate: clock rates \
                          and neighbours on the machine may have changed in between. Bounds marked ¹ hold \
                          within one launch only: between six runs of one build, 92 to 140 of 329 of them \
                          did not contain 1. For verdicts, let the two builds alternate: hashlane compare \
                          --run BEFORE AFTER.";

/// Tables, one for each study, workload and metric, at most `width` columns wide as far as the ids of the
/// schemes allow; then the rows that one side lacks, the largest differences, and the geometric mean.
pub fn comparison(comparison: &Comparison, width: u16) -> String {
    let mut out = String::new();
    for study in &comparison.studies {
        out += &tables(study, width);
    }
    out += &lacking("Only in A", &comparison.only_a);
    out += &lacking("Only in B", &comparison.only_b);
    out += &ranking(&comparison.rank(), width);
    for study in &comparison.studies {
        out += &wrapped(&summary(study), "", width);
    }
    if comparison.studies.iter().any(|study| study.launches.is_none()) {
        out += &wrapped(NO_VERDICT, "", width);
    }
    out
}

fn ranking(rank: &Rank<'_>, width: u16) -> String {
    let mut out = String::new();
    for (title, rows) in [("Largest increases", &rank.more), ("Largest decreases", &rank.less)] {
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{title}, B / A ({} of {}):", rows.len().min(MAX_RANKED), rows.len());
        for row in rows.iter().take(MAX_RANKED) {
            let Some(found) = row.ratio else { continue };
            let line = match row.judged {
                Some(_) => format!("{} {}  {}", ratio(found.value), interval(found, ratio), row.name()),
                None => format!("{}  {}", ratio(found.value), row.name()),
            };
            out += &wrapped(&plain(&line), "  ", width);
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Shares of intervals that hold the values of other runs, as a table.
pub fn repeats(repeats: &[Repeats], width: u16) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let row = |r: &Repeats| {
        let shares = [r.next, r.other, r.apart, r.width].map(percent);
        [r.study.clone(), r.rows.to_owned(), r.count.to_string()].into_iter().chain(shares).collect()
    };
    let header = [
        "study",
        "figures",
        "rows",
        "hold the next run",
        "hold another run",
        "do not touch",
        "width (median)",
    ];
    table(&header, repeats.iter().map(row).collect(), 2, width)
}

fn tables(study: &Study, width: u16) -> String {
    let mut groups: Vec<((&str, &str), Vec<&Row>)> = Vec::new();
    for row in &study.rows {
        let group = (row.key.workload.as_str(), row.key.metric.as_str());
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((group, vec![row])),
        }
    }
    let mut out = String::new();
    for ((workload, metric), rows) in groups {
        let units: Vec<&str> = rows.iter().map(|row| row.key.unit.as_str()).collect();
        // A ratio's unit is a scheme, which may differ from row to row.
        let same = units.windows(2).all(|pair| pair.first() == pair.last());
        let unit = units.first().filter(|_| same).map(|unit| format!(", {unit}")).unwrap_or_default();
        out += &wrapped(&plain(&format!("{} · {workload} · {metric}{unit}", study.slug)), "", width);
        let scheme = |row: &Row| match same {
            true => row.key.scheme.clone(),
            false => format!("{} / {}", row.key.scheme, row.key.unit),
        };
        let show = if is_ratio(metric) { ratio } else { figure };
        let alternated = study.launches.is_some();
        let line = |row: &&Row| {
            let mut cells = vec![scheme(row), show(row.a.value), show(row.b.value)];
            cells.extend(match row.judged {
                Some(judged) => judged_cells(row.ratio, judged),
                None => vec![ratio_cell(row.ratio), row.ratio.map_or_else(none, |r| interval(r, ratio))],
            });
            cells
        };
        let rows = rows.iter().map(line).collect();
        out += &match alternated {
            true => {
                table(&["scheme", "A", "B", "B / A", "95 %, all rows", "A′ / A", "verdict"], rows, 1, width)
            }
            false => table(&["scheme", "A", "B", "B / A", "95 %, no verdict"], rows, 1, width),
        };
        out.push('\n');
    }
    out
}

fn judged_cells(found: Option<Interval>, Judged { control, verdict }: Judged) -> Vec<String> {
    let bounds =
        |of: Option<Interval>| of.filter(Interval::is_conclusive).map_or_else(none, |r| interval(r, ratio));
    let control = match control.filter(Interval::is_conclusive) {
        Some(_) => bounds(control),
        None => ratio_cell(control),
    };
    vec![ratio_cell(found), bounds(found), control, verdict.to_string()]
}

fn ratio_cell(of: Option<Interval>) -> String {
    of.map_or_else(none, |r| ratio(r.value))
}

/// The counts of verdicts, and the geometric mean.
fn summary(study: &Study) -> String {
    let mut out = format!("{}: ", plain(&study.slug));
    let rows = study.rows.len();
    let ratios: Vec<f64> = study.rows.iter().filter_map(|row| row.ratio).map(|found| found.value).collect();
    let _ = match study.launches {
        Some(launches) => {
            let count =
                |is: fn(&Verdict) -> bool| study.rows.iter().filter_map(Row::verdict).filter(&is).count();
            let seconds = launches.seconds;
            write!(
                out,
                "{} in {}, {seconds:.0} s: {} slower, {} faster, {} without a difference, {} undecided.",
                plural(rows, "row"),
                plural(launches.rounds, "round"),
                count(|verdict| *verdict == Verdict::Slower),
                count(|verdict| *verdict == Verdict::Faster),
                count(|verdict| matches!(verdict, Verdict::NoDifference { .. })),
                count(|verdict| matches!(verdict, Verdict::Undecided(_))),
            )
        }
        None => {
            let (low, high) =
                (ratios.iter().copied().reduce(f64::min), ratios.iter().copied().reduce(f64::max));
            let range =
                low.zip(high).map(|(low, high)| format!(", B / A from {} to {}", ratio(low), ratio(high)));
            write!(out, "{}{}.", plural(rows, "row"), range.unwrap_or_default())
        }
    };
    if let Some(mean) = study.mean {
        let _ = write!(out, " Geometric mean B / A {}", bounded(mean));
        if let Some(control) = study.launches.and_then(|launches| launches.control) {
            let _ = write!(out, "; A′ / A {}", bounded(control));
        }
        out.push('.');
    }
    out
}

fn bounded(of: Interval) -> String {
    match of.low < of.high && of.is_conclusive() {
        true => format!("{} {}", ratio(of.value), interval(of, ratio)),
        false => ratio(of.value),
    }
}

/// Rows that one side lacks: their number in each study, and the first few.
fn lacking(title: &str, keys: &[Key]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let mut of_study: BTreeMap<&str, usize> = BTreeMap::new();
    for key in keys {
        *of_study.entry(&key.study).or_default() += 1;
    }
    let counts: Vec<String> =
        of_study.iter().map(|(study, count)| format!("{count} of {}", plain(study))).collect();
    let mut out = format!("{title}: {}\n", counts.join(", "));
    for key in keys.iter().take(MAX_LISTED) {
        let _ = writeln!(out, "  {}", plain(&name(key)));
    }
    if let Some(more) = keys.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        let _ = writeln!(out, "  and {more} more");
    }
    out.push('\n');
    out
}
