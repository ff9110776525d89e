//! Files of secrets that users other than the server's can read.

use super::Config;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Bits of a file's mode for users that are neither its owner nor in its group.
const EVERYBODY: u32 = 0o007;

impl Config {
    /// A warning for each file with secrets that every user of the host can read: the files of keys, the
    /// private key of TLS, and the file of the configuration, if it has secrets itself.
    pub fn open_secrets(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |path: &Path, what: &str| {
            if is_open(path) {
                let shown = path.display();
                warnings.push(format!("{shown}: every user can read {what}; make its mode 0600 or 0640"));
            }
        };
        for key in &self.key {
            warn(&key.secret_file, "this secret");
        }
        if !self.tls.listen.is_empty() {
            warn(&self.tls.key, "this private key");
        }
        let has_keys = self.key.iter().any(|key| !key.secret.is_empty());
        if has_keys || !self.server.cookie_secrets.is_empty() {
            warn(&self.path, "the secrets in this configuration");
        }
        warnings
    }
}

/// True if there is such a file, and every user can read or write it.
fn is_open(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & EVERYBODY != 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn secrets_that_every_user_can_read_are_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let key = |secret: &str| format!("[[key]]\nname = \"k\"\nalgorithm = \"hmac-sha256\"\n{secret}\n");
        let own = key("secret = \"c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0\"");
        let warnings = |text: &str, mode| {
            let read = Config::read(&file("dns.toml", text, mode)).unwrap();
            read.open_secrets()
                .iter()
                .map(|line| line.rsplit('/').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let advice = "make its mode 0600 or 0640";
        let in_it = format!("dns.toml: every user can read the secrets in this configuration; {advice}");
        assert_eq!(warnings(&own, 0o644), std::slice::from_ref(&in_it));
        assert_eq!(warnings(&own, 0o640), [""; 0]);
        let cookies = format!("[server]\ncookie_secrets = [\"{}\"]\n", "0f".repeat(16));
        assert_eq!(warnings(&cookies, 0o604), [in_it]);
        let named = key("secret_file = \"secret\"");
        file("secret", "", 0o604);
        assert_eq!(warnings(&named, 0o644), [format!("secret: every user can read this secret; {advice}")]);
        file("secret", "", 0o600);
        assert_eq!(warnings(&named, 0o644), [""; 0], "it has no secret itself");
        let tls = "[tls]\nlisten = [\"127.0.0.1:853\"]\ncertificate = \"c\"\nkey = \"tls.key\"\n";
        file("tls.key", "", 0o644);
        assert_eq!(
            warnings(tls, 0o644),
            [format!("tls.key: every user can read this private key; {advice}")]
        );
        assert_eq!(warnings("", 0o644), [""; 0]);
    }
}
