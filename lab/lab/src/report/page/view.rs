//! Values that the page's template shows, all figures as text.

use super::drawings::{CARD, FULL, drawings};
use super::interval_mark::Axis;
use super::section_view::section;
use crate::definition::Definition;
use crate::evidence::is_off;
use crate::outcome::{Case, ClaimOutcome, CriterionOutcome, Finding, Overall, Reached, Tally};
use crate::probe::mca;
use crate::report::answer::Answer;
use crate::report::differences::{Difference, differences};
use crate::report::noise::noise;
use crate::report::part::Part;
use crate::report::words;
use crate::run::Machine;
use hashlane_records::{Record, RecordSet, metric};
use hashlane_stats::format::{self, interval, ratio};
use minijinja::{Value, context};

/// The page of these parts; they have the machine and the run in common.
pub(super) fn page(parts: &[Part<'_>]) -> Value {
    let default = Machine::default();
    let machine = parts.first().map_or(&default, |part| part.machine);
    let noise = noise(parts);
    let mut made: Vec<String> = Vec::new();
    for sentence in parts.iter().flat_map(|part| sentences(part.definition, part.records)) {
        if !made.contains(&sentence) {
            made.push(sentence);
        }
    }
    let reason = machine.run.partial_reason.as_deref().unwrap_or("no reason was recorded");
    let difference = |Difference { topic, text }| context! { topic, text };
    context! {
        title => if let [part] = parts { &part.definition.title } else { "All studies" },
        // Machine, date, duration and noise, in one line.
        head => head(machine, parts, &noise.text),
        // A class: `open` on a noisy machine.
        tone => if noise.low { "quiet" } else { "open" },
        partial => machine.run.partial.then_some(reason),
        differences => differences(parts).into_iter().map(difference).collect::<Value>(),
        studies => parts.iter().map(study).collect::<Value>(),
        facts => machine_facts(machine),
        notes => machine.run.notes.iter().collect::<Value>(),
        made,
    }
}

fn head(machine: &Machine, parts: &[Part<'_>], noise: &str) -> String {
    let mut head = [machine.cpu.model.as_deref().unwrap_or_default(), &machine.run.date]
        .map(|fact| shown(fact).to_owned())
        .to_vec();
    let seconds: f64 = parts.iter().filter_map(|part| part.run).map(|run| run.seconds).sum();
    if seconds > 0.0 {
        head.push(format!("{seconds:.0} s"));
    }
    head.push(noise.to_owned());
    head.join(" · ")
}

fn study(part: &Part<'_>) -> Value {
    let Part { definition, records, sections, run, answer, .. } = part;
    let claims = definition.claim_outcomes(records);
    let criteria = definition.criterion_outcomes(records);
    let tally: Tally = criteria.iter().map(|criterion| criterion.reached).collect();
    let seconds = run.map(|run| format!("{:.0} s", run.seconds));
    let chart = answer.as_ref().and_then(|answer| answer.chart.as_ref());
    let limits = answer.iter().flat_map(|answer| &answer.limits);
    context! {
        id => &definition.slug,
        topic => &definition.topic,
        title => &definition.title,
        asks => &definition.asks,
        question => &definition.question,
        source => &definition.source,
        answer => answer_view(answer.as_ref(), seconds),
        card => chart.map(|chart| drawings(chart, CARD)),
        chart => chart.map(|chart| drawings(chart, FULL)),
        verdict => verdict(&claims),
        claims => claims.iter().map(claim).collect::<Value>(),
        limits => controls(part).into_iter().chain(limits.cloned()).collect::<Value>(),
        findings => sections.iter().flat_map(|section| &section.findings).collect::<Value>(),
        sections => sections.iter().map(section).collect::<Value>(),
        tally => words::tally(tally),
        criteria => criteria_view(&criteria),
    }
}

/// The answer, with its precision and the duration in small print.
fn answer_view(answer: Option<&Answer>, seconds: Option<String>) -> Value {
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
    context! { tone, text, small => small.join(" · ") }
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

fn claim(outcome: &ClaimOutcome<'_>) -> Value {
    let fits = outcome.claim.rule.fits(outcome.claim.tolerance);
    let bounds = outcome.cases.iter().flat_map(|case| [case.ratio.low, case.ratio.high]);
    let axis = Axis::over(bounds.chain(fits.0).chain([fits.1]));
    let case = |case: &Case<'_>| {
        let tone = match case.finding {
            Finding::Agrees => "good",
            Finding::Disagrees => "bad",
            Finding::Undecided => "open",
        };
        context! {
            tone,
            workload => case.workload,
            of => case.of,
            to => case.to,
            ratio => ratio(case.ratio.value),
            interval => interval(case.ratio, ratio),
            mark => axis.mark(case.ratio, fits),
            finding => words::finding(case.finding),
        }
    };
    let tone = match outcome.overall() {
        Overall::Agrees => "good",
        Overall::Disagrees => "bad",
        Overall::Mixed | Overall::Undecided | Overall::NotMeasured => "open",
    };
    context! {
        tone,
        overall => words::comparisons(outcome.counts()),
        words => &outcome.claim.words,
        range => words::range(outcome),
        rule => words::rule(outcome),
        cases => outcome.cases.iter().map(case).collect::<Value>(),
    }
}

fn criteria_view(outcomes: &[CriterionOutcome<'_>]) -> Value {
    let ends = outcomes.iter().filter_map(|c| c.measured).flat_map(|r| [r.low, r.high]);
    let axis = Axis::over(ends.chain(outcomes.iter().map(|c| c.criterion.at_most)));
    let view = |CriterionOutcome { criterion, measured, reached }: &CriterionOutcome<'_>| {
        let tone = match reached {
            Reached::Met => "good",
            Reached::Missed => "bad",
            Reached::Undecided | Reached::NotMeasured => "open",
        };
        context! {
            tone,
            figure => words::criterion(criterion),
            at_most => ratio(criterion.at_most),
            ratio => measured.map_or_else(format::none, |r| ratio(r.value)),
            interval => measured.map_or_else(format::none, |r| interval(r, ratio)),
            mark => measured.map_or_else(String::new, |r| axis.mark(r, (None, criterion.at_most))),
            reached => words::reached(*reached),
        }
    };
    outcomes.iter().map(view).collect()
}

fn machine_facts(machine: &Machine) -> Value {
    let Machine { cpu, system, build, run } = machine;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let ghz = |before: Option<f64>, after: Option<f64>| {
        let one = |g: Option<f64>| g.map_or_else(format::none, |g| format!("{g:.3}"));
        format!("{} GHz before the run, {} after", one(before), one(after))
    };
    let yes = |fact: Option<bool>| fact.map_or("", |fact| if fact { "yes" } else { "no" }).to_owned();
    let memory = system.memory_kib.map(|kib| format!("{:.1} GiB", kib as f64 / 1_048_576.0));
    let facts = [
        ("Processor", text(&cpu.model)),
        ("Vendor", text(&cpu.vendor)),
        ("Logical processors", text(&cpu.cores.map(|n| n.to_string()))),
        ("Instruction sets", cpu.flags.join(" ")),
        ("Under a hypervisor", yes(cpu.hypervisor)),
        ("Governor", text(&cpu.governor)),
        ("Turbo", yes(cpu.turbo)),
        ("Time-stamp counter", ghz(run.tsc_ghz_before, run.tsc_ghz_after)),
        ("Step of the counter", text(&run.tsc_step.map(|step| step.to_string()))),
        ("Core clock", ghz(run.core_ghz_before, run.core_ghz_after)),
        ("Memory", text(&memory)),
        ("System", format!("{} {}", system.os, system.arch).trim().to_owned()),
        ("Kernel", text(&system.kernel)),
        ("hashlane", build.hashlane.clone()),
        ("Commit", text(&build.commit)),
        ("Compiler", text(&build.rustc)),
        ("Date", run.date.clone()),
        ("Size", run.size.clone()),
        ("Seed", format!("{:#018x}", run.seed)),
        ("Command", run.command.join(" ")),
    ];
    facts.into_iter().map(|(name, fact)| context! { name, fact => shown(&fact) }).collect()
}

/// A fact, or a dash for none.
fn shown(text: &str) -> &str {
    if text.is_empty() { format::NONE } else { text }
}
