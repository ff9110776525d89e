//! The source tree that the user names.

use super::git;
use crate::source::stated_version;
use anyhow::{Context, Result, bail, ensure};
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
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let tree = |version| Self { folder: folder.to_owned(), version };
        let makefile = tree(String::new()).text("Makefile")?;
        let version = stated_version(&makefile);
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        let of = numbers.next().flatten().zip(numbers.next().flatten());
        if of.is_none_or(|of| of < OLDEST) {
            let named = if of.is_none() { "none".to_owned() } else { version };
            bail!(
                "unknown version of Linux: the Makefile states {named}, and the patches are for 6.1 and later; \
                 name a newer tree"
            );
        }
        Ok(tree(version))
    }

    /// Text of a file of the tree.
    pub(super) fn text(&self, file: &'static str) -> Result<String> {
        self.optional(file)?.with_context(|| {
            let folder = self.folder.display();
            format!(
                "{folder} is not a source tree of Linux: it has no {file}; name the folder with Linux's top Makefile"
            )
        })
    }

    /// Text of a file that some trees leave out.
    pub(super) fn optional(&self, file: &str) -> Result<Option<String>> {
        let path = self.folder.join(file);
        if !path.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Checks that `files` are as in the last commit, if the tree is a repository.
    pub(super) fn committed(&self, files: &[&str]) -> Result<()> {
        if !self.folder.join(".git").exists() {
            return Ok(());
        }
        let mut arguments = vec!["status", "--porcelain", "--untracked-files=no", "--"];
        arguments.extend(files);
        let said = git::run(git::command(&self.folder).args(arguments))?;
        let changed: Vec<&str> = said.lines().filter_map(|line| line.get(3..)).collect();
        let changed = changed.join(", ");
        let clean = changed.is_empty();
        ensure!(
            clean,
            "the tree has uncommitted changes, on which `git am` would fail: commit or stash {changed}"
        );
        Ok(())
    }
}
