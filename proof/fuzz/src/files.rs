//! Properties of the readers of files: configurations, studies, records, machines, trust anchors. A file
//! that is read is written and read again as the same; each error is text.

use ::hashlane_ndn::security::file::MAX_FILE;
use ::hashlane_ndn::security::{Certificate, CertificateError, certificate_bytes};
use hashlane_forwarder::Config;
use hashlane_lab::definition::{Definition, MAX_TEXT};
use hashlane_lab::run::Machine;
use hashlane_records::RecordSet;

/// Most characters of an error text: it may quote a line of the file, but not the whole file.
const MAX_ERROR: usize = 4 * (1 << 14) + 1000;

fn check_error(error: &dyn std::error::Error) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() <= MAX_ERROR, "an error of {} bytes", text.len());
}

/// A text that parses as a configuration is within the limits, and is written and read back as the same.
pub fn check_config(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else { return };
    match Config::parse(text) {
        Ok(config) => {
            assert!(config.pit.entries > 0 && (256..=65_507).contains(&config.faces.udp.mtu));
            let written = config.to_toml();
            assert_eq!(Config::parse(&written), Ok(config), "{written}");
        }
        Err(error) => check_error(&error),
    }
}

/// A text that parses as a configuration of the meter is within the limits, and is written and read back as
/// the same.
pub fn check_flow_config(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else { return };
    match hashlane_meter::Config::parse(text) {
        Ok(config) => {
            let options = config.meter.options(0);
            assert!(options.flows >= 64 && options.idle >= 1_000_000 && options.sampling > 0);
            assert!(config.meter.domain.checked_add(config.meter.workers as u32 - 1).is_some());
            let written = config.to_toml();
            assert_eq!(hashlane_meter::Config::parse(&written), Ok(config), "{written}");
        }
        Err(error) => check_error(&error),
    }
}

/// A text that parses as a study measures what it compares.
pub fn check_study(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else { return };
    match Definition::parse(text, "study.toml") {
        Ok(study) => {
            assert!(text.len() <= MAX_TEXT && (1..=64).contains(&study.slug.len()));
            assert!(study.schemes.contains(&study.reference));
            for ids in [&study.workloads, &study.schemes] {
                let mut once = ids.clone();
                once.sort();
                once.dedup();
                assert_eq!(once.len(), ids.len(), "an id stands twice");
            }
            assert_eq!(Definition::parse(text, "study.toml").ok(), Some(study), "read twice");
        }
        Err(error) => check_error(&error),
    }
}

/// Bytes that parse as records, or as the machine that made them, are written and read back as the same.
pub fn check_records(octets: &[u8]) {
    match RecordSet::parse(octets, "records.csv") {
        Ok(records) => {
            let written = records.to_csv().expect("records that were read");
            let again = RecordSet::parse(&written, "records.csv").expect("records that were written");
            assert!(again.iter().eq(records.iter()));
            for record in records.iter() {
                assert!(record.value.is_finite() && record.low <= record.high);
            }
        }
        Err(error) => check_error(&error),
    }
    let Ok(text) = std::str::from_utf8(octets) else { return };
    match Machine::parse(text, "machine.toml") {
        Ok(machine) => {
            let written = machine.to_toml().expect("a machine that was read");
            assert_eq!(Machine::parse(&written, "machine.toml").ok(), Some(machine), "{written}");
        }
        Err(error) => check_error(&error),
    }
}

/// A file that is read as a certificate, raw or in Base64, is not longer than it, and reads again as itself.
pub fn check_anchor(octets: &[u8]) {
    match certificate_bytes(octets) {
        Ok(bytes) => {
            assert!(!bytes.is_empty() && bytes.len() <= octets.len() && octets.len() <= MAX_FILE);
            let Ok(certificate) = Certificate::parse(&bytes) else { return };
            assert!(certificate.data().as_bytes().len() <= bytes.len());
            assert_eq!(certificate_bytes(&bytes).as_deref(), Ok(&*bytes), "raw bytes stay as they are");
        }
        Err(error) => {
            assert!(octets.len() <= MAX_FILE || matches!(error, CertificateError::TooLong { .. }));
            check_error(&error);
        }
    }
}
