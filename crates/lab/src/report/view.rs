//! Values that the page's template shows, all figures as text.

use serde::Serialize;

use super::format::{self, interval, ratio};
use super::interval_mark::Axis;
use super::part::Part;
use super::section_view::{self, BarsView, SectionView};
use super::{chart, facts, words};
use crate::definition::{Chart, Definition};
use crate::outcome::{Case, ClaimOutcome, CriterionOutcome, Finding, Overall, Reached, Tally};
use crate::probe::mca;
use crate::record::{Machine, Record, RecordSet, metric};

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
    criteria: Vec<CriterionView>,
    charts: Vec<ChartView>,
    /// Metric and subject of the study in words: `cycles per name`.
    measure: String,
    reference: String,
    sections: Vec<SectionView>,
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
struct CriterionView {
    figure: String,
    at_most: String,
    ratio: String,
    interval: String,
    mark: String,
    tone: &'static str,
    reached: &'static str,
}

#[derive(Serialize)]
struct ChartView {
    title: String,
    note: String,
    bars: BarsView,
}

/// One study's part of the page, the `index`th.
pub(super) fn study(index: usize, part: &Part<'_>) -> StudyView {
    let Part { definition, records, machine, sections } = part;
    let workloads = facts::workloads(definition, records);
    let claims = definition.claim_outcomes(records);
    let criteria = definition.criterion_outcomes(records);
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
        answer: answer(&claims, &criteria),
        findings: sections.iter().flat_map(|s| &s.findings).map(|finding| format::plain(finding)).collect(),
        claims: claims.iter().map(claim).collect(),
        criteria: criteria_view(&criteria),
        charts: definition.charts.iter().map(|c| chart_view(c, definition, records, &workloads)).collect(),
        measure: format!("{} per {}", facts::unit(definition, records), definition.per),
        reference: definition.reference.clone(),
        sections: sections.iter().map(section_view::section).collect(),
        facts: machine_facts(machine),
        notes: machine.run.notes.iter().map(|note| format::plain(note)).collect(),
        made: made(definition, records),
    }
}

/// Notes on how the figures are made, for the kinds of figures in the records.
fn made(definition: &Definition, records: &RecordSet) -> Vec<String> {
    let any = |holds: fn(&Record) -> bool| records.iter().any(|r| r.study == definition.slug && holds(r));
    let cycles = "Its rate and the core's clock are stated above: where they differ, a cycle here is not a cycle of the core.";
    let mut made = Vec::new();
    if any(|r| r.metric == metric::CYCLES_MEAN) {
        made.push(format!(
            "Cycles are those of the time-stamp counter, read between serialising barriers around each {}. {cycles}",
            definition.per
        ));
    } else if any(|r| r.unit == "cycles" && r.probe != mca::PROBE) {
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
fn answer(claims: &[ClaimOutcome<'_>], criteria: &[CriterionOutcome<'_>]) -> Vec<String> {
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
    if !criteria.is_empty() {
        let tally: Tally = criteria.iter().map(|criterion| criterion.reached).collect();
        sentences.push(format!("Criteria: {}.", words::tally(tally)));
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
        overall: words::comparisons(outcome.counts()),
        words: outcome.claim.words.clone(),
        range: words::range(outcome),
        rule: words::rule(outcome),
        cases: outcome.cases.iter().map(case).collect(),
    }
}

fn criteria_view(outcomes: &[CriterionOutcome<'_>]) -> Vec<CriterionView> {
    let ends = outcomes.iter().filter_map(|c| c.measured).flat_map(|r| [r.low, r.high]);
    let axis = Axis::over(ends.chain(outcomes.iter().map(|c| c.criterion.at_most)));
    let none = || format::NONE.to_owned();
    let view = |CriterionOutcome { criterion, measured, reached }: &CriterionOutcome<'_>| CriterionView {
        figure: format::plain(&words::criterion(criterion)),
        at_most: ratio(criterion.at_most),
        ratio: measured.map_or_else(none, |r| ratio(r.value)),
        interval: measured.map_or_else(none, |r| interval(r, ratio)),
        mark: measured.map_or_else(String::new, |r| axis.mark(r, (None, criterion.at_most))),
        tone: match reached {
            Reached::Met => "good",
            Reached::Missed => "bad",
            Reached::Undecided | Reached::NotMeasured => "open",
        },
        reached: words::reached(*reached),
    };
    outcomes.iter().map(view).collect()
}

fn chart_view(chart: &Chart, definition: &Definition, records: &RecordSet, workloads: &[&str]) -> ChartView {
    let bars = section_view::bars(&chart::plots(chart, definition, records, workloads));
    ChartView { title: chart.title.clone(), note: chart.note.clone(), bars }
}

fn machine_facts(machine: &Machine) -> Vec<(&'static str, String)> {
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
