//! Limits of the process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the soft limit of file descriptors, 1024 on most systems, to the hard limit, at most to
/// `descriptors`, so that the limits of the server are reached first.
pub fn raise_descriptor_limit(descriptors: u64) {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(soft, hard)| setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(descriptors)), hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "cannot raise the limit of file descriptors");
    }
}
