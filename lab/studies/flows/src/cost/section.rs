//! Report section: the cost of a hash in cycles per tuple, throughput-bound and latency-bound.

use std::collections::HashSet;

use crate::{epsilon, metric};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::Facts;
use hashlane_lab::report::{Bar, BarPlot, BarPlots, Block, Group, Role, Section, Shown, Table};
use hashlane_lab::report::{scheme_id, words};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{self, figure, interval};

pub(crate) const MODEL: &str = "tuples";

const THROUGHPUT: &str = "cycles_throughput";
const LATENCY: &str = "cycles_latency";
/// Metric, metric of its ratios, and bound.
const BOUNDS: [(&str, &str, &str); 2] =
    [(THROUGHPUT, metric::RATIO, "throughput"), (LATENCY, "ratio_latency", "latency")];

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let per = &definition.per;
    let mut blocks = Vec::new();
    for (metric, ratio, bound) in BOUNDS {
        blocks.push(Block::Bars(bars(&facts, per, metric, bound)));
        let tables =
            facts.workloads.iter().filter_map(|w| table(definition, &facts, w, (metric, ratio, bound)));
        blocks.extend(tables.map(Block::Table));
    }
    blocks.extend(epsilon::table(facts.schemes.iter().map(|id| scheme_id::head(id))));
    Some(Section {
        title: format!("Cost: cycles per {per}"),
        note: facts.note(format!(
            "Throughput: no {per} waits for the one before. Latency: each waits for the hash of the one \
             before, so that nothing overlaps; a burst has none. Ratios are to {}, pair by pair, with 95 % \
             bounds.",
            definition.reference
        )),
        findings: Vec::new(),
        blocks,
    })
}

fn bars(facts: &Facts<'_>, per: &str, metric: &str, bound: &str) -> BarPlots {
    let measured = |w: &&'_ str| facts.schemes_with(w, &[metric]);
    let ids: HashSet<&str> = facts.workloads.iter().flat_map(measured).collect();
    let ids: Vec<&str> = facts.schemes.iter().copied().filter(|id| ids.contains(id)).collect();
    let mut ways: Vec<&str> = Vec::new();
    for id in &ids {
        if !ways.contains(&scheme_id::last(id)) {
            ways.push(scheme_id::last(id));
        }
    }
    let role = |way: &str| {
        let place = ways.iter().position(|w| *w == way).unwrap_or_default();
        Role::Category((place % 4) as u8)
    };
    let plot = |workload: &&str| {
        let bar = |id: &&str| {
            let value = facts.record(workload, id, metric).map(Record::interval);
            let title = match value {
                Some(v) => format!("{id}: {} {} cycles", figure(v.value), interval(v, figure)),
                None => format!("{id}: not measured"),
            };
            let figure = value.map_or_else(String::new, |v| figure(v.value));
            Bar { title, ..Bar::new(id, role(scheme_id::last(id)), value, &figure) }
        };
        BarPlot {
            caption: format!("{workload}, {bound}"),
            title: format!("{workload}: {bound}, cycles per {per}"),
            groups: vec![Group {
                heading: None,
                bars: facts.schemes_with(workload, &[metric]).iter().map(bar).collect(),
            }],
        }
    };
    let legend = |way: &&str| (role(way), (*way).to_owned());
    BarPlots {
        axis: format!("{bound}, cycles per {per}"),
        legend: if ways.len() > 1 { ways.iter().map(legend).collect() } else { Vec::new() },
        whiskers: Some("95 %".to_owned()),
        plots: facts.workloads.iter().map(plot).collect(),
        ..BarPlots::default()
    }
}

/// The cycles of one metric on one workload, and their ratio; `None` if none were measured.
fn table(
    definition: &Definition,
    facts: &Facts<'_>,
    workload: &str,
    (cycles, ratio, bound): (&str, &str, &str),
) -> Option<Table> {
    let reference = &definition.reference;
    let row = |scheme: &str| {
        let to_reference = facts.records.metric_in(facts.study, workload, scheme, ratio, reference);
        let to_reference = to_reference.map(|r| words::ratio_with_bounds(r.interval()));
        let own = (scheme == reference).then(|| "1".to_owned());
        vec![
            scheme.to_owned(),
            facts.record(workload, scheme, cycles).map_or_else(format::none, |r| words::cycles(r.interval())),
            to_reference.or(own).unwrap_or_else(format::none),
        ]
    };
    let rows: Vec<_> = facts.schemes_with(workload, &[cycles]).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        caption: format!("{workload}, {bound}: cycles per {}", definition.per),
        columns: ["scheme", "cycles", "ratio"].map(str::to_owned).to_vec(),
        left: 1,
        rows,
        shown: Shown::Open,
    })
}
