//! Connections to primaries that carry several zones, and to secondaries that ask for several at once.

use crate::support::{PATIENCE, Running, framed, read_message, zone};
use crate::tls::{Authority, NAME};
use hashlane_name::dns::text;
use hashlane_nameserver::config::{Config, ZoneFile};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::{request, soa_query, transfer_query};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Members of a catalog.
const MEMBERS: usize = 300;

/// Zones `z0.example` and so on, and a catalog of them, for all on this host.
fn primary(zones: usize, change: impl FnOnce(&mut Config)) -> Running {
    Running::start(|config| {
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        config.rate_limit.responses_per_second = 0;
        let file = config.zone[0].file.clone();
        std::fs::write(&file, zone(7).replace("$ORIGIN example.com.\n", "")).unwrap();
        config.zone =
            (0..zones).map(|number| ZoneFile::new(format!("z{number}.example"), file.clone())).collect();
        config.zone.push(ZoneFile {
            name: "catalog.example".into(),
            catalog: "produce".into(),
            ..ZoneFile::default()
        });
        change(config);
    })
}

fn secondary(primary: &str, roots: &Path, folder: &Path, (name, catalog): (&str, &str)) -> Running {
    Running::start(|config| {
        config.tls.roots = roots.to_owned();
        config.transfer.folder = folder.to_owned();
        config.zone = vec![ZoneFile {
            name: name.into(),
            primaries: vec![primary.parse().unwrap()],
            catalog: catalog.into(),
            ..ZoneFile::default()
        }];
    })
}

/// Follows a catalog, and looks at the connections that it took.
fn check_connections(primary: &Running, peer: &str, roots: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(peer, roots, folder.path(), ("catalog.example", "follow"));
    secondary.wait("all members", |handle| {
        handle.status().zones.iter().filter(|zone| zone.serial.is_some()).count() == MEMBERS + 1
    });
    let tcp = primary.handle.stats().tcp;
    assert!(tcp.transfers > MEMBERS as u64, "{tcp:?}");
    // Eight threads at most ask at the same time.
    assert!(tcp.accepted <= 16, "{} connections for {} transfers", tcp.accepted, tcp.transfers);
}

#[test]
fn members_of_a_catalog_share_connections() {
    let primary = primary(MEMBERS, |_| {});
    check_connections(&primary, &primary.address.to_string(), Path::new(""));
}

#[test]
fn members_of_a_catalog_share_connections_over_tls() {
    let authority = Authority::new();
    let primary = primary(MEMBERS, |config| authority.configure(config));
    check_connections(&primary, &format!("{} tls {NAME}", primary.tls[0]), &authority.roots());
    let tcp = primary.handle.stats().tcp;
    assert_eq!(tcp.handshakes, tcp.accepted);
}

/// A relay to a primary that ends a connection at its query of this number, without a response. Counts the
/// connections.
fn forgetful(primary: SocketAddr, last: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut near) = stream else { return };
            counted.fetch_add(1, Ordering::Relaxed);
            for number in 0.. {
                let Some(query) = read_message(&mut near) else { break };
                if number == last {
                    break;
                }
                // One message is enough for these zones.
                let mut far = TcpStream::connect(primary).unwrap();
                far.set_read_timeout(Some(PATIENCE)).unwrap();
                far.write_all(&framed(&query)).unwrap();
                near.write_all(&framed(&read_message(&mut far).unwrap())).unwrap();
            }
        }
    });
    (address, count)
}

#[test]
fn a_kept_connection_that_is_broken_is_replaced() {
    let primary = primary(1, |_| {});
    let (relay, connections) = forgetful(primary.address, 1);
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(&relay.to_string(), Path::new(""), folder.path(), ("z0.example", ""));
    secondary.wait("the zone", |handle| handle.status().zones[0].serial == Some(7));
    let checked = |handle: &hashlane_nameserver::Handle| {
        let transfer = handle.status().zones[0].transfer.clone().unwrap();
        (transfer.failures, transfer.error)
    };
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    // The second query of the connection ends it; the third is the first of another one.
    secondary.handle.refresh("z0.example", false).unwrap();
    secondary.wait("a new connection", |_| connections.load(Ordering::Relaxed) == 2);
    secondary.handle.refresh("z0.example", true).unwrap();
    secondary.wait("another one", |_| connections.load(Ordering::Relaxed) == 3);
    assert_eq!(checked(&secondary.handle), (0, None));
}

#[test]
fn a_flood_of_notify_brings_few_questions() {
    // A primary that closes each connection, as one that is restarted.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            // The question is under way for a while, in which further NOTIFY come.
            std::thread::sleep(Duration::from_millis(30));
            drop(stream);
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(&address.to_string(), Path::new(""), folder.path(), ("z0.example", ""));
    secondary.wait("the first question", |_| count.load(Ordering::Relaxed) == 1);
    let (begun, apex) = (Instant::now(), text::parse(b"z0.example").unwrap());
    for number in 0..300 {
        secondary.ask(&request(apex.view(), number, None));
        std::thread::sleep(Duration::from_millis(5));
    }
    // One in two seconds, by a clock of whole seconds.
    let most = begun.elapsed().as_secs() as usize + 3;
    let asked = count.load(Ordering::Relaxed);
    assert!(asked <= most && secondary.handle.stats().udp.notified == 300, "{asked} questions, not {most}");
}

#[test]
fn queries_for_several_zones_are_answered_in_turn_on_one_connection() {
    let primary = primary(3, |_| {});
    let mut stream = primary.tcp();
    let names = ["z0.example", "z1.example", "catalog.example", "z2.example"];
    let apexes = names.map(|name| text::parse(name.as_bytes()).unwrap());
    let mut queries = Vec::new();
    for (id, apex) in (0..).zip(&apexes) {
        queries.extend(framed(&transfer_query(apex.view(), id, Query::Whole)));
        queries.extend(framed(&soa_query(apex.view(), 100 + id)));
    }
    stream.write_all(&queries).unwrap();
    for (id, apex) in (0..).zip(&apexes) {
        let mut incoming = Incoming::new(apex.view(), id, Query::Whole, 1 << 20);
        loop {
            let message = read_message(&mut stream).unwrap();
            match incoming.message(&message, &mut |_| Ok(())).unwrap() {
                Progress::More => {}
                progress => break assert!(matches!(progress, Progress::Whole(_)), "{progress:?}"),
            }
        }
        let message = read_message(&mut stream).unwrap();
        assert_eq!(message[..2], (100 + id).to_be_bytes()[..], "the answer to the query after it");
    }
    assert_eq!(primary.handle.stats().tcp.accepted, 1);
}
