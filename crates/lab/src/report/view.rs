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
use crate::study::outcome::{Case, ClaimOutcome, Finding, Overall, Reached, TargetOutcome};

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
    overall: &'static str,
    words: String,
    counts: String,
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
    rows: Vec<[String; 7]>,
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
        answer: answer(&claims, &targets, &sways),
        findings: sections.iter().flat_map(|s| &s.findings).map(|finding| format::plain(finding)).collect(),
        claims: claims.iter().map(claim).collect(),
        sway: sways.iter().map(|(w, s)| [format::plain(w), times(s.encodings), times(s.ways)]).collect(),
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
             interval is a percentile bootstrap over the pairs. Verdicts are drawn from intervals, not from medians."
                .to_owned(),
        );
    }
    made
}

/// The answer in a few sentences.
fn answer(
    claims: &[ClaimOutcome<'_>],
    targets: &[TargetOutcome<'_>],
    sways: &[(&str, tables::Sway)],
) -> Vec<String> {
    let mut sentences = Vec::new();
    let count = |overall| claims.iter().filter(|c| c.overall() == overall).count();
    let said: Vec<String> = [
        (count(Overall::Agrees), "agrees with"),
        (count(Overall::Mixed), "agrees in part with"),
        (count(Overall::Disagrees), "disagrees with"),
        (count(Overall::Undecided), "cannot tell about"),
        (count(Overall::NotMeasured), "did not measure"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, verb)| format!("{verb} {count}"))
    .collect();
    if !said.is_empty() {
        let statements = if claims.len() == 1 { "statement" } else { "statements" };
        sentences.push(format!(
            "Of the source's {} {statements}, this machine {}.",
            claims.len(),
            said.join(", ")
        ));
    }
    let most = |part: fn(&tables::Sway) -> f64| sways.iter().map(|(_, s)| part(s)).reduce(f64::max);
    if let (Some(encodings), Some(ways)) = (most(|s| s.encodings), most(|s| s.ways)) {
        sentences.push(format!(
            "With the reference's hash and the same way of hashing, encodings differ by up to {}; with the same encoding, ways \
             of hashing differ by up to {}.",
            times(encodings),
            times(ways)
        ));
    }
    let reached = |what| targets.iter().filter(|t| t.measured.is_some_and(|(_, r)| r == what)).count();
    if !targets.is_empty() {
        sentences.push(format!("Targets met: {} of {}.", reached(Reached::Met), targets.len()));
    }
    sentences
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
        overall: words::overall(overall),
        words: outcome.claim.words.clone(),
        counts: words::counts(outcome),
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
        let over = |base: Option<f64>| base.filter(|b| *b > 0.0).map(|base| times(row.mean.value / base));
        [
            Some(row.scheme.to_owned()),
            Some(figure(row.mean.value)),
            row.walk.map(figure),
            row.walk.map(|walk| figure(row.mean.value - walk)),
            over(row.walk),
            row.limit.map(figure),
            over(row.limit),
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

/// The probe's own cost: workload, mean, fewest.
fn overhead(definition: &Definition, records: &RecordSet) -> Vec<[String; 3]> {
    let cycles = |workload, name| {
        let record = records.metric(&definition.slug, workload, metric::EMPTY, name);
        record.map(|record| record.interval())
    };
    let exact = |i: Interval| if i.low < i.high { words::cycles(i) } else { figure(i.value) };
    records
        .workloads(&definition.slug)
        .into_iter()
        .filter_map(|workload| {
            let (mean, min) =
                (cycles(workload, metric::OVERHEAD_MEAN), cycles(workload, metric::OVERHEAD_MIN));
            mean.or(min)?;
            let cell = |i: Option<Interval>| i.map_or_else(|| format::NONE.to_owned(), exact);
            Some([format::plain(workload), cell(mean), cell(min)])
        })
        .collect()
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

/// A factor: `×1.24`.
fn times(factor: f64) -> String {
    format!("×{}", if factor < 2.0 { format!("{factor:.2}") } else { format!("{factor:.1}") })
}
