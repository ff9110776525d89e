//! Meters that are compared: arguments, and the counts that each prints.

mod argus;
mod nfpcapd;
mod ours;
mod pmacctd;
pub(crate) mod softflowd;

use crate::error::MeterError;
use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// A meter of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meter {
    /// `hashlane flow meter` with so many workers.
    Ours(u8),
    Softflowd,
    Nfpcapd,
    Pmacctd,
    Argus,
}

/// Counts that a meter states at its end, where it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Packets that it metered.
    pub(crate) packets: Option<u64>,
    /// Records of flows that it wrote.
    pub(crate) records: Option<u64>,
}

/// A capture to meter, and the places of the outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) command: &'a Path,
    pub(crate) capture: &'a Path,
    /// Folder for outputs, empty at the start.
    pub(crate) folder: &'a Path,
    /// Address of a socket that nobody reads, for meters without files.
    pub(crate) sink: SocketAddr,
}

/// Meters that the study has no adapter for.
pub(crate) const WITHOUT_ADAPTER: &str = "suricata, zeek, yaf and ipfixprobe are not measured: the study \
                                          has no adapter for them, as Debian 12 has no packages of them";

/// Meters by the ids of schemes.
const ALL: [(&str, Meter); 6] = [
    ("ours", Meter::Ours(1)),
    ("ours-2", Meter::Ours(2)),
    ("softflowd", Meter::Softflowd),
    ("nfpcapd", Meter::Nfpcapd),
    ("pmacctd", Meter::Pmacctd),
    ("argus", Meter::Argus),
];

impl Meter {
    /// The meter of an id.
    pub(crate) fn of(id: &str) -> Option<Self> {
        ALL.iter().find(|(known, _)| *known == id).map(|(_, meter)| *meter)
    }

    /// The ids of all meters, for an error.
    pub(crate) fn known() -> String {
        ALL.map(|(id, _)| id).join(", ")
    }

    /// `true` if it is not ours, and may have its reasons to fail.
    pub(crate) fn is_foreign(self) -> bool {
        !matches!(self, Self::Ours(_))
    }

    /// `true` if it sleeps for seconds in each run: a quick run leaves it out.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, Self::Pmacctd | Self::Argus)
    }

    /// Note on a meter that is not installed: its program and package; `None` if it is.
    pub(crate) fn missing(self) -> Option<String> {
        let (program, package) = match self {
            Self::Ours(_) => return None,
            Self::Softflowd => ("softflowd", "softflowd"),
            Self::Nfpcapd => ("nfpcapd", "nfdump"),
            Self::Pmacctd => ("pmacctd", "pmacct"),
            Self::Argus => ("argus", "argus-server"),
        };
        let note = || format!("{program} is missing, and so not measured: `apt-get install {package}`");
        (!is_installed(program)).then(note)
    }

    /// Program and arguments that meter a capture.
    pub(crate) fn program(self, job: &Job<'_>) -> Result<Vec<OsString>, MeterError> {
        match self {
            Self::Ours(workers) => Ok(ours::program(job, workers)),
            Self::Softflowd => Ok(softflowd::program(job)),
            Self::Nfpcapd => Ok(nfpcapd::program(job)),
            Self::Pmacctd => pmacctd::program(job),
            Self::Argus => Ok(argus::program(job)),
        }
    }

    /// Counts of a meter that has ended, from its output and files.
    pub(crate) fn stated(self, job: &Job<'_>, log: &str) -> Result<Stated, MeterError> {
        match self {
            Self::Ours(_) => ours::stated(job),
            Self::Softflowd => Ok(softflowd::stated(log)),
            Self::Nfpcapd => Ok(nfpcapd::stated(log)),
            // They state neither.
            Self::Pmacctd | Self::Argus => Ok(Stated::default()),
        }
    }
}

/// `true` if a program is on the `PATH`.
pub(crate) fn is_installed(program: &str) -> bool {
    let folders = env::var_os("PATH");
    folders.is_some_and(|folders| env::split_paths(&folders).any(|folder| folder.join(program).is_file()))
}

/// Words of a command line.
fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.map(OsString::from).into()
}

/// The first number after `label` in a text.
fn number_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_numbers_after_labels() {
        assert_eq!(number_after("Packets processed: 12\n", "Packets processed:"), Some(12));
        assert_eq!(number_after("Flows: 7, Packets: 9", "Packets:"), Some(9));
        assert_eq!(number_after("Packets: many", "Packets:"), None);
        assert_eq!(number_after("Packets: 99999999999999999999", "Packets:"), None);
    }

    #[test]
    fn names_the_package_of_a_missing_meter() {
        assert!(!is_installed("no-such-meter") && is_installed("sh"));
        assert_eq!(Meter::Ours(2).missing(), None);
        for meter in ["softflowd", "nfpcapd", "pmacctd", "argus"].map(|id| Meter::of(id).unwrap()) {
            assert!(meter.missing().is_none_or(|note| note.contains("apt-get install")));
        }
    }
}
