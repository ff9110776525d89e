//! Zones from a primary to a secondary: two servers, and peers that lie.

use crate::support::{PATIENCE, Running, ZONE, ask_over, framed, read_message, zone};
use hashlane_dns::wire::{Content, Message, Rcode, RecordType};
use hashlane_name::dns::text;
use hashlane_nameserver::Handle;
use hashlane_nameserver::config::{TsigKey, ZoneFile};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::{request, transfer_query};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

const SECRET: &str = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0";

fn key() -> TsigKey {
    let (name, algorithm) = ("transfer.example".to_owned(), "hmac-sha256".to_owned());
    TsigKey { name, algorithm, secret: SECRET.to_owned(), ..TsigKey::default() }
}

/// A server that gives its zone to those who sign, and to `allowed`.
fn primary(allowed: &str) -> Running {
    Running::start(|config| {
        config.key = vec![key()];
        config.zone[0].allow_transfer = vec!["key transfer.example".parse().unwrap()];
        if !allowed.is_empty() {
            config.zone[0].allow_transfer.push(allowed.parse().unwrap());
        }
        config.rate_limit.responses_per_second = 0;
    })
}

/// A server that gets `example.com` from a primary.
fn secondary(primary: SocketAddr, folder: &Path) -> Running {
    Running::start(|config| {
        config.key = vec![key()];
        config.transfer.folder = folder.to_owned();
        config.zone = vec![ZoneFile {
            name: "example.com".into(),
            primaries: vec![format!("{primary} key transfer.example").parse().unwrap()],
            allow_transfer: vec!["127.0.0.1".parse().unwrap()],
            ..ZoneFile::default()
        }];
    })
}

/// Serial number in service.
fn serial(handle: &Handle) -> Option<u32> {
    handle.status().zones[0].serial
}

/// Tells a primary's secondary from the next reload on.
fn tell(primary: &Running, secondary: &Running) {
    let peer = format!("{} key transfer.example", secondary.address).parse().unwrap();
    primary.next.lock().unwrap().zone[0].notify = vec![peer];
    primary.handle.reload(None).unwrap();
}

/// Puts a version in service.
fn change(primary: &Running, text: &str) {
    std::fs::write(primary.file("example.com.zone"), text).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
}

/// The response code, or the outcome of a transfer without a signature.
pub(crate) fn transfer(server: &Running, query: Query) -> Result<Progress, Rcode> {
    let apex = text::parse(b"example.com").unwrap();
    let mut stream = server.tcp();
    send(&mut stream, &transfer_query(apex.view(), 7, query));
    let mut incoming = Incoming::new(apex.view(), 7, query, 1 << 30);
    loop {
        let message = receive(&mut stream);
        let rcode = Message::parse(&message).unwrap().header().flags.rcode();
        if rcode != Rcode::NO_ERROR {
            return Err(rcode);
        }
        match incoming.message(&message, &mut |_| Ok(())).unwrap() {
            Progress::More => {}
            progress => return Ok(progress),
        }
    }
}

fn send(stream: &mut TcpStream, message: &[u8]) {
    stream.write_all(&framed(message)).unwrap();
}

fn receive(stream: &mut TcpStream) -> Vec<u8> {
    read_message(stream).unwrap()
}

/// The whole zone of a server, as its records in order.
fn records(server: &Running) -> Vec<String> {
    let apex = text::parse(b"example.com").unwrap();
    let mut stream = server.tcp();
    send(&mut stream, &transfer_query(apex.view(), 7, Query::Whole));
    let mut incoming = Incoming::new(apex.view(), 7, Query::Whole, 1 << 30);
    let mut all = Vec::new();
    loop {
        let message = receive(&mut stream);
        let progress = incoming.message(&message, &mut |record| {
            let (owner, data) =
                (record.owner.to_string().to_ascii_lowercase(), record.data.to_ascii_lowercase());
            all.push(format!("{owner} {} {} {data:?}", record.ttl, record.rtype));
            Ok(())
        });
        if matches!(progress.unwrap(), Progress::Whole(_)) {
            all.sort();
            return all;
        }
    }
}

#[test]
fn a_secondary_follows_its_primary() {
    let primary = primary("127.0.0.1");
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    secondary.wait("the whole zone", |handle| serial(handle) == Some(7));
    assert_eq!(records(&secondary), records(&primary));
    tell(&primary, &secondary);
    for number in 8..12 {
        change(&primary, &(zone(number) + &format!("new{number} IN A 192.0.2.{number}\n")));
        secondary.wait("the next version", |handle| serial(handle) == Some(number));
        assert_eq!(records(&secondary), records(&primary), "{number}");
    }
    // By differences, which the secondary hands on as one. Hosts 9 and 10 came and went.
    let Ok(Progress::Deltas(deltas)) = transfer(&secondary, Query::Since(8)) else {
        panic!("no differences")
    };
    let [one] = &deltas[..] else { panic!("{deltas:?}") };
    assert_eq!((one.from(), one.to(), one.removed().len(), one.added().len()), (8, 11, 2, 2));
    assert_eq!(transfer(&primary, Query::Since(7)), Ok(Progress::Whole(11)), "7 is of the start");
    assert_eq!(transfer(&secondary, Query::Since(11)), Ok(Progress::Unchanged));
    assert_eq!(transfer(&secondary, Query::Since(3)), Ok(Progress::Whole(11)), "older than the history");
    let status = &secondary.handle.status().zones[0];
    let transfer = status.transfer.as_ref().unwrap();
    assert_eq!(transfer.primary, Some(primary.address.to_string()));
    assert!(transfer.expires > Some(transfer.next) && transfer.error.is_none(), "{transfer:?}");
    assert!(primary.handle.stats().tcp.transfers >= 5);
    // A transfer is counted after its zone is in service.
    secondary.wait("the last transfer's count", |handle| handle.stats().transfers.received >= 5);
    let received = secondary.handle.stats().transfers;
    assert_eq!((received.received, received.patched, received.rebuilt), (5, 3, 0));

    // From the disk, without the primary.
    drop(secondary);
    let address = primary.address;
    drop(primary);
    let again = self::secondary(address, folder.path());
    assert_eq!(serial(&again.handle), Some(11), "before the first answer");
    let Ok(Progress::Deltas(deltas)) = self::transfer(&again, Query::Since(8)) else { panic!("no history") };
    assert_eq!(deltas.iter().map(|delta| (delta.from(), delta.to())).collect::<Vec<_>>(), [(8, 11)]);
    again.wait("a failure that shows", |handle| {
        let status = &handle.status().zones[0];
        status.transfer.as_ref().is_some_and(|transfer| transfer.failures > 0 && transfer.error.is_some())
    });
}

/// A version that was edited without a new serial number, or with an earlier one, is not what its secondaries
/// have.
#[test]
fn an_edited_version_leads_to_no_differences() {
    let primary = primary("127.0.0.1");
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    tell(&primary, &secondary);
    let host = |number: u32| format!("www2 IN A 192.0.2.{number}\n");
    let follow = |serial: u32, content: u32| {
        change(&primary, &(zone(serial) + &host(content)));
        secondary.wait("the next version", |handle| self::serial(handle) == Some(serial));
        assert_eq!(records(&secondary), records(&primary), "{serial}");
    };
    follow(8, 1);
    follow(9, 2);
    assert!(matches!(transfer(&primary, Query::Since(8)), Ok(Progress::Deltas(_))));
    // Edited, then raised, as the warning says.
    change(&primary, &(zone(9) + &host(3)));
    follow(10, 3);
    // Lowered and edited, then raised beyond the secondary's.
    change(&primary, &(zone(5) + &host(4)));
    change(&primary, &(zone(10) + &host(5)));
    follow(11, 6);
    assert_eq!(transfer(&primary, Query::Since(10)), Ok(Progress::Whole(11)));
    follow(12, 7);
    assert!(matches!(transfer(&primary, Query::Since(11)), Ok(Progress::Deltas(_))), "sure again");
}

#[test]
fn transfers_are_for_those_who_may() {
    let primary = primary("127.0.0.99");
    assert_eq!(transfer(&primary, Query::Whole), Err(Rcode::REFUSED));
    assert_eq!(transfer(&primary, Query::Since(1)), Err(Rcode::REFUSED));
    primary.next.lock().unwrap().zone[0].allow_transfer = vec!["127.0.0.0/8".parse().unwrap()];
    primary.handle.reload(None).unwrap();
    assert_eq!(transfer(&primary, Query::Whole), Ok(Progress::Whole(7)));
    let apex = text::parse(b"other.example").unwrap();
    let response = ask_over(&mut primary.tcp(), &transfer_query(apex.view(), 9, Query::Whole)).unwrap();
    assert_eq!(Content::parse(&response).unwrap().header.flags.rcode(), Rcode::REFUSED);
    // Over UDP: AXFR is an error, IXFR says that there is something new.
    let apex = text::parse(b"example.com").unwrap();
    let response = primary.ask(&transfer_query(apex.view(), 9, Query::Whole));
    assert_eq!(Content::parse(&response).unwrap().header.flags.rcode(), Rcode::FORMAT_ERROR);
    let response = Content::parse(&primary.ask(&transfer_query(apex.view(), 9, Query::Since(3)))).unwrap();
    assert_eq!(response.records.len(), 1);
    assert_eq!(response.records[0].rtype, RecordType::SOA);
}

#[test]
fn queries_after_and_beside_a_transfer_are_answered() {
    let primary = primary("127.0.0.1");
    let many: String =
        (0..30_000).map(|number| format!("host{number} IN TXT \"text of host {number}\"\n")).collect();
    change(&primary, &(zone(8) + &many));
    let apex = text::parse(b"example.com").unwrap();
    let mut stream = primary.tcp();
    // Three queries at once on one connection, the transfer second.
    let soa = hashlane_transfer::notify::soa_query(apex.view(), 1);
    for query in [&soa, &transfer_query(apex.view(), 7, Query::Whole), &soa] {
        send(&mut stream, query);
    }
    assert_eq!(Content::parse(&receive(&mut stream)).unwrap().header.id, 1);
    let mut incoming = Incoming::new(apex.view(), 7, Query::Whole, 1 << 30);
    let (mut count, mut messages) = (0, 0);
    loop {
        messages += 1;
        let progress = incoming.message(&receive(&mut stream), &mut |_| {
            count += 1;
            Ok(())
        });
        if progress.unwrap() == Progress::Whole(8) {
            break;
        }
        if messages == 3 {
            assert_eq!(serial(&primary.handle), Some(8));
            primary.ask(&soa);
        }
    }
    assert!(count > 30_000 && messages > 50, "{count} records in {messages} messages");
    assert_eq!(Content::parse(&receive(&mut stream)).unwrap().header.id, 1);
}

#[test]
fn a_transfer_that_breaks_off_ends_its_connection() {
    let primary = primary("127.0.0.1");
    // A record that fits into no message with its owner.
    let strings = vec!["x".repeat(255); 255].join(" ");
    change(&primary, &(zone(8) + &format!("big IN TXT {strings} {}\n", "x".repeat(220))));
    let apex = text::parse(b"example.com").unwrap();
    let (mut stream, begun) = (primary.tcp(), Instant::now());
    send(&mut stream, &transfer_query(apex.view(), 7, Query::Whole));
    while read_message(&mut stream).is_some() {}
    assert!(begun.elapsed() < Duration::from_secs(5), "it was closed as idle");
    assert_eq!(primary.handle.stats().tcp.broken_transfers, 1);
}

#[test]
fn a_notify_is_taken_from_primaries_alone() {
    let primary = primary("");
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    secondary.wait("the zone", |handle| serial(handle) == Some(7));
    let apex = text::parse(b"example.com").unwrap();
    // The address is the primary's, but the key is missing.
    let response = secondary.ask(&request(apex.view(), 3, None));
    let header = Message::parse(&response).unwrap().header();
    assert_eq!((header.id, header.flags.rcode()), (3, Rcode::REFUSED));
    let response = primary.ask(&request(apex.view(), 3, None));
    assert_eq!(Message::parse(&response).unwrap().header().flags.rcode(), Rcode::REFUSED, "not a secondary");
    let other = text::parse(b"other.example").unwrap();
    let response = secondary.ask(&request(other.view(), 3, None));
    assert_eq!(Message::parse(&response).unwrap().header().flags.rcode(), Rcode::NOT_AUTHORITATIVE);
    assert_eq!(secondary.handle.stats().udp.notified, 0);
}

#[test]
fn a_zone_that_no_primary_confirms_expires() {
    let primary = primary("");
    change(&primary, &zone(8).replace("3600 600 86400", "1 1 3"));
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    secondary.wait("the zone", |handle| serial(handle) == Some(8));
    let apex = text::parse(b"example.com").unwrap();
    let soa = hashlane_transfer::notify::soa_query(apex.view(), 1);
    let address = primary.address;
    drop(primary);
    secondary.wait("the end of the zone", |handle| serial(handle).is_none());
    let response = secondary.ask(&soa);
    assert_eq!(Message::parse(&response).unwrap().header().flags.rcode(), Rcode::SERVER_FAILURE);
    drop(secondary);
    let again = self::secondary(address, folder.path());
    assert_eq!(serial(&again.handle), None, "expired on the disk, too");
}

/// A primary that answers each query of a connection with what `reply` makes of its number and its bytes.
fn liar(reply: impl Fn(usize, &[u8]) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut number = 0;
        for stream in listener.incoming().take(40) {
            let Ok(mut stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
            let mut len = [0; 2];
            while stream.read_exact(&mut len).is_ok() {
                let mut query = vec![0; u16::from_be_bytes(len).into()];
                if stream.read_exact(&mut query).is_err() || stream.write_all(&reply(number, &query)).is_err()
                {
                    break;
                }
                number += 1;
            }
        }
    });
    address
}

#[test]
fn a_primary_that_lies_changes_nothing() {
    // The true answers to the queries of a secondary of version 7, from version 8.
    let honest = primary("127.0.0.1");
    change(&honest, &(zone(8) + "new IN A 192.0.2.8\n"));
    let truth = honest.address;
    let forward = move |query: &[u8]| {
        let mut stream = TcpStream::connect(truth).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        send(&mut stream, query);
        receive(&mut stream)
    };
    type Lie = fn(Vec<u8>) -> Vec<u8>;
    let lies: [(&str, Lie); 6] = [
        ("a cut message", |message| message[..message.len() - 5].to_vec()),
        ("a response to another query", |mut message| {
            message[0] ^= 0xff;
            message
        }),
        ("a name of another zone", |mut message| {
            let at = message.windows(4).rposition(|bytes| bytes == b"\x03www").unwrap_or(20);
            message[at + 1] = 0xff;
            message[at] = 0x40;
            message
        }),
        ("nothing", |_| Vec::new()),
        ("no authority", |mut message| {
            message[2] &= !4;
            message[3] |= 5;
            message
        }),
        ("a byte more", |mut message| {
            message.push(1);
            message
        }),
    ];
    for (what, lie) in lies {
        let good = primary("");
        let folder = tempfile::tempdir().unwrap();
        drop({
            let secondary = secondary(good.address, folder.path());
            secondary.wait("the first version", |handle| serial(handle) == Some(7));
            secondary
        });
        drop(good);
        let address = liar(move |_, query| framed(&lie(forward(query))));
        let secondary = Running::start(|config| {
            config.transfer.folder = folder.path().to_owned();
            config.zone = vec![ZoneFile {
                name: "example.com".into(),
                primaries: vec![address.to_string().parse().unwrap()],
                ..ZoneFile::default()
            }];
        });
        secondary.wait(what, |handle| {
            handle.status().zones[0].transfer.as_ref().is_some_and(|transfer| transfer.failures > 0)
        });
        assert_eq!(serial(&secondary.handle), Some(7), "{what}");
        assert!(
            Message::parse(
                &secondary.ask(&hashlane_transfer::notify::soa_query(
                    text::parse(b"example.com").unwrap().view(),
                    1
                ))
            )
            .unwrap()
            .header()
            .flags
            .rcode()
                == Rcode::NO_ERROR
        );
    }
}

#[test]
fn the_operator_asks_transfers_and_tells_by_hand() {
    let primary = primary("");
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    secondary.wait("the zone", |handle| serial(handle) == Some(7));
    change(&primary, &zone(8));
    secondary.handle.refresh("Example.COM.", false).unwrap();
    secondary.wait("the next version", |handle| serial(handle) == Some(8));
    // An older one is taken only if the operator wants it.
    change(&primary, ZONE);
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("a refusal", |handle| {
        let status = &handle.status().zones[0];
        status.transfer.as_ref().unwrap().error.as_ref().is_some_and(|error| error.contains("before 8"))
    });
    secondary.handle.refresh("example.com", true).unwrap();
    secondary.wait("the older version", |handle| serial(handle) == Some(7));
    assert!(primary.handle.refresh("example.com", false).unwrap_err().to_string().contains("no primaries"));
    assert!(primary.handle.notify("example.com").unwrap_err().to_string().contains("nobody to tell"));
    assert!(secondary.handle.reload(Some("example.com")).unwrap_err().to_string().contains("refresh"));
    tell(&primary, &secondary);
    primary.handle.notify("example.com").unwrap();
    secondary.wait("the news", |handle| handle.stats().udp.notified > 0);
}

/// A primary whose zones `example.com` and `catalog.example` are for all on this host.
fn with_catalog() -> Running {
    Running::start(|config| {
        config.transfer.folder = config.zone[0].file.with_file_name("received");
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        config.zone.push(ZoneFile {
            name: "catalog.example".into(),
            catalog: "produce".into(),
            ..ZoneFile::default()
        });
        config.rate_limit.responses_per_second = 0;
    })
}

fn follower(primary: SocketAddr, folder: &Path) -> Running {
    Running::start(|config| {
        config.transfer.folder = folder.to_owned();
        config.zone = vec![ZoneFile {
            name: "catalog.example".into(),
            primaries: vec![primary.to_string().parse().unwrap()],
            catalog: "follow".into(),
            ..ZoneFile::default()
        }];
    })
}

/// Names and serial numbers of the zones with data.
fn zones(handle: &Handle) -> Vec<(String, u32)> {
    let status = handle.status();
    let mut zones: Vec<_> =
        status.zones.into_iter().filter_map(|zone| zone.serial.map(|serial| (zone.name, serial))).collect();
    zones.sort();
    zones
}

fn names(handle: &Handle) -> Vec<String> {
    zones(handle).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn members_of_a_catalog_come_change_and_go() {
    let primary = with_catalog();
    let folder = tempfile::tempdir().unwrap();
    let secondary = follower(primary.address, folder.path());
    secondary.wait("the member", |handle| names(handle) == ["catalog.example", "example.com"]);
    // Another zone, at run time.
    let file = primary.file("example.net.zone");
    std::fs::write(&file, zone(5).replace("example.com", "example.net")).unwrap();
    primary.handle.add(ZoneFile::new("example.net", &file)).unwrap();
    assert_eq!(names(&primary.handle), ["catalog.example", "example.com", "example.net"]);
    assert!(
        primary.handle.add(ZoneFile::new("Example.net.", &file)).unwrap_err().to_string().contains("twice")
    );
    secondary.handle.refresh("catalog.example", false).unwrap();
    secondary.wait("the new member", |handle| zones(handle).contains(&("example.net".to_owned(), 5)));
    let status = secondary.handle.status();
    assert!(status.zones.iter().all(|zone| zone.error.is_none()), "{status:#?}");
    // One for chosen clients is not for secondaries that know nothing of them.
    let hidden = ZoneFile {
        name: "example.org".into(),
        file: primary.file("example.org.zone"),
        allow_query: vec!["192.0.2.0/24".parse().unwrap()],
        ..ZoneFile::default()
    };
    std::fs::write(&hidden.file, zone(5).replace("example.com", "example.org")).unwrap();
    let serial = |handle: &Handle| zones(handle).into_iter().find(|(name, _)| name == "catalog.example");
    let before = serial(&primary.handle);
    primary.handle.add(hidden).unwrap();
    assert_eq!(serial(&primary.handle), before, "the catalog is the same");
    primary.handle.delete("example.org").unwrap();
    // It is kept over a restart, on both sides.
    let address = primary.address;
    drop(secondary);
    let secondary = follower(address, folder.path());
    assert_eq!(names(&secondary.handle), ["catalog.example", "example.com", "example.net"], "from the disk");
    primary.handle.delete("example.net").unwrap();
    assert!(primary.handle.delete("example.com").unwrap_err().to_string().contains("not added"));
    secondary.handle.refresh("catalog.example", false).unwrap();
    secondary.wait("the end of a member", |handle| names(handle) == ["catalog.example", "example.com"]);
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
    let files: Vec<_> = files.filter(|name| name.to_string_lossy().starts_with("example.net")).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn many_members_are_followed() {
    let primary = Running::start(|config| {
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        let zones =
            (0..200).map(|number| ZoneFile::new(format!("z{number}.example"), config.zone[0].file.clone()));
        let zones: Vec<_> = zones.collect();
        config.zone.extend(zones);
        std::fs::write(&config.zone[0].file, zone(7).replace("$ORIGIN example.com.\n", "")).unwrap();
        config.zone.push(ZoneFile {
            name: "catalog.example".into(),
            catalog: "produce".into(),
            ..ZoneFile::default()
        });
    });
    let folder = tempfile::tempdir().unwrap();
    let secondary = follower(primary.address, folder.path());
    secondary.wait("all members", |handle| zones(handle).len() == 202);
}

#[test]
fn a_zone_that_differs_from_its_digest_is_refused() {
    let primary = primary("");
    let digest = "abcd".repeat(24);
    change(&primary, &(zone(8) + &format!("@ IN ZONEMD 8 1 1 {digest}\n")));
    let warnings = &primary.handle.status().zones[0].warnings;
    assert!(warnings.iter().any(|warning| warning.contains("differs from its digest")), "{warnings:?}");
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.address, folder.path());
    secondary.wait("a refusal", |handle| {
        let status = &handle.status().zones[0];
        status.transfer.as_ref().unwrap().error.as_ref().is_some_and(|error| error.contains("ZONEMD"))
    });
    change(&primary, &zone(9));
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("the zone without a digest", |handle| serial(handle) == Some(9));
}
