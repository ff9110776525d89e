//! `hashlane flow meter --config` of an interface as a service: reload, control socket, user, supervisor.

use crate::flow::{PATIENCE, SERVER, signal, udp};
use crate::flow_live::in_namespace;
use hashlane_rig::children::{Lines, PROMPT, ended, ignoring, start};
use hashlane_rig::command::{Folder, NOBODY, Ran, holds, is_root, lines};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Settings of a meter of `vb`, whose output follows.
const CONFIG: &str = "[input]\ninterface = \"vb\"\n[control]\npath = \"control.sock\"\n";

/// A service, and its log.
struct Service<'a> {
    folder: &'a Folder,
    child: Child,
    log: Lines,
}

impl<'a> Service<'a> {
    /// A service that is up.
    fn start(folder: &'a Folder, config: &str) -> Self {
        folder.write("flow.toml", config);
        Self::of(folder, folder.command(&["flow", "meter", "--config", "flow.toml"]))
    }

    fn of(folder: &'a Folder, mut command: Command) -> Self {
        let mut child = start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
        let log = Lines::of(child.stderr.take());
        let mut service = Self { folder, child, log };
        service.wait_for("metering");
        service
    }

    /// The next line of the log with this text.
    #[track_caller]
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.log.line();
            if line.contains(text) {
                return line;
            }
        }
    }

    fn control(&self, command: &[&str]) -> Ran {
        let socket = ["--socket", "control.sock"];
        self.folder.run(&[&["flow", "control"], command, &socket].concat())
    }

    /// Waits until the meter has received so many packets, and sends in between.
    #[track_caller]
    fn receive(&self, packets: u64, mut send: impl FnMut()) {
        let begun = Instant::now();
        loop {
            let stats: serde_json::Value =
                serde_json::from_str(&self.control(&["stats", "--json"]).ok()).unwrap();
            if stats["total"]["packets"].as_u64().unwrap() >= packets {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{stats}");
            send();
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the service; the rest of its log.
    #[track_caller]
    fn end(mut self) -> String {
        signal(&self.child, "-TERM");
        assert_eq!(ended(&mut self.child).code(), Some(0));
        self.log.rest().join("\n")
    }
}

/// Waits until a file has so many lines.
#[track_caller]
fn wait_for_lines(folder: &Folder, file: &str, count: usize) {
    let begun = Instant::now();
    while lines(&folder.path(file)).len() < count {
        assert!(begun.elapsed() < PATIENCE, "{:#?}", lines(&folder.path(file)));
        thread::sleep(Duration::from_millis(20));
    }
}

fn csv(file: &str) -> String {
    format!("[[output]]\nformat = \"csv\"\nto = \"{file}\"\n")
}

#[test]
fn a_hangup_exchanges_outputs_and_timeouts_and_a_bad_file_changes_nothing() {
    in_namespace(|sender| {
        let folder = Folder::new();
        folder.write("flow.toml", CONFIG.to_owned() + &csv("a.csv") + &csv("both.csv"));
        let command = folder.command(&["flow", "meter", "--config", "flow.toml"]);
        // A service has a configuration to read again also under nohup.
        let mut service = Service::of(&folder, ignoring("HUP", &command));
        let packet = |port| udp(0, [[10, 1, 1, 1], SERVER], [port, 53], 0);
        service.receive(1, || sender.send(&packet(1)));

        let new = format!("{CONFIG}[meter]\nidle = \"1s\"\nworkers = 2\n{}{}", csv("both.csv"), csv("b.csv"));
        folder.write("flow.toml", &new);
        signal(&service.child, "-HUP");
        holds(&service.wait_for("output closed"), &["a.csv: 0 flows, "]);
        service.wait_for("in effect");
        holds(&service.wait_for("restart"), &["meter.workers"]);
        service.wait_for("configuration read again");
        // The file that was closed is complete; the flow that was open ends by the new timeout.
        assert_eq!(lines(&folder.path("a.csv")).len(), 1);
        wait_for_lines(&folder, "b.csv", 2);
        wait_for_lines(&folder, "both.csv", 2);

        folder.write("flow.toml", new.replace("b.csv", "c.csv").replace("idle", "idel"));
        signal(&service.child, "-HUP");
        holds(&service.wait_for("nothing has changed"), &["did you mean `meter.idle`?"]);
        // One that cannot be opened: the other new one is not made.
        folder.write("flow.toml", new.replace("b.csv", "c.csv").replace("both.csv", "a.csv"));
        signal(&service.child, "-HUP");
        holds(&service.wait_for("nothing has changed"), &["a.csv exists: ", "overwrite = true"]);
        sender.send(&packet(2));
        wait_for_lines(&folder, "b.csv", 3);
        assert!(!folder.path("c.csv").exists());

        // As logrotate does.
        fs::rename(folder.path("b.csv"), folder.path("b.csv.1")).unwrap();
        folder.write("flow.toml", &new);
        signal(&service.child, "-HUP");
        service.wait_for("configuration read again");
        let said = service.end();
        holds(&said, &["stopping", "b.csv: 0 flows, ", " packets, "]);
        assert!(lines(&folder.path("b.csv.1")).len() >= 3 && lines(&folder.path("b.csv")).len() == 1);
        assert!(!folder.path("control.sock").exists());
    });
}

#[test]
fn control_shows_state_and_counters_and_reloads() {
    in_namespace(|sender| {
        let folder = Folder::new();
        let service = Service::start(&folder, &(CONFIG.to_owned() + &csv("a.csv")));
        let mode = fs::metadata(folder.path("control.sock")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        service.receive(3, || sender.send(&udp(0, [[10, 1, 1, 1], SERVER], [1, 53], 0)));
        let status = service.control(&["status"]).ok();
        let id = format!("process {}, up ", service.child.id());
        holds(
            &status,
            &[&id, "vb, 1 worker\n", "reloads    0, 0 refused\n", "a.csv  0 flows, 0 B, 0 lost\n"],
        );
        let stats = service.control(&["stats"]).ok();
        holds(&stats, &["packets            ", "flows-open         1\n", "flows-lost         0\n"]);
        let stats: serde_json::Value =
            serde_json::from_str(&service.control(&["stats", "--json"]).ok()).unwrap();
        assert_eq!(stats["workers"]["1"], stats["total"]);

        folder.write("flow.toml", CONFIG.to_owned() + &csv("b.csv"));
        let reloaded = service.control(&["reload"]).ok();
        holds(
            &reloaded,
            &["`output` has changed\n", "opened b.csv\n", "closed a.csv: 0 flows, ", "1 opened"],
        );
        folder.write("flow.toml", "zzz = 1\n");
        holds(&service.control(&["reload"]).failed(), &["unknown key `zzz`"]);
        let refused = service.control(&["reload", "--json"]);
        assert!(refused.code == Some(1) && refused.out.starts_with("{\"error\":\""), "{refused:#?}");
        holds(
            &service.control(&["status"]).ok(),
            &["reloads    1, 2 refused\n", "refused    ", "`zzz`", "b.csv  "],
        );
        service.end();
        holds(
            &folder.run(&["flow", "control", "status", "--socket", "control.sock"]).failed(),
            &["no server listens there; start one by `hashlane flow meter --config FILE`"],
        );
    });
}

#[test]
fn flags_make_a_service_without_a_configuration_and_an_interface_that_goes_down_ends_it() {
    in_namespace(|_| {
        let folder = Folder::new();
        let flags = ["flow", "meter", "--interface", "vb", "--csv", "a.csv", "--socket", "control.sock"];
        let mut service = Service::of(&folder, folder.command(&flags));
        holds(&service.control(&["reload"]).failed(), &["--config names none"]);
        let down = Command::new("ip").args(["link", "set", "vb", "down"]).status().unwrap();
        assert!(down.success());
        assert_eq!(ended(&mut service.child).code(), Some(1));
        holds(&service.log.rest().join("\n"), &["a.csv: 0 flows", "the meter has failed", "vb: "]);
    });
}

#[test]
fn a_service_of_root_runs_as_another_user_who_writes_its_files() {
    if !is_root() {
        return;
    }
    in_namespace(|sender| {
        let folder = Folder::new();
        fs::set_permissions(folder.path(""), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path("own")).unwrap();
        chown(folder.path("own"), Some(NOBODY), Some(NOBODY)).unwrap();
        let config = CONFIG.replace("control.sock", "own/control.sock") + "[server]\nuser = \"nobody\"\n";
        // The user may write in its own folder alone: an error of the start, not of the first reload.
        folder.write("flow.toml", config.clone() + &csv("a.csv"));
        let ran = folder.run(&["flow", "meter", "--config", "flow.toml"]);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        holds(
            &ran.err,
            &["cannot create a.csv: Permission denied", "; let the user of the meter write there"],
        );

        let mut service = Service::start(&folder, &(config.clone() + &csv("own/a.csv")));
        let status = fs::read_to_string(format!("/proc/{}/status", service.child.id())).unwrap();
        for ids in ["Uid", "Gid"] {
            let line = status.lines().find(|line| line.starts_with(ids)).unwrap();
            assert_eq!(line.split_whitespace().skip(1).collect::<Vec<_>>(), ["65534"; 4], "{status}");
        }
        holds(&status, &["CapEff:\t0000000000000000\n"]);
        for _ in 0..5 {
            sender.send(&udp(0, [[10, 1, 1, 1], SERVER], [1, 53], 0));
        }
        folder.write("flow.toml", config + &csv("own/b.csv"));
        signal(&service.child, "-HUP");
        service.wait_for("configuration read again");
        service.end();
        for file in ["own/a.csv", "own/b.csv"] {
            assert_eq!(fs::metadata(folder.path(file)).unwrap().uid(), NOBODY, "{file}");
        }
        assert!(lines(&folder.path("own/b.csv")).len() > 1);
    });
}

#[test]
fn a_supervisor_hears_of_start_reload_and_end() {
    in_namespace(|_| {
        let folder = Folder::new();
        let socket = UnixDatagram::bind(folder.path("notify")).unwrap();
        socket.set_read_timeout(Some(PROMPT)).unwrap();
        let any = || {
            let mut bytes = [0; 1000];
            let length = socket.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].into()).unwrap()
        };
        let next = || std::iter::repeat_with(any).find(|message| message != "WATCHDOG=1").unwrap();
        folder.write("flow.toml", CONFIG.to_owned() + &csv("a.csv"));
        let mut command = folder.command(&["flow", "meter", "--config", "flow.toml"]);
        command.env("NOTIFY_SOCKET", folder.path("notify")).env("WATCHDOG_USEC", "2000000");
        let service = Service::of(&folder, command);
        assert_eq!(next(), "READY=1");
        // Thrice: the threads keep making progress.
        (0..3).for_each(|_| assert_eq!(any(), "WATCHDOG=1"));
        signal(&service.child, "-HUP");
        let reloading = next();
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert_eq!(next(), "READY=1");
        service.end();
        assert_eq!(next(), "STOPPING=1");
    });
}
