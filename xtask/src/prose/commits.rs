//! Commits that records name: a reader must find the code that made a figure.

use super::text::Text;
use crate::run;

/// Records whose commit is not an ancestor of the current one; `machines` are all tracked `machine.toml`.
///
/// # Errors
/// git cannot be run.
pub(super) fn missing(machines: &[Text]) -> Result<Vec<String>, String> {
    if git(&["rev-parse", "--is-shallow-repository"])?.1.trim() == "true" {
        println!("commits of records are not checked: the clone is shallow; run `git fetch --unshallow`");
        return Ok(Vec::new());
    }
    let mut missing = Vec::new();
    for Text { path, content } in machines {
        let Some(commit) = commit(content) else {
            missing.push(format!("{path}: no commit; measure again with a build in the repository"));
            continue;
        };
        if !git(&["merge-base", "--is-ancestor", commit, "HEAD"])?.0 {
            missing.push(format!("{path}: commit {commit} is not in the history; measure again"));
        }
    }
    Ok(missing)
}

/// The value of `commit` in a `machine.toml`.
fn commit(machine: &str) -> Option<&str> {
    machine.lines().find_map(|line| line.strip_prefix("commit = \"")?.strip_suffix('"'))
}

/// Success of a git command, and its output.
fn git(words: &[&str]) -> Result<(bool, String), String> {
    let output = run::command(&["git"]).args(words).output().map_err(|error| format!("git: {error}"))?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_is_not_in_the_history_is_reported() {
        let text = |content: &str| Text { path: "records/a/machine.toml".into(), content: content.into() };
        let head = git(&["rev-parse", "HEAD"]).unwrap().1;
        let machines = [
            text(&format!("commit = \"{}\"\n", &head[..12])),
            text("commit = \"0123456789ab\"\n"),
            text("[build]\n"),
        ];
        if git(&["rev-parse", "--is-shallow-repository"]).unwrap().1.trim() == "true" {
            return;
        }
        let missing = missing(&machines).unwrap();
        assert_eq!(missing.len(), 2);
        assert!(missing[0].contains("0123456789ab is not in the history"), "{missing:?}");
        assert!(missing[1].contains("no commit"), "{missing:?}");
    }
}
