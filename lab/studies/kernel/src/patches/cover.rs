//! Letter before a series, with the figures of the records.

use super::Hash;
use crate::metric;
use anyhow::{Context, Result};
use hashlane_lab::run::Machine;
use hashlane_records::RecordSet;
use hashlane_stats::format;
use std::fmt::Write as _;

/// Records of runs: `machine.toml` and `records.csv` of each.
const RUNS: [(&str, &str); 2] = [
    (
        include_str!("../../../../../records/epyc-avx512-2vcpu/flow-kernel-6.12/machine.toml"),
        include_str!("../../../../../records/epyc-avx512-2vcpu/flow-kernel-6.12/records.csv"),
    ),
    (
        include_str!("../../../../../records/epyc-avx512-2vcpu/flow-kernel/machine.toml"),
        include_str!("../../../../../records/epyc-avx512-2vcpu/flow-kernel/records.csv"),
    ),
];

const STUDY: &str = "flow-kernel";

/// The hash of the tree.
const NOW: &str = "jhash2";

/// Numbers of hostile SYNs.
const BEFORE: [u32; 4] = [0, 1024, 4096, 16384];

/// Subject and text of the letter.
pub(super) fn letter(hash: &Hash) -> Result<(String, String)> {
    let mut text = hash.letter.to_owned();
    for (machine, records) in RUNS {
        let unreadable = "cannot read the records of flow-kernel";
        let machine = Machine::parse(machine, STUDY).context(unreadable)?;
        let records = RecordSet::parse(records.as_bytes(), STUDY).context(unreadable)?;
        text.push('\n');
        text.push_str(&figures(hash, &machine, &records));
    }
    text.push('\n');
    text.push_str(hash.doubts);
    Ok((hash.subject.to_owned(), text.trim_end().to_owned()))
}

/// Tables of one run.
fn figures(hash: &Hash, machine: &Machine, records: &RecordSet) -> String {
    let kernel = machine.run.notes.iter().find(|note| note.starts_with("Linux "));
    let kernel = kernel.map_or("Linux", |note| note.split(',').next().unwrap_or(note));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let cpu = machine.cpu.model.as_deref().unwrap_or("unknown CPU");
    let _ = writeln!(text, "{kernel}, {cpu}. Cycles a call:\n");
    let _ = writeln!(text, "  {:<14}{:>10}{:>14}{:>14}", "", "hash", "lookup, miss", "lookup, hit");
    for scheme in [NOW, hash.scheme] {
        let cell = |workload: &str| {
            let record = records.metric(STUDY, workload, scheme, metric::CYCLES_MIN_MEAN);
            record.map_or_else(|| "-".to_owned(), |record| format::figure(record.value))
        };
        let [call, miss, hit] = ["cycles/independent", "cycles/miss", "cycles/hit"].map(cell);
        let _ = writeln!(text, "  {scheme:<14}{call:>10}{miss:>14}{hit:>14}");
    }
    text.push_str(
        "\nCost of a SYN in ns, behind as many that differ in the upper bits of\n\
         the destination address alone:\n\n",
    );
    let _ = write!(text, "  {:<14}", "");
    for before in BEFORE {
        let _ = write!(text, "{:>12}", format::count(f64::from(before)));
    }
    text.push('\n');
    for scheme in [NOW, hash.scheme] {
        let _ = write!(text, "  {scheme:<14}");
        for before in BEFORE {
            let record = records.metric(STUDY, "syn/local", &format!("{scheme}@{before}"), metric::NS);
            let cell = record.map_or_else(|| "-".to_owned(), |record| format::count(record.value.round()));
            let _ = write!(text, "{cell:>12}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::hash::HASHES;
    use super::*;

    #[test]
    fn the_letter_has_the_figures_of_the_records() {
        for hash in &HASHES {
            let (subject, text) = letter(hash).unwrap();
            assert!(subject.len() <= 60, "{subject}");
            for version in ["6.12.117", "6.1.192"] {
                let run = format!("Linux {version} as User Mode Linux, AMD EPYC");
                assert!(text.contains(&run), "{text}");
            }
            let row = |name: &str| text.lines().filter(|line| line.trim_start().starts_with(name)).count();
            assert_eq!((row(NOW), row(hash.scheme)), (2 * RUNS.len(), 2 * RUNS.len()), "{text}");
            assert!(!text.contains(" -\n"), "every figure is there: {text}");
            assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        }
    }
}
