//! Octets as an Interest with a command, as each record of management, and as a face URI.
#![no_main]

use ndn::mgmt::dataset::{
    ChannelStatus, CsInfo, FaceEventNotification, FaceQueryFilter, FaceStatus, FibEntry, ForwarderStatus,
    RibEntry, StrategyChoice,
};
use ndn::mgmt::{Command, ControlParameters, ControlResponse, FaceUri, Record};
use ndn::wire::Interest;

/// What is read is written so that it reads the same.
fn check<R: Record + PartialEq + std::fmt::Debug>(octets: &[u8]) {
    if let Ok(record) = R::parse(octets) {
        assert_eq!(R::parse(&record.to_bytes()).as_ref(), Ok(&record));
    }
    let _ = R::parse_all(octets);
}

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok(interest) = Interest::parse(octets)
        && let Ok(command) = Command::parse(&interest)
    {
        let written = command.parameters.to_bytes();
        assert_eq!(ControlParameters::parse(&written), Ok(command.parameters));
        assert!(!command.signature.covered[0].is_empty());
    }
    check::<ControlParameters>(octets);
    check::<ControlResponse>(octets);
    check::<ForwarderStatus>(octets);
    check::<FaceStatus>(octets);
    check::<ChannelStatus>(octets);
    check::<FaceQueryFilter>(octets);
    check::<FaceEventNotification>(octets);
    check::<FibEntry>(octets);
    check::<RibEntry>(octets);
    check::<StrategyChoice>(octets);
    check::<CsInfo>(octets);
    if let Ok(uri) = std::str::from_utf8(octets).unwrap_or_default().parse::<FaceUri>() {
        assert_eq!(uri.to_string().parse(), Ok(uri.clone()));
        let canonical = uri.canonical();
        assert!(canonical.is_err() || canonical.is_ok_and(|canonical| canonical.is_canonical()));
    }
});
