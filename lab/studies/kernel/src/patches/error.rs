//! Errors of writing patches.

use std::io;
use std::path::PathBuf;

/// Reasons for which no series of patches is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The folder has no Linux in it: the folder, and a file that is missing.
    #[error(
        "{} is not a source tree of Linux: it has no {}; name the folder with Linux's top Makefile",
        .0.display(),
        .1
    )]
    NotLinux(PathBuf, &'static str),
    /// The Makefile states no version, or one before the oldest: the statement.
    #[error(
        "unknown version of Linux: the Makefile states {0}, and the patches are for 6.1 and later; name a \
         newer tree"
    )]
    Version(String),
    /// A file is not as in the known versions: the file, and the text not found in it.
    #[error(
        "{0} has no {1}: it was changed, has a patch of the series already, or is of a version that is not \
         known; name an unchanged tree (tested: 6.1 and 6.12)"
    )]
    Changed(&'static str, String),
    /// Files that differ from the last commit of the tree.
    #[error("the tree has uncommitted changes, on which `git am` would fail: commit or stash {0}")]
    Uncommitted(String),
    /// The series would overwrite patches in this folder.
    #[error("{} exists: name another folder with --out, or remove it", .0.display())]
    Taken(PathBuf),
    /// The command `git` does not start.
    #[error("cannot run git ({0}): install it (`apt-get install git`), then repeat the command")]
    NoGit(io::Error),
    /// Git does not know who the author is.
    #[error(
        "git does not know the author of the patches: run `git config --global user.name NAME` and `git \
         config --global user.email ADDRESS`, then repeat the command"
    )]
    NoAuthor,
    /// A git command failed: the command, and its output.
    #[error("`{0}` failed: {1}")]
    Git(String, String),
    /// A file or folder failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The records of the study are not readable.
    #[error("cannot read the records of flow-kernel: {0}")]
    Records(String),
}

/// Error of the file system, with the operation that failed.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> PatchError {
    let what = what.into();
    move |error| PatchError::Io(what, error)
}
