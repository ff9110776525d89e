//! `hashlane dns serve`, `control` and `check-config`, end to end.

use hashlane_rig::children::{ignoring, start};
use hashlane_rig::command::{Folder, holds};
use hashlane_rig::process::{Process, until};
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

const ZONE: &str = "\
$ORIGIN example.com.
$TTL 300
@ IN SOA ns1 hostmaster 7 3600 600 86400 60
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN A 192.0.2.80
";

/// `www.example.com`, type A, with identifier 1.
pub(crate) const QUERY: &[u8] = b"\0\x01\0\0\0\x01\0\0\0\0\0\0\x03www\x07example\x03com\0\0\x01\0\x01";

pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// A server that listens, with its control socket in the folder.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(&mut command);
        let log = child.stderr.take().unwrap();
        let process = Process::new(child, log);
        process.wait_for("listening", 1);
        let lines = process.lines.lock().unwrap().clone();
        let address =
            lines.iter().find_map(|line| line.split_once("address=")?.1.trim().parse().ok()).unwrap();
        Self { process, address }
    }

    fn ask(&self) -> Vec<u8> {
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        client.send_to(QUERY, self.address).unwrap();
        let mut response = vec![0; 512];
        let length = client.recv(&mut response).unwrap();
        response.truncate(length);
        response
    }
}

/// Arguments of a server in its folder.
const SERVE: [&str; 7] =
    ["dns", "serve", "example.com.zone", "--listen", "127.0.0.1:0", "--socket", "control.sock"];

pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    folder
}

/// The page of a server's metrics.
pub(crate) fn metrics(server: &Server) -> String {
    let lines = server.process.lines.lock().unwrap().clone();
    let address =
        lines.iter().find_map(|line| line.strip_prefix("metrics: http://")?.strip_suffix("/metrics"));
    let mut stream = TcpStream::connect(address.unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    metrics
}

#[test]
fn a_zone_file_is_served_until_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let folder = folder();
        let server = Server::start(folder.command(&SERVE));
        let response = server.ask();
        assert!(
            response.starts_with(&[0, 1, 0x84, 0]) && response.ends_with(&[192, 0, 2, 80]),
            "{response:?}"
        );

        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(&[&[0, QUERY.len() as u8], QUERY].concat()).unwrap();
        let mut framed = vec![0; 2 + response.len()];
        stream.read_exact(&mut framed).unwrap();
        assert_eq!(framed[2..], response);

        server.process.signal(signal);
        assert_eq!(server.process.end(), Some(0), "{signal}");
        assert!(!folder.path("control.sock").exists());
    }
}

#[test]
fn control_reports_and_reloads_and_so_does_a_signal() {
    let folder = folder();
    let supervisor = UnixDatagram::bind(folder.path("notify")).unwrap();
    supervisor.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let mut command = folder.command(&SERVE);
    command.args(["--metrics", "127.0.0.1:0"]).env("NOTIFY_SOCKET", folder.path("notify"));
    // Signals ignored at the start, as under nohup, have their effect.
    let server = Server::start(ignoring("HUP INT TERM", &command));
    let control = |arguments: &[&str]| {
        folder.run(&[&["dns", "control", "--socket", "control.sock"], arguments].concat())
    };
    server.ask();
    let status = control(&["status"]).ok();
    holds(&status, &["example.com  serial 7, 4 records, 1 queries", "1 in service, 0 with errors"]);
    holds(&control(&["stats"]).ok(), &["types              A 1", "rcodes             NOERROR 1"]);
    let json: serde_json::Value = serde_json::from_str(&control(&["stats", "--json"]).ok()).unwrap();
    assert_eq!((&json["udp"]["sent"], &json["zones"]["example.com"]), (&1.into(), &1.into()));

    folder.write("example.com.zone", ZONE.replace(" 7 ", " 8 "));
    holds(&control(&["reload"]).ok(), &["example.com: loaded, serial 8", "1 loaded, 0 unchanged"]);
    folder.write("example.com.zone", ZONE.replace(" 7 ", " 8 ").replace("192.0.2.80", "192.0.2.81"));
    let edited = control(&["reload"]).ok();
    let warning = "example.com: warning: SOA: the content has changed, but serial 8 is unchanged";
    holds(&edited, &["example.com: loaded, serial 8\n", warning, "raise it"]);
    folder.write("example.com.zone", ZONE.replace("192.0.2.80", "192.0.2.800"));
    let failed = control(&["reload"]);
    assert_eq!(failed.code, Some(1), "{failed:#?}");
    holds(&failed.out, &["example.com: not loaded: ", "old data stay in service; ", "example.com.zone", "6"]);
    holds(&control(&["status"]).ok(), &["serial 8", "error: "]);
    let unknown = control(&["reload", "example.org", "--json"]);
    assert_eq!(unknown.code, Some(1));
    holds(&unknown.out, &["{\"error\":\"no zone example.org"]);

    folder.write("example.com.zone", ZONE.replace(" 7 ", " 9 "));
    server.process.signal("-HUP");
    server.process.wait_for("serial=9", 1);
    let mut notified = Vec::new();
    until(
        || {
            let mut bytes = [0; 200];
            let length = supervisor.recv(&mut bytes).unwrap();
            notified.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            notified.len() == 3
        },
        || "three notifications".into(),
    );
    assert!(notified[0] == "READY=1" && notified[1].starts_with("RELOADING=1") && notified[2] == "READY=1");

    let metrics = metrics(&server);
    holds(
        &metrics,
        &[
            "hashlane_dns_queries_total{transport=\"udp\",type=\"A\"} 1\n",
            "hashlane_dns_zone_serial{zone=\"example.com\"} 9\n",
            "hashlane_dns_zone_loads_total{result=\"failed\"} 1\n",
        ],
    );
    server.process.signal("-INT");
    assert_eq!(server.process.end(), Some(0));
}

#[test]
fn a_log_that_has_reached_the_limit_of_its_size_does_not_end_the_server() {
    let folder = folder();
    let mut command = Command::new("sh");
    let script = "ulimit -f 0; exec \"$0\" \"$@\" 2> log";
    command.args(["-c", script, env!("CARGO_BIN_EXE_hashlane-dns")]).args(&SERVE[1..]);
    command.current_dir(folder.path("."));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut server = start(&mut command);
    let control = |arguments: &[&str]| {
        folder.run(&[&["dns", "control", "--socket", "control.sock"], arguments].concat())
    };
    until(|| control(&["status"]).code == Some(0), || "the control socket".into());
    for _ in 0..3 {
        // Each reload is logged.
        control(&["reload", "example.com"]).ok();
    }
    assert_eq!(fs::metadata(folder.path("log")).unwrap().len(), 0);
    assert!(server.try_wait().unwrap().is_none());
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn the_older_name_of_the_socket_option_goes_on() {
    let folder = folder();
    let arguments = SERVE.map(|word| if word == "--socket" { "--control" } else { word });
    let _server = Server::start(folder.command(&arguments));
    for option in ["--control", "--socket"] {
        holds(&folder.run(&["dns", "control", option, "control.sock", "status"]).ok(), &["example.com"]);
    }
    for verb in ["serve", "control"] {
        let help = folder.run(&["dns", verb, "--help"]).ok();
        assert!(help.contains("--socket <PATH>") && !help.contains("--control"), "{help}");
    }
}

#[test]
fn a_refused_configuration_is_shown_until_a_reload_works() {
    let folder = folder();
    let zone = "[[zone]]\nname = \"example.com\"\nfile = \"example.com.zone\"\n";
    folder.write("dns.toml", zone);
    let arguments = ["dns", "serve", "--config", "dns.toml", "--listen", "127.0.0.1:0"];
    let _server = Server::start(folder.command(&[&arguments[..], &["--socket", "control.sock"]].concat()));
    let control = |arguments: &[&str]| {
        folder.run(&[&["dns", "control", "--socket", "control.sock"], arguments].concat())
    };
    folder.write("dns.toml", "[server]\nlisen = []\n");
    assert_eq!(control(&["reload"]).code, Some(1));
    let refused = "refused      the configuration of the last reload: dns.toml is not a valid configuration";
    holds(&control(&["status"]).ok(), &[refused, "did you mean `server.listen`?"]);
    folder.write("dns.toml", zone);
    control(&["reload"]).ok();
    assert!(!control(&["status"]).ok().contains("refused"));
}

#[test]
fn errors_name_the_next_step() {
    let folder = folder();
    // The log may come first: root is warned that it stays root.
    let says = |arguments: &[&str]| {
        let ran = folder.run(&[&["dns"], arguments].concat());
        assert!(ran.code == Some(1) && ran.out.is_empty(), "{ran:#?}");
        ran.err
    };
    holds(&says(&["serve"]), &["no zone to serve", "--config"]);
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = ["serve", "example.com.zone", "--socket", "none", "--listen"];
    holds(
        &says(&[&serve[..], &[&address]].concat()),
        &["is in use by another program; end it, or choose another port"],
    );
    folder.write("bad.toml", "[server]\nlisen = []\n");
    holds(&says(&["check-config", "bad.toml"]), &["bad.toml", "did you mean `server.listen`?"]);
    holds(&says(&["serve", "--config", "bad.toml"]), &["bad.toml", "did you mean `server.listen`?"]);
    holds(&says(&["check-config", "missing.toml"]), &["cannot read missing.toml"]);
    holds(&says(&["check-config"]), &["--print"]);
    holds(
        &says(&["control", "status", "--socket", "none.sock"]),
        &["no server listens there", "hashlane dns serve"],
    );
    holds(&says(&["control", "status", "--socket", "/dev/null"]), &["not a Unix socket", "--socket"]);
    holds(&says(&["control", "reload", ""]), &["name of the zone is empty; leave it out"]);
    holds(&says(&["control", "reload", "a b"]), &["\"a b\" is not the name of a zone"]);
    for zone in [&b"a\xff/example.com.zone"[..], b"example.com=\xff"] {
        let ran = folder.command(&["dns", "serve"]).arg(OsStr::from_bytes(zone)).output().unwrap();
        let error = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{error}");
        holds(&error, &["`zone.file` has ", "\\xFF", "not UTF-8; rename the file or its folder"]);
    }
    let bad = folder.run(&[
        "dns",
        "serve",
        "example.com=missing.zone",
        "--listen",
        "127.0.0.1:0",
        "--socket",
        "none",
    ]);
    assert_eq!(bad.code, Some(1));
    holds(&bad.err, &["missing.zone"]);
}

#[test]
fn a_configuration_is_checked_with_its_zones_and_printed() {
    let folder = folder();
    let printed = folder.run(&["dns", "check-config", "--print"]).ok();
    // As the page for operators has it: valid as it is, and with a zone appended.
    folder.write("printed.toml", &printed);
    let verdict = "warning: no zone: add [[zone]], or name zone files to `dns serve`\n\
                   printed.toml is a valid configuration\n";
    assert_eq!(folder.run(&["dns", "check-config", "printed.toml"]).ok(), verdict);
    folder.write(
        "more.toml",
        [&printed[..], "[[zone]]\nname = \"example.com\"\nfile = \"example.com.zone\"\n"].concat(),
    );
    assert!(folder.run(&["dns", "check-config", "more.toml"]).code == Some(0));
    holds(&printed, &["[server]", "max_udp = 1232", "[tcp]", "[rate_limit]", "responses_per_second = 200"]);
    fs::create_dir(folder.path("etc")).unwrap();
    let zones = "[[zone]]\nname = \"example.com\"\nfile = \"../example.com.zone\"\n";
    let own = printed.replace(
        &printed[printed.find("listen = [").unwrap()..printed.find("workers").unwrap()],
        "listen = [\"127.0.0.1:0\"]\n",
    );
    folder.write("etc/dns.toml", format!("{own}{zones}"));
    // Zone files are relative to the folder of the configuration.
    let checked = folder.run(&["dns", "check-config", "etc/dns.toml"]).ok();
    holds(&checked, &["example.com: serial 7, 4 records", "etc/dns.toml is a valid configuration\n"]);
    holds(
        &folder.run(&[&SERVE[..], &["--check"]].concat()).ok(),
        &["example.com: serial 7", "the configuration is valid\n"],
    );

    folder.write("example.com.zone", ZONE.replace("www IN A", "www IN AA"));
    let checked = folder.run(&["dns", "check-config", "etc/dns.toml"]);
    assert_eq!(checked.code, Some(1));
    holds(&checked.out, &["example.com: ", "example.com.zone", "6"]);
    holds(&checked.err, &["1 of 1 zones cannot be loaded"]);
}

#[test]
fn a_configuration_is_checked_beside_the_server_that_runs_with_it() {
    let folder = folder();
    let write = |address: &str, mode: u32| {
        let text = format!(
            "[server]\nlisten = [\"{address}\"]\n[control]\npath = \"{}\"\n[[key]]\nname = \"k\"\n\
             algorithm = \"hmac-sha256\"\nsecret = \"c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0\"\n\
             [[group]]\nname = \"customers\"\n[[zone]]\nname = \"example.com\"\nfile = \"example.com.zone\"\n",
            folder.path("control.sock").display()
        );
        folder.write("dns.toml", text);
        fs::set_permissions(folder.path("dns.toml"), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("127.0.0.1:0", 0o644);
    let server = Server::start(folder.command(&["dns", "serve", "--config", "dns.toml"]));
    server.process.wait_for("every user can read the secrets in this configuration", 1);
    let check = || folder.run(&["dns", "check-config", "dns.toml"]).ok();
    write(&server.address.to_string(), 0o644);
    let group = "warning: `[[group]]` \"customers\" is named by no catalog that is followed; ";
    let secrets =
        "warning: dns.toml: every user can read the secrets in this configuration; make its mode 0600";
    holds(&check(), &[group, secrets, "example.com: serial 7", "dns.toml is a valid configuration\n"]);
    write(&server.address.to_string(), 0o600);
    assert!(!check().contains("secrets"));
}

#[test]
fn root_becomes_the_user_that_it_names() {
    let id = fs::read_to_string("/proc/self/status").unwrap();
    let is_root = id.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let folder = folder();
    if !is_root {
        let serve = ["dns", "serve", "example.com.zone", "--listen", "127.0.0.1:0", "--socket", "none"];
        let error = folder.run(&[&serve[..], &["--user", "root"]].concat()).failed();
        holds(&error, &["cannot run as user 0", "start as root"]);
        return;
    }
    // The folder belongs to root, so that this user could create no socket there.
    let serve = ["dns", "serve", "example.com.zone", "--listen", "127.0.0.1:0", "--socket", "none"];
    let mut command = folder.command(&serve);
    command.args(["--user", "65534"]);
    let server = Server::start(command);
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.child.id())).unwrap();
    holds(&status, &["Uid:\t65534\t65534\t65534\t65534\n"]);
    assert!(server.ask().ends_with(&[192, 0, 2, 80]));
    folder.write("example.com.zone", ZONE.replace(" 7 ", " 8 "));
    server.process.signal("-HUP");
    server.process.wait_for("serial=8", 1);
}
