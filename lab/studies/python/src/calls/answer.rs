//! Answer: time of a string, the packages that take five times as long, and those that do not.

use super::run::MODEL;
use super::subject::{OURS, SPREAD, STRINGS};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Facts, Role, SchemeBars, Statement};
use hashlane_records::RecordSet;
use hashlane_stats::Interval;
use hashlane_stats::format::{figure, significant};

/// Times that ours is to be faster than another package.
const TIMES: f64 = 5.0;

pub(super) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(evidence),
        chart: Facts::of(definition, records, MODEL).and_then(|facts| chart(&facts)),
        surprises: Vec::new(),
        limits: vec![
            "Polars, polars-hash, xxhash and mmh3 have no secret key: anyone can compute collisions of them."
                .to_owned(),
            "One thread and 65,536 strings, which stay in the second-level cache.".to_owned(),
        ],
    }
}

/// Schemes of other packages on strings, with the ratio of their time to ours: those that were measured.
fn ratios(evidence: Evidence<'_>) -> Result<Vec<(String, Interval)>, Doubt> {
    let mut ratios = Vec::new();
    let peers = evidence.definition.schemes_on(STRINGS).iter().filter(|id| !id.starts_with("hashlane/"));
    for id in peers {
        match evidence.ratio(STRINGS, id, OURS) {
            Ok(ratio) => ratios.push((id.clone(), ratio)),
            Err(Doubt::NotMeasured { .. }) => {}
            Err(doubt) => return Err(doubt),
        }
    }
    Ok(ratios)
}

fn sentence(evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let ns = evidence.figure(STRINGS, OURS, metric::NS)?;
    let mut figures = vec![ns];
    let mut text = format!("{} ns a string of 16 to 64 bytes by SipHash-1-3", significant(ns.value));
    let ratios = ratios(evidence)?;
    let (fewer, enough): (Vec<_>, Vec<_>) = ratios.iter().partition(|(_, ratio)| ratio.low < TIMES);
    if !ratios.is_empty() {
        text += &format!(", {TIMES} × as fast as {} of {} others", enough.len(), ratios.len());
    }
    for (at, (id, ratio)) in fewer.iter().enumerate() {
        text += if at == 0 { ", not as " } else { ", " };
        text += &format!("{id} ({} ×)", significant(ratio.value));
    }
    figures.extend(ratios.iter().map(|(_, ratio)| *ratio));
    if let Ok(spread) = evidence.figure(SPREAD[0].0, OURS, metric::NS) {
        text += &format!("; {} M tuples/s into a sketch", figure(1e3 / spread.value));
        figures.push(spread);
    }
    text.push('.');
    Ok(Statement { text, figures })
}

/// Time of all packages on strings.
fn chart(facts: &Facts<'_>) -> Option<Block> {
    let bars = SchemeBars {
        workload: STRINGS,
        metric: metric::NS,
        unit: "ns",
        axis: "time per string (ns)",
        title: "Time per string of 16 to 64 bytes by package",
    };
    bars.draw(facts, |id| if id.starts_with("hashlane/") { Role::Ours } else { Role::Peer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::definition;
    use crate::sample::records;

    type Figure = (&'static str, &'static str, &'static str, &'static str, f64);

    fn sentence(figures: &[Figure]) -> Result<String, Doubt> {
        let definition = definition();
        answer(&definition, &records(&definition, figures)).sentence.map(|statement| statement.text)
    }

    const NS: Figure = (STRINGS, OURS, metric::NS, "ns", 2.5);
    const POLARS: Figure = (STRINGS, "polars/hash", metric::RATIO, OURS, 2.5);
    const PANDAS: Figure = (STRINGS, "pandas/hash-array", metric::RATIO, OURS, 40.0);
    const SPREAD_NS: Figure = (SPREAD[0].0, OURS, metric::NS, "ns", 5.0);

    #[test]
    fn names_the_packages_that_are_not_slow_enough() {
        assert_eq!(
            sentence(&[NS, PANDAS, POLARS, SPREAD_NS]).unwrap(),
            "2.50 ns a string of 16 to 64 bytes by SipHash-1-3, 5 × as fast as 1 of 2 others, not as \
             polars/hash (2.50 ×); 200 M tuples/s into a sketch."
        );
        assert_eq!(sentence(&[NS]).unwrap(), "2.50 ns a string of 16 to 64 bytes by SipHash-1-3.");
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&[]), Err(Doubt::NotMeasured { .. })));
        let off = (STRINGS, "hashlane/siphash-1-3/again", metric::RATIO, OURS, 1.2);
        assert!(matches!(sentence(&[NS, off]), Err(Doubt::Control { .. })));
    }

    #[test]
    fn the_chart_has_all_packages() {
        let definition = definition();
        let figures = [NS, (STRINGS, "polars/hash", metric::NS, "ns", 6.0)];
        let Some(Block::Bars(chart)) = answer(&definition, &records(&definition, &figures)).chart else {
            panic!("no chart")
        };
        let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, [OURS, "polars/hash"]);
    }
}
