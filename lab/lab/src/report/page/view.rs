//! Values that the page's template shows, all figures as text.

use serde::Serialize;

use super::drawings::{self, Drawings};
use super::interval_mark::Axis;
use super::section_view::{self, SectionView};
use crate::definition::{Chart, Definition};
use crate::evidence::is_off;
use crate::outcome::{Case, ClaimOutcome, CriterionOutcome, Finding, Overall, Reached, Tally};
use crate::probe::mca;
use crate::report::answer::Answer;
use crate::report::differences::differences;
use crate::report::noise::noise;
use crate::report::part::Part;
use crate::report::{chart, facts, words};
use crate::run::Machine;
use hashlane_records::{Record, RecordSet, metric};
use hashlane_stats::format::{self, interval, ratio};

/// The page.
#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    /// Machine, date, duration and noise, in one line.
    head: String,
    /// Class of the head: `open` on a noisy machine.
    tone: &'static str,
    partial: Option<String>,
    /// Results that differ from the sources: topic and words.
    differences: Vec<(String, String)>,
    studies: Vec<StudyView>,
    facts: Vec<(&'static str, String)>,
    notes: Vec<String>,
    made: Vec<String>,
}

/// One study's part of the page.
#[derive(Serialize)]
pub(super) struct StudyView {
    id: String,
    topic: String,
    title: String,
    asks: String,
    question: String,
    source: String,
    answer: AnswerView,
    /// The key chart on the study's card, and at its head.
    card: Option<Drawings>,
    chart: Option<Drawings>,
    claims: Vec<ClaimView>,
    /// The claims in a few words, for the card.
    verdict: String,
    limits: Vec<String>,
    findings: Vec<String>,
    charts: Vec<ChartView>,
    /// Metric and subject of the study in words: `cycles per name`.
    measure: String,
    sections: Vec<SectionView>,
    /// Criteria by outcome, in words.
    tally: String,
    criteria: Vec<CriterionView>,
}

#[derive(Serialize)]
struct AnswerView {
    tone: &'static str,
    text: String,
    /// Precision and duration.
    small: String,
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
    bars: Drawings,
}

impl PageView {
    pub(super) fn title(&self) -> &str {
        &self.title
    }
}

/// The page of these parts; they have the machine and the run in common.
pub(super) fn page(parts: &[Part<'_>]) -> PageView {
    let default = Machine::default();
    let machine = parts.first().map_or(&default, |part| part.machine);
    let noise = noise(parts);
    let mut made: Vec<String> = Vec::new();
    for sentence in parts.iter().flat_map(|part| sentences(part.definition, part.records)) {
        if !made.contains(&sentence) {
            made.push(sentence);
        }
    }
    let titles: Vec<&str> = parts.iter().map(|part| part.definition.title.as_str()).collect();
    PageView {
        title: if titles.len() == 1 { titles.concat() } else { "All studies".to_owned() },
        head: head(machine, parts, &noise.text),
        tone: if noise.low { "quiet" } else { "open" },
        partial: machine.run.partial.then(|| {
            let reason = machine.run.partial_reason.as_deref().unwrap_or("no reason was recorded");
            format::plain(reason)
        }),
        differences: differences(parts).into_iter().map(|found| (found.topic, found.text)).collect(),
        studies: parts.iter().map(study).collect(),
        facts: machine_facts(machine),
        notes: machine.run.notes.iter().map(|note| format::plain(note)).collect(),
        made,
    }
}

fn head(machine: &Machine, parts: &[Part<'_>], noise: &str) -> String {
    let mut head = vec![shown(machine.cpu.model.as_deref().unwrap_or_default()), shown(&machine.run.date)];
    let seconds: f64 = parts.iter().filter_map(|part| part.run).map(|run| run.seconds).sum();
    if seconds > 0.0 {
        head.push(format!("{seconds:.0} s"));
    }
    head.push(format::plain(noise));
    head.join(" · ")
}

fn study(part: &Part<'_>) -> StudyView {
    let Part { definition, records, sections, run, answer, .. } = part;
    let workloads = facts::workloads(definition, records);
    let claims = definition.claim_outcomes(records);
    let criteria = definition.criterion_outcomes(records);
    let tally: Tally = criteria.iter().map(|criterion| criterion.reached).collect();
    let seconds = run.map(|run| format!("{:.0} s", run.seconds));
    let chart = answer.as_ref().and_then(|answer| answer.chart.as_ref());
    let limits = answer.iter().flat_map(|answer| &answer.limits);
    StudyView {
        id: definition.slug.clone(),
        topic: definition.topic.clone(),
        title: definition.title.clone(),
        asks: definition.asks.clone(),
        question: definition.question.clone(),
        source: definition.source.clone(),
        answer: answer_view(answer.as_ref(), seconds),
        card: chart.and_then(drawings::card),
        chart: chart.and_then(drawings::full),
        verdict: verdict(&claims),
        claims: claims.iter().map(claim).collect(),
        limits: controls(part).into_iter().chain(limits.cloned()).map(|line| format::plain(&line)).collect(),
        findings: sections.iter().flat_map(|s| &s.findings).map(|finding| format::plain(finding)).collect(),
        charts: definition.charts.iter().map(|c| chart_view(c, definition, records, &workloads)).collect(),
        measure: format!("{} per {}", facts::unit(definition, records), definition.per),
        sections: sections.iter().map(section_view::section).collect(),
        tally: words::tally(tally),
        criteria: criteria_view(&criteria),
    }
}

fn answer_view(answer: Option<&Answer>, seconds: Option<String>) -> AnswerView {
    let mut small = Vec::new();
    let (tone, text) = match answer.map(|answer| &answer.sentence) {
        Some(Ok(statement)) => {
            small.extend(statement.precision_text().map(|precision| format!("figures {precision}")));
            ("", statement.text.clone())
        }
        Some(Err(doubt)) => ("open", doubt.to_string()),
        None => {
            ("open", "This version has no such kind of study; the tables below are all there is.".to_owned())
        }
    };
    small.extend(seconds);
    AnswerView { tone, text: format::plain(&text), small: small.join(" · ") }
}

/// The A/A control of a study, in a line.
fn controls(part: &Part<'_>) -> Option<String> {
    let (_, of) = part.definition.control.as_ref()?;
    let controls = part.evidence().controls();
    let widest = controls.iter().map(|(_, control)| (control.value - 1.0).abs()).reduce(f64::max)?;
    let off = controls.iter().filter(|(_, control)| is_off(*control)).count();
    let beyond = if off == 0 { String::new() } else { format!(", beyond noise and 3 % on {off}") };
    let workloads = if controls.len() == 1 { "1 workload" } else { &format!("{} workloads", controls.len()) };
    Some(format!(
        "A/A control: {of} timed twice a round on {workloads}; the two differ by at most {}{beyond}.",
        format::percent(widest)
    ))
}

/// The claims in a few words.
fn verdict(claims: &[ClaimOutcome<'_>]) -> String {
    let found: Vec<String> = [
        (Overall::Agrees, "agrees"),
        (Overall::Disagrees, "differs"),
        (Overall::Mixed, "mixed"),
        (Overall::Undecided, "undecided"),
        (Overall::NotMeasured, "not measured"),
    ]
    .into_iter()
    .map(|(overall, word)| (claims.iter().filter(|c| c.overall() == overall).count(), word))
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| if claims.len() == 1 { word.to_owned() } else { format!("{word}: {count}") })
    .collect();
    if found.is_empty() { String::new() } else { format!("source: {}", found.join(", ")) }
}

/// Notes on how the figures are made, for the kinds of figures in the records.
fn sentences(definition: &Definition, records: &RecordSet) -> Vec<String> {
    let any = |holds: fn(&Record) -> bool| records.iter().any(|r| r.study == definition.slug && holds(r));
    let cycles = "Its rate and the core's clock are stated with the machine: where they differ, a cycle here is \
                  not a cycle of the core.";
    let mut made = Vec::new();
    if any(|r| r.metric == metric::CYCLES_MEAN) {
        made.push(format!(
            "Cycles are those of the time-stamp counter, read between serialising barriers around each {}. \
             {cycles}",
            definition.per
        ));
    } else if any(|r| r.unit == "cycles" && r.probe != mca::PROBE) {
        made.push(format!("Cycles are those of the time-stamp counter. {cycles}"));
    }
    if any(|r| r.metric == metric::RATIO) {
        made.push(
            "Schemes that are compared are timed in alternation; a ratio is taken pair by pair. Verdicts are \
             drawn from intervals of 95 %, not from medians; fewer than six rounds of one launch cover less, \
             which is stated, and decide nothing."
                .to_owned(),
        );
    }
    made.extend(words::intervals(definition, records).map(|words| format!("{}: {words}", definition.slug)));
    made
}

fn claim(outcome: &ClaimOutcome<'_>) -> ClaimView {
    let fits = outcome.claim.rule.fits(outcome.claim.tolerance);
    let bounds = outcome.cases.iter().flat_map(|case| [case.ratio.low, case.ratio.high]);
    let axis = Axis::over(bounds.chain(fits.0).chain([fits.1]));
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
    let bars = drawings::small_bars(&chart::plots(chart, definition, records, workloads));
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
