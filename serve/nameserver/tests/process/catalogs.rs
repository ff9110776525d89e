//! Members of catalogs that are in groups, and that move from one catalog to another.

use crate::support::{PATIENCE, Running, framed, read_message, zone};
use hashlane_dns::wire::{Message, Rcode};
use hashlane_name::dns::text;
use hashlane_nameserver::Server;
use hashlane_nameserver::config::ZoneFile;
use hashlane_transfer::incoming::Query;
use hashlane_transfer::notify::transfer_query;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;

/// Records of a catalog that lists `example.com` under a label, with a property of a type and a name.
fn catalog(serial: u32, member: Option<(&str, &str)>) -> String {
    let mut text = format!(
        "$TTL 0\n@ IN SOA invalid. invalid. {serial} 3600 600 2147483646 0\n@ IN NS invalid.\nversion IN TXT 2\n"
    );
    if let Some((label, property)) = member {
        text += &format!("{label}.zones IN PTR example.com.\n");
        if !property.is_empty() {
            text += &property.replace("LABEL", &format!("{label}.zones"));
            text.push('\n');
        }
    }
    text
}

/// A server of `example.com` and of two catalogs, the second without members.
fn primary(first: &str) -> Running {
    Running::start(|config| {
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        config.rate_limit.responses_per_second = 0;
        for (name, text) in [("old.catalog", first), ("new.catalog", &catalog(1, None))] {
            let file = config.zone[0].file.with_file_name(name);
            std::fs::write(&file, text).unwrap();
            config.zone.push(ZoneFile::new(name, file));
        }
    })
}

/// A server that follows both catalogs.
fn follower(primary: SocketAddr, folder: &Path, groups: Vec<ZoneFile>) -> Running {
    Running::start(|config| {
        config.transfer.folder = folder.to_owned();
        config.group = groups;
        config.zone = ["old.catalog", "new.catalog"]
            .map(|name| ZoneFile {
                name: name.into(),
                primaries: vec![primary.to_string().parse().unwrap()],
                catalog: "follow".into(),
                ..ZoneFile::default()
            })
            .to_vec();
    })
}

/// Puts a version of a catalog in service, and has it followed.
fn change(primary: &Running, secondary: &Running, name: &str, serial: u32, text: &str) {
    std::fs::write(primary.file(name), text).unwrap();
    primary.handle.reload(Some(name)).unwrap();
    secondary.handle.refresh(name, false).unwrap();
    secondary.wait("the catalog", |handle| {
        handle.status().zones.iter().any(|zone| zone.name == name && zone.serial == Some(serial))
    });
}

/// Serial number of the member, if it is served.
fn member(server: &Running) -> Option<u32> {
    server.handle.status().zones.iter().find(|zone| zone.name == "example.com")?.serial
}

/// The response code to AXFR of the member.
fn transfer(server: &Running) -> Rcode {
    let apex = text::parse(b"example.com").unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&framed(&transfer_query(apex.view(), 7, Query::Whole))).unwrap();
    Message::parse(&read_message(&mut stream).unwrap()).unwrap().header().flags.rcode()
}

#[test]
fn a_member_has_the_servers_of_its_group() {
    // The catalog's primary does not answer for the members of a group.
    let members = Running::start(|config| {
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        std::fs::write(&config.zone[0].file, zone(9)).unwrap();
    });
    let primary = primary(&catalog(1, Some(("m", ""))));
    let folder = tempfile::tempdir().unwrap();
    let group = |name: &str, peer: SocketAddr| ZoneFile {
        name: name.into(),
        primaries: vec![peer.to_string().parse().unwrap()],
        allow_transfer: vec!["127.0.0.1".parse().unwrap()],
        ..ZoneFile::default()
    };
    let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let groups = vec![group("first", members.address), group("second", nobody)];
    let secondary = follower(primary.address, folder.path(), groups);
    secondary.wait("the member of no group", |_| member(&secondary) == Some(7));
    let state = secondary.handle.zone_status("example.com").unwrap();
    assert_eq!((&state.catalog[..], &state.group[..]), ("old.catalog", ""));
    assert_eq!(state.primaries, [primary.address.to_string()]);
    assert_eq!(transfer(&secondary), Rcode::REFUSED);
    let text = catalog(2, Some(("m", "group.LABEL IN TXT second\ngroup.LABEL IN TXT unknown")));
    change(&primary, &secondary, "old.catalog", 2, &text);
    secondary.wait("its rights", |_| transfer(&secondary) == Rcode::NO_ERROR);
    assert_eq!(member(&secondary), Some(7), "the data stay");
    let state = secondary.handle.zone_status("example.com").unwrap();
    assert_eq!((&state.catalog[..], &state.group[..]), ("old.catalog", "second"));
    assert_eq!(state.primaries, ["127.0.0.1:1"]);
    let state = secondary.handle.zone_status("old.catalog").unwrap();
    assert_eq!((&state.catalog[..], &state.group[..]), ("", ""));
    assert_eq!(state.primaries, [primary.address.to_string()]);
    // The check, beside the server that has received the catalogs.
    let config = secondary.next.lock().unwrap().clone();
    let [warning] = &Server::check(&config).unwrap().warnings[..] else { panic!("one group is not named") };
    assert!(warning.starts_with("`[[group]]` \"first\" is named by no catalog"), "{warning}");
    // Of several groups, the first of the configuration counts.
    let text = catalog(3, Some(("m", "group.LABEL IN TXT second\ngroup.LABEL IN TXT first")));
    change(&primary, &secondary, "old.catalog", 3, &text);
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("the version of the group's primary", |_| member(&secondary) == Some(9));
}

#[test]
fn a_zone_is_in_its_group_in_the_catalog_that_is_made() {
    let maker = Running::start(|config| {
        config.transfer.allow = vec!["127.0.0.1".parse().unwrap()];
        config.rate_limit.responses_per_second = 0;
        config.zone[0].group = "customers".into();
        for name in ["old.catalog", "new.catalog"] {
            let catalog = "produce".to_owned();
            config.zone.push(ZoneFile { name: name.into(), catalog, ..ZoneFile::default() });
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let group = |name: &str, client: &str| ZoneFile {
        name: name.into(),
        allow_transfer: vec![client.parse().unwrap()],
        ..ZoneFile::default()
    };
    let groups = vec![group("others", "192.0.2.1"), group("customers", "127.0.0.1")];
    let secondary = follower(maker.address, folder.path(), groups);
    secondary.wait("the member", |_| member(&secondary) == Some(7));
    let state = || secondary.handle.zone_status("example.com").unwrap();
    assert_eq!((&state().group[..], transfer(&secondary)), ("customers", Rcode::NO_ERROR));
    // Another group is another version of the catalog.
    maker.next.lock().unwrap().zone[0].group = "others".into();
    maker.handle.reload(None).unwrap();
    for name in ["old.catalog", "new.catalog"] {
        secondary.handle.refresh_and_wait(name, false).unwrap();
    }
    secondary.wait("the other group", |_| state().group == "others");
    assert_eq!((member(&secondary), transfer(&secondary)), (Some(7), Rcode::REFUSED));
}

/// Changes the catalogs so that the member moves with a label. Returns the transfers of the member.
fn moves(label: &str) -> u64 {
    let primary = primary(&catalog(1, Some(("m", ""))));
    let folder = tempfile::tempdir().unwrap();
    let secondary = follower(primary.address, folder.path(), Vec::new());
    secondary.wait("the member", |_| member(&secondary) == Some(7));
    let before = primary.handle.stats().tcp.transfers;
    // Listed twice, it stays where it is.
    change(&primary, &secondary, "new.catalog", 2, &catalog(2, Some((label, ""))));
    change(&primary, &secondary, "old.catalog", 2, &catalog(2, Some(("m", "coo.LABEL IN PTR new.catalog."))));
    change(&primary, &secondary, "old.catalog", 3, &catalog(3, None));
    secondary.wait("the member", |_| member(&secondary) == Some(7));
    change(&primary, &secondary, "new.catalog", 3, &catalog(3, None));
    secondary.wait("its end", |_| member(&secondary).is_none());
    // The catalogs were transferred four times.
    primary.handle.stats().tcp.transfers - before - 4
}

#[test]
fn a_member_that_moves_to_another_catalog_keeps_its_data() {
    assert_eq!(moves("m"), 0);
}

#[test]
fn a_member_that_moves_under_another_label_is_transferred_anew() {
    assert_eq!(moves("n"), 1);
}
