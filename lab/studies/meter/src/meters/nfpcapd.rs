//! nfpcapd, of nfdump, with files in its native format.

use super::{Job, Stated, number_after, words};
use std::ffi::OsString;

pub(super) fn program(job: &Job<'_>) -> Vec<OsString> {
    // Its timeouts are ours by default.
    let mut program = words(["nfpcapd", "-e", "300,60", "-r"]);
    program.extend([job.capture.into(), "-w".into(), job.folder.into()]);
    program
}

pub(super) fn stated(log: &str) -> Stated {
    // Each file it writes: Ident: 'none' Flows: 54948, Packets: 54948, Bytes: 24886845
    let files: Vec<u64> = log
        .lines()
        .filter(|line| line.starts_with("Ident:"))
        .filter_map(|line| number_after(line, "Flows:"))
        .collect();
    let records = (!files.is_empty()).then(|| files.iter().sum());
    Stated { packets: number_after(log, "Total: Processed:"), records }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_files() {
        let log = "Startup nfpcapd.\nProcessed: 927377, skipped: 0, short caplen: 0, unknown: 0\n\
                   Nodes: in use: 280304, Flows: 280303, Frag: 0, Nodes list length: 1\n\
                   Ident: 'none' Flows: 54948, Packets: 54948, Bytes: 24886845\n\
                   Ident: 'none' Flows: 693105, Packets: 1945052, Bytes: 916467960\n\
                   Total: Processed: 2000000, skipped: 0, short caplen: 0, unknown: 0\n";
        assert_eq!(stated(log), Stated { packets: Some(2_000_000), records: Some(748_053) });
        assert_eq!(stated(""), Stated::default());
    }
}
