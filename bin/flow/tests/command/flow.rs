//! `hashlane flow`: captures in, overviews and records out.

use hashlane_rig::children::{ignoring, read_line, start};
use hashlane_rig::command::{Folder, Ran, holds, lines};
use std::fs;
use std::io::{BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for what must happen, also on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const CLIENT: [u8; 4] = [10, 0, 0, 1];
pub(crate) const SERVER: [u8; 4] = [192, 0, 2, 1];

/// The start of a capture of Ethernet frames.
fn header() -> Vec<u8> {
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(65_535_u32.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes
}

/// A record of a capture: an IPv4 packet that many milliseconds after 2026-01-02 03:04:05.
fn packet(at: u32, ends: [[u8; 4]; 2], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let total = 20 + payload.len() as u16;
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    frame.extend(total.to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    frame.extend(ends.concat());
    frame.extend(payload);
    let mut bytes = Vec::new();
    for number in [1_767_323_045 + at / 1000, at % 1000 * 1000, frame.len() as u32, frame.len() as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(frame);
    bytes
}

pub(crate) fn udp(at: u32, ends: [[u8; 4]; 2], ports: [u16; 2], data: usize) -> Vec<u8> {
    let mut payload: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    payload.extend((8 + data as u16).to_be_bytes());
    payload.extend(vec![0; 2 + data]);
    packet(at, ends, 17, &payload)
}

pub(crate) fn tcp(at: u32, ends: [[u8; 4]; 2], ports: [u16; 2], flags: u8, data: usize) -> Vec<u8> {
    let mut payload: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    payload.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    payload.extend(vec![0; data]);
    packet(at, ends, 6, &payload)
}

/// A capture with an HTTPS connection, queries of the DNS, an echo request without an answer, and an ARP
/// frame.
pub(crate) fn capture() -> Vec<u8> {
    let (there, back) = ([CLIENT, SERVER], [SERVER, CLIENT]);
    let mut bytes = header();
    let https = [50_000, 443];
    for part in [
        tcp(0, there, https, 0x02, 0),
        tcp(10, back, [443, 50_000], 0x12, 0),
        tcp(20, there, https, 0x18, 500),
        tcp(30, back, [443, 50_000], 0x18, 1400),
        tcp(1500, there, https, 0x11, 0),
        tcp(1510, back, [443, 50_000], 0x11, 0),
    ] {
        bytes.extend(part);
    }
    for (number, at) in [100_u32, 200, 300].into_iter().enumerate() {
        let port = 40_000 + number as u16;
        let resolver = [198, 51, 100, 53];
        bytes.extend(udp(at, [CLIENT, resolver], [port, 53], 30));
        bytes.extend(udp(at + 25, [resolver, CLIENT], [53, port], 200));
    }
    bytes.extend(packet(400, [CLIENT, [203, 0, 113, 9]], 1, &[8, 0, 0, 0, 0, 1, 0, 1]));
    let mut arp = packet(500, there, 0, &[]);
    arp[16 + 12..16 + 14].copy_from_slice(&[8, 6]);
    bytes.extend(arp);
    bytes
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("trace.pcap", capture());
    folder
}

#[test]
fn show_ranks_hosts_conversations_services_and_protocols() {
    let shown = folder().run(&["flow", "show", "trace.pcap"]).ok();
    insta::assert_snapshot!("flow_show", shown);
}

#[test]
fn the_readme_shows_what_is_printed() {
    let shown = folder().run(&["flow", "show", "trace.pcap", "--top", "3"]).ok();
    holds(include_str!("../../../../docs/start/flows.md"), &[&format!("```text\n{shown}```")]);
}

#[test]
fn a_file_of_ipfix_shows_the_flows_of_its_capture() {
    let folder = folder();
    folder.run(&["flow", "meter", "trace.pcap", "--ipfix", "flows.ipfix", "--nanoseconds"]).ok();
    let tables = |file: &str| {
        let shown = folder.run(&["flow", "show", file, "--top", "2"]).ok();
        shown.split_once("\n\n").unwrap().1.to_owned()
    };
    assert_eq!(tables("flows.ipfix"), tables("trace.pcap"));
    holds(&tables("trace.pcap"), &["Hosts: 2 of 4", "tcp/443 https", "udp/53 dns"]);
}

#[test]
fn show_as_json_has_all_figures() {
    let shown = folder().run(&["flow", "show", "trace.pcap", "--json", "--top", "1"]).ok();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((shown["flows"].as_u64(), shown["answered"].as_u64()), (Some(5), Some(4)));
    assert_eq!(shown["received"]["packets"], 14);
    assert_eq!(shown["hosts"].as_array().unwrap().len(), 1);
    assert_eq!(shown["hosts"][0]["address"], "10.0.0.1");
    assert_eq!(
        shown["services"][0],
        serde_json::json!({
            "protocol": "tcp", "port": 443, "flows": 1, "packets": 6, "bytes": 2140, "sent": 620
        })
    );
    assert_eq!(shown["duration"]["most"], 1_510_000_000);
}

#[test]
fn flows_are_metered_to_every_format() {
    let folder = folder();
    let ran = folder.run(&[
        "flow",
        "meter",
        "trace.pcap",
        "--ipfix",
        "a.ipfix",
        "--netflow9",
        "a.nf9",
        "--json",
        "a.json",
        "--csv",
        "a.csv",
        "--parquet",
        "a.parquet",
    ]);
    holds(&ran.err, &["14 packets, ", " 5 flows in ", "a.ipfix: 5 flows, ", "a.parquet: 5 flows, "]);
    for name in ["a.json", "a.csv"] {
        holds(&ran.err, &[&format!("{name}: 5 flows, {} bytes\n", length(&folder.path(name)))]);
    }
    ran.ok();
    assert_eq!(lines(&folder.path("a.json")).len(), 5);
    let csv = lines(&folder.path("a.csv"));
    assert!(csv.len() == 6 && csv[0].contains("octetDeltaCount"), "{csv:#?}");
    let parquet = std::fs::read(folder.path("a.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert_eq!(std::fs::read(folder.path("a.nf9")).unwrap()[..2], [0, 9]);
    // Two workers have the same flows.
    folder.run(&["flow", "meter", "trace.pcap", "--csv", "b.csv", "--threads", "2"]).ok();
    assert_eq!(lines(&folder.path("b.csv")).len(), 6);
    // The last domain there is.
    let metrics = ["--metrics", "127.0.0.1:0"];
    let last = ["flow", "meter", "trace.pcap", "--csv", "c.csv", "--domain", "4294967295"];
    folder.run(&[&last[..], &metrics].concat()).ok();
    assert!(lines(&folder.path("c.csv"))[1].contains("4294967295"));
}

#[test]
fn errors_name_the_file_and_the_next_step() {
    let folder = folder();
    folder.write("text", "not a capture\n");
    folder.write("there.csv", "kept");
    for (arguments, says) in [
        (&["show", "none.pcap"][..], "none.pcap: "),
        (&["show", "text"], "text: not a pcap or pcapng file"),
        (&["show", "text"], "`hashlane flow show` reads IPFIX"),
        (&["meter", "nope0", "--json", "-"], "named with --interface nope0"),
        (&["meter", "none.pcap", "--json", "-"], "none.pcap: "),
        (&["meter", "trace.pcap"], "no output: add --ipfix"),
        (&["meter", "trace.pcap", "--csv", "there.csv"], "there.csv exists"),
        (&["meter", "trace.pcap", "--csv", "no/such/folder.csv"], "cannot create no/such/folder.csv"),
        (&["meter", "--interface", "nothing0", "--json", "-"], "no interface nothing0"),
        (&["meter", "trace.pcap", "--netflow9", "tcp:127.0.0.1:9"], "NetFlow v9 has no form over TCP"),
        (
            &["meter", "trace.pcap", "--json", "-", "--domain", "4294967295", "--threads", "2"],
            "--domain is at most 4294967294 with --threads 2",
        ),
        (&["meter", "trace.pcap", "--top", "--csv", "new.csv"], "--top needs a terminal"),
        (&["meter", "trace.pcap", "--top", "--csv", "-"], "--top and an output to - both write"),
    ] {
        holds(&folder.run(&[&["flow"], arguments].concat()).failed(), &[says]);
    }
    assert_eq!(lines(&folder.path("there.csv")), ["kept"]);
    assert!(!folder.path("new.csv").exists());
    for arguments in [
        &["meter", "trace.pcap", "--json", "-", "--idle", "5"][..],
        &["meter", "trace.pcap", "--json", "-", "--active", "0s"],
        &["meter", "trace.pcap", "--json", "-", "--duration", "5s"],
        &["meter", "trace.pcap", "--json", "-", "--interface", "lo"],
        &["meter", "trace.pcap", "--json", "-", "--metrics", "9100"],
        &["meter", "trace.pcap", "--netflow9", "a.nf9", "--nanoseconds"],
        &["show", "trace.pcap", "--top", "0"],
        &["show"],
        &["meter"],
    ] {
        let ran = folder.run(&[&["flow"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:#?}");
    }
}

#[test]
fn no_output_overwrites_an_input_or_another_output() {
    let folder = folder();
    let kept = capture();
    std::fs::hard_link(folder.path("trace.pcap"), folder.path("linked.pcap")).unwrap();
    std::os::unix::fs::symlink("trace.pcap", folder.path("soft.pcap")).unwrap();
    folder.write("trace-0001.pcap", &kept);
    folder.write("there.csv", "kept");
    for (arguments, says) in [
        (
            &["trace.pcap", "--ipfix", "trace.pcap"][..],
            "--ipfix trace.pcap would overwrite the input trace.pcap",
        ),
        (&["trace.pcap", "--json", "./trace.pcap"], "--json ./trace.pcap would overwrite the input"),
        (&["trace.pcap", "--csv", "linked.pcap"], "would overwrite the input trace.pcap"),
        (&["trace.pcap", "--parquet", "soft.pcap"], "would overwrite the input trace.pcap"),
        (
            &["linked.pcap", "trace-0001.pcap", "--json", "trace.pcap", "--rotate-mib", "1"],
            "trace-0001.pcap: ",
        ),
        (&["trace.pcap", "--json", "x", "--csv", "./x"], "--json x and --csv ./x are the same file"),
        (&["trace.pcap", "--json", "there.csv", "--csv", "there.csv"], "are the same file"),
        (&["trace.pcap", "--json", "-", "--csv", "-"], "both write to standard output"),
        (&["trace.pcap", "--ipfix", "-"], "--ipfix - has no form on standard output"),
        (&["trace.pcap", "--netflow9", "-"], "--netflow9 - has no form"),
        (&["trace.pcap", "--parquet", "-"], "--parquet - has no form"),
    ] {
        holds(&folder.run(&[&["flow", "meter", "--force"], arguments].concat()).failed(), &[says]);
        for name in ["trace.pcap", "trace-0001.pcap"] {
            assert_eq!(std::fs::read(folder.path(name)).unwrap(), kept, "{arguments:?}");
        }
    }
    let mut command = folder.command(&["flow", "meter", "-", "--json", "trace.pcap", "--force"]);
    command.stdin(std::fs::File::open(folder.path("trace.pcap")).unwrap());
    holds(&Ran::of(command).failed(), &["would overwrite the input -"]);
    assert_eq!(std::fs::read(folder.path("trace.pcap")).unwrap(), kept);
    assert_eq!(lines(&folder.path("there.csv")), ["kept"]);
    assert!(!folder.path("x").exists() && !folder.path("-").exists());
    // Devices are no files.
    folder.run(&["flow", "meter", "trace.pcap", "--json", "/dev/null", "--csv", "/dev/null"]).ok();
}

#[test]
fn a_run_that_cannot_begin_leaves_no_files() {
    let folder = folder();
    folder.write("text", "not a capture\n");
    folder.write("there.csv", "kept");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for arguments in [
        &["none.pcap", "--csv", "there.csv", "--force"][..],
        &["text", "--csv", "there.csv", "--force"],
        &["trace.pcap", "--metrics", &taken, "--csv", "there.csv", "--force"],
        &["trace.pcap", "--csv", "there.csv"],
        &["-", "--ipfix", "also.ipfix", "--rotate-mib", "1"],
    ] {
        let outputs = ["--json", "new.json", "--parquet", "new.parquet"];
        folder.run(&[&["flow", "meter"], arguments, &outputs].concat()).failed();
        let mut names: Vec<_> = std::fs::read_dir(folder.path(".")).unwrap().flatten().collect();
        names.retain(|name| !["trace.pcap", "text", "there.csv"].map(Into::into).contains(&name.file_name()));
        assert!(names.is_empty(), "{arguments:?}: {names:?}");
        assert_eq!(lines(&folder.path("there.csv")), ["kept"]);
    }
}

#[test]
fn the_error_of_an_output_names_its_cause_once() {
    let folder = folder();
    folder.write("there.csv", "kept");
    let error = folder.run(&["flow", "meter", "trace.pcap", "--json", "no/such.json"]).failed();
    assert_eq!(error.matches("No such file").count(), 1, "{error}");
    assert!(!error.contains("--force"), "{error}");
    let error = folder.run(&["flow", "meter", "trace.pcap", "--csv", "there.csv"]).failed();
    holds(&error, &["there.csv exists: ", "--force"]);
}

/// A run over its standard input, which stays open.
pub(crate) struct Reading {
    pub(crate) child: Child,
    /// Milliseconds of the last packet: an hour after the capture, so that the flows of that end.
    at: u32,
}

impl Reading {
    pub(crate) fn start(folder: &Folder, output: &[&str]) -> Self {
        Self::of(folder.command(&[&["flow", "meter", "-", "--idle", "5s"], output].concat()))
    }

    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(&mut command);
        child.stdin.as_mut().unwrap().write_all(&capture()).unwrap();
        Self { child, at: 3_600_000 }
    }

    /// Sends packets of one flow, 20 ms apart, until `is_so`. A flow ends after the idle time of a packet
    /// that was read together with its last.
    #[track_caller]
    pub(crate) fn go_on(&mut self, what: &str, mut is_so: impl FnMut(&mut Child) -> bool) {
        let begun = Instant::now();
        while !is_so(&mut self.child) {
            assert!(begun.elapsed() < PATIENCE, "{what}");
            self.at += 20;
            // The run may have ended meanwhile.
            let _ = self.child.stdin.as_mut().unwrap().write_all(&udp(self.at, [CLIENT, SERVER], [1, 2], 0));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |data| data.len())
}

#[test]
fn ctrl_c_exports_the_flows_that_are_open() {
    let folder = folder();
    let mut run = Reading::start(&folder, &["--json", "flows.json"]);
    run.go_on("no flows in the file", |_| length(&folder.path("flows.json")) > 0);
    run.signal("-INT");
    run.go_on("it did not end", |child| child.try_wait().unwrap().is_some());
    let ran = Ran::finish(run.child);
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    let flows = lines(&folder.path("flows.json"));
    assert_eq!(flows.len(), 6, "{ran:#?}");
    // The one that was open.
    let last: serde_json::Value = serde_json::from_str(&flows[5]).unwrap();
    assert_eq!((&last["destinationTransportPort"], &last["flowEndReason"]), (&2.into(), &4.into()), "{last}");
}

#[test]
fn a_hangup_ends_a_run_that_was_not_started_by_nohup() {
    let folder = folder();
    let command = |file| folder.command(&["flow", "meter", "-", "--idle", "5s", "--json", file]);
    let runs = [command("a.json"), ignoring("HUP", &command("b.json"))];
    for (command, (file, signals)) in
        runs.into_iter().zip([("a.json", &["-HUP"][..]), ("b.json", &["-HUP", "-INT"])])
    {
        let mut run = Reading::of(command);
        run.go_on("no flows in the file", |_| length(&folder.path(file)) > 0);
        let status = fs::read_to_string(format!("/proc/{}/status", run.child.id())).unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
        assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & 1 == 1, file == "b.json", "{ignored}");
        signals.iter().for_each(|signal| run.signal(signal));
        let ran = Ran::finish(run.child);
        assert_eq!(ran.code, Some(130), "{ran:#?}");
        assert_eq!(lines(&folder.path(file)).len(), 6, "{ran:#?}");
    }
}

#[test]
fn a_process_that_is_killed_leaves_readable_files() {
    let folder = folder();
    let outputs = ["--ipfix", "flows.ipfix", "--json", "flows.json", "--csv", "flows.csv"];
    let mut run = Reading::start(&folder, &outputs);
    run.go_on("no flows in the files", |_| {
        let [json, csv] = ["flows.json", "flows.csv"].map(|name| length(&folder.path(name)));
        json > 0 && csv > json / 3 && length(&folder.path("flows.ipfix")) > 500
    });
    run.signal("-KILL");
    run.child.wait().unwrap();
    for line in lines(&folder.path("flows.json")) {
        serde_json::from_str::<serde_json::Value>(&line).unwrap();
    }
    let csv = lines(&folder.path("flows.csv"));
    let columns = |line: &String| line.split(',').count();
    assert!(csv.iter().all(|line| columns(line) == columns(&csv[0])), "{csv:#?}");
    assert_eq!((lines(&folder.path("flows.json")).len(), csv.len()), (5, 6));
    let ran = folder.run(&["flow", "show", "flows.ipfix"]);
    holds(&ran.out, &["5 flows (4 answered)"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

/// A folder with a capture of 20,000 flows.
fn many() -> Folder {
    let folder = Folder::new();
    let mut bytes = header();
    for number in 0..20_000_u32 {
        let [_, _, high, low] = number.to_be_bytes();
        bytes.extend(udp(number, [[10, 1, high, low], SERVER], [1000, 53], 0));
    }
    folder.write("many.pcap", bytes);
    folder
}

#[test]
fn a_reader_of_flows_that_goes_away_is_no_error() {
    let folder = many();
    let (code, err) = without_reader(&folder, &["--json", "-"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, err) = without_reader(&folder, &["--json", "-", "--csv", "all.csv"]);
    assert_eq!(code, Some(0), "{err}");
    holds(
        &err,
        &[
            "standard output was closed by its reader; the other outputs go on\n",
            "; closed by its reader\n",
            "all.csv: 20000 flows, ",
        ],
    );
    assert_eq!(lines(&folder.path("all.csv")).len(), 20_001);
}

#[test]
fn an_output_that_fails_leaves_the_others_whole() {
    let folder = many();
    let full = ["flow", "meter", "many.pcap", "--json", "/dev/full"];
    let others = ["--netflow9", "/dev/full", "--csv", "all.csv", "--ipfix", "all.ipfix"];
    let ran = folder.run(&[&full[..], &others].concat());
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(
        &ran.err,
        &[
            "cannot write /dev/full: no space left; the other outputs go on\n",
            "/dev/full: 0 flows, 0 bytes, 20000 lost: cannot write /dev/full: no space left\n",
            "all.csv: 20000 flows, ",
            "all.ipfix: 20000 flows, ",
        ],
    );
    assert_eq!(ran.err.matches("go on").count(), 2, "{ran:#?}");
    assert_eq!(lines(&folder.path("all.csv")).len(), 20_001);
    // Without another output the run ends.
    let error = folder.run(&full).failed();
    assert_eq!(error, "hashlane: cannot write /dev/full: no space left");
}

#[test]
fn flows_that_a_collector_refuses_are_lost_for_a_reason() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let target = format!("tcp:127.0.0.1:{port}");
    let ran = folder().run(&["flow", "meter", "trace.pcap", "--ipfix", &target]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &[&format!("{target}: 0 flows, 0 bytes, 5 lost: Connection refused")]);
}

/// Exit code and messages of a run whose standard output is closed after a line.
fn without_reader(folder: &Folder, outputs: &[&str]) -> (Option<i32>, String) {
    let mut command = folder.command(&[&["flow", "meter", "many.pcap"], outputs].concat());
    let mut child = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let first = read_line(&mut BufReader::with_capacity(64, child.stdout.take().unwrap()));
    assert!(first.starts_with('{'), "{first}");
    let ran = Ran::finish(child);
    (ran.code, ran.err)
}
