//! The code that a study times, and changes of it since a commit.

use crate::prose::crates::{Package, uses};
use crate::run;
use std::collections::BTreeMap;

/// Packages that no study times: they read and draw what others measure.
const UNTIMED: [&str; 5] = ["lab/lab", "lab/records", "lab/rig", "bin/command", "core/stats"];

/// Commands that the studies of a package start.
const STARTED: [(&str, &str); 5] = [
    ("lab/studies/dns", "bin/dns"),
    ("lab/studies/nameserver", "bin/dns"),
    ("lab/studies/ndn", "bin/ndn"),
    ("lab/studies/meter", "bin/flow"),
    ("lab/studies/python", "python"),
];

/// Lines that are code: neither empty nor a comment of Rust or C.
const CODE: &str = r"^[[:space:]]*([^/[:space:]]|/[^/*])";

/// Files of code. Tests are in files and folders that say so.
const FILES: [&str; 4] = ["*.rs", "*.c", "*.cpp", "*.h"];
const TESTS: &str = ":(exclude)*tests*";

/// Changes of timed code, from git.
pub(crate) struct Changes<'a> {
    packages: &'a [Package],
    /// Folders of the packages of studies, by slug.
    folders: BTreeMap<String, String>,
    /// Answers so far, by commit and package.
    known: BTreeMap<(String, String), bool>,
}

impl<'a> Changes<'a> {
    /// # Errors
    /// git cannot list the study files.
    pub(crate) fn new(packages: &'a [Package]) -> Result<Self, String> {
        // Runs that no study file has.
        let others = [("audit", "lab/audit"), ("referee", "lab/audit"), ("testbed", "bin/ndn")];
        let mut folders = BTreeMap::from(others.map(|(run, folder)| (run.to_owned(), folder.to_owned())));
        for path in crate::prose::text::paths(&["lab/studies/*/*/study.toml"])? {
            let parts: Vec<&str> = path.split('/').collect();
            if let [lab, studies, package, slug, _] = parts.as_slice() {
                folders.insert((*slug).to_owned(), format!("{lab}/{studies}/{package}"));
            }
        }
        Ok(Self { packages, folders, known: BTreeMap::new() })
    }

    /// `true` if code that the study times differs from the commit's; also of a study that is gone.
    ///
    /// # Errors
    /// git does not know the commit.
    pub(crate) fn is_changed(&mut self, slug: &str, commit: &str) -> Result<bool, String> {
        let Some(folder) = self.folders.get(slug).cloned() else { return Ok(true) };
        let key = (commit.to_owned(), folder);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let mut diff = run::command(&["git", "diff", "--name-only", "-G", CODE, commit, "--"]);
        for folder in self.timed(&key.1) {
            diff.args(FILES.map(|files| format!("{folder}/{files}")));
        }
        let output = diff.arg(TESTS).output().map_err(|error| format!("git: {error}"))?;
        if !output.status.success() {
            return Err(format!("`git diff {commit}`: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let changed = !output.stdout.is_empty();
        self.known.insert(key, changed);
        Ok(changed)
    }

    /// The folders with the code that the studies of a package time.
    fn timed(&self, package: &str) -> Vec<String> {
        let started = STARTED.iter().filter(|(from, _)| *from == package).map(|(_, command)| *command);
        let mut folders: Vec<String> = [package].into_iter().chain(started).map(str::to_owned).collect();
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            for used in uses(self.packages, &folder) {
                if !UNTIMED.contains(&used.as_str()) && !folders.contains(used) {
                    folders.push(used.clone());
                }
            }
            at += 1;
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_times_its_crates_and_the_command_that_it_starts() {
        let packages = crate::prose::crates::packages().unwrap();
        let changes = Changes::new(&packages).unwrap();
        let of = |slug: &str| changes.timed(&changes.folders[slug]);
        let flows = of("flow-hash");
        for used in ["core/hash", "core/flow", "lab/baseline", "lab/studies/flows"] {
            assert!(flows.iter().any(|folder| folder == used), "{used} in {flows:?}");
        }
        assert!(!flows.iter().any(|folder| folder == "lab/lab" || folder == "bin/dns"), "{flows:?}");
        let servers = of("dns-serve");
        for used in ["bin/dns", "serve/nameserver", "core/dns"] {
            assert!(servers.iter().any(|folder| folder == used), "{used} in {servers:?}");
        }
        assert!(of("audit").iter().any(|folder| folder == "lab/peers"));
    }

    #[test]
    fn code_of_the_first_commit_has_changed_and_of_no_study_too() {
        let packages = crate::prose::crates::packages().unwrap();
        let mut changes = Changes::new(&packages).unwrap();
        assert!(changes.is_changed("no-study", "HEAD").unwrap());
        assert!(changes.is_changed("flow-hash", "no-commit").is_err());
        let clean = run::command(&["git", "status", "--porcelain", "core", "lab"]).output().unwrap();
        if clean.stdout.is_empty() {
            assert!(!changes.is_changed("flow-hash", "HEAD").unwrap());
        }
    }
}
