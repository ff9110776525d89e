//! Counts that meters state at their end.

use super::{Job, Meter, OUTPUT};
use crate::counted::Counted;
use hashlane_lab::study::TurnError;

/// Counts that a meter states, where it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Packets that it metered.
    pub(crate) packets: Option<u64>,
    /// Records of flows that it wrote.
    pub(crate) records: Option<u64>,
}

impl Stated {
    /// Counts of a meter that has ended, from its output and files.
    pub(crate) fn of(meter: Meter, job: &Job<'_>, log: &str) -> Result<Self, TurnError> {
        if let Meter::Ours(_) = meter {
            // Counts of the records, and not of the summary.
            let counted = Counted::read(&job.folder.join(OUTPUT), None)?;
            return Ok(Self { packets: Some(counted.packets), records: Some(counted.records) });
        }
        Ok(Self::printed(meter, log))
    }

    fn printed(meter: Meter, log: &str) -> Self {
        match meter {
            Meter::Softflowd => {
                // Flows exported: 350000 (651597 records) in 22170 packets (0 failures)
                let records = log.split_once("Flows exported:").and_then(|(_, rest)| number_after(rest, "("));
                Self { packets: number_after(log, "Packets processed:"), records }
            }
            Meter::Nfpcapd => {
                // Each file it writes: Ident: 'none' Flows: 54948, Packets: 54948, Bytes: 24886845
                let files = log.lines().filter(|line| line.starts_with("Ident:"));
                let files: Vec<u64> = files.filter_map(|line| number_after(line, "Flows:")).collect();
                let records = (!files.is_empty()).then(|| files.iter().sum());
                Self { packets: number_after(log, "Total: Processed:"), records }
            }
            // They state neither.
            Meter::Ours(_) | Meter::Pmacctd | Meter::Argus => Self::default(),
        }
    }
}

/// Packets in the statistics of `softflowctl` that were not metered.
pub(crate) fn softflowd_dropped(text: &str) -> Option<u64> {
    let by = |what: &str| number_after(text, &format!("Packets dropped by {what}:"));
    Some(by("libpcap")? + by("interface")?)
}

/// The first number after `label` in a text.
fn number_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counts_of_each_meter() {
        let softflowd = "softflowd v1.1.0 starting data collection\n\
                   Number of active flows: 0\nPackets processed: 2000000\nFragments: 0\n\
                   Ignored packets: 0 (0 non-IP, 0 too short)\nFlows expired: 350000 (0 forced)\n\
                   Flows exported: 350000 (651597 records) in 22170 packets (0 failures)\n";
        let nfpcapd = "Startup nfpcapd.\nProcessed: 927377, skipped: 0, short caplen: 0, unknown: 0\n\
                   Nodes: in use: 280304, Flows: 280303, Frag: 0, Nodes list length: 1\n\
                   Ident: 'none' Flows: 54948, Packets: 54948, Bytes: 24886845\n\
                   Ident: 'none' Flows: 693105, Packets: 1945052, Bytes: 916467960\n\
                   Total: Processed: 2000000, skipped: 0, short caplen: 0, unknown: 0\n";
        for (meter, log, records) in
            [(Meter::Softflowd, softflowd, 651_597), (Meter::Nfpcapd, nfpcapd, 748_053)]
        {
            let stated = Stated { packets: Some(2_000_000), records: Some(records) };
            assert_eq!(Stated::printed(meter, log), stated);
            assert_eq!(Stated::printed(meter, "Packets processed: many"), Stated::default());
        }
        let live = "softflowd[7]: Accumulated statistics since 2026-11-23T11:51:19 UTC:\n\
                    Number of active flows: 1000000\nPackets processed: 1442988\n\
                    Packets received by libpcap: 1444287\nPackets dropped by libpcap: 512\n\
                    Packets dropped by interface: 3\n";
        assert_eq!(softflowd_dropped(live), Some(515));
        assert_eq!(softflowd_dropped("softflowctl: cannot connect"), None);
        assert_eq!(softflowd_dropped("Packets dropped by libpcap: 99999999999999999999"), None);
    }
}
