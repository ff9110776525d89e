//! softflowd, with NetFlow v9 to a socket, and our timeouts.

use super::{Job, Stated, number_after, words};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// Name of the control socket of a live meter.
pub(crate) const CONTROL: &str = "control";

/// Idle and active timeouts as ours; a flow limit that no workload reaches; IPv6; NetFlow v9.
const COMMON: [&str; 19] = [
    "softflowd",
    "-d",
    "-6",
    "-v",
    "9",
    "-m",
    "1000000",
    "-t",
    "tcp=60",
    "-t",
    "tcp.rst=60",
    "-t",
    "tcp.fin=60",
    "-t",
    "udp=60",
    "-t",
    "general=60",
    "-t",
    "maxlife=300",
];

pub(super) fn program(job: &Job<'_>) -> Vec<OsString> {
    let mut program = words(COMMON);
    // The times of the capture, and not of the clock.
    program.extend(words(["-a", "-c", "none", "-n", &job.sink.to_string()]));
    program.extend(["-p".into(), job.folder.join("pid").into(), "-r".into(), job.capture.into()]);
    program
}

/// Program and arguments that meter an interface.
pub(crate) fn live(interface: &str, folder: &Path, sink: SocketAddr) -> Vec<OsString> {
    let mut program = words(COMMON);
    program.extend(words(["-i", interface, "-n", &sink.to_string()]));
    program.extend(["-c".into(), folder.join(CONTROL).into(), "-p".into(), folder.join("pid").into()]);
    program
}

/// Packets in the statistics of `softflowctl` that were not metered.
pub(crate) fn dropped(text: &str) -> Option<u64> {
    let by = |what: &str| number_after(text, &format!("Packets dropped by {what}:"));
    Some(by("libpcap")? + by("interface")?)
}

pub(super) fn stated(log: &str) -> Stated {
    // Flows exported: 350000 (651597 records) in 22170 packets (0 failures)
    let records = log.split_once("Flows exported:").and_then(|(_, rest)| number_after(rest, "("));
    Stated { packets: number_after(log, "Packets processed:"), records }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_statistics() {
        let log = "softflowd v1.1.0 starting data collection\n\
                   Number of active flows: 0\nPackets processed: 2000000\nFragments: 0\n\
                   Ignored packets: 0 (0 non-IP, 0 too short)\nFlows expired: 350000 (0 forced)\n\
                   Flows exported: 350000 (651597 records) in 22170 packets (0 failures)\n";
        assert_eq!(stated(log), Stated { packets: Some(2_000_000), records: Some(651_597) });
        assert_eq!(stated("Shutting down"), Stated::default());
        let live = "softflowd[7]: Accumulated statistics since 2026-11-23T11:51:19 UTC:\n\
                    Number of active flows: 1000000\nPackets processed: 1442988\n\
                    Packets received by libpcap: 1444287\nPackets dropped by libpcap: 512\n\
                    Packets dropped by interface: 3\n";
        assert_eq!((dropped(live), dropped("softflowctl: cannot connect")), (Some(515), None));
    }

    #[test]
    fn meters_without_a_daemon_and_without_a_pid_file_of_the_system() {
        let to = SocketAddr::from(([127, 0, 0, 1], 9));
        let live = live("far", Path::new("/run/x"), to);
        assert!(live.windows(2).any(|pair| pair[0] == "-p" && pair[1] == "/run/x/pid"));
        assert!(live.iter().any(|word| word == "-d"));
    }
}
