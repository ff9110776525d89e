//! Errors of writing patches.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Reasons for which no series of patches is written.
#[derive(Debug)]
#[non_exhaustive]
pub enum PatchError {
    /// The folder has no Linux in it: the folder, and a file that is missing.
    NotLinux(PathBuf, &'static str),
    /// The Makefile states no version, or one before the oldest: the statement.
    Version(String),
    /// A file is not as in the known versions: the file, and the text not found in it.
    Changed(&'static str, String),
    /// Files that differ from the last commit of the tree.
    Uncommitted(String),
    /// The series would overwrite patches in this folder.
    Taken(PathBuf),
    /// The command `git` does not start.
    NoGit(io::Error),
    /// Git does not know who the author is.
    NoAuthor,
    /// A git command failed: the command, and its output.
    Git(String, String),
    /// A file or folder failed.
    Io(String, io::Error),
    /// The records of the study are not readable.
    Records(String),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLinux(tree, file) => write!(
                f,
                "{} is not a source tree of Linux: it has no {file}; name the folder with \
                 Linux's top Makefile",
                tree.display()
            ),
            Self::Version(found) => write!(
                f,
                "unknown version of Linux: the Makefile states {found}, and the patches are for 6.1 and \
                 later; name a newer tree"
            ),
            Self::Changed(file, what) => write!(
                f,
                "{file} has no {what}: it was changed, has a patch of the series already, or is of a version \
                 that is not known; name an unchanged tree (tested: 6.1 and 6.12)"
            ),
            Self::Uncommitted(files) => write!(
                f,
                "the tree has uncommitted changes, on which `git am` would fail: commit or stash {files}"
            ),
            Self::Taken(folder) => {
                write!(f, "{} exists: name another folder with --out, or remove it", folder.display())
            }
            Self::NoGit(error) => {
                write!(
                    f,
                    "cannot run git ({error}): install it (`apt-get install git`), then repeat the command"
                )
            }
            Self::NoAuthor => f.write_str(
                "git does not know the author of the patches: run `git config --global user.name NAME` and \
                 `git config --global user.email ADDRESS`, then repeat the command",
            ),
            Self::Git(command, said) => write!(f, "`{command}` failed: {said}"),
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Records(why) => write!(f, "cannot read the records of flow-kernel: {why}"),
        }
    }
}

impl std::error::Error for PatchError {}

/// Error of the file system, with the operation that failed.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> PatchError {
    let what = what.into();
    move |error| PatchError::Io(what, error)
}
