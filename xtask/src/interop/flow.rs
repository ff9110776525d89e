//! Flows that we export, read by collectors and libraries of other projects.

use super::collector::{self, free_port};
use super::program::Program;
use crate::install::once;
use crate::need::{self, Need};
use crate::run::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NEEDS: [Need; 3] = [
    need::PYTHON,
    collector::NFDUMP,
    Need {
        name: "pmacct",
        probe: &["nfacctd", "-V"],
        install: "apt-get update && apt-get install --yes pmacct",
    },
];

const PACKAGES: [&str; 2] = ["ipfix==0.9.7", "pyarrow==26.0.1"];
const FLOWS: u32 = 1_000;
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn run() -> Outcome {
    match need::meet(&NEEDS) {
        Ok(()) => readers().into(),
        Err(outcome) => outcome,
    }
}

/// The example that exports flows, the programs that read them, and their files.
struct Scenario {
    export: PathBuf,
    python: PathBuf,
    /// An empty folder.
    dir: PathBuf,
}

/// Exports the same flows in each format, and compares all flows that each reader has found.
fn readers() -> Result<(), String> {
    // With the features of the tests, to share their build.
    let build = ["cargo", "build", "--workspace", "--all-features", "--example", "export"];
    run::show(&mut run::command(&build))?;
    let target = run::target_dir()?;
    let (python, dir) = (target.join("interop/flows"), target.join("interop/flows-out"));
    once(&python, &PACKAGES.join(" "), install)?;
    let broken = |error: std::io::Error| format!("{}: {error}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(broken)?;
    }
    fs::create_dir_all(&dir).map_err(broken)?;
    let scenario =
        Scenario { export: target.join("debug/examples/export"), python: python.join("bin/python"), dir };
    scenario.export("json", &scenario.file("expected.json"))?;
    scenario.files()?;
    scenario.nfcapd("ipfix", "nfdump-biflow")?;
    scenario.nfcapd("netflow9", "nfdump")?;
    scenario.nfacctd()
}

fn install(folder: &Path) -> Result<(), String> {
    run::show(run::command(&["python3", "-m", "venv"]).arg(folder))?;
    let mut pip = run::command(&[folder.join("bin/python")]);
    run::show(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))
}

impl Scenario {
    fn file(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    fn export(&self, format: &str, target: &str) -> Result<(), String> {
        run::show(run::command(&[&self.export]).args([format, target, &FLOWS.to_string()]))
    }

    fn compare(&self, kind: &str, path: &str) -> Result<(), String> {
        let script = run::root().join("proof/interop/python/flows.py");
        run::show(run::command(&[&self.python]).arg(script).args([&self.file("expected.json"), kind, path]))
    }

    /// Files read by libraries.
    fn files(&self) -> Result<(), String> {
        for kind in ["ipfix", "parquet"] {
            let path = self.file(kind);
            self.export(kind, &path)?;
            self.compare(kind, &path)?;
        }
        Ok(())
    }

    /// Messages over UDP, collected by nfcapd and read by nfdump.
    fn nfcapd(&self, format: &str, kind: &str) -> Result<(), String> {
        let folder = self.file(&format!("nfcapd-{format}"));
        fs::create_dir(&folder).map_err(|error| format!("{folder}: {error}"))?;
        collector::nfcapd(Path::new(&folder), TIMEOUT, |port| {
            self.export(format, &format!("udp:127.0.0.1:{port}"))
        })?;
        let mut nfdump = run::command(&["nfdump", "-R", &folder, "-o", "json"]);
        let json = Program::run("nfdump", nfdump.env("TZ", "UTC"), TIMEOUT)?;
        let path = self.file(&format!("{format}.json"));
        fs::write(&path, json).map_err(|error| format!("{path}: {error}"))?;
        self.compare(kind, &path)
    }

    /// IPFIX over UDP, collected by pmacct.
    fn nfacctd(&self) -> Result<(), String> {
        let (port, output, log) = (free_port()?, self.file("nfacctd.json"), self.file("nfacctd.log"));
        let settings = self.file("nfacctd.conf");
        let text = format!(
            "daemonize: false\n\
             logfile: {log}\n\
             nfacctd_ip: 127.0.0.1\n\
             nfacctd_port: {port}\n\
             plugins: print\n\
             aggregate: src_host, dst_host, src_port, dst_port, proto, tcpflags, vlan, timestamp_start, \
             timestamp_end\n\
             print_output: json\n\
             print_output_file: {output}\n\
             print_output_file_append: true\n\
             print_refresh_time: 2\n\
             print_history: 1d\n\
             nfacctd_time_new: true\n\
             timestamps_since_epoch: true\n"
        );
        fs::write(&settings, text).map_err(|error| format!("{settings}: {error}"))?;
        let mut command = Command::new("nfacctd");
        let mut collector = Program::start("nfacctd", command.args(["-f", &settings]))?;
        // It loses what comes before its parts are ready.
        let ready = |log: String| log.contains("waiting for") && log.contains("object handlers");
        collector.wait_until(|| fs::read_to_string(&log).is_ok_and(ready), TIMEOUT)?;
        self.export("ipfix", &format!("udp:127.0.0.1:{port}"))?;
        // It writes what it has every two seconds.
        let all = || fs::read_to_string(&output).is_ok_and(|text| text.lines().count() >= FLOWS as usize);
        collector.wait_until(all, TIMEOUT)?;
        collector.kill();
        self.compare("nfacctd", &output)
    }
}
