//! Tables of the parts of a forwarder, and of the cost of digests.

use crate::metric;
use hashlane_lab::report::{Block, Facts, Shown, Table};
use hashlane_stats::format::{self, figure};

/// The index that the source measured, and its function.
const DIGESTED: &str = "digest";
const SOURCE_FUNCTION: &str = "sha1";

/// The ids of the model's parts, and their rows in the table.
const NAMED: [(&str, &str); 6] = [
    ("decode", "decoding, and hashing names"),
    ("prefetch", "marks and prefetches"),
    ("pit", "PIT: find, insert, match, remove"),
    ("fib", "FIB and strategy"),
    ("store", "content store: find, insert"),
    ("whole", "the state machine"),
];

/// Parts of the forwarder without I/O, as shares of the process under full load over Unix sockets if that was
/// measured.
pub(super) fn parts_table(facts: &Facts<'_>, load: Option<&Facts<'_>>) -> Block {
    let mut rows = Vec::new();
    let mut counts: Vec<usize> = facts.workloads.iter().filter_map(|workload| components(workload)).collect();
    counts.dedup();
    for count in counts {
        let ns = |part: &str, id: &str| facts.value(&format!("parts/{count}/{part}"), id, metric::NS);
        let process =
            |id: &str| Some(1000.0 * load?.value(&format!("load/unix/{count}"), id, metric::CPU_US)?);
        let cell = |ns: Option<f64>, id: &str| match (ns, process(id)) {
            (Some(ns), Some(process)) => format!("{} ({} %)", figure(ns), figure(100.0 * ns / process)),
            (Some(ns), None) => figure(ns),
            (None, _) => none(),
        };
        let mut row = |name: &str, of: &dyn Fn(&str) -> Option<f64>| {
            let cells = facts.schemes.iter().map(|id| cell(of(id), id));
            rows.push([count.to_string(), name.to_owned()].into_iter().chain(cells).collect());
        };
        let (whole, parts) =
            NAMED.split_last().map_or(("whole", &NAMED[..]), |(whole, parts)| (whole.0, parts));
        for (part, name) in parts {
            row(name, &|id| ns(part, id));
        }
        let known = |id: &str| parts.iter().map(|(part, _)| ns(part, id)).sum::<Option<f64>>();
        row("rest of forwarding (subtracted)", &|id| Some(ns(whole, id)? - known(id)?));
        row("system calls, faces (subtracted)", &|id| Some(process(id)? - ns(whole, id)?));
        row("the process", &process);
    }
    Block::Table(Table {
        caption: "where the time goes, ns per exchange, and per cent of the process under full load over \
                  Unix sockets where that was measured. decoding, and marks and prefetches: the first two \
                  stages of the forwarder; by digest, the marks include computing the digest. PIT, FIB \
                  and content store: parts of the last stage. The rest of forwarding is all stages less \
                  these rows; system calls and faces are the process less all stages"
            .to_owned(),
        columns: ["components", "part"].iter().chain(&facts.schemes).map(|&name| name.to_owned()).collect(),
        left: 2,
        rows,
        shown: Shown::Open,
    })
}

/// Cost of a digest at each hop, compared with the cycles that looking up Data by it saves.
pub(super) fn digests(facts: &Facts<'_>, alone: Option<&Facts<'_>>, reference: &str) -> Block {
    let cells = |of: &dyn Fn(&str) -> Option<f64>| {
        facts.workloads.iter().map(|workload| of(workload).map_or_else(none, figure)).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for function in &facts.schemes {
        let cost = cells(&|workload| facts.value(workload, function, metric::NS));
        rows.push([format!("an Interest's digest by {function}")].into_iter().chain(cost).collect());
    }
    for size in ["1Ki", "64Ki", "1Mi"] {
        for (kind, words) in
            [("match", "saved in the PIT's part, for Data"), ("data", "saved in all stages, for Data")]
        {
            let saved = cells(&|workload| {
                let table = format!("{kind}/{size}/{}", components(workload)?);
                let ns = |id| alone?.value(&table, id, metric::NS);
                Some(ns(reference)? - ns(DIGESTED)?)
            });
            rows.push([format!("{words}, {size} entries")].into_iter().chain(saved).collect());
        }
    }
    rows.retain(|row: &Vec<String>| row.iter().skip(1).any(|cell| *cell != none()));
    let heads = facts.workloads.iter().map(|workload| workload.replace("digest/", "components "));
    Block::Table(Table {
        caption: format!(
            "cost of a digest to a hop that computes it for each Interest, and saving of a lookup by digest \
             ({SOURCE_FUNCTION}) over one by {reference}, in ns: in the PIT's part of the last stage \
             (match), and in all stages (data)"
        ),
        columns: [String::new()].into_iter().chain(heads).collect(),
        left: 1,
        rows,
        shown: Shown::Open,
    })
}

/// Text of an empty cell.
pub(super) fn none() -> String {
    format::NONE.to_owned()
}

/// The components of the names of a workload.
pub(super) fn components(workload: &str) -> Option<usize> {
    workload.split('/').filter_map(|part| part.parse().ok()).next_back()
}
