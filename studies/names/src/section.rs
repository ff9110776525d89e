//! Sections of a report on names.

use hashlane_lab::definition::Definition;
use hashlane_lab::record::{Record, RecordSet};
use hashlane_lab::report::format::{self, figure};
use hashlane_lab::report::{Block, Section, Shown, Table, facts, words};
use hashlane_lab::stats::Interval;

use crate::figures::{self, FloorRow, SchemeRow, Sway};
use crate::metric;
use crate::tables;

/// All sections for which there are records.
pub(crate) fn sections(definition: &Definition, records: &RecordSet) -> Vec<Section> {
    let workloads = facts::workloads(definition, records);
    let first = definition.criteria.first().map(|criterion| criterion.workload.as_str());
    let first = first.filter(|id| workloads.contains(id)).or(workloads.first().copied());
    let shown = |workload: &str| if Some(workload) == first { Shown::Open } else { Shown::Folded };
    [
        sway(definition, records, &workloads),
        floors(definition, records, &workloads),
        all_figures(definition, records, &workloads, shown),
        overhead(definition, records),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Largest effects of the encoding and of the way of hashing, by workload.
fn sway(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<Section> {
    let reference = &definition.reference;
    let sways: Vec<(&str, Sway<'_>)> =
        workloads.iter().filter_map(|w| Some((*w, figures::sway(definition, records, w)?))).collect();
    let effect = |(scheme, ratio): (&str, Interval)| format!("{scheme}: {}", words::ratio_with_bounds(ratio));
    let row = |(workload, sway): &(&str, Sway<'_>)| {
        vec![(*workload).to_owned(), effect(sway.encodings), effect(sway.ways)]
    };
    let findings = [
        largest("the encoding", sways.iter().map(|(workload, sway)| (*workload, sway.encodings)), reference),
        largest("the way of hashing", sways.iter().map(|(workload, sway)| (*workload, sway.ways)), reference),
    ];
    (!sways.is_empty()).then(|| Section {
        title: "Encoding against way of hashing".to_owned(),
        note: format!(
            "Of the schemes that end in the hash of {reference}, those farthest from it, with the ratio of their \
             times, measured pair by pair, and its 95 % bounds. Left, the way of hashing is the same and the encoding \
             differs; right, the encoding is the same and the way differs."
        ),
        findings: findings.into_iter().flatten().collect(),
        blocks: vec![Block::Table(Table {
            caption: "Largest effects".to_owned(),
            columns: ["workload", "another encoding", "another way of hashing"].map(str::to_owned).to_vec(),
            left: 1,
            rows: sways.iter().map(row).collect(),
            shown: Shown::Open,
        })],
    })
}

/// Largest of the effects of `what`: workload, scheme, and its ratio to the reference.
fn largest<'a>(
    what: &str,
    effects: impl Iterator<Item = (&'a str, (&'a str, Interval))>,
    reference: &str,
) -> Option<String> {
    let effect = |of: Interval| of.value.ln().abs();
    let (workload, (scheme, of)) = effects.max_by(|a, b| effect(a.1.1).total_cmp(&effect(b.1.1)))?;
    let of = words::ratio_with_bounds(of);
    Some(format!("Largest effect of {what}: {scheme} takes {of} of the time of {reference} ({workload})."))
}

/// Distance of schemes with a single walk from the walk alone, and from the limit of the CRC instruction.
fn floors(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<Section> {
    let row = |row: FloorRow<'_>| {
        [
            Some(row.scheme.to_owned()),
            Some(words::cycles(row.mean)),
            row.walk.map(words::cycles),
            row.walk.map(|walk| figure(row.mean.value - walk.value)),
            row.limit.map(figure),
        ]
        .map(cell)
        .to_vec()
    };
    let table = |workload: &&str| {
        let rows: Vec<_> = figures::floor(definition, records, workload).map(row).collect();
        (!rows.is_empty()).then(|| {
            Block::Table(Table {
                caption: (*workload).to_owned(),
                columns: [
                    "scheme",
                    "mean cycles",
                    "the walk alone",
                    "cycles above the walk",
                    "CRC limit, cycles",
                ]
                .map(str::to_owned)
                .to_vec(),
                left: 1,
                rows,
                shown: Shown::PageOnly,
            })
        })
    };
    let blocks: Vec<Block> = workloads.iter().filter_map(table).collect();
    (!blocks.is_empty()).then(|| Section {
        title: "Distance from the floor".to_owned(),
        note: "The walk over the components without a hash is the floor for one pass, and for one pass over a burst. \
               The CRC instruction's own limit is one word of 8 bytes a cycle; it says nothing about other hashes."
            .to_owned(),
        findings: Vec::new(),
        blocks,
    })
}

/// All figures, a table for each workload.
fn all_figures(
    definition: &Definition,
    records: &RecordSet,
    workloads: &[&str],
    shown: impl Fn(&str) -> Shown,
) -> Option<Section> {
    // The study was checked when it was read.
    let bound = tables::bound(definition).ok().flatten();
    let above = bound.as_ref().map_or(f64::INFINITY, |bound| bound.value);
    let columns = ["scheme", "mean [95 %]", "min", "sd", "ratio [95 %]"];
    let row = |row: SchemeRow<'_>| {
        let reference = (row.scheme == definition.reference).then(|| "1".to_owned());
        let mark = |spread: f64| if spread > above { "› " } else { "" };
        [
            Some(row.scheme.to_owned()),
            row.mean.map(words::cycles),
            row.min_mean.map(figure),
            row.spread.map(|spread| format!("{}{spread:.2}", mark(spread))),
            row.ratio.map(words::ratio_with_bounds).or(reference),
        ]
        .map(cell)
        .to_vec()
    };
    let table = |workload: &&str| {
        Block::Table(facts::without_empty_columns(Table {
            caption: format!("{workload}: {} per {}", facts::unit(definition, records), definition.per),
            columns: columns.map(str::to_owned).to_vec(),
            left: 1,
            rows: figures::schemes(definition, records, workload).map(row).collect(),
            shown: shown(workload),
        }))
    };
    let spread = bound.map_or(String::new(), |bound| {
        format!(" The source states “{}”; sds above {} are marked ›.", bound.words, figure(bound.value))
    });
    (!workloads.is_empty()).then(|| Section {
        title: "All figures".to_owned(),
        note: format!(
            "Mean: median of the repetitions' means. Min: mean of the minima. Sd: of the repetitions' means. Ratio: to \
             {}, pair by pair.{spread}",
            definition.reference
        ),
        findings: Vec::new(),
        blocks: workloads.iter().map(table).chain([stream(definition, records, workloads)]).collect(),
    })
}

/// Cycles per name of a whole repetition, without barriers between names: a column for each workload.
fn stream(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Block {
    let row = |scheme: &String| {
        let cycles = |workload: &&str| {
            let record = records.metric(&definition.slug, workload, scheme, metric::CYCLES_STREAM);
            cell(record.map(|record| figure(record.value)))
        };
        [scheme.clone()].into_iter().chain(workloads.iter().map(cycles)).collect()
    };
    Block::Table(Table {
        caption: "Without barriers between names: cycles of a whole repetition".to_owned(),
        columns: ["scheme"].iter().chain(workloads).map(|&name| name.to_owned()).collect(),
        left: 1,
        rows: definition.schemes.iter().map(row).collect(),
        shown: Shown::PageOnly,
    })
}

/// Cost of the probe itself: workload and units of work between two readings, mean, fewest.
fn overhead(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let figures = |i: Interval| if i.low < i.high { words::cycles(i) } else { figure(i.value) };
    let row = |mean: &Record| {
        let units = mean.scheme.strip_prefix(metric::EMPTY)?;
        let label = match units.strip_prefix('/') {
            Some("1") => format!("{}, 1 unit", mean.workload),
            Some(units) => format!("{}, {units} units", mean.workload),
            None => mean.workload.clone(),
        };
        let least = records.metric(&definition.slug, &mean.workload, &mean.scheme, metric::OVERHEAD_MIN);
        Some(vec![label, figures(mean.interval()), cell(least.map(|record| figures(record.interval())))])
    };
    let of = |r: &&Record| r.study == definition.slug && r.metric == metric::OVERHEAD_MEAN;
    let rows: Vec<_> = records.iter().filter(of).filter_map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "The probe's own cost".to_owned(),
        note: "Cycles of a pair of readings around no work, by the units of work that they time otherwise. The mean is \
               subtracted from the figures above, from means and minima alike."
            .to_owned(),
        findings: Vec::new(),
        blocks: vec![Block::Table(Table {
            caption: "Cycles of a pair of readings".to_owned(),
            columns: ["workload", "mean", "fewest"].map(str::to_owned).to_vec(),
            left: 1,
            rows,
            shown: Shown::PageOnly,
        })],
    })
}

/// A cell, with a dash for no figure.
fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| format::NONE.to_owned())
}
