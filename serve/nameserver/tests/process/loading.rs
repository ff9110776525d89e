//! Queries while zones are loaded at the start.

use crate::support::{PATIENCE, ZONE, query, summary, with_options};
use hashlane_nameserver::Server;
use hashlane_nameserver::config::{Config, ZoneFile};
use hashlane_nameserver::control::request;
use hashlane_nameserver::status::Status;
use std::fmt::Write as _;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Extended error Not Ready (RFC 8914 §4.15) as the last option.
const NOT_READY: [u8; 6] = [0, 15, 0, 2, 0, 14];

#[test]
fn zones_are_served_as_they_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("small.zone"), ZONE).unwrap();
    let mut large = "@ 60 IN SOA a b 1 2 3 4 5\n@ 60 IN NS a.other.\n".to_owned();
    for number in 0..200_000 {
        let _ = writeln!(large, "host{number} 60 IN TXT \"text of host {number}\"");
    }
    std::fs::write(file("large.zone"), large).unwrap();
    let mut config = Config::default();
    // A port that was free a moment ago: the server's is known once it has started.
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    (config.server.listen, config.server.workers) = (vec![address], 1);
    let socket = file("control.sock");
    config.control.path.clone_from(&socket);
    // In this order, also if one thread loads both.
    config.zone = vec![
        ZoneFile::new("example.com", file("small.zone")),
        ZoneFile::new("large.example", file("large.zone")),
    ];
    let again = config.clone();
    let start = std::thread::spawn(move || Server::start(&config, Box::new(move || Ok(again.clone()))));

    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    // Until the port is bound, there is an error in place of a response.
    let ask = |name: &str| {
        let mut response = vec![0; 512];
        client.send(&with_options(query(7, name, 1), &[])).ok()?;
        let len = client.recv(&mut response).ok()?;
        response.truncate(len);
        Some((summary(&response).1, response.ends_with(&NOT_READY)))
    };
    let begun = Instant::now();
    let (mut first, mut has_served_small) = (None, false);
    let (mut steps, mut refused) = (Vec::new(), None);
    loop {
        let Some(small) = ask("www.example.com") else {
            assert!(begun.elapsed() < PATIENCE, "no response");
            continue;
        };
        let status: Status = serde_json::from_str(&request(&socket, "status").unwrap()).unwrap();
        if let Some(step) = status.loading {
            assert!(status.zones.iter().all(|zone| !zone.is_failing()), "{status:?}");
            steps.push((step.loaded, step.zones));
            refused.get_or_insert_with(|| request(&socket, "notify example.com").unwrap_err().to_string());
        }
        let large = ask("host7.large.example").unwrap();
        first = first.or(Some(large));
        // Asked after the small one, which was served before.
        has_served_small |= small == (0, false) && large == (2, true);
        if large.0 != 2 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE * 4, "the large zone is not loaded");
    }
    assert_eq!(first, Some((2, true)), "SERVFAIL, Not Ready");
    assert!(has_served_small, "the small zone was served while the large one was loaded");
    assert!(steps.contains(&(1, 2)), "{steps:?}");
    let refused = refused.unwrap();
    assert!(refused.starts_with("the server has loaded ") && refused.contains("once"), "{refused}");
    let server = start.join().unwrap().unwrap();
    let status: Status = serde_json::from_str(&request(&socket, "status").unwrap()).unwrap();
    assert_eq!((status.loading, status.zones[1].serial), (None, Some(1)));
    assert_eq!(ask("host7.large.example"), Some((0, false)));
    drop(server);
    assert_eq!(ask("www.example.com"), None, "a server that is dropped answers no more");
}
