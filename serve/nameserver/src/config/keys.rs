//! Keys that sign messages (TSIG).

use super::{Config, ConfigError, Transfer, invalid};
use hashlane_name::dns::text;
use hashlane_transfer::tsig;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A key that signs messages (TSIG, RFC 8945).
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TsigKey {
    /// Name, the same on both servers.
    pub name: String,
    /// Algorithm: `hmac-sha256`, `hmac-sha384`, `hmac-sha512` or `hmac-sha1`.
    pub algorithm: String,
    /// Secret in Base64.
    pub secret: String,
    /// File with the secret in Base64, relative to the folder of the configuration, in place of `secret`.
    pub secret_file: PathBuf,
}

/// Without the secret.
impl std::fmt::Debug for TsigKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TsigKey({} {})", self.name, self.algorithm)
    }
}

impl TsigKey {
    /// The key with this secret.
    fn with(&self, secret: &str) -> Result<tsig::Key, ConfigError> {
        let name = text::parse(self.name.as_bytes())
            .map_err(|error| invalid("key.name", format!("has {:?}: {error}", self.name)))?;
        tsig::Key::new(name.view(), &self.algorithm, secret).map_err(|error| {
            let key = match error {
                tsig::KeyError::Algorithm => "key.algorithm",
                _ => "key.secret",
            };
            invalid(key, format!("of {:?}: {error}", self.name))
        })
    }
}

/// Reads the file of a secret.
fn read_secret(path: &Path) -> io::Result<String> {
    let failed = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    std::fs::read_to_string(path).map_err(failed)
}

impl Config {
    /// Checks the keys, and that those which peers name are there.
    pub(super) fn check_keys(&self) -> Result<(), ConfigError> {
        let mut names = Vec::new();
        for key in &self.key {
            let name = text::parse(key.name.as_bytes())
                .map_err(|error| invalid("key.name", format!("has {:?}: {error}", key.name)))?;
            if key.secret_file.as_os_str().is_empty() {
                key.with(&key.secret)?;
            } else if !key.secret.is_empty() {
                let why = format!("and `secret_file` are both given for {:?}; remove one of them", key.name);
                return Err(invalid("key.secret", why));
            }
            if names.contains(&name.as_bytes().to_ascii_lowercase()) {
                return Err(invalid("key.name", format!("has {:?} twice; remove one of the keys", key.name)));
            }
            names.push(name.as_bytes().to_ascii_lowercase());
        }
        let check = |path: &str, key: Option<&String>| match key {
            Some(key) if !self.has_key(key) => {
                Err(invalid(path, format!("names the key {key:?}, which is not among `[[key]]`")))
            }
            _ => Ok(()),
        };
        let Transfer { allow, notify, .. } = &self.transfer;
        allow.iter().try_for_each(|access| check("transfer.allow", access.key.as_ref()))?;
        notify.iter().try_for_each(|peer| check("transfer.notify", peer.key.as_ref()))?;
        for zone in self.with_servers() {
            zone.primaries.iter().try_for_each(|peer| check("zone.primaries", peer.key.as_ref()))?;
            zone.notify.iter().try_for_each(|peer| check("zone.notify", peer.key.as_ref()))?;
            zone.allow_notify.iter().try_for_each(|rule| check("zone.allow_notify", rule.key.as_ref()))?;
            zone.allow_query.iter().try_for_each(|rule| check("zone.allow_query", rule.key.as_ref()))?;
            zone.allow_transfer
                .iter()
                .try_for_each(|rule| check("zone.allow_transfer", rule.key.as_ref()))?;
        }
        Ok(())
    }

    fn has_key(&self, name: &str) -> bool {
        let Ok(name) = text::parse(name.as_bytes()) else { return false };
        self.key.iter().any(|key| {
            text::parse(key.name.as_bytes()).is_ok_and(|key| key.view().eq_ignore_case(name.view()))
        })
    }

    /// The keys, with the secrets of their files.
    ///
    /// # Errors
    /// A file cannot be read, or holds no secret.
    pub fn keys(&self) -> io::Result<Vec<tsig::Key>> {
        let one = |key: &TsigKey| {
            let secret = match key.secret_file.as_os_str().is_empty() {
                true => key.secret.clone(),
                false => read_secret(&key.secret_file)?,
            };
            key.with(&secret).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
        };
        self.key.iter().map(one).collect()
    }
}
