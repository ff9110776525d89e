//! Flows of captures that we meter, compared with the flows of softflowd, nfpcapd and tshark.

mod flows;
mod packets;
mod softflowd;

use super::collector;
use super::program::Program;
use crate::need::{self, Need};
use crate::run::{self, Outcome};
use flows::{Counted, Ends, Flows};
use packets::Capture;
use std::fs;
use std::path::Path;
use std::time::Duration;

const NEEDS: [Need; 3] = [
    Need {
        name: "softflowd",
        probe: &["softflowd", "-h"],
        install: "apt-get update && apt-get install --yes softflowd",
    },
    collector::NFDUMP,
    Need {
        name: "tshark",
        probe: &["tshark", "--version"],
        install: "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes tshark",
    },
];

const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Nfpcapd,
    Softflowd,
    Tshark,
}

/// The way in which the flows of another meter are not ours.
enum Differs {
    /// It meters the packets in the tunnel, as ours does with --tunnels.
    Inner,
    /// It has no ports of this protocol, and adds up the flows between two hosts.
    NoPorts,
    /// It counts this many bytes more in each packet.
    Bytes(u64),
    /// It reports nothing.
    Nothing,
    /// It takes this protocol number from an extension header, and no ports.
    Protocol(u8),
    /// It has exactly these flows of fragments: ports, packets, bytes, and microseconds of the first and the
    /// last packet since the start.
    Fragments(&'static [([u16; 2], u64, u64, [i64; 2])]),
}

/// All differences; docs/flow-compare.md explains them.
const DIFFERENCES: [(Tool, &str, Differs); 16] = [
    (Tool::Nfpcapd, "sctp", Differs::NoPorts),
    (Tool::Nfpcapd, "ipv6-extensions", Differs::Protocol(0)),
    (Tool::Nfpcapd, "fragments", Differs::Fragments(&[([4000, 53], 1, 2_620, [0, 0])])),
    (Tool::Nfpcapd, "gre", Differs::Inner),
    (Tool::Nfpcapd, "ipip", Differs::Inner),
    (Tool::Softflowd, "sctp", Differs::NoPorts),
    (
        Tool::Softflowd,
        "fragments",
        Differs::Fragments(&[([4000, 53], 2, 2_840, [0, 6_000]), ([0, 0], 3, 2_460, [1_500, 4_500])]),
    ),
    (Tool::Softflowd, "qinq", Differs::Nothing),
    (Tool::Softflowd, "mpls", Differs::Bytes(8)),
    (Tool::Softflowd, "pppoe", Differs::Nothing),
    (Tool::Tshark, "icmp", Differs::NoPorts),
    (Tool::Tshark, "fragments", Differs::NoPorts),
    (Tool::Tshark, "gre", Differs::Inner),
    (Tool::Tshark, "vxlan", Differs::Inner),
    (Tool::Tshark, "gtp-u", Differs::Inner),
    (Tool::Tshark, "ipip", Differs::Inner),
];

pub(super) fn run() -> Outcome {
    match need::meet(&NEEDS) {
        Ok(()) => compare().into(),
        Err(outcome) => outcome,
    }
}

/// Meters all captures by all tools.
fn compare() -> Result<(), String> {
    // With the features of the tests, so that nothing is built twice.
    run::show(&mut run::build(&run::LIKE_TESTS))?;
    let target = run::target_dir()?;
    let dir = target.join("interop/meter-out");
    let broken = |error: std::io::Error| format!("{}: {error}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(broken)?;
    }
    fs::create_dir_all(&dir).map_err(broken)?;
    let ours = target.join("debug/hashlane");
    let (mut equal, mut wrong) = (0, Vec::new());
    for capture in Capture::all() {
        let path = dir.join(capture.name).with_extension("pcap");
        fs::write(&path, capture.file()).map_err(broken)?;
        for tool in [Tool::Nfpcapd, Tool::Softflowd, Tool::Tshark] {
            let differs = DIFFERENCES.iter().find(|(of, name, _)| *of == tool && *name == capture.name);
            let differs = differs.map(|(_, _, differs)| differs);
            let inner = matches!(differs, Some(Differs::Inner));
            let flows = expected(meter(&ours, &path, inner)?, tool, differs);
            let theirs = tool.meter(&path, &capture, inner)?;
            match flows.difference(&theirs) {
                None => equal += flows.len(),
                Some(how) => wrong.push(format!("{tool:?}, {}: {how}", capture.name)),
            }
        }
    }
    if wrong.is_empty() {
        println!("{equal} directions of flows have the packets, bytes, flags and times of other meters");
        return Ok(());
    }
    Err(wrong.join("\n"))
}

fn meter(program: &Path, capture: &Path, inner: bool) -> Result<Flows, String> {
    let mut command = run::command(&[program]);
    command.args(["flow", "meter"]).arg(capture).args(["--json", "-"]);
    if inner {
        command.arg("--tunnels");
    }
    flows::ours(&text(Program::run("hashlane", &mut command, TIMEOUT)?))
}

/// The flows that a tool must report if ours are right.
fn expected(ours: Flows, tool: Tool, differs: Option<&Differs>) -> Flows {
    let no_ports = |ends: Ends| Ends { from: (ends.from.0, 0), to: (ends.to.0, 0), ..ends };
    let flows = match differs {
        None | Some(Differs::Inner) => ours,
        Some(Differs::Fragments(parts)) => ours.parts(parts),
        Some(Differs::NoPorts) => ours.under(|ends| Some(no_ports(ends))),
        Some(Differs::Protocol(protocol)) => {
            ours.under(|ends| Some(Ends { protocol: *protocol, ..no_ports(ends) }))
        }
        Some(Differs::Bytes(more)) => {
            ours.counting(|counted| Counted { bytes: counted.bytes + more * counted.packets, ..counted })
        }
        Some(Differs::Nothing) => Flows::default(),
    };
    match tool {
        Tool::Nfpcapd => flows,
        // One time for both directions, and no clock that is right.
        Tool::Softflowd => flows.in_both_directions(),
        // No flags.
        Tool::Tshark => flows.in_both_directions().counting(|counted| Counted { flags: 0, ..counted }),
    }
}

impl Tool {
    fn meter(self, path: &Path, capture: &Capture, inner: bool) -> Result<Flows, String> {
        let folder = path.with_extension(format!("{self:?}"));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        match self {
            Self::Nfpcapd => {
                let mut command = run::command(&["nfpcapd", "-r"]);
                Program::run("nfpcapd", command.arg(path).arg("-w").arg(&folder), TIMEOUT)?;
                nfdump(&folder)
            }
            Self::Softflowd => Ok(softflowd::meter(path, &folder)?.in_both_directions()),
            Self::Tshark => tshark(path, capture, inner),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn nfdump(folder: &Path) -> Result<Flows, String> {
    let mut command = run::command(&["nfdump", "-q", "-N", "-o", flows::FORMAT, "-R"]);
    let printed = Program::run("nfdump", command.arg(folder).env("TZ", "UTC"), TIMEOUT)?;
    flows::nfdump(&text(printed))
}

fn tshark(path: &Path, capture: &Capture, inner: bool) -> Result<Flows, String> {
    let view = match (capture.name, capture.protocol) {
        ("fragments", _) => "ip",
        (_, 6) => "tcp",
        (_, 17) => "udp",
        (_, 132) => "sctp",
        _ => "ip",
    };
    let mut command = run::command(&["tshark", "-q", "-z", &format!("conv,{view}"), "-r"]);
    let printed = text(Program::run("tshark", command.arg(path), TIMEOUT)?);
    // It lists the tunnel, too.
    let lines = printed.lines().filter(|line| !inner || line.contains(packets::INNER));
    let lines: Vec<&str> = lines.collect();
    flows::conversations(&lines.join("\n"), view != "ip", capture.protocol, capture.before)
}
