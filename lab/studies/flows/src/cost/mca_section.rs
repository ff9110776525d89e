//! Report section: the figures of llvm-mca, printed as q2ven/inet6_ehashfn prints them.

use super::mca::IN_C;
use hashlane_lab::definition::Definition;
use hashlane_lab::probe::mca::Calls;
use hashlane_lab::report::Facts;
use hashlane_lab::report::{Block, Section, Shown, Table};
use hashlane_records::RecordSet;
use hashlane_stats::format;

pub(crate) const MODEL: &str = "mca";

/// Rows of the tables: the metric of our records and of the published figures, and the source's word for it.
const ROWS: [(&str, &str); 7] = [
    ("iterations", "Iterations"),
    ("instructions", "Instructions"),
    ("total_cycles", "Total Cycles"),
    ("total_uops", "Total uOps"),
    ("dispatch_width", "Dispatch Width"),
    ("uops_per_cycle", "uOps Per Cycle"),
    ("ipc", "IPC"),
];

const TOTAL_CYCLES: &str = "total_cycles";
/// The scheme to which the percentages are, as in the source.
const BASE: &str = "base";

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let mut cpus: Vec<&str> = Vec::new();
    for workload in &facts.workloads {
        let cpu = cpu(workload);
        if !cpus.contains(&cpu) {
            cpus.push(cpu);
        }
    }
    // The source's cores are first, in its order.
    cpus.sort_by_key(|cpu| {
        definition.published.iter().position(|s| s.id == published_id(cpu)).unwrap_or(usize::MAX)
    });
    let mut blocks = Vec::new();
    for cpu in &cpus {
        let published = definition.published(&published_id(cpu));
        let shown = if published.is_some() { Shown::Open } else { Shown::PageOnly };
        let reading = |code: Code, cold: bool| {
            let workload = code.workload(cpu, cold);
            let workload = facts.workloads.iter().find(|id| **id == workload)?;
            let whose = match code {
                Code::InC => "the source's code in C, ",
                Code::Ours => "",
            };
            let call = if cold { "with the cold call, as in the source" } else { "without the cold call" };
            Some(Block::Table(ours(&facts, workload, cpu, &format!("{whose}{call}"), shown)))
        };
        blocks.extend(reading(Code::InC, true));
        blocks.extend(reading(Code::Ours, true));
        blocks.extend(published.map(|table| {
            let columns: Vec<_> = table
                .columns
                .iter()
                .map(|name| (name.as_str(), ROWS.map(|(row, _)| table.figure(row, name))))
                .collect();
            Block::Table(print(cpu, format!("{cpu}, the source's own figures"), &columns, Shown::Open))
        }));
        blocks.extend(reading(Code::InC, false));
        blocks.extend(reading(Code::Ours, false));
    }
    for (code, whose) in [(Code::InC, "The source's code in C: total cycles"), (Code::Ours, "Total Cycles")] {
        for (cold, reading) in [(true, "with"), (false, "without")] {
            let shown = if cold { Shown::PageOnly } else { Shown::Open };
            let caption = format!("{whose} on every core, {reading} the cold call");
            blocks.extend(summary(&facts, &cpus, (code, cold), caption, shown).map(Block::Table));
        }
    }
    Some(Section {
        title: "What llvm-mca computes".to_owned(),
        note: facts.note(
            "Computed from the machine code of one hash, not measured; in parentheses, per \
                          cent of base. About 100 of the cycles that the source publishes are llvm-mca's \
                          default latency of the cold call that draws the secret. They dilute the \
                          differences in every column. With the cold call: two such calls after our code, \
                          which overlap with it as far as dependences allow. Without: the differences of \
                          the hashes themselves. The code in C draws its secrets as the source's does, so \
                          its calls are its own."
                .to_owned(),
        ),
        findings: Vec::new(),
        blocks,
    })
}

/// The simulated code.
#[derive(Clone, Copy)]
enum Code {
    /// The functions that the study times, as rustc makes them.
    Ours,
    /// The source's, as the C compiler makes them.
    InC,
}

impl Code {
    /// The workload of its simulation on a core.
    fn workload(self, cpu: &str, cold: bool) -> String {
        let calls = if cold { Calls::Cold } else { Calls::None };
        let suffix = match self {
            Self::Ours => "",
            Self::InC => IN_C,
        };
        format!("{}{suffix}", calls.workload(cpu))
    }
}

/// Id of the published figures of a core.
fn published_id(cpu: &str) -> String {
    format!("llvm-mca/{cpu}")
}

/// The core that a workload names: `mca/CPU`, the calls and the code.
fn cpu(workload: &str) -> &str {
    workload.strip_prefix("mca/").unwrap_or(workload).split('/').next().unwrap_or_default()
}

fn ours(facts: &Facts<'_>, workload: &str, cpu: &str, reading: &str, shown: Shown) -> Table {
    let metrics = ROWS.map(|(metric, _)| metric);
    let figures = |scheme: &str| {
        metrics.map(|metric| match facts.value(workload, scheme, metric) {
            // The code is simulated once through, which no record states.
            None if metric == "iterations" => Some(1.0),
            value => value,
        })
    };
    let columns: Vec<_> =
        facts.schemes_with(workload, &metrics).into_iter().map(|s| (s, figures(s))).collect();
    print(cpu, format!("{cpu}, {reading}"), &columns, shown)
}

/// A table of the source's form.
fn print(cpu: &str, caption: String, columns: &[(&str, [Option<f64>; 7])], shown: Shown) -> Table {
    let base = columns.iter().find(|(name, _)| *name == BASE).or(columns.first());
    let row = |(i, (_, label)): (usize, &(&str, &str))| {
        let of_base = base.and_then(|(_, figures)| figures[i]);
        let cell = |(name, figures): &(&str, [Option<f64>; 7])| {
            with_percent(figures[i], of_base, base.is_some_and(|(base, _)| base == name))
        };
        [(*label).to_owned()].into_iter().chain(columns.iter().map(cell)).collect()
    };
    Table {
        caption,
        columns: [cpu].into_iter().chain(columns.iter().map(|(name, _)| *name)).map(str::to_owned).collect(),
        left: 1,
        rows: ROWS.iter().enumerate().map(row).collect(),
        shown,
    }
}

/// Total cycles of every scheme on every core; `None` for a single core, whose table has them already.
fn summary(
    facts: &Facts<'_>,
    cpus: &[&str],
    (code, cold): (Code, bool),
    caption: String,
    shown: Shown,
) -> Option<Table> {
    let workload = |cpu: &str| {
        let wanted = code.workload(cpu, cold);
        facts.workloads.iter().find(|id| **id == wanted).copied()
    };
    let measured: Vec<_> = cpus.iter().filter_map(|cpu| Some((*cpu, workload(cpu)?))).collect();
    let schemes = facts.schemes_with(measured.first()?.1, &[TOTAL_CYCLES]);
    let base = schemes.iter().find(|scheme| **scheme == BASE).or(schemes.first())?;
    let row = |(cpu, workload): &(&str, &str)| {
        let of_base = facts.value(workload, base, TOTAL_CYCLES);
        let cell = |scheme: &&str| {
            with_percent(facts.value(workload, scheme, TOTAL_CYCLES), of_base, scheme == base)
        };
        [(*cpu).to_owned()].into_iter().chain(schemes.iter().map(cell)).collect()
    };
    (measured.len() > 1).then(|| Table {
        caption,
        columns: ["core"].into_iter().chain(schemes.iter().copied()).map(str::to_owned).collect(),
        left: 1,
        rows: measured.iter().map(row).collect(),
        shown,
    })
}

/// `137.00 (131.73)`; the base itself is without its hundred.
fn with_percent(value: Option<f64>, base: Option<f64>, is_base: bool) -> String {
    let Some(value) = value else { return format::NONE.to_owned() };
    let percent = base.filter(|_| !is_base).map(|base| 100.0 * value / base).filter(|p| p.is_finite());
    match percent {
        Some(percent) => format!("{value:.2} ({percent:.2})"),
        None => format!("{value:.2}"),
    }
}
