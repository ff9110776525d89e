//! The results of the name server's rows in Markdown and as JSON.

use crate::stats::{digits, percent};
use crate::table::{self, escaped, found, round_trips, uses, verdict};
use crate::verdict::{self, Phase};
use serde::Serialize;

/// Measurements and verdict of a row.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// Load of the attacker, with its rate.
    pub(super) rate: String,
    /// Cores that the server kept busy during the attack.
    pub(super) cpu: f64,
    #[serde(flatten)]
    pub(crate) line: verdict::Line,
}

impl Line {
    /// A row that has shown nothing.
    pub(super) fn could_not_run(number: u8, name: &str, why: &str) -> Self {
        let checks = vec![verdict::Check::new(false, format!("could not run: {why}"))];
        Self { rate: String::new(), cpu: 0.0, line: verdict::Line::of(&number.to_string(), name, checks) }
    }
}

const HEAD: &str = "\
| row | attack | attacker | innocents answered | p50 / p99, ms | RSS, MB | CPU | found | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// A line for the terminal.
pub(crate) fn progress(line: &Line) -> String {
    let Line { rate, cpu, line: of_all } = line;
    let (answered, times) = (answered(of_all), round_trips(of_all));
    format!(
        "{}\n              {rate}; answered: {answered}; p50 / p99: {times} ms; CPU {}",
        table::progress(of_all),
        percent(*cpu)
    )
}

/// One table.
pub(crate) fn markdown(lines: &[Line]) -> String {
    let mut text = format!("\n**hashlane dns serve**\n\n{HEAD}");
    lines.iter().for_each(|line| text += &row(line));
    text
}

fn row(Line { rate, cpu, line }: &Line) -> String {
    let cells = [
        line.id.clone(),
        line.attack.clone(),
        rate.clone(),
        answered(line),
        round_trips(line),
        uses(line.rss, 1_000_000),
        percent(*cpu),
        found(line),
        verdict(line).to_owned(),
    ];
    format!("| {} |\n", cells.map(|cell| escaped(&cell)).join(" | "))
}

/// Part of the queries of each innocent that were answered in time during the attack.
fn answered(line: &verdict::Line) -> String {
    let cell = |service: &verdict::Service| {
        let tally = service.of(Phase::During);
        // Never rounded up to all of them.
        let part = (1e4 * (1.0 - tally.loss())).floor() / 100.0;
        format!("{} {} %", service.who, digits(part))
    };
    line.services.iter().map(cell).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Tally;
    use crate::verdict::{Check, Service, Use};
    use std::time::Duration;

    #[test]
    fn a_row_has_rate_service_times_memory_and_cpu() {
        let mut during = Tally { sent: 3, ..Tally::default() };
        (1..=2).for_each(|millis| during.add_answer(Duration::from_millis(millis)));
        let none = Tally::default();
        let services = vec![Service { who: "UDP", tallies: [none.clone(), during, none.clone(), none] }];
        let rss = Use { before: 1, peak: 2_000_000, after: 2 };
        let line =
            verdict::Line { services, rss, ..verdict::Line::of("13", "x", vec![Check::new(true, "y")]) };
        let text = row(&Line { rate: "7 a/s".to_owned(), cpu: 1.5, line });
        assert_eq!(text, "| 13 | x | 7 a/s | UDP 66.7 % | UDP 1 / 2 | 1 / 2 / 1 | 150 % | y | passed |\n");
        assert_eq!(text.matches(" | ").count(), HEAD.lines().next().unwrap().matches(" | ").count());
        let failed = Line::could_not_run(13, "x", "no room");
        assert!(!failed.line.passed());
    }
}
