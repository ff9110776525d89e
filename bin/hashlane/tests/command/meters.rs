//! The study of flow meters, with stand-ins for other projects' meters.
#![cfg(target_os = "linux")]

use hashlane_rig::children::{ended, start};
use hashlane_rig::command::{Folder, Ran, holds, lines};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A study of few packets.
const STUDY: &str = r#"
slug = "mine"
model = "meter"
metric = "ns"
per = "packet"
title = "Meters of one's own"
question = "Does it run?"
source = "nobody"
workloads = ["mix/cpu", "mix/wall", "memory", "flood/pcap"]
schemes = ["ours", "ours-2", "softflowd", "nfpcapd", "argus"]
reference = "ours"
control = ["ours/again", "ours"]
[size]
quick = { items = 2000, repetitions = 2 }
full = { items = 2000, repetitions = 2 }
[[criterion]]
of = "ours"
workload = "flood/pcap"
metric = "miscounted"
at_most = 0
"#;

/// Prints the end of softflowd's output.
const SOFTFLOWD: &str = "#!/bin/sh
echo 'Packets processed: 2000'
echo 'Flows exported: 350 (600 records) in 22 packets (0 failures)'
";

/// Meters half of the packets.
const NFPCAPD: &str = "#!/bin/sh
echo \"Ident: 'none' Flows: 200, Packets: 1000, Bytes: 9\"
echo 'Total: Processed: 1000, skipped: 0, short caplen: 0, unknown: 0'
";

/// Time for what must happen, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with the study, stand-ins and nothing else on the `PATH`, and a place for temporary files.
struct Meters(Folder);

impl Meters {
    fn new(study: &str, stand_ins: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        folder.write("mine.toml", study);
        for name in ["bin", "tmp"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        for (name, text) in stand_ins {
            let path = folder.write(&format!("bin/{name}"), text);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(folder)
    }

    fn command(&self) -> Command {
        let mut command = self.0.command(&["study", "run", "mine.toml", "--quick", "--out", "a"]);
        command.env("PATH", self.0.path("bin")).env("TMPDIR", self.0.path("tmp"));
        command
    }

    /// Names of what is left of temporary files.
    fn left(&self) -> Vec<String> {
        let left = fs::read_dir(self.0.path("tmp")).unwrap();
        left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Value of the record whose row begins so.
    fn value(&self, beginning: &str) -> Option<f64> {
        let records = lines(&self.0.path("a/records.csv"));
        let row = records.iter().find(|row| row.starts_with(beginning))?;
        Some(row.split(',').nth(7).unwrap().parse().unwrap())
    }
}

#[test]
fn meters_take_turns_and_flows_are_counted() {
    let meters = Meters::new(STUDY, &[("softflowd", SOFTFLOWD), ("nfpcapd", NFPCAPD)]);
    let out = Ran::of(meters.command()).ok();
    holds(
        &out,
        &[
            "a capture of many flows",
            "ours under floods",
            "argus is missing, and so not measured: `apt-get install argus-server`",
            "nfpcapd was not measured on mix/cpu: it metered 1000 packets of 2000; its figures are not comparable",
            "suricata, zeek, yaf and ipfixprobe are not measured",
        ],
    );
    for (workload, probe) in [("mix/cpu", "rusage"), ("mix/wall", "wall-clock")] {
        for scheme in ["ours", "ours/again", "ours-2", "softflowd"] {
            let value = meters.value(&format!("mine,meter,{workload},{scheme},{probe},ns,ns,"));
            assert!(value.unwrap() > 0.0, "{workload}, {scheme}");
        }
        assert!(meters.value(&format!("mine,meter,{workload},softflowd,{probe},ratio,ours,")).is_some());
    }
    let count = |workload: &str, scheme: &str, metric: &str, unit: &str| {
        meters.value(&format!("mine,meter,{workload},{scheme},count,{metric},{unit},"))
    };
    assert_eq!(count("mix/cpu", "ours", "records", "records"), Some(350.0));
    assert_eq!(count("mix/cpu", "softflowd", "records", "records"), Some(600.0));
    assert_eq!(count("memory", "ours", "records", "flows"), Some(50_000.0));
    assert_eq!(count("memory", "ours", "evicted", "flows"), Some(0.0));
    // 10,000 SYNs and 78 established flows in a table of 5,000.
    assert_eq!(count("flood/pcap", "ours", "records", "flows"), Some(10_078.0));
    assert!(count("flood/pcap", "ours", "evicted", "flows").unwrap() > 5_000.0);
    assert_eq!(count("flood/pcap", "ours", "lost_flows", "flows"), Some(0.0));
    assert_eq!(count("flood/pcap", "ours", "miscounted", "packets"), Some(0.0));
    assert_eq!(meters.left(), [""; 0]);
}

#[test]
fn an_interface_is_metered_or_the_reason_is_named() {
    let study = STUDY
        .replace(r#"["mix/cpu", "mix/wall", "memory", "flood/pcap"]"#, r#"["live/loss", "live/flood"]"#)
        .replace(r#", "ours-2", "softflowd", "nfpcapd", "argus""#, "")
        .replace("workload = \"flood/pcap\"", "workload = \"live/loss\"")
        .replace("\"miscounted\"", "\"lost_packets\"");
    let meters = Meters::new(&study, &[]);
    let mut command = meters.command();
    // The command `ip` makes interfaces.
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let out = Ran::of(command).ok();
    let Some(packets) = meters_packets(&meters) else {
        holds(&out, &["live/loss was not measured: ", "live/flood was not measured: "]);
        return;
    };
    assert!(packets > 0.0);
    let flood = |metric: &str| meters.value(&format!("mine,meter,live/flood,ours,count,{metric},"));
    assert_eq!(flood("uncounted_flows,flows"), Some(0.0));
    assert!(flood("records,flows").unwrap() > 0.0);
    // Without softflowd there is no rate to double, and so no criterion is met.
    holds(
        &out,
        &["losses at twice softflowd's rate were not measured: softflowd is not selected", "not measured"],
    );
    assert_eq!(meters.value("mine,meter,live/loss,ours,count,lost_packets,"), None);
    assert_eq!(meters.left(), [""; 0]);
}

/// Packets of the workload of losses; `None` where no interface can be made.
fn meters_packets(meters: &Meters) -> Option<f64> {
    if !meters.0.path("a/records.csv").exists() {
        return None;
    }
    meters.value("mine,meter,live/loss,ours,count,packets,packets,")
}

/// Waits until `ready` returns something.
fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ready() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `true` if there is a process with this id that has not ended.
fn runs(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// A run whose meter sleeps, and the id of the meter's process.
fn sleeping(meters: &Meters) -> (Child, i32) {
    let command = start(meters.command().stdout(Stdio::null()).stderr(Stdio::null()));
    let pid = meters.0.path("pid");
    let pid = until("no meter starts", || fs::read_to_string(&pid).ok()?.trim().parse().ok());
    assert!(runs(pid));
    (command, pid)
}

/// Writes its id, and sleeps.
fn sleeper() -> Meters {
    let meters = Meters::new(STUDY, &[]);
    let text = format!("#!/bin/sh\necho $$ > {}\nexec /bin/sleep 600\n", meters.0.path("pid").display());
    let path = meters.0.write("bin/softflowd", text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    meters
}

#[test]
fn ctrl_c_ends_the_meter_and_leaves_no_files() {
    let meters = sleeper();
    let (mut run, pid) = sleeping(&meters);
    kill(Pid::from_raw(run.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(ended(&mut run).code(), Some(130));
    assert!(!runs(pid));
    assert_eq!(meters.left(), [""; 0]);
}

#[test]
fn a_meter_ends_with_a_study_that_is_killed() {
    let meters = sleeper();
    let (mut run, pid) = sleeping(&meters);
    run.kill().unwrap();
    run.wait().unwrap();
    until("the meter goes on", || (!runs(pid)).then_some(()));
}
