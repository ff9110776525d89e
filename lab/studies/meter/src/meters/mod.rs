//! Meters that are compared: arguments, and the counts that each prints.

mod stated;

pub(crate) use stated::{Stated, softflowd_dropped};

use hashlane_lab::study::TurnError;
use hashlane_rig::program::{self, words};
use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

/// A meter of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meter {
    /// `hashlane flow meter` with so many workers.
    Ours(u8),
    Softflowd,
    Nfpcapd,
    Pmacctd,
    Argus,
}

/// A capture to meter, and the places of the outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) command: &'a Path,
    pub(crate) capture: &'a Path,
    /// Folder for outputs, empty at the start.
    pub(crate) folder: &'a Path,
    /// Address of a socket that nobody reads, for meters without files.
    pub(crate) sink: SocketAddr,
}

/// Meters that the study has no adapter for.
pub(crate) const WITHOUT_ADAPTER: &str = "suricata, zeek, yaf and ipfixprobe are not measured: the study \
                                          has no adapter for them, as Debian 12 has no packages of them";

/// Meters by the ids of schemes.
pub(crate) const ALL: [(&str, Meter); 6] = [
    ("ours", Meter::Ours(1)),
    ("ours-2", Meter::Ours(2)),
    ("softflowd", Meter::Softflowd),
    ("nfpcapd", Meter::Nfpcapd),
    ("pmacctd", Meter::Pmacctd),
    ("argus", Meter::Argus),
];

/// File of IPFIX that ours writes.
pub(crate) const OUTPUT: &str = "flows.ipfix";

/// Control socket of softflowd on an interface.
pub(crate) const CONTROL: &str = "control";

/// Of softflowd: idle and active timeouts as ours; a flow limit that no workload reaches; IPv6; NetFlow v9.
const SOFTFLOWD: &str = "-d -6 -v 9 -m 1000000 -t tcp=60 -t tcp.rst=60 -t tcp.fin=60 -t udp=60 -t general=60 \
                         -t maxlife=300";

impl Meter {
    /// `true` if it is not ours, and may have its reasons to fail.
    pub(crate) fn is_foreign(self) -> bool {
        !matches!(self, Self::Ours(_))
    }

    /// `true` if it sleeps for seconds in each run: a quick run leaves it out.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, Self::Pmacctd | Self::Argus)
    }

    /// Note on a meter that is not installed; `None` if it is.
    pub(crate) fn missing(self) -> Option<String> {
        match self {
            Self::Ours(_) => None,
            Self::Softflowd => program::missing("softflowd", "softflowd"),
            Self::Nfpcapd => program::missing("nfpcapd", "nfdump"),
            Self::Pmacctd => program::missing("pmacctd", "pmacct"),
            Self::Argus => program::missing("argus", "argus-server"),
        }
    }

    /// Program and arguments that meter a capture.
    pub(crate) fn program(self, job: &Job<'_>) -> Result<Vec<OsString>, TurnError> {
        let Job { command, capture, folder, sink } = *job;
        let (mut program, rest): (_, Vec<OsString>) = match self {
            Self::Ours(workers) => {
                let mut program = ours(command, &["--threads", &workers.to_string()], folder);
                program.push(capture.into());
                return Ok(program);
            }
            Self::Softflowd => (
                // The times of the capture, and not of the clock.
                softflowd(&["-a", "-c", "none"], sink, folder),
                vec!["-r".into(), capture.into()],
            ),
            // Its timeouts are ours by default.
            Self::Nfpcapd => {
                (words("nfpcapd", &["-e", "300,60", "-r"]), vec![capture.into(), "-w".into(), folder.into()])
            }
            Self::Pmacctd => {
                let path = folder.join("pmacctd.conf");
                let written = fs::write(&path, pmacctd(job));
                written.map_err(TurnError::io("cannot write the configuration of pmacctd"))?;
                (words("pmacctd", &["-f"]), vec![path.into()])
            }
            // Without the configuration of the system.
            Self::Argus => (
                words("argus", &["-X", "-r"]),
                vec![capture.into(), "-w".into(), folder.join("flows.argus").into()],
            ),
        };
        program.extend(rest);
        Ok(program)
    }
}

/// Our meter, with a file of IPFIX.
pub(crate) fn ours(command: &Path, arguments: &[&str], folder: &Path) -> Vec<OsString> {
    let mut program: Vec<OsString> = vec![command.into(), "flow".into(), "meter".into()];
    program.extend(arguments.iter().map(OsString::from));
    program.extend(["--ipfix".into(), folder.join(OUTPUT).into()]);
    program
}

/// softflowd, with NetFlow v9 to a socket, without a daemon and a file of the system.
fn softflowd(arguments: &[&str], sink: SocketAddr, folder: &Path) -> Vec<OsString> {
    let mut program = words("softflowd", &SOFTFLOWD.split(' ').collect::<Vec<_>>());
    program.extend(arguments.iter().map(OsString::from));
    program.extend(["-n".into(), sink.to_string().into(), "-p".into(), folder.join("pid").into()]);
    program
}

/// softflowd on an interface.
pub(crate) fn softflowd_live(interface: &str, sink: SocketAddr, folder: &Path) -> Vec<OsString> {
    let mut program = softflowd(&["-i", interface], sink, folder);
    program.extend(["-c".into(), folder.join(CONTROL).into()]);
    program
}

/// Configuration of pmacctd, with IPFIX by its plugin nfprobe: our timeouts, a flow limit that no workload
/// reaches, and a pipe that loses nothing.
fn pmacctd(job: &Job<'_>) -> String {
    let (capture, sink) = (job.capture.display(), job.sink);
    format!(
        "pcap_savefile: {capture}\nplugins: nfprobe\naggregate: src_host,dst_host,src_port,dst_port,proto\n\
         nfprobe_receiver: {sink}\nnfprobe_version: 10\nnfprobe_maxflows: 1000000\n\
         nfprobe_timeouts: tcp=60:tcp.rst=60:tcp.fin=60:udp=60:general=60:maxlife=300\n\
         plugin_buffer_size: 1024000\nplugin_pipe_size: 102400000\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_meter_reads_the_capture_and_writes_to_the_folder_or_the_sink() {
        let folder = tempfile::tempdir().unwrap();
        let sink = SocketAddr::from(([127, 0, 0, 1], 9));
        let capture = Path::new("/data/mix.pcap");
        let job = Job { command: Path::new("hashlane"), capture, folder: folder.path(), sink };
        let of = |paths: &str| paths.replace("DIR", folder.path().to_str().unwrap());
        for ((id, meter), end) in ALL.into_iter().zip([
            "hashlane flow meter --threads 1 --ipfix DIR/flows.ipfix /data/mix.pcap",
            "hashlane flow meter --threads 2 --ipfix DIR/flows.ipfix /data/mix.pcap",
            "maxlife=300 -a -c none -n 127.0.0.1:9 -p DIR/pid -r /data/mix.pcap",
            "nfpcapd -e 300,60 -r /data/mix.pcap -w DIR",
            "pmacctd -f DIR/pmacctd.conf",
            "argus -X -r /data/mix.pcap -w DIR/flows.argus",
        ]) {
            let program = meter.program(&job).unwrap();
            let line: Vec<_> = program.iter().map(|word| word.to_string_lossy()).collect();
            assert!(line.join(" ").ends_with(&of(end)), "{id}: {line:?}");
        }
        let text = fs::read_to_string(folder.path().join("pmacctd.conf")).unwrap();
        assert!(text.starts_with("pcap_savefile: /data/mix.pcap\nplugins: nfprobe\n"), "{text}");
        assert!(text.contains("\nnfprobe_receiver: 127.0.0.1:9\n"), "{text}");
    }
}
