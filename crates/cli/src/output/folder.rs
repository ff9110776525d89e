//! The folder that a run writes and the other commands read: records, the machine, the page.

use anyhow::{Context, Result, bail};
use lab::record::{Machine, RecordSet, write_atomically};
use lab::report::{Part, html};
use lab::study::definition::Definition;
use lab::study::embedded;
use std::path::{Path, PathBuf};

/// The folder where no other is named.
pub(crate) const DEFAULT: &str = "hashlane-report";

/// A folder of results.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// The folder for a run to come: made, and tried, so that nothing is measured that cannot be kept.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let hint = || format!("cannot write results to {}; name another folder with --out", path.display());
        std::fs::create_dir_all(path).with_context(hint)?;
        let probe = path.join(".hashlane-write-test");
        std::fs::write(&probe, b"").with_context(hint)?;
        std::fs::remove_file(&probe).with_context(hint)?;
        Ok(Self(path.into()))
    }

    /// A folder that a run has written.
    pub(crate) fn open(path: &Path) -> Self {
        Self(path.into())
    }

    pub(crate) fn page(&self) -> PathBuf {
        self.0.join("report.html")
    }

    pub(crate) fn records(&self) -> Result<RecordSet> {
        let path = self.0.join("records.csv");
        if !path.exists() {
            bail!("{} has no records.csv; `hashlane study run` writes one", self.0.display());
        }
        Ok(RecordSet::read(&path)?)
    }

    pub(crate) fn machine(&self) -> Result<Machine> {
        Ok(Machine::read(&self.0.join("machine.toml"))?)
    }

    /// Writes everything; each file is replaced as a whole.
    pub(crate) fn write(
        &self,
        definitions: &[Definition],
        records: &RecordSet,
        machine: &Machine,
    ) -> Result<()> {
        let cannot = || format!("cannot write results to {}", self.0.display());
        records.write(&self.0.join("records.csv")).with_context(cannot)?;
        machine.write(&self.0.join("machine.toml")).with_context(cannot)?;
        self.draw(definitions, records, machine)
    }

    /// Writes the page.
    pub(crate) fn draw(
        &self,
        definitions: &[Definition],
        records: &RecordSet,
        machine: &Machine,
    ) -> Result<()> {
        let parts: Vec<_> =
            definitions.iter().map(|definition| Part { definition, records, machine }).collect();
        let page = html(&parts).context("cannot draw the page")?;
        let path = self.page();
        write_atomically(&path, page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The study that `name` stands for: a slug, or a file where it looks like one.
pub(crate) fn definition(name: &str) -> Result<Definition> {
    if let Some(study) = embedded::find(name) {
        return Ok(Definition::parse(study.text, study.slug)?);
    }
    let path = Path::new(name);
    if !name.ends_with(".toml") {
        let there: Vec<_> = embedded::STUDIES.iter().map(|study| study.slug).collect();
        bail!("no study {name:?}: there is {}; or name a file that ends with .toml", there.join(", "));
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the study {}", path.display()))?;
    Ok(Definition::parse(&text, name)?)
}
