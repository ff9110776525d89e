//! Reports of one zone as text.

use super::text::{count, one_line};
use hashlane_nameserver::status::{NotifyStatus, Refreshed, Told, TransferStatus, ZoneStatus};
use hashlane_stats::format::{plain, plural};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// All that is known of a zone.
pub(super) fn full(zone: &ZoneStatus) -> String {
    let mut text = format!("{}\n", plain(&zone.name));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:11} {value}");
    };
    let source = match (&zone.transfer, zone.file.as_os_str().is_empty()) {
        (Some(_), _) => format!("its primaries: {}", plain(&zone.primaries.join("; "))),
        (None, true) => "the other zones, as a catalog".to_owned(),
        (None, false) => plain(&zone.file.display().to_string()),
    };
    line("source", source);
    for (name, value) in [("catalog", &zone.catalog), ("group", &zone.group)] {
        if !value.is_empty() {
            line(name, plain(value));
        }
    }
    match zone.serial {
        Some(serial) => line("serial", serial.to_string()),
        None => line("serial", "none: queries get SERVFAIL".to_owned()),
    }
    line("records", format!("{}, {} kB", count(zone.records), count(zone.memory.div_ceil(1000))));
    if zone.loaded > 0 {
        let took = match zone.transfer {
            Some(_) => String::new(),
            None => format!(", in {} ms", count(zone.took_ms)),
        };
        line("loaded", format!("{} s ago{took}", count(ago(zone.loaded))));
    }
    line("queries", count(zone.queries));
    if let Some(transfer) = &zone.transfer {
        let answered = match (&transfer.primary, transfer.checked) {
            (Some(primary), Some(checked)) => format!("{}, {} s ago", plain(primary), count(ago(checked))),
            _ => "no primary yet".to_owned(),
        };
        line("answered by", answered);
        if transfer.next > 0 {
            line("next", format!("asked in {} s", count(until(transfer.next))));
        }
        if let Some(expires) = transfer.expires {
            line("expires", format!("in {} s, unless a primary answers", count(until(expires))));
        }
        if transfer.failures > 0 {
            line("failures", count(transfer.failures));
        }
        if let Some(error) = &transfer.error {
            line("last", one_line(error));
        }
        if let Some(error) = &transfer.not_kept {
            line("not on disk", one_line(error));
        }
    }
    for NotifyStatus { secondary, serial, .. } in zone.notify.iter().filter(|told| told.is_taken()) {
        let _ = writeln!(text, "  {:11} {} has taken serial {serial}", "told", plain(secondary));
    }
    faults(&mut text, zone);
    text
}

/// Error, secondaries that do not know of the last version, and warnings of a zone.
pub(super) fn faults(text: &mut String, zone: &ZoneStatus) {
    for error in zone.error.iter().flat_map(|error| error.lines()) {
        let _ = writeln!(text, "  error: {}", plain(error));
    }
    for NotifyStatus { secondary, serial, answer } in zone.notify.iter().filter(|told| !told.is_taken()) {
        let (secondary, name) = (plain(secondary), plain(&zone.name));
        let _ = match answer {
            Some(answer) => writeln!(
                text,
                "  not told: {secondary} has answered {} to NOTIFY of serial {serial}; permit this server there",
                plain(answer)
            ),
            None => writeln!(
                text,
                "  not told: {secondary} has not answered NOTIFY of serial {serial}; \
                 `control notify {name}` repeats it"
            ),
        };
    }
    for warning in &zone.warnings {
        let _ = writeln!(text, "  warning: {}", plain(warning));
    }
}

/// The transfers of a zone in one line.
pub(super) fn transfers(status: &TransferStatus) -> String {
    let mut parts = match (&status.primary, status.checked) {
        (Some(primary), Some(checked)) => {
            vec![format!("from {}, asked {} s ago", plain(primary), ago(checked))]
        }
        _ => vec!["no primary has answered".to_owned()],
    };
    if status.next > 0 {
        parts.push(format!("next in {} s", until(status.next)));
    }
    if let Some(expires) = status.expires {
        parts.push(format!("expires in {} s", until(expires)));
    }
    if let Some(error) = &status.error {
        parts.push(format!("{}: {}", plural(status.failures as usize, "failure"), one_line(error)));
    }
    parts.join(", ")
}

/// The outcome of a refresh.
pub(super) fn refreshed(zone: &str, outcome: &Refreshed) -> String {
    let zone = plain(zone);
    let serial = outcome.serial.map_or_else(|| "no version".to_owned(), |serial| format!("serial {serial}"));
    let primary = outcome.primary.as_deref().map(plain).unwrap_or_default();
    let mut text = match (&outcome.error, &outcome.how) {
        (Some(error), _) => format!("{zone}: not transferred: {}; {serial} is in service\n", one_line(error)),
        (None, Some(how)) => format!("{zone}: {serial} transferred from {primary} by {}\n", plain(how)),
        (None, None) => format!("{zone}: {serial} is the newest at {primary}\n"),
    };
    if let Some(error) = &outcome.not_kept {
        let error = one_line(error);
        let _ = writeln!(
            text,
            "{zone}: {serial} is in service, but not on the disk: {error}; the next refresh tries again"
        );
    }
    text
}

/// The answers to NOTIFY, a line each.
pub(super) fn told(zone: &str, told: &Told) -> String {
    let each = told.secondaries.iter();
    each.map(|(peer, answer)| format!("{}: {}: {}\n", plain(zone), plain(peer), plain(answer))).collect()
}

/// True if all secondaries have taken a NOTIFY.
pub(super) fn is_taken(told: &Told) -> bool {
    told.secondaries.values().all(|answer| answer == "NOERROR")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Seconds since a time.
fn ago(time: u64) -> u64 {
    now().saturating_sub(time)
}

/// Seconds until a time.
fn until(time: u64) -> u64 {
    time.saturating_sub(now())
}
