//! The table `[management]` of the configuration.

use crate::management::Account;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Modules of commands other than registrations.
pub const MODULES: [&str; 4] = ["faces", "fib", "cs", "strategy-choice"];

/// Rights to give commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Management {
    /// Users, by name or number, that may give every command, in addition to root and the forwarder's own
    /// user.
    pub users: Vec<Account>,
    /// Groups, by name or number, whose members may give every command.
    pub groups: Vec<Account>,
    /// True if every user who may connect to the Unix socket may register prefixes of the user's face.
    pub own_faces: bool,
    /// True if neighbours that sign with a trusted key may register prefixes under `/localhop/nfd/rib`.
    pub localhop: bool,
    /// Certificate files, in Base64 as the NDN tools write them or binary. Their keys may sign commands from
    /// anywhere.
    pub trust_anchors: Vec<PathBuf>,
    /// Certificates whose keys may sign commands of some modules.
    pub authorize: Vec<Authorize>,
}

/// Commands of some modules, for the key of a certificate or for every user of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorize {
    /// File of the certificate; `any`: every user of this host, whatever the signature.
    pub certificate: PathBuf,
    /// Modules, of [`MODULES`].
    pub modules: Vec<String>,
}

impl Authorize {
    /// True if every user of this host may give the commands.
    pub(crate) fn is_any(&self) -> bool {
        self.certificate.as_os_str() == "any"
    }
}

impl Default for Management {
    fn default() -> Self {
        Self {
            users: Vec::new(),
            groups: Vec::new(),
            own_faces: true,
            localhop: false,
            trust_anchors: Vec::new(),
            authorize: Vec::new(),
        }
    }
}

/// True if a text can be the name of a user or a group. A number in quotes is a mistake, not a name.
pub(super) fn is_account(name: &str) -> bool {
    !name.is_empty()
        && !name.contains([':', ',', '\0'])
        && !name.contains(char::is_whitespace)
        && !name.bytes().all(|byte| byte.is_ascii_digit())
}
