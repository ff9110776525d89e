//! Answer: the cycles of a lookup, and the cost of a SYN behind hostile ones.

use crate::metric;
use crate::section::{CYCLES, HIT};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Bar, BarPlot, BarPlots, Block, Facts, Group, Role, Statement};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{count, interval, significant};

/// The keyed hash of the whole tuple.
const OURS: &str = "siphash-1-3";

/// The hash of Linux since 6.5.
const LINUX: &str = "jhash2";

/// The attack of the sentence: one on Linux's hash to 6.4, which CVE-2023-1206 is about.
const ATTACK: &str = "syn/xor";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(definition, evidence),
        chart: Facts::of(definition, records, CYCLES).and_then(|facts| chart(&facts, &definition.reference)),
        surprises: Vec::new(),
        limits: vec![
            "User Mode Linux: a system call costs microseconds, so throughput shows little of the hash; \
             kernel code runs at full speed."
                .to_owned(),
            "A figure is the median over boots; its interval, of six boots, runs from the smallest to the \
             largest."
                .to_owned(),
        ],
    }
}

fn sentence(definition: &Definition, evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let base = definition.reference.as_str();
    let ours = evidence.ratio(HIT, OURS, base)?;
    let linux = evidence.ratio(HIT, LINUX, base)?;
    let times = |ratio: Interval| format!("{} ×", significant(ratio.value));
    let mut figures = vec![ours, linux];
    let mut text = format!(
        "Looking up a connection takes {} the cycles of {base} with {OURS}, {} with {LINUX}.",
        times(ours),
        times(linux)
    );
    if let Some((before, [base_syn, ours_syn])) = growth(definition, evidence) {
        text += &format!(
            " Behind {} hostile SYNs ({}), the next costs {} as much with {base}, {} with {OURS}.",
            count(before),
            ATTACK.trim_start_matches("syn/"),
            times(base_syn),
            times(ours_syn)
        );
        figures.extend([base_syn, ours_syn]);
    }
    Ok(Statement { text, figures })
}

/// Growth of the cost of a SYN with `base` and with ours, behind as many hostile ones as the study compares
/// both with.
fn growth(definition: &Definition, evidence: Evidence<'_>) -> Option<(f64, [Interval; 2])> {
    let base = definition.reference.as_str();
    let mut counts: Vec<u32> = definition
        .schemes
        .iter()
        .filter_map(|id| id.strip_prefix(OURS)?.strip_prefix('@')?.parse().ok())
        .collect();
    counts.sort_unstable();
    counts.into_iter().rev().find_map(|before| {
        let grown = |id: &str| evidence.ratio(ATTACK, &format!("{id}@{before}"), &format!("{id}@0")).ok();
        Some((f64::from(before), [grown(base)?, grown(OURS)?]))
    })
}

fn chart(facts: &Facts<'_>, reference: &str) -> Option<Block> {
    let cycles = |id: &str| facts.record(HIT, id, metric::CYCLES_MIN_MEAN).map(Record::interval);
    let bar = |id: &&str| {
        let value = cycles(id)?;
        let figure = significant(value.value);
        let role = if *id == OURS { Role::Ours } else { Role::Historical };
        let title = format!("{id}: {figure} {} cycles", interval(value, significant));
        Some(Bar { title, ..Bar::new(id, role, Some(value), &figure) })
    };
    let bars: Vec<Bar> = facts.schemes_on(HIT).filter_map(|id| bar(&id)).collect();
    (!bars.is_empty()).then(|| {
        Block::Bars(BarPlots {
            axis: "cycles per lookup of an existing connection".to_owned(),
            whiskers: Some("95 %".to_owned()),
            reference: cycles(reference).map(|cycles| (cycles.value, reference.to_owned())),
            plots: vec![BarPlot {
                caption: String::new(),
                title: "cycles per lookup by kernel".to_owned(),
                groups: vec![Group { heading: None, bars }],
            }],
            ..BarPlots::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::SYN;
    use hashlane_lab::report::words;
    use std::path::Path;

    fn definition() -> Definition {
        Definition::parse(include_str!("../flow-kernel/study.toml"), "test").unwrap()
    }

    /// Records of ratios, and of cycles: `(workload, of, metric, to, value)`.
    fn records(figures: &[(&str, &str, &str, &str, f64)], samples: u64) -> RecordSet {
        let mut all = RecordSet::new();
        for &(workload, scheme, metric, unit, value) in figures {
            let model = if workload == ATTACK { SYN } else { CYCLES };
            let columns = ["flow-kernel", model, workload, scheme, "boots", metric, unit];
            // Bounds of a few boots hold within a launch.
            let launches = if samples < 6 { 1 } else { samples };
            let bounds = [value, 0.99 * value, 1.01 * value];
            all.insert(Record::new(columns, bounds, samples, launches)).unwrap();
        }
        all
    }

    const FIGURES: [(&str, &str, &str, &str, f64); 9] = [
        (HIT, "base", metric::CYCLES_MIN_MEAN, "cycles", 66.8),
        (HIT, OURS, metric::CYCLES_MIN_MEAN, "cycles", 90.0),
        (HIT, OURS, metric::RATIO, "base", 1.35),
        (HIT, LINUX, metric::RATIO, "base", 1.19),
        (HIT, "base/again", metric::RATIO, "base", 1.0),
        (ATTACK, "base@16384", metric::RATIO, "base@0", 49.0),
        (ATTACK, "siphash-1-3@16384", metric::RATIO, "siphash-1-3@0", 1.02),
        (ATTACK, "base@4096", metric::RATIO, "base@0", 11.0),
        (ATTACK, "base/again", metric::RATIO, "base", 1.0),
    ];

    fn sentence(records: &RecordSet) -> Result<String, Doubt> {
        answer(&definition(), records).sentence.map(|statement| statement.text)
    }

    #[test]
    fn states_the_lookup_and_the_cost_behind_hostile_syns() {
        let text = sentence(&records(&FIGURES, 6)).unwrap();
        assert_eq!(
            text,
            "Looking up a connection takes 1.35 × the cycles of base with siphash-1-3, 1.19 × with jhash2. \
             Behind 16,384 hostile SYNs (xor), the next costs 49.0 × as much with base, 1.02 × with \
             siphash-1-3."
        );
        assert!(text.chars().count() <= 200);
    }

    #[test]
    fn doubts_withhold_the_sentence_or_its_second_half() {
        assert!(matches!(sentence(&RecordSet::new()), Err(Doubt::NotMeasured { .. })));
        assert!(matches!(sentence(&records(&FIGURES, 2)), Err(Doubt::FewRounds { rounds: 2, .. })));
        let mut off = FIGURES;
        off[4].4 = 1.1;
        assert!(matches!(sentence(&records(&off, 6)), Err(Doubt::Control { .. })));
        let mut off = FIGURES;
        off[8].4 = 1.1;
        assert!(sentence(&records(&off, 6)).unwrap().ends_with("1.19 × with jhash2."));
    }

    #[test]
    fn the_chart_has_a_line_at_the_reference() {
        let Some(Block::Bars(chart)) = answer(&definition(), &records(&FIGURES, 6)).chart else {
            panic!("no chart")
        };
        assert_eq!(chart.reference, Some((66.8, "base".to_owned())));
        let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, ["base", "siphash-1-3"]);
    }

    #[test]
    fn judges_the_claims_by_committed_records() {
        let definition = definition();
        let claims = |folder: &str| {
            let path = format!("../../../records/epyc-avx512-2vcpu/{folder}/records.csv");
            words::claims(&definition, &RecordSet::read(Path::new(&path)).unwrap())
        };
        // Two boots of each kernel cover 50 %.
        insta::assert_snapshot!(claims("flow-kernel"), @r"
        not-dominant: undecided: 21 of 21 comparisons
        collisions-slow-a-syn: not measured: 1 of 1 comparison
        95-percent-of-cpu: not measured: 1 of 1 comparison
        ");
        insta::assert_snapshot!(claims("flow-kernel-6.12"), @r"
        not-dominant: not measured: 21 of 21 comparisons
        collisions-slow-a-syn: agrees: 1 of 1 comparison
        95-percent-of-cpu: not measured: 1 of 1 comparison
        ");
    }
}
