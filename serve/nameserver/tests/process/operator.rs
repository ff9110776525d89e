//! Settings that an operator of several servers needs: the address that peers see, and the folder of each.

use crate::support::{PATIENCE, Running, ZONE, secondary_of, serial_of};
use hashlane_dns::wire::{Message, Opcode};
use hashlane_nameserver::Server;
use hashlane_nameserver::config::ZoneFile;
use std::net::UdpSocket;

#[test]
fn transfers_and_notify_come_from_the_address_of_the_configuration() {
    let told = UdpSocket::bind("127.0.0.1:0").unwrap();
    told.set_read_timeout(Some(PATIENCE)).unwrap();
    let primary = Running::start(|config| {
        config.zone[0].allow_transfer = vec!["127.0.0.9".parse().unwrap()];
    });
    let folder = tempfile::tempdir().unwrap();
    let refused = secondary_of(primary.address, folder.path(), |_| {});
    refused.wait("a refusal", |handle| {
        let status = &handle.status().zones[0];
        status.transfer.as_ref().is_some_and(|transfer| transfer.failures > 0)
    });
    assert_eq!(serial_of(&refused.handle), None, "the primary refuses 127.0.0.1");
    drop(refused);
    let secondary = secondary_of(primary.address, folder.path(), |config| {
        config.transfer.source = vec!["127.0.0.9".parse().unwrap()];
        config.zone[0].notify = vec![told.local_addr().unwrap().to_string().parse().unwrap()];
    });
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    let mut bytes = [0; 512];
    let (len, from) = told.recv_from(&mut bytes).unwrap();
    let header = Message::parse(&bytes[..len]).unwrap().header();
    assert_eq!((header.flags.opcode(), from.ip()), (Opcode::NOTIFY, "127.0.0.9".parse().unwrap()));
}

#[test]
fn a_source_that_is_no_address_of_this_host_is_refused_at_the_reload() {
    let server = Running::start(|_| {});
    server.next.lock().unwrap().transfer.source = vec!["192.0.2.9".parse().unwrap()];
    let error = server.handle.reload(None).unwrap_err().to_string();
    assert!(error.contains("`transfer.source` has 192.0.2.9: "), "{error}");
}

#[test]
fn two_servers_do_not_write_one_folder() {
    let primary = Running::start(|config| config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()]);
    let folder = tempfile::tempdir().unwrap();
    let first = secondary_of(primary.address, folder.path(), |_| {});
    first.wait("the zone", |handle| serial_of(handle) == Some(7));
    let config = first.next.lock().unwrap().clone();
    let again = config.clone();
    let error = Server::start(&config, Box::new(move || Ok(again.clone()))).err().unwrap().to_string();
    assert!(error.contains("is in use by process ") && error.contains("name another folder"), "{error}");
    // The check of a configuration whose server runs, and a server that gets the folder by a reload.
    assert_eq!(Server::check(&config).unwrap().zones[0].serial, Some(7));
    primary.next.lock().unwrap().transfer.folder = folder.path().to_owned();
    let error = primary.handle.reload(None).unwrap_err().to_string();
    assert!(error.contains("is in use"), "{error}");
    first.stop().unwrap();
    primary.handle.reload(None).unwrap();
}

#[test]
fn a_folder_that_a_reload_names_brings_its_added_zones() {
    let folder = tempfile::tempdir().unwrap();
    let first = Running::start(|config| config.transfer.folder = folder.path().to_owned());
    let file = folder.path().join("example.net.zone");
    std::fs::write(&file, ZONE.replace("example.com", "example.net")).unwrap();
    first.handle.add(ZoneFile::new("example.net", file)).unwrap();
    first.stop().unwrap();
    let second = Running::start(|_| {});
    second.next.lock().unwrap().transfer.folder = folder.path().to_owned();
    second.handle.reload(None).unwrap();
    assert_eq!(second.handle.zone_status("example.net").unwrap().serial, Some(7));
}
