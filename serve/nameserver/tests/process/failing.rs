//! Zones that need attention: how a failure shows, and how it ends.

use crate::support::{Running, notify, secondary_of, serial_of, zone};
use hashlane_nameserver::Handle;
use hashlane_nameserver::status::{NotifyStatus, ZoneStatus};

fn primary() -> Running {
    Running::start(|config| config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()])
}

fn state(handle: &Handle) -> ZoneStatus {
    handle.zone_status("example.com").unwrap()
}

/// Has a primary answer this host, or refuse it.
fn set_open(primary: &Running, is_open: bool) {
    let mut next = primary.next.lock().unwrap().clone();
    let peers = |address: &str| vec![address.parse().unwrap()];
    next.zone[0].allow_query = if is_open { Vec::new() } else { peers("192.0.2.1") };
    next.zone[0].allow_transfer = peers(if is_open { "127.0.0.1" } else { "192.0.2.1" });
    *primary.next.lock().unwrap() = next;
    primary.handle.reload(None).unwrap();
}

#[test]
fn an_answer_with_the_serial_in_service_ends_a_failure() {
    let primary = primary();
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(primary.address, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    let ends: [fn(&Running); 2] = [
        |secondary| notify(secondary, 7),
        |secondary| drop(secondary.handle.refresh_and_wait("example.com", false)),
    ];
    for end in ends {
        set_open(&primary, false);
        let refused = secondary.handle.refresh_and_wait("example.com", false).unwrap();
        assert!(refused.error.is_some_and(|error| error.contains("REFUSED")));
        assert!(state(&secondary.handle).is_failing());
        set_open(&primary, true);
        end(&secondary);
        secondary.wait("the end of the failure", |handle| !state(handle).is_failing());
        let transfer = state(&secondary.handle).transfer.unwrap();
        assert_eq!((transfer.failures, transfer.error), (0, None));
    }
    // Without a failure, a known version brings no question.
    let asked = primary.handle.stats().tcp.received;
    notify(&secondary, 7);
    secondary.wait("the NOTIFY", |handle| handle.stats().udp.notified == 2);
    assert_eq!(primary.handle.stats().tcp.received, asked);
}

#[test]
fn a_version_that_cannot_be_written_is_reported_to_those_who_wait() {
    let primary = primary();
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(primary.address, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    // A whole zone is written to this path first.
    let place = folder.path().join("example.com.transfer.new");
    std::fs::create_dir(&place).unwrap();
    for is_forced in [true, false] {
        let done = secondary.handle.refresh_and_wait("example.com", is_forced).unwrap();
        assert_eq!((done.serial, done.error), (Some(7), None), "in service");
        let why = done.not_kept.unwrap();
        assert!(why.contains("example.com.transfer.new: ") && why.contains("irectory"), "{why}");
        let error = state(&secondary.handle).error.unwrap();
        assert_eq!(error, format!("in service, but not on the disk: {why}"));
    }
    std::fs::remove_dir(&place).unwrap();
    notify(&secondary, 7);
    secondary.wait("the end of the failure", |handle| !state(handle).is_failing());
    assert_eq!(secondary.handle.refresh_and_wait("example.com", false).unwrap().not_kept, None);
}

#[test]
fn a_notify_that_a_secondary_has_not_taken_shows_until_it_takes_one() {
    let (primary, stranger) = (primary(), Running::start(|_| {}));
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary_of(primary.address, folder.path(), |_| {});
    secondary.wait("the zone", |handle| serial_of(handle) == Some(7));
    let tell = |addresses: &[&Running]| {
        let peers = addresses.iter().map(|server| server.address.to_string().parse().unwrap()).collect();
        primary.next.lock().unwrap().zone[0].notify = peers;
        primary.handle.reload(None).unwrap();
        primary.handle.notify_and_wait("example.com").unwrap();
        state(&primary.handle)
    };
    let outcome = |server: &Running, answer: &str| NotifyStatus {
        secondary: server.address.to_string(),
        serial: 7,
        answer: Some(answer.to_owned()),
    };
    let failures = "hashlane_dns_zone_notify_failures{zone=\"example.com\"}";
    assert!(!primary.handle.metrics().contains(failures), "nobody was told");
    let told = tell(&[&secondary, &stranger]);
    assert_eq!(told.notify, [outcome(&secondary, "NOERROR"), outcome(&stranger, "REFUSED")]);
    assert!(told.is_failing() && told.error.is_none());
    let metrics = primary.handle.metrics();
    for line in [
        &format!("{failures} 1\n")[..],
        "hashlane_dns_notify_sent_total{result=\"refused\"} 1\n",
        "hashlane_dns_notify_sent_total{result=\"unanswered\"} 0\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
    // One that is no longer told does not count; one that stays keeps its outcome over a reload.
    primary.next.lock().unwrap().zone[0].notify.truncate(1);
    primary.handle.reload(None).unwrap();
    assert_eq!(state(&primary.handle).notify, [outcome(&secondary, "NOERROR")]);
    assert!(!state(&primary.handle).is_failing());
    // A version that is not the last one is nobody's failure any more.
    tell(&[&stranger]);
    assert!(state(&primary.handle).is_failing());
    let folder = tempfile::tempdir().unwrap();
    let late = secondary_of(primary.address, folder.path(), |_| {});
    tell(&[&late]);
    std::fs::write(primary.file("example.com.zone"), zone(8)).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
    primary.wait("the answer", |handle| state(handle).notify.iter().any(|told| told.serial == 8));
    assert!(!state(&primary.handle).is_failing());
}
