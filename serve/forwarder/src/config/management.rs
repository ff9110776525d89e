//! The table `[management]` of the configuration.

use crate::management::Account;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Rights to give commands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Management {
    /// Users, by name or number, that may give every command, in addition to root and the forwarder's own
    /// user.
    pub users: Vec<Account>,
    /// Groups, by name or number, whose members may give every command.
    pub groups: Vec<Account>,
    /// True if neighbours that sign with a trusted key may register prefixes under `/localhop/nfd/rib`.
    pub localhop: bool,
    /// Certificate files, in Base64 as the NDN tools write them or binary. Their keys may sign commands from
    /// anywhere.
    pub trust_anchors: Vec<PathBuf>,
}

/// True if a text can be the name of a user or a group. A number in quotes is a mistake, not a name.
pub(super) fn is_account(name: &str) -> bool {
    !name.is_empty()
        && !name.contains([':', ',', '\0'])
        && !name.contains(char::is_whitespace)
        && !name.bytes().all(|byte| byte.is_ascii_digit())
}
