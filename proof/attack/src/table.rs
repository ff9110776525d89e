//! The results as a table in Markdown, as a line for the terminal, and as JSON.

use crate::stats::{digits, percent};
use crate::verdict::{Line, Phase, Use};
use serde::Serialize;

/// Lines of one forwarder.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) forwarder: String,
    pub(crate) lines: Vec<Line>,
}

const HEAD: &str = "\
| row | attack | innocents lost during | after | p50 / p99 during, ms | RSS, MB | fds | found | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// Tables of all forwarders, each below its name, after one that compares them if there are several.
pub(crate) fn markdown(all: &[Results], about: &str) -> String {
    let mut text = format!("{about}\n");
    if all.len() > 1 {
        text += &comparison(all);
    }
    for results in all {
        text += &format!("\n**{}**\n\n{HEAD}", results.forwarder);
        for line in &results.lines {
            text += &row(line);
        }
    }
    text
}

/// A column for each forwarder, with the first criterion that it misses.
fn comparison(all: &[Results]) -> String {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for line in all.iter().flat_map(|results| &results.lines) {
        if !rows.iter().any(|(id, _)| *id == line.id) {
            rows.push((&line.id, &line.attack));
        }
    }
    let names: Vec<&str> = all.iter().map(|results| results.forwarder.as_str()).collect();
    let mut text = format!("\n| row | attack | {} |\n", names.join(" | "));
    text += &format!("| --- | --- |{}\n", " --- |".repeat(names.len()));
    for (id, attack) in rows {
        let of = |results: &Results| {
            let line = results.lines.iter().find(|line| line.id == id);
            escaped(&line.map_or_else(|| "–".to_owned(), summary))
        };
        let cells: Vec<String> = all.iter().map(of).collect();
        text += &format!("| {id} | {} | {} |\n", escaped(attack), cells.join(" | "));
    }
    text
}

/// Verdict with the first criterion that is missed.
fn summary(line: &Line) -> String {
    let missed: Vec<&str> =
        line.checks.iter().filter(|check| !check.met).map(|check| check.found.as_str()).collect();
    match missed.as_slice() {
        [] => verdict(line).to_owned(),
        [only] => format!("{}: {only}", verdict(line)),
        [first, rest @ ..] => format!("{}: {first}, and {} more", verdict(line), rest.len()),
    }
}

pub(crate) fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

fn row(line: &Line) -> String {
    let found = found(line);
    let cells = [
        line.id.clone(),
        line.attack.clone(),
        losses(line, Phase::During),
        losses(line, Phase::After),
        round_trips(line),
        uses(line.rss, 1_000_000),
        uses(line.fds, 1),
        found,
        verdict(line).to_owned(),
    ];
    format!("| {} |\n", cells.map(|cell| escaped(&cell)).join(" | "))
}

/// Reason why a line does not apply, or all findings.
pub(crate) fn found(line: &Line) -> String {
    let findings = || line.findings().map(|check| check.found.as_str()).collect::<Vec<_>>().join("; ");
    line.not_applicable.clone().unwrap_or_else(findings)
}

/// A line for the terminal.
pub(crate) fn progress(line: &Line) -> String {
    format!("{:>4}  {:<6}  {}: {}", line.id, verdict(line), line.attack, found(line))
}

pub(crate) fn verdict(line: &Line) -> &'static str {
    match (&line.not_applicable, line.passed()) {
        (Some(_), _) => "n/a",
        (None, true) => "passed",
        (None, false) => "FAILED",
    }
}

/// Innocents that lost something; `0 %` if none did, `–` if there were none.
fn losses(line: &Line, phase: Phase) -> String {
    let asked: Vec<_> = line.services.iter().filter(|service| service.of(phase).sent > 0).collect();
    let lost = asked.iter().filter(|service| service.of(phase).lost() > 0);
    let lost: Vec<String> =
        lost.map(|service| format!("{} {}", service.who, percent(service.of(phase).loss()))).collect();
    match (asked.is_empty(), lost.is_empty()) {
        (true, _) => "–".to_owned(),
        (_, true) => "0 %".to_owned(),
        _ => lost.join(", "),
    }
}

/// Round-trip times of those that ask at a steady rate.
pub(crate) fn round_trips(line: &Line) -> String {
    let cells =
        line.services.iter().filter(|service| !service.who.starts_with("new ")).filter_map(|service| {
            let tally = service.of(Phase::During);
            let (p50, p99) = (tally.quantile(0.5)?, tally.quantile(0.99)?);
            Some(format!("{} {} / {}", service.who, digits(p50), digits(p99)))
        });
    let cells: Vec<String> = cells.collect();
    if cells.is_empty() { "–".to_owned() } else { cells.join(", ") }
}

pub(crate) fn uses(used: Use, unit: u64) -> String {
    if used == Use::default() {
        return "–".to_owned();
    }
    let [before, peak, after] = [used.before, used.peak, used.after].map(|number| number.div_ceil(unit));
    format!("{before} / {peak} / {after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Tally;
    use crate::verdict::{Check, Service};
    use std::time::Duration;

    fn line() -> Line {
        let mut during = Tally { sent: 4, ..Tally::default() };
        (1..=3).for_each(|millis| during.add_answer(Duration::from_millis(millis)));
        let none = Tally::default();
        let after = Tally { sent: 4, answered: 4, ..Tally::default() };
        let services = vec![Service { who: "local", tallies: [none.clone(), during, none, after] }];
        let rss = Use { before: 9_400_000, peak: 100_000_000, after: 9_500_000 };
        let checks = vec![Check::new(true, "a | b"), Check::new(false, "lost")];
        Line { services, rss, ..Line::of("4", "ports", checks) }
    }

    #[test]
    fn a_row_has_losses_times_memory_and_findings() {
        assert_eq!(
            row(&line()),
            "| 4 | ports | local 25 % | 0 % | local 2 / 3 | 10 / 100 / 10 | – | lost; a \\| b | FAILED |\n"
        );
        let columns = |text: &str| text.lines().next().map(|line| line.matches(" | ").count());
        assert_eq!(columns(&row(&Line::of("1", "x", vec![]))), columns(HEAD));
    }

    #[test]
    fn forwarders_are_compared_in_one_table() {
        let of = |forwarder: &str, lines| Results { forwarder: forwarder.to_owned(), lines };
        let all = [of("hashlane", vec![Line::of("1", "x", vec![])]), of("NFD", vec![line()])];
        assert_eq!(
            comparison(&all),
            "\n| row | attack | hashlane | NFD |\n| --- | --- | --- | --- |\n\
             | 1 | x | passed | – |\n| 4 | ports | – | FAILED: lost |\n"
        );
        assert!(!markdown(&all[..1], "about").contains("| hashlane |"));
    }

    #[test]
    fn a_row_that_does_not_apply_says_why() {
        let line = Line::not_applicable("8", "proxy", "no WebSocket");
        assert_eq!(row(&line), "| 8 | proxy | – | – | – | – | – | no WebSocket | n/a |\n");
        assert_eq!(progress(&line), "   8  n/a     proxy: no WebSocket");
    }
}
