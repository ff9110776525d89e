//! A comment on a change, in Markdown.

use hashlane_records::compare::{Comparison, Row, Study, Verdict};
use hashlane_stats::Interval;
use hashlane_stats::format::{NONE, figure, interval, plain, plural, ratio};
use std::fmt::Write as _;

/// First line, by which a later run finds the comment that it replaces.
const MARKER: &str = "<!-- hashlane-compare -->";

/// Most rows that are shown outside the collapsed table.
const MAX_SHOWN: usize = 20;

/// The comment on the comparison of `sides`, the paths of A and B; with a `threshold` (0.03 for 3 %), its
/// heading counts the regressions.
pub fn markdown(comparison: &Comparison, sides: &[String; 2], threshold: Option<f64>) -> String {
    let mut out = format!("{MARKER}\n### hashlane: {}\n\n", heading(comparison, threshold));
    let [a, b] = sides.each_ref().map(|side| code(side));
    let alternated = comparison.studies.iter().any(|study| study.launches.is_some());
    out += &match alternated {
        true => format!(
            "B ({b}) against A ({a}): launched alternately, with A again (A′) in each round. Bounds hold at \
             95 % for all rows together.\n\n"
        ),
        false => format!("B ({b}) against A ({a}): separate runs, so there is no verdict.\n\n"),
    };
    out += &studies(&comparison.studies);
    let rank = comparison.rank();
    let called: Vec<&Row> = rank.more.into_iter().chain(rank.less).collect();
    if alternated && !called.is_empty() {
        out += &table(called.iter().take(MAX_SHOWN).copied());
        if let Some(more) = called.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(out, "and {more} more.\n");
        }
    }
    for (side, keys) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if let Some(key) = keys.first() {
            let first = code(&format!("{}/{}/{}", key.study, key.workload, key.scheme));
            let _ = writeln!(out, "Only in {side}: {}, the first {first}.\n", plural(keys.len(), "row"));
        }
    }
    let rows = plural(comparison.rows().count(), "row");
    let _ = writeln!(out, "<details><summary>All: {rows}</summary>\n");
    out += &table(comparison.rows());
    out += "</details>\n";
    out
}

fn heading(comparison: &Comparison, threshold: Option<f64>) -> String {
    let Some(threshold) = threshold else { return "comparison of A and B".into() };
    let regressions = comparison.regressions(threshold).count();
    let percent = format!("{} %", (threshold * 1000.0).round() / 10.0);
    let rows = plural(comparison.rows().count(), "row");
    let undecided =
        comparison.rows().filter(|row| matches!(row.verdict(), Some(Verdict::Undecided(_)))).count();
    match regressions {
        0 if undecided > 0 => {
            format!("no regression of {percent} or more seen; {undecided} of {rows} undecided")
        }
        0 => format!("no regression of {percent} or more seen"),
        1 => format!("1 row is slower by {percent} or more"),
        more => format!("{more} rows are slower by {percent} or more"),
    }
}

fn studies(studies: &[Study]) -> String {
    let mut out = String::from(
        "| study | rows | B / A, geometric mean | A′ / A | outcome |\n| --- | --: | --- | --- | --- |\n",
    );
    for study in studies {
        let control = study.launches.and_then(|launches| launches.control);
        let cells = [
            study.slug.clone(),
            study.rows.len().to_string(),
            bounded(study.mean),
            bounded(control),
            outcome(study),
        ];
        out += &row(&cells);
    }
    out.push('\n');
    out
}

/// Counts of the verdicts.
fn outcome(study: &Study) -> String {
    let Some(launches) = study.launches else { return NONE.into() };
    let count =
        |is: fn(Verdict) -> bool| study.rows.iter().filter_map(Row::verdict).filter(|v| is(*v)).count();
    format!(
        "{} slower, {} faster, {} without a difference, {} undecided ({}, {:.0} s)",
        count(|verdict| verdict == Verdict::Slower),
        count(|verdict| verdict == Verdict::Faster),
        count(|verdict| matches!(verdict, Verdict::NoDifference { .. })),
        count(|verdict| matches!(verdict, Verdict::Undecided(_))),
        plural(launches.rounds, "round"),
        launches.seconds,
    )
}

fn table<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut out =
        String::from("| row | A | B | B / A | A′ / A | verdict |\n| --- | --: | --: | --- | --- | --- |\n");
    for of in rows {
        let unit = &of.key.unit;
        let cells = [
            of.name(),
            format!("{} {unit}", figure(of.a.value)),
            format!("{} {unit}", figure(of.b.value)),
            bounded(of.ratio),
            bounded(of.judged.and_then(|judged| judged.control)),
            of.verdict().map_or_else(|| NONE.into(), |verdict| verdict.to_string()),
        ];
        out += &row(&cells);
    }
    out.push('\n');
    out
}

fn bounded(of: Option<Interval>) -> String {
    let Some(of) = of else { return NONE.into() };
    match of.low < of.high && of.coverage > 0.0 {
        true => format!("{} {}", ratio(of.value), interval(of, ratio)),
        false => ratio(of.value),
    }
}

/// A row of a table, with the characters escaped that would end a cell or begin a tag.
pub(crate) fn row(cells: &[String]) -> String {
    let escaped = |cell: &String| plain(cell).replace('|', "\\|").replace('<', "&lt;");
    format!("| {} |\n", cells.iter().map(escaped).collect::<Vec<_>>().join(" | "))
}

fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
}
