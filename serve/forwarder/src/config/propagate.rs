//! The table `[rib.propagate]` of the configuration.

use super::ConfigError;
use crate::management::trust::read_regular;
use crate::management::{Identity, Propagation};
use hashlane_ndn::security::{SafeBag, safe_bag_bytes};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Most identities.
const MAX_IDENTITIES: usize = 64;

/// Propagation of the prefixes of local applications to a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Propagate {
    /// Cost of the routes at the gateway.
    pub cost: u64,
    /// Time that a command waits for its answer, in milliseconds.
    pub timeout_ms: u64,
    /// Time until a prefix is registered again, in seconds.
    pub refresh_s: u64,
    /// First pause after a command that failed, in seconds. Each further one is twice as long.
    pub base_retry_wait_s: u64,
    /// Longest pause after a command that failed, in seconds.
    pub max_retry_wait_s: u64,
    /// Identities under which prefixes are registered; none: nothing is propagated.
    pub identities: Vec<PropagateIdentity>,
}

/// Identity with its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropagateIdentity {
    /// File of a safe bag, binary or Base64: a certificate with its encrypted key. The user of the forwarder
    /// reads it again at each reload.
    pub safe_bag: PathBuf,
    /// File whose first line is the passphrase of the key.
    pub passphrase: PathBuf,
}

impl Default for Propagate {
    fn default() -> Self {
        Self {
            cost: 15,
            timeout_ms: 10_000,
            refresh_s: 25,
            base_retry_wait_s: 50,
            max_retry_wait_s: 3600,
            identities: Vec::new(),
        }
    }
}

impl Propagate {
    /// Valid times of an answer, in milliseconds.
    pub(crate) const TIMEOUT_MS: RangeInclusive<u64> = 100..=60_000;
    /// Valid times of all else, in seconds; up to a week.
    pub(crate) const SECONDS: RangeInclusive<u64> = 1..=604_800;

    /// Checks the numbers.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Self { timeout_ms, refresh_s, base_retry_wait_s, max_retry_wait_s, .. } = *self;
        for (key, value, range) in [
            ("timeout_ms", timeout_ms, Self::TIMEOUT_MS),
            ("refresh_s", refresh_s, Self::SECONDS),
            ("base_retry_wait_s", base_retry_wait_s, Self::SECONDS),
            ("max_retry_wait_s", max_retry_wait_s, base_retry_wait_s..=*Self::SECONDS.end()),
        ] {
            if !range.contains(&value) {
                let why = format!("must be between {} and {}", range.start(), range.end());
                return Err(ConfigError::value(format!("rib.propagate.{key}"), why));
            }
        }
        if self.identities.len() > MAX_IDENTITIES {
            let why = format!("has more than {MAX_IDENTITIES} identities");
            return Err(ConfigError::value("rib.propagate.identities", why));
        }
        Ok(())
    }

    /// Reads the keys. Also returns warnings. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// A file cannot be read or has no safe bag; a wrong passphrase; two identities of one prefix.
    pub(crate) fn read(&self, now: u64) -> io::Result<(Propagation, Vec<String>)> {
        let (mut identities, mut warnings) = (Vec::<Identity>::new(), Vec::new());
        for PropagateIdentity { safe_bag, passphrase } in &self.identities {
            let file = read(safe_bag)?;
            let invalid = |why: &dyn Display| named(safe_bag, io::ErrorKind::InvalidData, why);
            let bytes = safe_bag_bytes(&file).map_err(|error| invalid(&error))?;
            let bag = SafeBag::parse(&bytes).map_err(|error| invalid(&error))?;
            let secret = read(passphrase)?;
            let secret = secret.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
            let signer = bag.open(secret).map_err(|error| invalid(&error))?;
            let certificate = bag.certificate();
            if let Err(refusal) = certificate.check_time(now) {
                warnings.push(format!("`rib.propagate.identities` {}: {refusal}", safe_bag.display()));
            }
            let (name, key) = (certificate.identity(), certificate.key_name());
            let identity = Identity::new(name.view(), key.view(), signer);
            if identities.iter().any(|other| other.prefix() == identity.prefix()) {
                return Err(invalid(&format_args!("a second identity of {}; remove one", identity.prefix())));
            }
            identities.push(identity);
        }
        if identities.is_empty() && *self != Self::default() {
            let why =
                "has no identities, so that nothing is propagated; name them in rib.propagate.identities";
            warnings.push(format!("`rib.propagate` {why}"));
        }
        let propagation = Propagation {
            identities,
            cost: self.cost,
            timeout: self.timeout_ms,
            refresh: self.refresh_s * 1000,
            retry_min: self.base_retry_wait_s * 1000,
            retry_max: self.max_retry_wait_s * 1000,
        };
        Ok((propagation, warnings))
    }

    /// Reads the keys for a process that may have given up the right to do so: if it may not, `None`, and a
    /// warning says what to do.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), except a lack of permissions.
    pub(crate) fn read_again(&self, now: u64) -> io::Result<(Option<Propagation>, Vec<String>)> {
        match self.read(now) {
            Ok((propagation, warnings)) => Ok((Some(propagation), warnings)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let why = "`rib.propagate` stays as it is; make the files readable for the forwarder's user, or \
                           restart";
                Ok((None, vec![format!("{error}: {why}")]))
            }
            Err(error) => Err(error),
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_regular(path).map_err(|error| named(path, error.kind(), &error))
}

/// An error about a file of an identity.
fn named(path: &Path, kind: io::ErrorKind, why: &dyn Display) -> io::Error {
    io::Error::new(kind, format!("`rib.propagate.identities` {}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked() {
        let check = |text: &str| {
            let config = crate::Config::parse(&format!("[rib.propagate]\n{text}"));
            config.map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(check("cost = 0\nrefresh_s = 300\nmax_retry_wait_s = 50"), Ok(()));
        for (text, why) in [
            ("timeout_ms = 99", "`rib.propagate.timeout_ms` must be between 100 and 60000"),
            ("refresh_s = 0", "`rib.propagate.refresh_s` must be between 1 and 604800"),
            ("max_retry_wait_s = 49", "`rib.propagate.max_retry_wait_s` must be between 50 and 604800"),
        ] {
            assert!(check(text).is_err_and(|error| error.contains(why)), "{text}: {:?}", check(text));
        }
    }

    #[test]
    fn settings_without_identities_are_a_warning() {
        let read = |propagate: Propagate| propagate.read(0).expect("no files").1;
        assert_eq!(read(Propagate::default()), Vec::<String>::new());
        let warnings = read(Propagate { cost: 1, ..Propagate::default() });
        assert!(warnings[0].contains("has no identities"), "{warnings:?}");
    }
}
