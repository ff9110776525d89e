//! Answer: time of a sketch on two workers, how much they gain, and the runs with a killed worker.

use super::workloads::{MODEL, ONCE, SPREAD, TWENTY, TWO};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Facts, Role, SchemeBars, Statement};
use hashlane_records::RecordSet;
use hashlane_stats::format::{count, figure, significant};

pub(super) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(evidence),
        chart: Facts::of(definition, records, MODEL).and_then(|facts| chart(&facts)),
        surprises: Vec::new(),
        limits: vec![
            "One machine: no network, and all processes of Ray share its cores.".to_owned(),
            "A sequence of numbers, which takes little time to read beside the hash.".to_owned(),
        ],
    }
}

fn sentence(evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let ns = evidence.figure(SPREAD, TWO, metric::NS)?;
    let ratio = evidence.ratio(SPREAD, TWO, &evidence.definition.reference)?;
    let mut text = format!(
        "{} M keys/s on two workers of Ray, {} × one worker's",
        figure(1e3 / ns.value),
        significant(1.0 / ratio.value)
    );
    let value = |label: &str, metric: &str| {
        evidence.records.metric(&evidence.definition.slug, label, TWO, metric).map(|record| record.value)
    };
    let sum = |metric: &str| -> f64 { [ONCE, TWENTY].iter().filter_map(|label| value(label, metric)).sum() };
    let (kills, differing) = (sum(metric::KILLS), sum(metric::DIFFERING));
    if kills > 0.0 {
        text += &format!(
            "; {} of {} runs with a killed worker give the same",
            count(kills - differing),
            count(kills)
        );
    }
    if let Some(peak) = value(SPREAD, metric::PEAK) {
        text += &format!("; a worker takes {} MiB", count((peak / 1_048_576.0).ceil()));
    }
    text.push('.');
    Ok(Statement { text, figures: vec![ns, ratio] })
}

/// Time of all engines.
fn chart(facts: &Facts<'_>) -> Option<Block> {
    let bars = SchemeBars {
        workload: SPREAD,
        metric: metric::NS,
        unit: "ns",
        axis: "time per key (ns)",
        title: "Time per key by engine and workers",
    };
    bars.draw(facts, |_| Role::Ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::definition;
    use crate::sample::records;

    type Figure = (&'static str, &'static str, &'static str, &'static str, f64);

    fn sentence(figures: &[Figure]) -> Result<String, Doubt> {
        let definition = definition();
        answer(&definition, &records(&definition, figures)).sentence.map(|statement| statement.text)
    }

    const NS: Figure = (SPREAD, TWO, metric::NS, "ns", 2.5);
    const RATIO: Figure = (SPREAD, TWO, metric::RATIO, "ray/1", 0.5);
    const KILLS: Figure = (TWENTY, TWO, metric::KILLS, "kills", 20.0);
    const DIFFERING: Figure = (TWENTY, TWO, metric::DIFFERING, "results", 1.0);
    const PEAK: Figure = (SPREAD, TWO, metric::PEAK, "bytes", 209_715_200.0);

    #[test]
    fn states_the_gain_the_kills_and_the_memory() {
        assert_eq!(
            sentence(&[NS, RATIO, KILLS, DIFFERING, PEAK]).unwrap(),
            "400 M keys/s on two workers of Ray, 2.00 × one worker's; 19 of 20 runs with a killed worker give \
             the same; a worker takes 200 MiB."
        );
        assert_eq!(
            sentence(&[NS, RATIO]).unwrap(),
            "400 M keys/s on two workers of Ray, 2.00 × one worker's."
        );
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&[NS]), Err(Doubt::NotMeasured { .. })));
        let off = (SPREAD, "ray/2/again", metric::RATIO, TWO, 1.2);
        assert!(matches!(sentence(&[NS, RATIO, off]), Err(Doubt::Control { .. })));
    }

    #[test]
    fn the_chart_has_all_engines() {
        let definition = definition();
        let figures = [NS, (SPREAD, "local/1", metric::NS, "ns", 6.0)];
        let Some(Block::Bars(chart)) = answer(&definition, &records(&definition, &figures)).chart else {
            panic!("no chart")
        };
        let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, ["local/1", TWO]);
    }
}
