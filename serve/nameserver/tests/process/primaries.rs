//! A secondary with two primaries: one is behind the other, or one is late.

use crate::support::{PATIENCE, Running, framed, notify, read_message, secondary_of, serial_of, zone};
use hashlane_dns::wire::{Message, RecordType};
use hashlane_nameserver::Handle;
use hashlane_nameserver::config::ZoneFile;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A primary at another address that hands all queries on to a server, so that its version can differ from
/// another one's. Counts the queries for the SOA record.
fn primary(address: &str, truth: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let address: IpAddr = address.parse().unwrap();
    let listener = TcpListener::bind((address, 0)).unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut behind = TcpStream::connect(truth).unwrap();
            while let Some(query) = read_message(&mut stream) {
                let questions = Message::parse(&query).unwrap().questions().unwrap().0;
                count.fetch_add(usize::from(questions[0].rtype == RecordType::SOA), Ordering::SeqCst);
                behind.write_all(&framed(&query)).unwrap();
                // Each zone of these tests is one message.
                let response = read_message(&mut behind).unwrap();
                stream.write_all(&framed(&response)).unwrap();
            }
        }
    });
    (address, asked)
}

fn server() -> Running {
    Running::start(|config| config.zone[0].allow_transfer = vec!["127.0.0.0/8".parse().unwrap()])
}

fn change(server: &Running, serial: u32) {
    std::fs::write(server.file("example.com.zone"), zone(serial)).unwrap();
    server.handle.reload(Some("example.com")).unwrap();
}

/// True if this version is in service, and came from this primary without a failure.
fn came_from(handle: &Handle, serial: u32, primary: SocketAddr) -> bool {
    let zone = &handle.status().zones[0];
    let transfer = zone.transfer.as_ref().unwrap();
    zone.serial == Some(serial)
        && transfer.primary == Some(primary.to_string())
        && (transfer.failures, &transfer.error) == (0, &None)
}

#[test]
fn a_version_that_a_notify_names_comes_from_the_primary_that_has_it() {
    let (old, new) = (server(), server());
    let ((first, asked), (second, _)) =
        (primary("127.0.0.2", old.address), primary("127.0.0.3", new.address));
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(first, folder.path(), |config| {
        config.zone[0].primaries.push(second.to_string().parse().unwrap());
        config.zone[0].allow_notify = vec!["127.0.0.1".parse().unwrap()];
    });
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    change(&new, 8);
    // The sender is no primary: the first one is asked, which is behind, then the next.
    notify(&secondary, 8);
    secondary.wait("the newer version", |handle| came_from(handle, 8, second));
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the first primary was asked for its version");

    // A version that no primary has: the best answer counts, and it is no failure.
    change(&old, 9);
    notify(&secondary, 99);
    secondary.wait("the newest version there is", |handle| came_from(handle, 9, first));
}

#[test]
fn the_primary_that_sends_a_notify_is_asked_first() {
    let (old, new) = (server(), server());
    let ((first, asked), (second, _)) =
        (primary("127.0.0.2", old.address), primary("127.0.0.1", new.address));
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(first, folder.path(), |config| {
        config.zone[0].primaries.push(second.to_string().parse().unwrap());
    });
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    change(&new, 8);
    notify(&secondary, 8);
    secondary.wait("the newer version", |handle| serial_of(handle) == Some(8));
    assert_eq!(asked.load(Ordering::SeqCst), 0, "the other primary was not asked");
}

#[test]
fn a_primary_that_has_the_version_of_its_notify_only_later_is_asked_again() {
    let late = server();
    let (first, asked) = primary("127.0.0.1", late.address);
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(first, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    notify(&secondary, 8);
    secondary.wait("an answer without the version", |_| asked.load(Ordering::SeqCst) >= 2);
    change(&late, 8);
    // No further NOTIFY, and the zone's refresh is an hour away.
    secondary.wait("the version", |handle| serial_of(handle) == Some(8));
}

/// A server of `example.net` alone.
fn server_of_net(serial: u32) -> Running {
    Running::start(|config| {
        let text = zone(serial).replace("example.com", "example.net");
        std::fs::write(&config.zone[0].file, text).unwrap();
        config.zone[0].name = "example.net".into();
        config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()];
    })
}

/// A primary that says when it was asked, and hands its query on to a server once it may.
fn late_primary(truth: SocketAddr) -> (SocketAddr, Receiver<()>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (tell, asked), (go, may)) = (listener.local_addr().unwrap(), channel(), channel());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let query = read_message(&mut stream).unwrap();
        tell.send(()).unwrap();
        may.recv().unwrap();
        let mut behind = TcpStream::connect(truth).unwrap();
        behind.write_all(&framed(&query)).unwrap();
        // The secondary may have gone.
        let _ = stream.write_all(&framed(&read_message(&mut behind).unwrap()));
    });
    (address, asked, go)
}

#[test]
fn a_zone_that_was_removed_during_its_transfer_does_not_come_back() {
    let (old, new) = (server_of_net(7), server_of_net(9));
    let (first, asked, go) = late_primary(old.address);
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(|config| config.transfer.folder = folder.path().to_owned());
    let add = |primary: SocketAddr| {
        let primaries = vec![primary.to_string().parse().unwrap()];
        server.handle.add(ZoneFile { name: "example.net".into(), primaries, ..ZoneFile::default() }).unwrap();
    };
    add(first);
    asked.recv_timeout(PATIENCE).unwrap();
    server.handle.delete("example.net").unwrap();
    add(new.address);
    // A second thread beside the first one would have the zone by now.
    std::thread::sleep(Duration::from_secs(1));
    go.send(()).unwrap();
    let serial = |handle: &Handle| handle.zone_status("example.net").ok()?.serial;
    server.wait("the zone of its primary", |handle| serial(handle) == Some(9));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(serial(&server.handle), Some(9), "the zone that the earlier primary has");
}
