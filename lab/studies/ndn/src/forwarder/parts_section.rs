//! Tables of the parts of our forwarder, of decoding by bursts, and of the memory of tables.

use crate::metric;
use hashlane_lab::definition::Published;
use hashlane_lab::report::{Block, Facts, Shown, Table, words};
use hashlane_records::Record;
use hashlane_stats::format::{self, figure};

/// Scheme of our forwarder.
pub(super) const OURS: &str = "ours";

/// Row of the table of parts.
pub(super) struct Part<'a> {
    /// Label in the table.
    name: &'a str,
    /// Label in the key chart, in which parts with the same one are added up.
    pub(super) short: &'a str,
    /// Our nanoseconds.
    pub(super) ns: Option<f64>,
    /// Id of NFD's share.
    nfd: Option<&'a str>,
}

/// The parts of our forwarder next to NFD's classes.
pub(super) fn parts_table(facts: &Facts<'_>, published: Option<&Published>) -> Block {
    let mut columns = vec!["part".to_owned()];
    for shape in &facts.workloads {
        columns.extend([format!("{shape}: ns"), "%".to_owned(), "NFD % *".to_owned()]);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for shape in &facts.workloads {
        let process = value_of_load(facts, shape);
        for (at, part) in parts_of(facts, shape, process).into_iter().enumerate() {
            if rows.len() <= at {
                rows.push(vec![part.name.to_owned()]);
            }
            let share = part.ns.zip(process).map(|(ns, process)| 100.0 * ns / process);
            let nfd = part.nfd.zip(published).and_then(|(class, table)| table.figure(class, shape));
            if let Some(row) = rows.get_mut(at) {
                row.extend([part.ns, share, nfd].map(|value| value.map_or_else(none, figure)));
            }
        }
    }
    Block::Table(Table {
        caption: "where the time of ours goes over Unix faces, ns per exchange and per cent of the process. \
                  Decoding, and marks and prefetches: the first two stages of the forwarder, which ran \
                  without I/O over bursts of 16 packets. Content store, PIT and FIB: parts of the last \
                  stage. By subtraction: the rest of forwarding (all stages less the rows above), and system \
                  calls and faces (the process less all stages). NFD's name tree holds its PIT, FIB and \
                  strategies; its timers are shown with the rest"
            .to_owned(),
        columns,
        left: 1,
        rows,
        shown: Shown::Open,
    })
}

/// Parts of our process, and at last the process itself.
pub(super) fn parts_of<'a>(facts: &Facts<'_>, shape: &str, process: Option<f64>) -> Vec<Part<'a>> {
    let ns = |id: &str| facts.value(shape, id, metric::NS);
    let whole = ns("whole");
    let known: Option<f64> = ["decode", "prefetch", "store", "pit", "fib"].iter().map(|id| ns(id)).sum();
    let rest = whole.zip(known).map(|(a, b)| a - b);
    let calls = process.zip(whole).map(|(a, b)| a - b);
    let part = |name, short, ns, nfd| Part { name, short, ns, nfd };
    vec![
        part("decoding, and hashing names", "decode", ns("decode"), Some("decode")),
        part("marks and prefetches", "rest", ns("prefetch"), None),
        part("content store: find, insert", "store", ns("store"), Some("store")),
        part("PIT: find, insert, match, remove", "PIT", ns("pit"), Some("name tree")),
        part("FIB and strategy", "FIB", ns("fib"), None),
        part("rest of forwarding (subtracted)", "rest", rest, Some("timers")),
        part("system calls, faces (subtracted)", "I/O", calls, Some("calls")),
        part("the process", "process", process, None),
    ]
}

/// The stage that decodes and hashes, by the packets of a burst.
pub(super) fn decode_table(facts: &Facts<'_>) -> Option<Block> {
    const SINGLE: &str = "decode-1";
    let ns = |shape: &str, id: &str| facts.value(shape, id, metric::NS).map_or_else(none, figure);
    let to_single = |shape: &str, id: &str| {
        let ratio = facts.records.ratio(facts.study, shape, id, SINGLE).map(Record::interval);
        ratio.map_or_else(none, words::ratio_with_bounds)
    };
    let row = |shape: &&str| {
        let bursts = ["decode-16", "decode-64"].map(|id| [ns(shape, id), to_single(shape, id)]);
        let cells = [(*shape).to_owned(), ns(shape, SINGLE)];
        cells.into_iter().chain(bursts.into_iter().flatten()).collect::<Vec<_>>()
    };
    let rows: Vec<_> = facts
        .workloads
        .iter()
        .filter(|shape| facts.value(shape, SINGLE, metric::NS).is_some())
        .map(row)
        .collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption:
                "decoding, and hashing names, by the packets of a burst: ns per exchange, and ratios to \
                      one packet, round by round"
                    .to_owned(),
            columns: ["components", "1", "16", "16 / 1", "64", "64 / 1"].map(str::to_owned).into(),
            left: 1,
            rows,
            shown: Shown::Open,
        })
    })
}

/// Nanoseconds of our process for an exchange of names of this shape over Unix faces.
fn value_of_load(facts: &Facts<'_>, shape: &str) -> Option<f64> {
    facts.value(&format!("unix/{shape}"), OURS, metric::CPU_US).map(|us| 1000.0 * us)
}

pub(super) fn memory_table(facts: &Facts<'_>) -> Block {
    let row = |(workload, table): (&str, &str)| {
        let value = |metric| facts.value(workload, table, metric);
        let beyond =
            |bytes: Option<f64>| bytes.zip(value(metric::OCTETS_PACKET)).map(|(all, packet)| all - packet);
        let (resident, accounted) = (value(metric::OCTETS), value(metric::OCTETS_ACCOUNTED));
        let figures = [resident, beyond(resident), accounted].map(|v| v.map_or_else(none, figure));
        [format!("{table}, {workload} entries")].into_iter().chain(figures).collect()
    };
    let pairs = facts
        .workloads
        .iter()
        .flat_map(|workload| facts.schemes_on(workload).map(move |table| (*workload, table)));
    Block::Table(Table {
        caption: "bytes of memory for an entry: resident memory of a process that fills the table, and the \
                  table's own account. PIT entries keep their Interest, entries of the content store their \
                  Data"
            .to_owned(),
        columns: ["table", "resident", "beyond the packet", "accounted"].map(str::to_owned).into(),
        left: 1,
        rows: pairs.map(row).collect(),
        shown: Shown::Open,
    })
}

/// Text of an empty cell.
pub(super) fn none() -> String {
    format::NONE.to_owned()
}
