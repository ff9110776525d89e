//! The list of runs, `records/runs.toml`.

use crate::run;
use serde::Deserialize;
use std::fs;

/// The list, from the root of the repository.
const LIST: &str = "records/runs.toml";

/// A run of `hashlane`, or of a task, whose records the repository holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    /// Folder below the machine's.
    pub(super) folder: String,
    /// Words behind `hashlane`, or behind `cargo xtask`.
    pub(super) command: String,
    /// File of its standard output, for a command that writes no folder of results.
    pub(super) stdout: Option<String>,
    /// File that a task of `cargo xtask` writes.
    pub(super) task: Option<String>,
    pub(super) minutes: u32,
    /// Programs without which a part is not measured.
    #[serde(default)]
    pub(super) needs: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    run: Vec<Run>,
}

/// The runs, in their order; of these folders only, if there are any.
///
/// # Errors
/// The list is not read, or has no run of one of the folders.
pub(super) fn runs(folders: &[String]) -> Result<Vec<Run>, String> {
    let text = fs::read_to_string(run::root().join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let List { run: runs } = toml::from_str(&text).map_err(|error| format!("{LIST}: {error}"))?;
    let known: Vec<&str> = runs.iter().map(|run| run.folder.as_str()).collect();
    if let Some(other) = folders.iter().find(|folder| !known.contains(&folder.as_str())) {
        return Err(format!("{LIST} has no run {other:?}; it has {}", known.join(", ")));
    }
    Ok(runs.into_iter().filter(|run| folders.is_empty() || folders.contains(&run.folder)).collect())
}
