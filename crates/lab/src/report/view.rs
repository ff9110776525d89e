//! What the page's template shows, all figures as text.

use serde::Serialize;

use super::format::{self, figure, interval, ratio};
use super::html::Part;
use super::interval_mark::Axis;
use super::section_view::{self, BarsView, SectionView};
use super::tables::{self, FloorRow, SchemeRow};
use super::{chart, sections, words};
use crate::record::{Machine, Record, RecordSet, metric};
use crate::stats::Interval;
use crate::study::definition::{Chart, Definition};
use crate::study::outcome::{Case, ClaimOutcome, Finding, Overall, Reached, Tally, TargetOutcome};

/// One study's part of the page.
#[derive(Serialize)]
pub(super) struct StudyView {
    id: String,
    title: String,
    question: String,
    source: String,
    partial: Option<String>,
    date: String,
    answer: Vec<String>,
    findings: Vec<String>,
    claims: Vec<ClaimView>,
    sway: Vec<[String; 3]>,
    targets: Vec<TargetView>,
    floors: Vec<FloorView>,
    charts: Vec<ChartView>,
    /// What is measured of what, in words: `cycles per name`.
    measure: String,
    reference: String,
    bound: Option<[String; 3]>,
    tables: Vec<TableView>,
    sections: Vec<SectionView>,
    overhead: Vec<[String; 3]>,
    facts: Vec<(&'static str, String)>,
    notes: Vec<String>,
    made: Vec<String>,
}

#[derive(Serialize)]
struct ClaimView {
    tone: &'static str,
    overall: String,
    words: String,
    range: String,
    rule: String,
    cases: Vec<CaseView>,
}

#[derive(Serialize)]
struct CaseView {
    workload: String,
    of: String,
    to: String,
    ratio: String,
    interval: String,
    mark: String,
    tone: &'static str,
    finding: &'static str,
}

#[derive(Serialize)]
struct TargetView {
    of: String,
    to: String,
    workload: String,
    at_most: String,
    ratio: String,
    interval: String,
    mark: String,
    tone: &'static str,
    reached: &'static str,
}

#[derive(Serialize)]
struct FloorView {
    workload: String,
    open: bool,
    rows: Vec<[String; 5]>,
}

#[derive(Serialize)]
struct ChartView {
    title: String,
    note: String,
    bars: BarsView,
}

#[derive(Serialize)]
struct TableView {
    workload: String,
    open: bool,
    columns: Vec<String>,
    rows: Vec<RowView>,
}

#[derive(Serialize)]
struct RowView {
    scheme: String,
    /// What the cell says, and whether it lies beyond the source's bound.
    cells: Vec<(String, bool)>,
}

/// One study's part of the page, the `index`th.
pub(super) fn study(index: usize, part: &Part<'_>) -> StudyView {
    let Part { definition, records, machine } = *part;
    let workloads = tables::workloads(definition, records);
    let claims = definition.claim_outcomes(records);
    let targets = definition.target_outcomes(records);
    let sways: Vec<_> =
        workloads.iter().filter_map(|w| Some((*w, tables::sway(definition, records, w)?))).collect();
    let first = targets.first().map_or_else(|| workloads.first().copied(), |t| Some(t.workload));
    let bound = definition.bound.as_ref();
    let sections = sections::sections(definition, records);
    let mut floors: Vec<_> =
        workloads.iter().filter_map(|w| floor_view(definition, records, w, Some(*w) == first)).collect();
    let mut tables: Vec<_> = workloads
        .iter()
        .filter(|_| !sections::show(&definition.model))
        .map(|w| table(definition, records, w, Some(*w) == first))
        .collect();
    // What stands open comes before what a reader must open.
    floors.sort_by_key(|view| !view.open);
    tables.sort_by_key(|view| !view.open);
    StudyView {
        id: format!("study-{index}"),
        title: definition.title.clone(),
        question: definition.question.clone(),
        source: definition.source.clone(),
        partial: machine.run.partial.then(|| {
            let reason = machine.run.partial_reason.as_deref().unwrap_or("no reason was recorded");
            format::plain(reason)
        }),
        date: shown(&machine.run.date),
        answer: answer(definition, &claims, &targets, &sways),
        findings: sections.iter().flat_map(|s| &s.findings).map(|finding| format::plain(finding)).collect(),
        claims: claims.iter().map(claim).collect(),
        sway: sways.iter().map(|(w, s)| [format::plain(w), effect(s.encodings), effect(s.ways)]).collect(),
        targets: targets_view(&targets),
        floors,
        charts: definition.charts.iter().map(|c| chart_view(c, definition, records, &workloads)).collect(),
        measure: format!("{} per {}", tables::unit(definition, records), definition.per),
        reference: definition.reference.clone(),
        bound: bound.map(|b| [b.metric.clone(), figure(b.value), b.words.clone()]),
        tables,
        sections: sections.iter().map(section_view::section).collect(),
        overhead: overhead(definition, records),
        facts: facts(machine),
        notes: machine.run.notes.iter().map(|note| format::plain(note)).collect(),
        made: made(definition, records),
    }
}

/// How the figures are made, as far as there are such figures.
fn made(definition: &Definition, records: &RecordSet) -> Vec<String> {
    let any = |holds: fn(&Record) -> bool| records.iter().any(|r| r.study == definition.slug && holds(r));
    let cycles = "Its rate and the core's clock are stated above: where they differ, a cycle here is not a cycle of the core.";
    let mut made = Vec::new();
    if any(|r| r.metric == metric::CYCLES_MEAN) {
        made.push(format!(
            "Cycles are those of the time-stamp counter, read between serialising barriers around each {}. {cycles}",
            definition.per
        ));
    } else if any(|r| r.unit == "cycles" && r.model != "mca") {
        made.push(format!("Cycles are those of the time-stamp counter. {cycles}"));
    }
    if any(|r| r.metric == metric::RATIO) {
        made.push(
            "Schemes that are compared are timed in alternation within one run; a ratio is taken pair by pair, and its \
             bounds are order statistics of the pairs. Verdicts are drawn from intervals of 95 %, not from medians; \
             fewer than six rounds cover less, which is stated, and decide nothing."
                .to_owned(),
        );
    }
    made
}

/// The answer in a few sentences.
fn answer(
    definition: &Definition,
    claims: &[ClaimOutcome<'_>],
    targets: &[TargetOutcome<'_>],
    sways: &[(&str, tables::Sway<'_>)],
) -> Vec<String> {
    let mut sentences = Vec::new();
    let found: Vec<String> = [
        (Overall::Agrees, ["agrees in every comparison", "agree in every comparison"]),
        (Overall::Disagrees, ["disagrees in every comparison", "disagree in every comparison"]),
        (Overall::Mixed, ["differs between comparisons", "differ between comparisons"]),
        (Overall::Undecided, ["is undecided", "are undecided"]),
        (Overall::NotMeasured, ["not measured", "not measured"]),
    ]
    .into_iter()
    .map(|(overall, words)| (claims.iter().filter(|c| c.overall() == overall).count(), words))
    .filter(|(count, _)| *count > 0)
    .map(|(count, [one, several])| format!("{count} {}", if count == 1 { one } else { several }))
    .collect();
    if !found.is_empty() {
        sentences.push(format!("Statements of the source: {}.", found.join(", ")));
    }
    let reference = &definition.reference;
    let effects = sways.iter().map(|(workload, sway)| (*workload, sway.encodings));
    sentences.extend(largest("the encoding", effects, reference));
    let effects = sways.iter().map(|(workload, sway)| (*workload, sway.ways));
    sentences.extend(largest("the way of hashing", effects, reference));
    if !targets.is_empty() {
        let tally: Tally = targets.iter().map(|t| t.measured.map(|(_, reached)| reached)).collect();
        sentences.push(format!("Criteria: {}.", words::tally(tally)));
    }
    sentences
}

/// The largest of the effects of `what`: on a workload, a scheme and its ratio to the reference.
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

fn claim(outcome: &ClaimOutcome<'_>) -> ClaimView {
    let fits = outcome.claim.rule.fits(outcome.claim.tolerance);
    let bounds = outcome.cases.iter().flat_map(|case| [case.ratio.low, case.ratio.high]);
    let axis = Axis::over(bounds.chain([2.0 - fits.1, fits.1]));
    let case = |case: &Case<'_>| CaseView {
        workload: format::plain(case.workload),
        of: case.of.to_owned(),
        to: case.to.to_owned(),
        ratio: ratio(case.ratio.value),
        interval: interval(case.ratio, ratio),
        mark: axis.mark(case.ratio, fits),
        tone: match case.finding {
            Finding::Agrees => "good",
            Finding::Disagrees => "bad",
            Finding::Undecided => "open",
        },
        finding: words::finding(case.finding),
    };
    let overall = outcome.overall();
    ClaimView {
        tone: match overall {
            Overall::Agrees => "good",
            Overall::Disagrees => "bad",
            Overall::Mixed | Overall::Undecided | Overall::NotMeasured => "open",
        },
        overall: words::comparisons(outcome.counts()),
        words: outcome.claim.words.clone(),
        range: words::range(outcome),
        rule: words::rule(outcome),
        cases: outcome.cases.iter().map(case).collect(),
    }
}

fn targets_view(outcomes: &[TargetOutcome<'_>]) -> Vec<TargetView> {
    let highs = outcomes.iter().filter_map(|t| t.measured).flat_map(|(r, _)| [r.low, r.high]);
    let axis = Axis::over(highs.chain(outcomes.iter().map(|t| t.target.at_most)));
    let none = || format::NONE.to_owned();
    let view = |outcome: &TargetOutcome<'_>| TargetView {
        of: outcome.target.of.clone(),
        to: outcome.target.to.clone(),
        workload: format::plain(outcome.workload),
        at_most: ratio(outcome.target.at_most),
        ratio: outcome.measured.map_or_else(none, |(r, _)| ratio(r.value)),
        interval: outcome.measured.map_or_else(none, |(r, _)| interval(r, ratio)),
        mark: outcome
            .measured
            .map_or_else(String::new, |(r, _)| axis.mark(r, (None, outcome.target.at_most))),
        tone: match outcome.measured {
            Some((_, Reached::Met)) => "good",
            Some((_, Reached::Missed)) => "bad",
            _ => "open",
        },
        reached: outcome.measured.map_or("not measured", |(_, reached)| words::reached(reached)),
    };
    outcomes.iter().map(view).collect()
}

fn floor_view(definition: &Definition, records: &RecordSet, workload: &str, open: bool) -> Option<FloorView> {
    let row = |row: FloorRow<'_>| {
        [
            Some(row.scheme.to_owned()),
            Some(words::cycles(row.mean)),
            row.walk.map(words::cycles),
            row.walk.map(|walk| figure(row.mean.value - walk.value)),
            row.limit.map(figure),
        ]
        .map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned()))
    };
    let rows: Vec<_> = tables::floor(definition, records, workload).map(row).collect();
    (!rows.is_empty()).then(|| FloorView { workload: format::plain(workload), open, rows })
}

fn chart_view(chart: &Chart, definition: &Definition, records: &RecordSet, workloads: &[&str]) -> ChartView {
    let bars = section_view::bars(&chart::plots(chart, definition, records, workloads));
    ChartView { title: chart.title.clone(), note: chart.note.clone(), bars }
}

/// All that was measured on a workload; what was measured of none has no column.
fn table(definition: &Definition, records: &RecordSet, workload: &str, open: bool) -> TableView {
    let bound = definition.bound.as_ref();
    let beyond = bound.map_or(f64::INFINITY, |bound| bound.value);
    let spread = bound.map_or_else(String::new, |bound| format!(" (bound {})", figure(bound.value)));
    let columns = [
        "mean",
        "95 %",
        "mean of the minima",
        &format!("sd of the means{spread}"),
        "ratio",
        "95 %",
        "stream, without barriers",
    ];
    let row = |row: SchemeRow<'_>| {
        let cells = [
            row.mean.map(|m| figure(m.value)),
            row.mean.map(|m| interval(m, figure)),
            row.min_mean.map(figure),
            row.spread.map(|s| format!("{s:.2}")),
            row.ratio
                .map(|r| ratio(r.value))
                .or_else(|| is_reference(definition, &row).then(|| "1".to_owned())),
            row.ratio.map(|r| interval(r, ratio)),
            row.stream.map(figure),
        ];
        (row.scheme.to_owned(), cells, row.spread.is_some_and(|s| s > beyond))
    };
    let rows: Vec<_> = tables::schemes(definition, records, workload).map(row).collect();
    let filled: Vec<usize> =
        (0..columns.len()).filter(|&i| rows.iter().any(|(_, cells, _)| cells[i].is_some())).collect();
    let view = |(scheme, cells, beyond): (String, [Option<String>; 7], bool)| {
        let cell =
            |&i: &usize| (cells[i].clone().unwrap_or_else(|| format::NONE.to_owned()), beyond && i == 3);
        RowView { scheme, cells: filled.iter().map(cell).collect() }
    };
    TableView {
        workload: format::plain(workload),
        open,
        columns: filled.iter().map(|&i| columns[i].to_owned()).collect(),
        rows: rows.into_iter().map(view).collect(),
    }
}

fn is_reference(definition: &Definition, row: &SchemeRow<'_>) -> bool {
    row.scheme == definition.reference
}

/// The probe's own cost: workload and units of work to a reading, mean, fewest.
fn overhead(definition: &Definition, records: &RecordSet) -> Vec<[String; 3]> {
    let cell = |i: Interval| if i.low < i.high { words::cycles(i) } else { figure(i.value) };
    let row = |mean: &Record| {
        let units = mean.scheme.strip_prefix(metric::EMPTY)?;
        let label = match units.strip_prefix('/') {
            Some("1") => format!("{}, 1 unit", mean.workload),
            Some(units) => format!("{}, {units} units", mean.workload),
            None => mean.workload.clone(),
        };
        let least = records.metric(&definition.slug, &mean.workload, &mean.scheme, metric::OVERHEAD_MIN);
        let least = least.map_or_else(|| format::NONE.to_owned(), |record| cell(record.interval()));
        Some([format::plain(&label), cell(mean.interval()), least])
    };
    let of = |r: &&Record| r.study == definition.slug && r.metric == metric::OVERHEAD_MEAN;
    records.iter().filter(of).filter_map(row).collect()
}

fn facts(machine: &Machine) -> Vec<(&'static str, String)> {
    let Machine { cpu, system, build, run } = machine;
    let text = |text: &Option<String>| text.as_deref().map_or_else(|| format::NONE.to_owned(), shown);
    let ghz = |before: Option<f64>, after: Option<f64>| {
        let one = |g: Option<f64>| g.map_or_else(|| format::NONE.to_owned(), |g| format!("{g:.3}"));
        format!("{} GHz before the run, {} after", one(before), one(after))
    };
    let yes = |fact: Option<bool>| match fact {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => format::NONE.to_owned(),
    };
    vec![
        ("Processor", text(&cpu.model)),
        ("Vendor", text(&cpu.vendor)),
        ("Logical processors", cpu.cores.map_or_else(|| format::NONE.to_owned(), |n| n.to_string())),
        ("Instruction sets", shown(&cpu.flags.join(" "))),
        ("Under a hypervisor", yes(cpu.hypervisor)),
        ("Governor", text(&cpu.governor)),
        ("Turbo", yes(cpu.turbo)),
        ("Time-stamp counter", ghz(run.tsc_ghz_before, run.tsc_ghz_after)),
        (
            "Step of the counter",
            run.tsc_step.map_or_else(|| format::NONE.to_owned(), |step| step.to_string()),
        ),
        ("Core clock", ghz(run.core_ghz_before, run.core_ghz_after)),
        (
            "Memory",
            system
                .memory_kib
                .map_or_else(|| format::NONE.to_owned(), |k| format!("{:.1} GiB", k as f64 / 1_048_576.0)),
        ),
        ("System", shown(format!("{} {}", system.os, system.arch).trim())),
        ("Kernel", text(&system.kernel)),
        ("hashlane", shown(&build.hashlane)),
        ("Commit", text(&build.commit)),
        ("Compiler", text(&build.rustc)),
        ("Date", shown(&run.date)),
        ("Size", shown(&run.size)),
        ("Seed", format!("{:#018x}", run.seed)),
        ("Command", shown(&run.command.join(" "))),
    ]
}

/// Text from outside, or a dash for none.
fn shown(text: &str) -> String {
    if text.is_empty() { format::NONE.to_owned() } else { format::plain(text) }
}

/// A scheme and its ratio.
fn effect((scheme, of_reference): (&str, Interval)) -> String {
    format!("{scheme}: {}", words::ratio_with_bounds(of_reference))
}
