//! Reloads.

use crate::support::{Running, ask_over, exchange, query, serial, summary, zone};
use hashlane_nameserver::config::ZoneFile;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SOA: u16 = 6;

#[test]
fn reloads_under_queries_lose_none() {
    let server = Running::start(|_| {});
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|number| {
            let (client, mut stream, stop) = (server.udp(), server.tcp(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let (mut asked, mut last) = (0_u32, 0);
                while !stop.load(Ordering::Relaxed) {
                    let question = query(asked as u16, "example.com", SOA);
                    // A lost response ends the receive with an error.
                    let response = match number % 2 {
                        0 => exchange(&client, &question),
                        _ => ask_over(&mut stream, &question).unwrap(),
                    };
                    let now = serial(&response);
                    assert!(now >= last, "{now} after {last}");
                    (asked, last) = (asked + 1, now);
                }
                asked
            })
        })
        .collect();
    for serial in 100..130 {
        fs::write(server.file("example.com.zone"), zone(serial)).unwrap();
        let reloaded = server.handle.reload(Some("Example.com.")).unwrap();
        assert_eq!(reloaded.loaded["example.com"], serial);
    }
    stop.store(true, Ordering::Relaxed);
    let asked: u32 = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert!(asked > 100);
    assert_eq!(serial(&server.ask(&query(1, "example.com", SOA))), 129);
    assert_eq!(server.handle.stats().reloads.loaded, 30);
}

#[test]
fn only_changed_zones_are_loaded_and_a_bad_one_leaves_the_old_one_in_service() {
    let server = Running::start(|config| {
        let file = config.zone[0].file.with_file_name("example.net.zone");
        fs::write(&file, zone(1).replace("example.com", "example.net")).unwrap();
        config.zone.push(ZoneFile::new("example.net", file));
    });
    let reloaded = server.handle.reload(None).unwrap();
    assert_eq!((reloaded.loaded.len(), reloaded.unchanged), (0, 2));

    // A change of the same length shows by its time or its inode.
    fs::write(server.file("new"), zone(8)).unwrap();
    fs::rename(server.file("new"), server.file("example.com.zone")).unwrap();
    let reloaded = server.handle.reload(None).unwrap();
    assert_eq!((reloaded.loaded.len(), reloaded.loaded["example.com"], reloaded.unchanged), (1, 8, 1));

    fs::write(server.file("example.com.zone"), zone(9).replace("192.0.2.80", "192.0.2.800")).unwrap();
    let reloaded = server.handle.reload(None).unwrap();
    assert!(reloaded.failed["example.com"].contains("example.com.zone"), "{reloaded:?}");
    assert_eq!(serial(&server.ask(&query(1, "example.com", SOA))), 8);
    let status = server.handle.status();
    let found = status.zones.iter().find(|zone| zone.name == "example.com").unwrap();
    assert_eq!((found.serial, found.error.is_some()), (Some(8), true));
    assert_eq!(server.handle.reload(None).unwrap().failed.len(), 1, "it is tried again");

    // Reading a pipe would wait for its writer.
    fs::remove_file(server.file("example.com.zone")).unwrap();
    nix::unistd::mkfifo(&server.file("example.com.zone"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let failed = server.handle.reload(None).unwrap().failed;
    assert!(failed["example.com"].contains("not a regular file"), "{failed:?}");
    fs::remove_file(server.file("example.com.zone")).unwrap();

    fs::write(server.file("example.com.zone"), zone(10)).unwrap();
    assert_eq!(server.handle.reload(None).unwrap().loaded["example.com"], 10);
    assert_eq!(server.handle.stats().reloads.failed, 3);
    let error = server.handle.reload(Some("example.org")).unwrap_err().to_string();
    assert!(error.contains("no zone example.org"), "{error}");
}

#[test]
fn zones_and_settings_of_the_configuration_come_and_go() {
    let server = Running::start(|_| {});
    assert_eq!(summary(&server.ask(&query(1, "example.net", SOA))).1, 5);
    let file = server.file("example.net.zone");
    fs::write(&file, zone(3).replace("example.com", "example.net")).unwrap();
    server.next.lock().unwrap().zone.push(ZoneFile::new("example.net", &file));
    server.next.lock().unwrap().tcp.connections = 17;
    let reloaded = server.handle.reload(None).unwrap();
    assert_eq!((reloaded.loaded["example.net"], &reloaded.restart[..]), (3, &["tcp".to_owned()][..]));
    assert_eq!(serial(&server.ask(&query(1, "example.net", SOA))), 3);
    assert_eq!(server.handle.stats().zones["example.net"], 1);

    server.next.lock().unwrap().zone.remove(0);
    assert_eq!(server.handle.reload(None).unwrap().removed, ["example.com"]);
    assert_eq!(summary(&server.ask(&query(1, "example.com", SOA))).1, 5);
    assert_eq!(serial(&server.ask(&query(1, "example.net", SOA))), 3);

    server.next.lock().unwrap().server.max_udp = 1;
    let error = server.handle.reload(None).unwrap_err().to_string();
    assert!(error.contains("`server.max_udp`"), "{error}");
    assert_eq!(server.handle.status().refused, Some(error.clone()));
    // A zone is loaded by the configuration in effect, and says nothing of the new one.
    server.handle.reload(Some("example.net")).unwrap();
    server.handle.reload(Some("example.org")).unwrap_err();
    assert_eq!(server.handle.status().refused, Some(error));
    assert!(server.handle.metrics().contains("hashlane_dns_config_ok 0\n"));
    assert_eq!(
        (serial(&server.ask(&query(1, "example.net", SOA))), server.handle.stats().reloads.refused),
        (3, 1)
    );
    server.next.lock().unwrap().server.max_udp = 1232;
    server.handle.reload(None).unwrap();
    assert_eq!(server.handle.status().refused, None);
}

#[test]
fn a_zone_that_was_never_loaded_is_a_server_failure() {
    let server = Running::start(|config| {
        let file = config.zone[0].file.with_file_name("missing.zone");
        config.zone.push(ZoneFile::new("example.net", file));
    });
    assert_eq!(summary(&server.ask(&query(1, "a.example.net", 1))).1, 2);
    assert_eq!(summary(&server.ask(&query(1, "www.example.com", 1))).1, 0);
    fs::write(server.file("missing.zone"), zone(3).replace("example.com", "example.net")).unwrap();
    assert_eq!(server.handle.reload(None).unwrap().loaded.len(), 1);
    assert_eq!(serial(&server.ask(&query(1, "example.net", SOA))), 3);
}

#[test]
fn a_reload_that_changes_records_and_not_the_serial_is_warned_of() {
    let server = Running::start(|_| {});
    let warnings = || server.handle.status().zones[0].warnings.clone();
    let load = |text: &str| {
        fs::write(server.file("example.com.zone"), text).unwrap();
        server.handle.reload(Some("example.com")).unwrap();
        warnings()
    };
    assert_eq!(warnings(), [""; 0]);
    // The same records in another order are the same content.
    let mut lines: Vec<_> = zone(7).lines().map(str::to_owned).collect();
    lines.swap(4, 5);
    assert_eq!(load(&lines.join("\n")), [""; 0]);
    let other = |serial| zone(serial).replace("192.0.2.80", "192.0.2.81");
    let [unchanged] = &load(&other(7))[..] else { panic!("{:?}", warnings()) };
    assert!(unchanged.contains("serial 7 is unchanged") && unchanged.contains("raise it"), "{unchanged}");
    let [lower] = &load(&other(6))[..] else { panic!("{:?}", warnings()) };
    assert!(lower.contains("serial 6 is not after the one before (7, RFC 1982)"), "{lower}");
    assert_eq!(load(&zone(6 + (1 << 31) - 1)), [""; 0]);
    assert_eq!(load(&zone(4)), [""; 0], "a serial number may go past 2^32");
}

#[test]
fn faults_of_a_zone_are_warned_of_at_each_load() {
    let bad = "\
        www 300 RRSIG A 13 3 300 20200101000000 20190101000000 7 @ AAAA\n\
        c NS ns.c\nd NS ns.d\ne NS ns.e\nf NS ns.f\ng NS ns.g\n";
    let server = Running::start(|config| {
        let file = &config.zone[0].file;
        fs::write(file, zone(7) + bad).unwrap();
    });
    let text = "name server in this zone without an address; add its A or AAAA record";
    let expected = [
        "www.example.com. A: signature expired; sign the zone again".to_owned(),
        format!("ns.c.example.com. A: {text}"),
        format!("ns.d.example.com. A: {text}"),
        format!("ns.e.example.com. A: {text}"),
        format!("2 more: {text}"),
    ];
    assert_eq!(server.handle.status().zones[0].warnings, expected);
    let checked = hashlane_nameserver::Server::check(&server.next.lock().unwrap()).unwrap();
    assert_eq!(checked.zones[0].warnings, expected);
    let reloaded = server.handle.reload(Some("example.com")).unwrap();
    assert_eq!(reloaded.warnings["example.com"], expected);
    fs::write(server.file("example.com.zone"), zone(8)).unwrap();
    assert!(server.handle.reload(None).unwrap().warnings.is_empty());
    assert_eq!(server.handle.status().zones[0].warnings, [""; 0]);
}

#[test]
fn the_bounds_of_zone_files_change_with_a_reload() {
    let server = Running::start(|config| config.zone_files.max_generated = 0);
    fs::write(server.file("example.com.zone"), zone(8) + "$GENERATE 1-3 h$ A 192.0.2.$\n").unwrap();
    let refused = server.handle.reload(None).unwrap();
    let why = &refused.failed["example.com"];
    assert!(
        why.contains(":10:11: $GENERATE: ") && why.ends_with("or raise zone_files.max_generated"),
        "{why}"
    );
    server.next.lock().unwrap().zone_files.max_generated = 3;
    assert_eq!(server.handle.reload(None).unwrap().loaded["example.com"], 8);
}
