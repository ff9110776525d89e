//! The folder of results: records, the machine that they come from, the page.

use crate::studies::STUDIES;
use anyhow::{Context, Result, bail};
use hashlane_lab::definition::{Definition, MAX_TEXT};
use hashlane_lab::record::{Machine, RecordSet, write_atomically};
use hashlane_lab::report::{Part, html};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The default folder of results.
pub(crate) const DEFAULT: &str = "hashlane-report";

/// The file of the records.
pub(crate) const RECORDS: &str = "records.csv";

/// The file of the machine and the run.
pub(super) const MACHINE: &str = "machine.toml";

/// The page.
pub(crate) const PAGE: &str = "report.html";

/// All files of a run, the records first.
pub(super) const FILES: [&str; 3] = [RECORDS, PAGE, MACHINE];

/// A folder of results.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A folder that a run has written.
    pub(crate) fn open(path: &Path) -> Self {
        Self(path.into())
    }

    pub(crate) fn page(&self) -> PathBuf {
        self.0.join(PAGE)
    }

    pub(crate) fn records(&self) -> Result<RecordSet> {
        let path = self.0.join(RECORDS);
        if !path.exists() {
            bail!("{} has no records.csv; `hashlane study run` writes one", self.0.display());
        }
        Ok(RecordSet::read(&path)?)
    }

    pub(crate) fn machine(&self) -> Result<Machine> {
        Ok(Machine::read(&self.0.join(MACHINE))?)
    }

    /// Writes the page.
    pub(crate) fn draw(
        &self,
        definitions: &[Definition],
        records: &RecordSet,
        machine: &Machine,
    ) -> Result<()> {
        let part = |definition| {
            let sections = STUDIES.sections(definition, records);
            Part { definition, records, machine, sections }
        };
        let parts: Vec<_> = definitions.iter().map(part).collect();
        let page = html(&parts).context("cannot draw the page")?;
        let path = self.page();
        write_atomically(&path, page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The study that `name` means: a slug, or a file whose name ends with .toml.
pub(crate) fn definition(name: &str) -> Result<Definition> {
    if let Some(file) = STUDIES.files().find(|file| file.slug == name) {
        return Ok(STUDIES.parse(file.text, file.slug)?);
    }
    let path = Path::new(name);
    if !name.ends_with(".toml") {
        let there: Vec<_> = STUDIES.files().map(|file| file.slug).collect();
        bail!("no study {name:?}: there is {}; or name a file that ends with .toml", there.join(", "));
    }
    let mut text = String::new();
    // One byte more than a study file may have, so that a longer one is rejected as too long.
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read the study {}", path.display()))?;
    Ok(STUDIES.parse(&text, name)?)
}
