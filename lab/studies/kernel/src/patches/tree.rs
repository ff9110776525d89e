//! The source tree that the user names.

use super::error::{PatchError, io};
use super::git;
use crate::source::stated_version;
use std::fs;
use std::path::{Path, PathBuf};

/// The oldest version whose functions the patches fit.
const OLDEST: (u32, u32) = (6, 1);

/// A tree of a known version.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) folder: PathBuf,
    /// Stated by the Makefile: `6.12.117`.
    pub(super) version: String,
}

impl Tree {
    pub(super) fn open(folder: &Path) -> Result<Self, PatchError> {
        let tree = |version| Self { folder: folder.to_owned(), version };
        let makefile = tree(String::new()).text("Makefile")?;
        let version = stated_version(&makefile);
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        let of = numbers.next().flatten().zip(numbers.next().flatten());
        if of.is_none_or(|of| of < OLDEST) {
            let named = if of.is_none() { "none".to_owned() } else { version };
            return Err(PatchError::Version(named));
        }
        Ok(tree(version))
    }

    /// Text of a file of the tree.
    pub(super) fn text(&self, file: &'static str) -> Result<String, PatchError> {
        self.optional(file)?.ok_or_else(|| PatchError::NotLinux(self.folder.clone(), file))
    }

    /// Text of a file that some trees leave out.
    pub(super) fn optional(&self, file: &str) -> Result<Option<String>, PatchError> {
        let path = self.folder.join(file);
        if !path.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).map_err(io(format!("cannot read {}", path.display())))
    }

    /// Checks that `files` are as in the last commit, if the tree is a repository.
    pub(super) fn committed(&self, files: &[&str]) -> Result<(), PatchError> {
        if !self.folder.join(".git").exists() {
            return Ok(());
        }
        let mut arguments = vec!["status", "--porcelain", "--untracked-files=no", "--"];
        arguments.extend(files);
        let said = git::run(git::command(&self.folder).args(arguments))?;
        let changed: Vec<&str> = said.lines().filter_map(|line| line.get(3..)).collect();
        if changed.is_empty() { Ok(()) } else { Err(PatchError::Uncommitted(changed.join(", "))) }
    }
}
