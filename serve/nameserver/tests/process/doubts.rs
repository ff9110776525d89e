//! Versions of one serial number with several contents, on a secondary that is started again.

use crate::support::{Running, secondary_of, serial_of, zone};
use crate::transfers::transfer;
use hashlane_transfer::incoming::{Progress, Query};
use std::path::Path;

/// Puts a version with a host in service.
fn change(primary: &Running, serial: u32, host: u32) {
    let text = zone(serial) + &format!("www2 IN A 192.0.2.{host}\n");
    std::fs::write(primary.file("example.com.zone"), text).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
}

/// A secondary whose zone is for this host, too.
fn secondary(primary: &Running, folder: &Path) -> Running {
    secondary_of(primary.address, folder, |config| {
        config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()];
    })
}

/// Has a secondary take the version of its primary.
#[track_caller]
fn follow(secondary: &Running, serial: u32, is_forced: bool) {
    let done = secondary.handle.refresh_and_wait("example.com", is_forced).unwrap();
    assert_eq!((done.serial, done.error, done.not_kept), (Some(serial), None, None));
}

/// A secondary of the secondary may have the first content of version 8.
#[test]
fn a_doubt_about_a_version_survives_a_restart() {
    let primary = Running::start(|config| config.zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()]);
    let folder = tempfile::tempdir().unwrap();
    let first = secondary(&primary, folder.path());
    first.wait("the zone", |handle| serial_of(handle) == Some(7));
    change(&primary, 8, 1);
    follow(&first, 8, false);
    change(&primary, 8, 2);
    follow(&first, 8, true);
    first.stop().unwrap();

    let second = secondary(&primary, folder.path());
    assert_eq!(serial_of(&second.handle), Some(8), "from the disk");
    change(&primary, 9, 3);
    follow(&second, 9, false);
    assert_eq!(transfer(&second, Query::Since(8)), Ok(Progress::Whole(9)));
    change(&primary, 10, 4);
    follow(&second, 10, false);
    assert!(matches!(transfer(&second, Query::Since(9)), Ok(Progress::Deltas(_))), "sure again");
    second.stop().unwrap();

    // The differences are in the file, too.
    let third = secondary(&primary, folder.path());
    assert_eq!(serial_of(&third.handle), Some(10), "from the disk");
    assert_eq!(transfer(&third, Query::Since(8)), Ok(Progress::Whole(10)));
    assert!(matches!(transfer(&third, Query::Since(9)), Ok(Progress::Deltas(_))));
}
