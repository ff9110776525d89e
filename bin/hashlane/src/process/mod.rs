//! Parts of the commands that serve until they are stopped.

pub(crate) mod http;
pub(crate) mod signals;
pub(crate) mod supervisor;

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{getresgid, getresuid};

/// Checks that the command does not run setuid or setgid. It starts programs that its user names, with all of
/// its rights.
///
/// # Errors
/// It does, or the system does not say.
pub(crate) fn check_ids() -> Result<()> {
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

/// Raises the soft limit of file descriptors, 1024 on most systems, to the hard limit, at most to
/// `descriptors`, so that the limits of the server are reached first.
pub(crate) fn raise_descriptor_limit(descriptors: u64) {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(soft, hard)| setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(descriptors)), hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "cannot raise the limit of file descriptors");
    }
}
