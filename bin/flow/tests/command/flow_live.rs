//! `hashlane flow meter --interface`: whole runs over a pair of virtual interfaces, in a network namespace of
//! the test's thread.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use crate::flow::{CLIENT, SERVER, signal, tcp, udp};
use crate::flow_metrics::Metrics;
use hashlane_rig::children::{ended, start};
use hashlane_rig::command::{Folder, NOBODY, copied_to, holds, is_root, lines};
use hashlane_rig::process::until;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike as _, sendto, socket,
};
use std::collections::HashMap;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::thread;

/// Runs a test in a namespace with the interfaces `va` and `vb`, each the other end of a cable.
pub(crate) fn in_namespace(test: fn(&Sender)) {
    let tested = thread::spawn(move || match make_namespace() {
        Ok(()) => {
            test(&Sender::new("va"));
            None
        }
        Err(reason) => Some(reason),
    });
    if let Some(reason) = tested.join().unwrap() {
        hashlane_rig::namespace::skip(&reason.to_string());
    }
}

fn make_namespace() -> Result<(), String> {
    use nix::sched::{CloneFlags, unshare};
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no new network namespace: {error}"))?;
    for line in [
        // For metrics.
        "link set lo up",
        "link add va type veth peer name vb",
        // The kernel itself then sends little.
        "link set va addrgenmode none",
        "link set vb addrgenmode none",
        "link set va up",
        "link set vb up",
    ] {
        let output =
            Command::new("ip").args(line.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
        if !output.status.success() {
            return Err(format!("ip {line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(())
}

/// A socket that sends frames by an interface.
pub(crate) struct Sender {
    socket: OwnedFd,
    to: LinkAddr,
}

impl Sender {
    fn new(interface: &str) -> Self {
        let socket =
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)
                .unwrap();
        let mut all = nix::ifaddrs::getifaddrs().unwrap().filter(|entry| entry.interface_name == interface);
        let address = all.find_map(|entry| entry.address?.as_link_addr().copied()).unwrap();
        assert_eq!(address.family(), Some(AddressFamily::Packet));
        Self { socket, to: address }
    }

    /// Sends the frame of a record of a capture.
    pub(crate) fn send(&self, record: &[u8]) {
        let frame = &record[16..];
        let sent = sendto(self.socket.as_raw_fd(), frame, &self.to, MsgFlags::empty()).unwrap();
        assert_eq!(sent, frame.len());
    }
}

/// A run over `vb` that has received a frame.
fn started(folder: &Folder, sender: &Sender, arguments: &[&str]) -> (Child, Metrics) {
    started_by(folder.command(&["flow"]), sender, arguments)
}

/// A run by a command, whose arguments follow.
fn started_by(mut command: Command, sender: &Sender, arguments: &[&str]) -> (Child, Metrics) {
    command.args(["meter", "--interface", "vb", "--metrics", "127.0.0.1:0"]).args(arguments);
    let mut child = start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let metrics = Metrics::of(&mut child);
    let knock = udp(0, [[10, 9, 9, 9], SERVER], [9, 9], 0);
    metrics.wait("packets_total", 1, || sender.send(&knock));
    (child, metrics)
}

/// Packets to and fro, records, and reasons of the end, of each flow from this network of 24 bits, by the
/// address and port of its source.
fn flows(folder: &Folder, network: &str) -> HashMap<String, (u64, u64, Vec<u64>)> {
    let mut all = HashMap::<_, (u64, u64, Vec<u64>)>::new();
    for line in lines(&folder.path("flows.json")) {
        let flow: serde_json::Value = serde_json::from_str(&line).unwrap();
        let Some(source) = flow["sourceIPv4Address"].as_str().filter(|source| source.starts_with(network))
        else {
            continue;
        };
        let sum = all.entry(format!("{source}:{}", flow["sourceTransportPort"])).or_default();
        sum.0 += flow["packetDeltaCount"].as_u64().unwrap();
        sum.1 += flow["reversePacketDeltaCount"].as_u64().unwrap_or(0);
        sum.2.push(flow["flowEndReason"].as_u64().unwrap());
    }
    all
}

#[test]
fn the_flows_of_an_interface_are_exported_by_a_whole_run() {
    in_namespace(|sender| {
        let folder = Folder::new();
        let outputs = ["--json", "flows.json", "--ipfix", "flows.ipfix", "--threads", "2"];
        let (mut child, metrics) = started(&folder, sender, &outputs);
        let before = metrics.sum("packets_total");
        for number in 0..10 {
            for _ in 0..=number {
                sender.send(&udp(0, [[10, 1, 1, number], SERVER], [4000, 53], 30));
                sender.send(&udp(0, [SERVER, [10, 1, 1, number]], [53, 4000], 100));
            }
        }
        metrics.wait("packets_total", before + 110, || {});
        signal(&child, "-TERM");
        assert_eq!(ended(&mut child).code(), Some(130));
        let said = metrics.said();
        let records = lines(&folder.path("flows.json")).len();
        holds(
            &said,
            &[&format!("flows.ipfix: {records} flows, "), &format!("flows.json: {records} flows, ")],
        );
        let flows = flows(&folder, "10.1.1.");
        assert_eq!(flows.len(), 10);
        for number in 0..10 {
            assert_eq!(flows[&format!("10.1.1.{number}:4000")], (number + 1, number + 1, vec![4]));
        }
        let shown = folder.run(&["flow", "show", "flows.ipfix"]).ok();
        holds(&shown, &[&format!("{records} flows (10 answered)"), "udp/53 dns"]);
    });
}

#[test]
fn a_run_over_a_silent_interface_ends_by_a_signal_and_after_its_time() {
    in_namespace(|sender| {
        let folder = Folder::new();
        let (mut child, metrics) = started(&folder, sender, &["--json", "flows.json"]);
        signal(&child, "-INT");
        assert_eq!(ended(&mut child).code(), Some(130));
        holds(&metrics.said(), &["flows.json: "]);
        assert_eq!(flows(&folder, "10.9.9.").len(), 1);
        let ran = folder.run(&["flow", "meter", "--interface", "vb", "--duration", "300ms", "--json", "-"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    });
}

#[test]
fn a_user_with_the_capability_to_read_interfaces_alone_meters_one() {
    if !is_root() {
        return;
    }
    in_namespace(|sender| {
        let folder = Folder::new();
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
        let rights = ["--inh-caps=-all,+net_raw", "--ambient-caps=+net_raw", "--bounding-set=-all,+net_raw"];
        command.args(rights).args(["--clear-groups", "--no-new-privs"]);
        command.arg(copied_to(&folder.path(""), "hashlane-flow")).current_dir(folder.path(""));
        let (mut child, _metrics) = started_by(command, sender, &["--json", "-", "--threads", "2"]);
        signal(&child, "-TERM");
        assert_eq!(ended(&mut child).code(), Some(130));
    });
}

#[test]
fn a_run_of_root_meters_as_another_user_once_the_interface_is_open() {
    if !is_root() {
        return;
    }
    in_namespace(|sender| {
        let folder = Folder::new();
        let (mut child, metrics) = started(&folder, sender, &["--json", "-", "--user", "nobody"]);
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        holds(&status, &["Uid:\t65534\t65534\t65534\t65534\n", "CapEff:\t0000000000000000\n"]);
        let before = metrics.sum("packets_total");
        metrics.wait("packets_total", before + 1, || sender.send(&udp(0, [CLIENT, SERVER], [7, 7], 0)));
        signal(&child, "-TERM");
        assert_eq!(ended(&mut child).code(), Some(130));
    });
}

/// Frames of several flows in both directions, with different lengths, and two without a flow.
fn traffic() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for number in 0..20_u8 {
        let client = [10, 1, 1, number];
        for size in [0, 1, 30, 700, 1400_usize] {
            all.push(udp(0, [client, SERVER], [4000, 53], size));
            all.push(udp(0, [SERVER, client], [53, 4000], size / 2));
        }
        all.push(tcp(0, [client, SERVER], [5000, 443], 0x02, 0));
        all.push(tcp(0, [SERVER, client], [443, 5000], 0x12, 0));
        all.push(tcp(0, [client, SERVER], [5000, 443], 0x10, 1000));
    }
    let mut arp = udp(0, [CLIENT, SERVER], [7, 7], 30);
    arp[16 + 12..16 + 14].copy_from_slice(&[0x08, 0x06]);
    all.extend([arp.clone(), arp]);
    all
}

/// The records of a run, without their times, in order.
fn records(folder: &Folder, file: &str) -> Vec<String> {
    let without_times = |line: String| {
        let mut flow: serde_json::Value = serde_json::from_str(&line).unwrap();
        let fields = flow.as_object_mut().unwrap();
        fields.retain(|name, _| !name.ends_with("Nanoseconds"));
        flow.to_string()
    };
    let mut all: Vec<_> = lines(&folder.path(file)).into_iter().map(without_times).collect();
    all.sort();
    all
}

/// Returns `true` if a program is on `vb`.
fn is_attached() -> bool {
    hashlane_rig::namespace::shown("link show vb").unwrap().contains("prog/xdp")
}

#[test]
fn xdp_meters_what_packet_sockets_do() {
    in_namespace(|sender| {
        let folder = Folder::new();
        let mut counted = Vec::new();
        for io in ["packet", "xdp", "auto"] {
            let file = format!("{io}.json");
            let (mut child, metrics) = started(&folder, sender, &["--json", &file, "--io", io]);
            assert_eq!(is_attached(), io == "xdp");
            // The last of several knocks is counted up to a tick later.
            let mut before = [0; 2];
            until(
                || {
                    thread::sleep(std::time::Duration::from_millis(600));
                    let now = ["packets_total", "bytes_total"].map(|name| metrics.sum(name));
                    std::mem::replace(&mut before, now) == now
                },
                || "the end of the knocks".to_owned(),
            );
            let frames = traffic();
            frames.iter().for_each(|frame| sender.send(frame));
            metrics.wait("packets_total", before[0] + frames.len() as u64, || {});
            let after =
                ["packets_total", "bytes_total", "packets_dropped_total"].map(|name| metrics.sum(name));
            signal(&child, "-TERM");
            assert_eq!(ended(&mut child).code(), Some(130));
            let warning = "vb: XDP (native, copying) takes all received frames from the kernel";
            assert_eq!(metrics.said().contains(warning), io == "xdp");
            let mut records = records(&folder, &file);
            // Records of the knocks do not count.
            records.retain(|record| !record.contains("10.9.9.9"));
            assert_eq!(records.len(), 40);
            counted.push((after[0] - before[0], after[1] - before[1], after[2], records));
        }
        assert_eq!(counted[0], counted[1]);
        assert_eq!(counted[0], counted[2]);
    });
}

#[test]
fn the_kernel_removes_the_program_of_a_meter_that_was_killed() {
    in_namespace(|sender| {
        let folder = Folder::new();
        for name in ["-KILL", "-TERM"] {
            // The first one leaves its file.
            let outputs = ["--json", "flows.json", "--force", "--io", "xdp"];
            let (mut child, _metrics) = started(&folder, sender, &outputs);
            assert!(is_attached());
            signal(&child, name);
            assert_eq!(ended(&mut child).code().is_none(), name == "-KILL");
            until(|| !is_attached(), || "a program on the interface".to_owned());
        }
        // `show` is the same.
        let shown = folder.run(&["flow", "show", "--interface", "vb", "--io", "xdp", "--duration", "300ms"]);
        assert_eq!(shown.code, Some(0), "{shown:#?}");
        holds(&shown.err, &["vb: XDP (native, copying) takes all received frames"]);
        hashlane_rig::namespace::ip("addr add 10.9.0.1/24 dev vb").unwrap();
        let refused = folder.run(&["flow", "show", "--interface", "vb", "--io", "xdp"]);
        assert_eq!(refused.code, Some(1), "{refused:#?}");
        let why = "vb: no XDP: it has the address 10.9.0.1, which XDP would cut off; name a mirror port, or use \
                   --io packet";
        holds(&refused.err, &[why]);
    });
}

/// The anonymous memory of a process in KiB: without the ring that it shares with the kernel.
fn memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn a_flood_of_syns_leaves_established_flows_their_counters() {
    const FLOWS: u64 = 4096;
    const SYNS: u32 = 200_000;
    const ROUNDS: u32 = 100;
    in_namespace(|sender| {
        let folder = Folder::new();
        let arguments = ["--json", "flows.json", "--flows", "4096", "--threads", "2"];
        let (mut child, metrics) = started(&folder, sender, &arguments);
        let knocks = metrics.sum("packets_total");
        let ends = |number: u8| [[10, 1, 1, number], SERVER];
        let back = |number: u8| [SERVER, [10, 1, 1, number]];
        for number in 0..100 {
            sender.send(&tcp(0, ends(number), [5000, 443], 0x02, 0));
            sender.send(&tcp(0, back(number), [443, 5000], 0x12, 0));
        }
        metrics.wait("packets_total", knocks + 200, || {});
        let (before, mut most, mut open) = (memory(&child), 0, 0);
        let mut syn = tcp(0, [CLIENT, SERVER], [5000, 443], 0x02, 0);
        for syns in 0..SYNS {
            // Addresses from 172.16.0.0/12.
            let source = (0xac10_0000 + syns).to_be_bytes();
            syn[16 + 26..16 + 30].copy_from_slice(&source);
            sender.send(&syn);
            if syns % (SYNS / ROUNDS) == 0 {
                (0..100).for_each(|number| sender.send(&tcp(0, ends(number), [5000, 443], 0x10, 100)));
                (most, open) = (memory(&child).max(most), metrics.sum("flows_open").max(open));
            }
        }
        let sent = knocks + 200 + u64::from(SYNS) + u64::from(ROUNDS) * 100;
        let ring = || {
            let counted = metrics.scrape();
            let lines = counted.lines().filter(|line| line.contains("cause=\"ring\""));
            lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum::<u64>()
        };
        // Each packet is metered, or counted as lost.
        let begun = std::time::Instant::now();
        while metrics.sum("packets_total") + ring() < sent {
            assert!(begun.elapsed() < crate::flow::PATIENCE, "{} of {sent}", metrics.sum("packets_total"));
            thread::sleep(std::time::Duration::from_millis(50));
        }
        let lost = ring();
        (most, open) = (memory(&child).max(most), metrics.sum("flows_open").max(open));
        let evicted = metrics.sum("flows_evicted_total");
        signal(&child, "-INT");
        assert_eq!(ended(&mut child).code(), Some(130));

        // Two workers have half of the limit each.
        assert!(open <= FLOWS, "{open} flows");
        // Flows of 200,000 SYNs would take 30 MB in the table, besides records on their way.
        assert!(most < before + (48 << 10), "{before} KiB before the flood, {most} in it");
        assert!(evicted + FLOWS + lost >= u64::from(SYNS), "{evicted} flows evicted, {lost} packets lost");
        let said = metrics.said();
        let records = lines(&folder.path("flows.json")).len() as u64;
        let missing = said.lines().find_map(|line| line.split_once(" flows lost: "));
        let missing = missing.map_or(0, |(count, _)| count.replace(',', "").parse::<u64>().unwrap());
        assert!(records + missing + lost >= u64::from(SYNS), "{records} records, {missing} lost");

        let flows = flows(&folder, "10.1.1.");
        let counted: u64 = flows.values().map(|(there, _, _)| there).sum();
        let expected = 100 * u64::from(ROUNDS + 1);
        assert!(counted + lost + missing >= expected, "{counted} of {expected}, {lost} packets lost");
        if lost + missing == 0 {
            assert!(
                flows.len() == 100 && flows.values().all(|flow| *flow == (u64::from(ROUNDS) + 1, 1, vec![4]))
            );
        }
    });
}
