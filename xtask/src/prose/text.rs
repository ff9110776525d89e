//! Text files of the repository.

use crate::run;
use std::fs;

/// A text file of the repository.
pub(crate) struct Text {
    /// The path from the root of the repository.
    pub(crate) path: String,
    pub(crate) content: String,
}

/// The tracked files that match these patterns of git.
pub(crate) fn tracked(patterns: &[&str]) -> Result<Vec<Text>, String> {
    let read = |path: String| {
        let content = fs::read_to_string(run::root().join(&path));
        content.map_err(|error| format!("{path}: {error}")).map(|content| Text { path, content })
    };
    paths(patterns)?.into_iter().map(read).collect()
}

/// The paths of the tracked files that match these patterns of git.
pub(crate) fn paths(patterns: &[&str]) -> Result<Vec<String>, String> {
    let listed = run::command(&["git", "ls-files", "-z", "--"]).args(patterns).output();
    let listed = listed.map_err(|error| format!("`git ls-files`: {error}"))?;
    if !listed.status.success() {
        return Err(format!("`git ls-files`: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    // A file that was deleted and not yet committed is still listed.
    let present = listed.split_terminator('\0').filter(|path| run::root().join(path).exists());
    Ok(present.map(str::to_owned).collect())
}
