//! Supervisors: notifications to `NOTIFY_SOCKET`, and the wait for a forwarder.

use crate::forwarder::{Folder, Forwarder, RUN};
use hashlane_rig::children::{PROMPT, ended, output, start};
use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A supervisor, as `NOTIFY_SOCKET` names it.
struct Supervisor {
    socket: UnixDatagram,
    name: String,
}

impl Supervisor {
    fn new(folder: &Folder, is_abstract: bool) -> Self {
        let path = folder.path("notify").display().to_string();
        let (address, name) = match is_abstract {
            true => (SocketAddr::from_abstract_name(&path).unwrap(), format!("@{path}")),
            false => (SocketAddr::from_pathname(&path).unwrap(), path),
        };
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        socket.set_read_timeout(Some(PROMPT)).unwrap();
        Self { socket, name }
    }

    /// The next notification that is no WATCHDOG=1: each of those is followed by another.
    #[track_caller]
    fn next(&self) -> String {
        let begun = Instant::now();
        loop {
            let message = self.any();
            if message != "WATCHDOG=1" {
                return message;
            }
            assert!(begun.elapsed() < PROMPT, "nothing but WATCHDOG=1 within {PROMPT:?}");
        }
    }

    fn any(&self) -> String {
        let mut bytes = [0; 1000];
        let length = self.socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].into()).unwrap()
    }

    fn start(&self, folder: &Folder, watchdog: &str) -> Forwarder {
        fs::write(folder.path("f.toml"), "").unwrap();
        let mut command = folder.command(&[&RUN[..], &["--config", "f.toml"]].concat());
        command.env("NOTIFY_SOCKET", &self.name).env("WATCHDOG_USEC", watchdog);
        Forwarder::start(command)
    }
}

#[test]
fn a_supervisor_hears_of_start_reload_and_end() {
    for is_abstract in [false, true] {
        let folder = Folder::new();
        let supervisor = Supervisor::new(&folder, is_abstract);
        let forwarder = supervisor.start(&folder, "200000");
        assert_eq!(supervisor.next(), "READY=1");
        // Thrice: the threads keep making progress.
        (0..3).for_each(|_| assert_eq!(supervisor.any(), "WATCHDOG=1"));
        // An invalid configuration ends the reload, too.
        for text in ["[cs]\npackets = 9\n", "nonsense"] {
            fs::write(folder.path("f.toml"), text).unwrap();
            forwarder.process.signal("-HUP");
            let reloading = supervisor.next();
            let micros = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap_or(&reloading);
            assert!(micros.parse::<u64>().is_ok_and(|micros| micros > 0), "{reloading}");
            assert_eq!(supervisor.next(), "READY=1");
        }
        forwarder.process.signal("-TERM");
        assert_eq!(supervisor.next(), "STOPPING=1");
        assert_eq!(forwarder.process.end(), Some(0));
    }
}

#[test]
fn a_supervisor_that_is_gone_costs_a_line_and_no_more() {
    let folder = Folder::new();
    let supervisor = Supervisor::new(&folder, false);
    fs::remove_file(folder.path("notify")).unwrap();
    let forwarder = supervisor.start(&folder, "");
    forwarder.process.wait_for("cannot notify the supervisor", 1);
    assert!(folder.run(&["status"]).status.success());
}

#[test]
fn status_waits_until_a_forwarder_answers() {
    let folder = Folder::new();
    let late = folder.run(&["status", "--wait", "1"]);
    let message = String::from_utf8_lossy(&late.stderr);
    assert_eq!(late.status.code(), Some(1));
    assert!(message.contains("no forwarder has answered within 1 s: "), "{message}");
    assert_eq!(folder.run(&["status", "--wait", "0"]).status.code(), Some(2));

    let mut waiting = start(&mut folder.command(&["status", "--wait", "60"]));
    let forwarder = folder.forwarder(&[]);
    assert_eq!(ended(&mut waiting).code(), Some(0));
    drop(forwarder);
}

/// Starts a forwarder that gets a listener as systemd hands it over: descriptor 3, with the variables.
fn start_with(listener: &UnixListener, folder: &Folder, arguments: &[&str]) -> Command {
    let forwarder = folder.command(arguments);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("exec 3<&0 < /dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"");
    shell.arg(forwarder.get_program()).args(forwarder.get_args()).current_dir(&folder.0);
    shell.envs(forwarder.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(OwnedFd::from(listener.try_clone().unwrap()));
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

#[test]
fn a_socket_of_the_supervisor_outlives_the_forwarders_that_it_is_handed_to() {
    let folder = Folder::new();
    let path = folder.path("nfd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let socket = path.to_str().unwrap();
    let run = ["run", "--unix", socket, "--udp", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--ws", "none"];
    // A client that comes before the forwarder is served by it.
    let mut early = start(&mut folder.command(&["status"]));
    for _ in 0..2 {
        let forwarder = Forwarder::start(start_with(&listener, &folder, &run));
        assert!(folder.run(&["status"]).status.success());
        forwarder.process.signal("-TERM");
        assert_eq!(forwarder.process.end(), Some(0));
        assert!(path.exists(), "the file is the supervisor's");
    }
    assert_eq!(ended(&mut early).code(), Some(0));
}

#[test]
fn a_socket_of_the_supervisor_that_the_configuration_lacks_is_refused() {
    let folder = Folder::new();
    let path = folder.path("other.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let refused = output(&mut start_with(&listener, &folder, &RUN));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    let expected = format!("run with --unix {}", path.display());
    assert!(
        message.contains("the supervisor hands over the socket") && message.contains(&expected),
        "{message}"
    );

    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let listener = UnixListener::from(OwnedFd::from(port));
    let refused = output(&mut start_with(&listener, &folder, &RUN));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("cannot use socket 0 of LISTEN_FDS"), "{message}");
}
