//! Commands that return with the outcome of a transfer, and the counts of transfers.

use crate::support::{Running, secondary_of, serial_of, zone};
use hashlane_nameserver::config::ZoneFile;
use hashlane_nameserver::status::Refreshed;
use std::collections::BTreeMap;

fn primary() -> Running {
    Running::start(|config| config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()])
}

#[test]
fn a_refresh_returns_with_its_outcome() {
    let primary = primary();
    // The differences from the version of the start are not kept.
    std::fs::write(primary.file("example.com.zone"), zone(8)).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
    let address = Some(primary.address.to_string());
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(primary.address, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(8));
    std::fs::write(primary.file("example.com.zone"), zone(9)).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
    let wait = |force| secondary.handle.refresh_and_wait("Example.COM.", force).unwrap();
    let how = Some("IXFR".to_owned());
    assert_eq!(
        wait(false),
        Refreshed { serial: Some(9), primary: address.clone(), how, ..Refreshed::default() }
    );
    assert_eq!(serial_of(&secondary.handle), Some(9), "in service at the return");
    assert_eq!(wait(false), Refreshed { serial: Some(9), primary: address.clone(), ..Refreshed::default() });
    assert_eq!(wait(true).how, Some("AXFR".to_owned()));
    let sent = primary.handle.stats().transfers;
    assert_eq!((sent.sent, sent.broken, sent.refused, sent.received), (3, 0, 0, 0));
    primary.stop().unwrap();
    let refused = wait(false);
    assert!(refused.error.is_some_and(|error| error.contains("refused")) && refused.serial == Some(9));
    let received = secondary.handle.stats().transfers;
    assert_eq!((received.received, received.failed, received.sent), (3, 1, 0));
    let status = secondary.handle.zone_status("example.com").unwrap();
    assert!(status.is_failing() && status.transfer.is_some_and(|transfer| transfer.failures == 1));
    let unknown = secondary.handle.refresh_and_wait("example.net", false).unwrap_err().to_string();
    assert!(unknown.contains("no zone example.net"), "{unknown}");
}

#[test]
fn notify_returns_with_the_answers_of_the_secondaries() {
    let (primary, stranger) = (primary(), Running::start(|_| {}));
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(primary.address, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    let told = [secondary.address, stranger.address];
    primary.next.lock().unwrap().zone[0].notify =
        told.iter().map(|address| address.to_string().parse().unwrap()).collect();
    primary.handle.reload(None).unwrap();
    let answers = primary.handle.notify_and_wait("example.com").unwrap().secondaries;
    let expected = [(told[0].to_string(), "NOERROR".to_owned()), (told[1].to_string(), "REFUSED".to_owned())];
    assert_eq!(answers, BTreeMap::from(expected));
    assert!(secondary.handle.notify_and_wait("example.com").unwrap_err().to_string().contains("nobody"));
}

#[test]
fn a_zone_that_is_removed_ends_the_wait_of_a_bounded_number() {
    // Accepts connections, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(|config| config.transfer.folder = folder.path().to_owned());
    let primaries = vec![silent.local_addr().unwrap().to_string().parse().unwrap()];
    server.handle.add(ZoneFile { name: "example.net".into(), primaries, ..ZoneFile::default() }).unwrap();
    let wait = || {
        let handle = server.handle.clone();
        std::thread::spawn(move || handle.refresh_and_wait("example.net", false).unwrap_err().to_string())
    };
    let connection = silent.accept().unwrap();
    // One more than may wait.
    let waiting: Vec<_> = (0..9).map(|_| wait()).collect();
    server.wait("the end of one of them", |_| waiting.iter().any(|thread| thread.is_finished()));
    server.handle.delete("example.net").unwrap();
    let errors: Vec<_> = waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
    let count = |text: &str| errors.iter().filter(|error| error.contains(text)).count();
    // A command that came to the thread after the end of the zone has its own error.
    let ended = count("removed before") + count("no zone example.net");
    assert_eq!((count("8 commands wait already"), ended), (1, 8), "{errors:?}");
    drop(connection);
}
