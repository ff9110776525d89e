//! The control socket, and configurations that no server starts with.

use crate::support::{PATIENCE, Running, query};
use hashlane_nameserver::Server;
use hashlane_nameserver::config::{Config, ZoneFile};
use hashlane_nameserver::control::request;
use hashlane_nameserver::status::{Reloaded, Stats, Status};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

#[test]
fn commands_return_documents_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let server = Running::start(|config| config.control.path = path.clone());
    server.ask(&query(1, "www.example.com", 1));
    // The counters follow the response.
    server.wait("the response is counted", |handle| handle.stats().udp.sent == 1);
    let status: Status = serde_json::from_str(&request(&path, "status").unwrap()).unwrap();
    assert_eq!((status.pid, &status.listen[..]), (std::process::id(), &[server.address][..]));
    assert_eq!(
        (&status.zones[0].name[..], status.zones[0].serial, status.zones[0].queries),
        ("example.com", Some(7), 1)
    );
    assert!(status.zones[0].records >= 6 && status.zones[0].memory > 0);
    let stats: Stats = serde_json::from_str(&request(&path, "stats").unwrap()).unwrap();
    assert_eq!((stats.udp.sent, stats.udp.types["A"]), (1, 1));
    let reloaded: Reloaded = serde_json::from_str(&request(&path, "reload example.com").unwrap()).unwrap();
    assert_eq!(reloaded.loaded["example.com"], 7);
    let error = |command: &str| request(&path, command).unwrap_err().to_string();
    let unknown = "no zone example.org; `hashlane dns control status` lists the zones";
    for verb in ["status", "reload", "refresh", "retransfer", "notify", "delete"] {
        assert_eq!(error(&format!("{verb} example.org")), unknown, "{verb}");
        assert_eq!(error(&format!("{verb} Example.ORG.")).to_lowercase(), unknown, "{verb}");
    }
    assert!(error("reload a..b").contains("not the name of a zone"));
    assert_eq!(server.handle.stats().reloads.refused, 0, "no configuration was read");
    assert!(error("restart").contains("unknown command"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    server.stop().unwrap();
    let error = request(&path, "status").unwrap_err().to_string();
    assert!(error.contains("no server listens there"), "{error}");
    let error = request(std::path::Path::new("/dev/null"), "status").unwrap_err().to_string();
    assert_eq!(error, "cannot connect to /dev/null: not a Unix socket; name the server's by --socket");
    let error = request(&PathBuf::from("x".repeat(200)), "status").unwrap_err().to_string();
    assert!(error.contains("at most 107 bytes"), "{error}");
}

#[test]
fn clients_that_say_nothing_or_too_much_do_not_stop_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let _server = Running::start(|config| config.control.path = path.clone());
    let _silent: Vec<UnixStream> = (0..8).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let mut long = UnixStream::connect(&path).unwrap();
    long.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = long.write_all(&[b'a'; 100_000]);
    let mut answer = String::new();
    // The rest of the command may be unread when the server closes.
    let _ = long.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.contains("more than 64 KiB"), "{answer}");
    assert!(request(&path, "status").is_ok());
}

#[test]
fn a_server_that_cannot_serve_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let says = |config: &Config| {
        let again = config.clone();
        let started = Server::start(config, Box::new(move || Ok(again.clone())));
        started.err().expect("an error").to_string()
    };
    let mut config = Config::default();
    config.control.path = PathBuf::new();
    config.server.listen = vec!["127.0.0.1:0".parse().unwrap()];
    assert!(says(&config).contains("no zone to serve"));
    let file = folder.path().join("missing.zone");
    config.zone = vec![ZoneFile::new("example.com", file)];
    assert!(says(&config).contains("missing.zone"), "{}", says(&config));
    let checked = Server::check(&config).unwrap();
    assert!(checked.zones[0].error.as_ref().unwrap().contains("missing.zone"));
    config.server.listen = vec!["192.0.2.1:5353".parse().unwrap()];
    // Root has to name the user that serves other hosts.
    config.server.user = "root".into();
    assert!(says(&config).contains("no interface of this machine has the address"));
    assert!(Server::check(&config).is_err());
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    config.server.listen = vec![taken.local_addr().unwrap()];
    assert!(says(&config).contains("in use by another program; end it, or choose another port"));
}
