//! The `machine.toml` of a run, and the name of this machine's folder.

use serde::Deserialize;
use std::fs;
use std::thread;

/// Facts of a run, as far as they are read here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Facts {
    pub(super) build: Build,
    pub(super) run: Run,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Build {
    /// Commit of the build.
    pub(super) commit: String,
    /// Studies that are marked as changed since.
    pub(super) changed: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Run {
    command: Vec<String>,
    /// The run did not measure all that it was asked for.
    pub(super) partial: bool,
    pub(super) partial_reason: Option<String>,
}

impl Facts {
    /// The facts in the text of a `machine.toml`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The words behind `hashlane` or `cargo xtask`, without the wait for a quiet machine.
    pub(super) fn command(&self) -> String {
        let is_task = self.run.command.first().is_some_and(|first| first == "cargo");
        let mut words = self.run.command.iter().skip(if is_task { 2 } else { 1 });
        let mut kept = Vec::new();
        while let Some(word) = words.next() {
            if word == "--wait-quiet" {
                words.next();
            } else {
                kept.push(word.as_str());
            }
        }
        kept.join(" ")
    }
}

/// The text of a `machine.toml` with these studies marked as changed.
pub(super) fn marked(text: &str, changed: &[String]) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("changed = ")) {
        out += &format!("{line}\n");
        if line.starts_with("commit = ") && !changed.is_empty() {
            out += &format!("changed = {changed:?}\n");
        }
    }
    out
}

/// A `machine.toml` for a command line that writes none.
pub(super) fn minimal(commit: &str, date: &str, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    format!(
        "[build]\nhashlane = {:?}\ncommit = {commit:?}\n\n[run]\ndate = {date:?}\ncommand = {words:?}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Name for this machine's folder: processor, widest vectors, number of logical processors.
pub(super) fn name() -> String {
    let cores = thread::available_parallelism().map_or(1, |count| count.get());
    // Without the file, as on other systems, nothing is known but the number of cores.
    name_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default(), cores)
}

fn name_of(cpuinfo: &str, cores: usize) -> String {
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value).to_lowercase()
    };
    let (model, flags) = (field("model name"), field("flags"));
    let has = |flag: &str| flags.split_whitespace().any(|known| known == flag);
    let families = ["epyc", "ryzen", "xeon", "core"];
    let family = families.iter().find(|family| model.contains(**family)).copied();
    let vectors = [("avx512f", "avx512"), ("avx2", "avx2")].iter().find(|(flag, _)| has(flag));
    let virtual_cores = if has("hypervisor") { "vcpu" } else { "cpu" };
    let vectors = vectors.map_or(std::env::consts::ARCH, |(_, name)| name);
    format!("{}-{vectors}-{cores}{virtual_cores}", family.unwrap_or("other"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_after_its_processor() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512f hypervisor\n";
        assert_eq!(name_of(cpuinfo, 2), "epyc-avx512-2vcpu");
        let cpuinfo = "model name : Intel(R) Core(TM) i7\nflags : avx2\n";
        assert_eq!(name_of(cpuinfo, 8), "core-avx2-8cpu");
        assert!(name_of("", 1).starts_with("other-"));
    }

    #[test]
    fn marks_are_written_once_and_taken_away() {
        let text =
            "[build]\ncommit = \"0123\"\n\n[run]\ncommand = [\"hashlane\", \"--wait-quiet\", \"9\", \"x\"]\n";
        let once = marked(text, &["a".into(), "b".into()]);
        assert_eq!(once.matches("changed = [\"a\", \"b\"]").count(), 1);
        let facts = Facts::parse(&once).unwrap();
        assert_eq!((facts.build.changed.len(), facts.command()), (2, "x".to_owned()));
        assert_eq!(marked(&once, &["a".into(), "b".into()]), once);
        assert_eq!(marked(&once, &[]), text);
        for line in ["hashlane audit --json", "cargo xtask audit --json"] {
            let minimal = minimal("0123", "2026-01-02T00:00:00Z", line);
            let facts = Facts::parse(&minimal).unwrap();
            assert_eq!((facts.build.commit.as_str(), facts.command()), ("0123", "audit --json".to_owned()));
        }
    }
}
