//! Sections of a report on names.

use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Block, Section, Shown, Table, facts, scheme_id, words};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, figure};

use crate::figures::{self, FloorRow, SchemeRow};
use crate::{chart, methods, metric, penalty, repeatability};

/// All sections for which there are records.
pub(crate) fn sections(definition: &Definition, records: &RecordSet) -> Vec<Section> {
    let workloads = facts::workloads(definition, records);
    let first = definition.criteria.first().map(|criterion| criterion.workload.as_str());
    let first = first.filter(|id| workloads.contains(id)).or(workloads.first().copied());
    let shown = |workload: &str| if Some(workload) == first { Shown::Open } else { Shown::Folded };
    [
        encodings(definition, records, &workloads),
        penalty::section(definition, records, &workloads),
        floors(definition, records, &workloads),
        all_figures(definition, records, &workloads, shown),
        repeatability::section(definition, records, &workloads),
        overhead(definition, records),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The three encodings with one method, and the methods over one encoding, by workload.
fn encodings(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<Section> {
    let reference = &definition.reference;
    let encoding = scheme_id::head(reference);
    let (slug, one_by_one) = (&definition.slug, methods::ONE_BY_ONE);
    let spread = |workload: &str, method: &str| {
        let record = records.metric(slug, workload, method, metric::SLOWEST_TO_FASTEST);
        record.map(Record::interval)
    };
    let ratio = |workload: &str, method: &str| {
        records.ratio(slug, workload, &format!("{encoding}/{method}"), reference).map(Record::interval)
    };
    let table = |caption: String, methods: &[&str], of: &dyn Fn(&str, &str) -> Option<Interval>| {
        let row = |workload: &&str| {
            let cells = methods.iter().map(|method| cell(of(workload, method).map(words::ratio_with_bounds)));
            [(*workload).to_owned()].into_iter().chain(cells).collect()
        };
        Table {
            caption,
            columns: ["workload"].iter().chain(methods).map(|&name| name.to_owned()).collect(),
            left: 1,
            rows: workloads.iter().map(row).collect(),
            shown: Shown::Open,
        }
    };
    let spreads = table(
        "Slowest of the three encodings over the fastest".to_owned(),
        &[one_by_one, "one-pass/crc32c", methods::BURST, methods::KEYED_BURST],
        &spread,
    );
    let others = table(
        format!("Methods over {} names: ratio to {one_by_one}", methods::encoding(encoding)),
        &["one-pass/crc32c", "one-pass/siphash-2-4", methods::BURST, methods::KEYED_BURST],
        &ratio,
    );
    let tables: Vec<Block> = [spreads, others]
        .into_iter()
        .map(facts::without_empty_columns)
        .filter(|table| table.columns.len() > table.left)
        .map(Block::Table)
        .collect();
    (!tables.is_empty()).then(|| Section {
        title: "Encoding against method".to_owned(),
        note: "Ratios are measured pair by pair, with bounds at 95 %. Those of the slowest over the fastest \
               hold for all pairs of encodings together."
            .to_owned(),
        findings: Vec::new(),
        blocks: tables
            .into_iter()
            .chain(chart::bars(definition, records, workloads).map(Block::Bars))
            .collect(),
    })
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
        note: "The walk over the components without a hash is the floor for one pass, and for one pass over \
               a burst. The CRC instruction's own limit is one word of 8 bytes a cycle; it says nothing \
               about other hashes."
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
    let columns = ["scheme", "mean [95 %]", "min", "sd", "ratio [95 %]"];
    let row = |row: SchemeRow<'_>| {
        let reference = (row.scheme == definition.reference).then(|| "1".to_owned());
        [
            Some(row.scheme.to_owned()),
            row.mean.map(words::cycles),
            row.min_mean.map(figure),
            row.deviation.map(|deviation| format!("{deviation:.2}")),
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
    (!workloads.is_empty()).then(|| Section {
        title: "All figures".to_owned(),
        note: format!(
            "Mean: median of the repetitions' means. Min: mean of the minima. Sd: of the repetitions' \
             means. Ratio: to {}, pair by pair.",
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

/// Cost of the probe itself: workload and units of work between two counter reads, mean, fewest.
fn overhead(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let figures = |i: Interval| if i.low < i.high { words::cycles(i) } else { figure(i.value) };
    let row = |mean: &Record| {
        let (probe, units) = mean.scheme.split_once('/').unwrap_or((&mean.scheme, ""));
        let whose = match probe {
            metric::EMPTY => "",
            metric::EMPTY_IN_C => ", in C",
            _ => return None,
        };
        let units = match units {
            "" => String::new(),
            "1" => ", 1 unit".to_owned(),
            units => format!(", {units} units"),
        };
        let label = format!("{}{whose}{units}", mean.workload);
        let least = records.metric(&definition.slug, &mean.workload, &mean.scheme, metric::OVERHEAD_MIN);
        Some(vec![label, figures(mean.interval()), cell(least.map(|record| figures(record.interval())))])
    };
    let of = |r: &&Record| r.study == definition.slug && r.metric == metric::OVERHEAD_MEAN;
    let rows: Vec<_> = records.iter().filter(of).filter_map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "The probe's own cost".to_owned(),
        note: "Cycles of a pair of counter reads around no work, by the units of work that they time \
               otherwise. The mean is subtracted from the figures above, from means and minima alike."
            .to_owned(),
        findings: Vec::new(),
        blocks: vec![Block::Table(Table {
            caption: "Cycles of a pair of counter reads".to_owned(),
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
