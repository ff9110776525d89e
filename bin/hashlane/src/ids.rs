//! User and group ids of the process.

use anyhow::{Context as _, Result, bail};
use nix::unistd::{getresgid, getresuid};

/// Checks that the command does not run setuid or setgid. It starts programs that its user names, with all of
/// its rights.
///
/// # Errors
/// It does, or the system does not say.
pub(crate) fn check() -> Result<()> {
    let users = getresuid().context("cannot read the user ids of this process")?;
    let groups = getresgid().context("cannot read the group ids of this process")?;
    let ids = [
        ("user", [users.real, users.effective, users.saved].map(|id| id.as_raw())),
        ("group", [groups.real, groups.effective, groups.saved].map(|id| id.as_raw())),
    ];
    for (kind, [real, effective, saved]) in ids {
        if let Some(other) = [effective, saved].into_iter().find(|id| *id != real) {
            bail!(
                "refused to run for {kind} {real} with the rights of {kind} {other}, under which anyone could \
                 run programs; remove the bits: chmod ug-s $(command -v hashlane)"
            );
        }
    }
    Ok(())
}
