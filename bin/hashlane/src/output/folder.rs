//! The folder of results: records, the machine that they come from, the page.

use crate::studies::STUDIES;
use anyhow::{Context, Result, bail};
use hashlane_lab::definition::{Definition, MAX_TEXT};
use hashlane_lab::report::{Part, html};
use hashlane_lab::run::{Machine, RunStudies};
use hashlane_records::{RecordSet, write_atomically};
use hashlane_stats::nearest;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The default folder of results.
pub(crate) const DEFAULT: &str = "hashlane-report";

/// The file of the records.
pub(crate) const RECORDS: &str = hashlane_records::FILE_NAME;

/// The file of the machine and the run.
pub(crate) const MACHINE: &str = "machine.toml";

/// The file of the studies: their definitions and durations.
pub(super) const STUDIES_FILE: &str = "studies.toml";

/// The page.
pub(crate) const PAGE: &str = "report.html";

/// Start of the name of a folder with an earlier run.
pub(super) const EARLIER: &str = "run-";

/// All files of a run, the records first.
pub(super) const FILES: [&str; 4] = [RECORDS, PAGE, MACHINE, STUDIES_FILE];

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

    /// The studies of the run; none in folders of earlier versions.
    pub(crate) fn studies(&self) -> Result<RunStudies> {
        let path = self.0.join(STUDIES_FILE);
        RunStudies::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Folders of earlier runs in this one, the newest first.
    pub(crate) fn earlier(&self) -> Result<Vec<PathBuf>> {
        let mut runs: Vec<(u32, PathBuf)> = Vec::new();
        for entry in
            std::fs::read_dir(&self.0).with_context(|| format!("cannot read {}", self.0.display()))?
        {
            let entry = entry?;
            let number = entry.file_name().to_str().and_then(|name| name.strip_prefix(EARLIER)?.parse().ok());
            runs.extend(number.map(|number| (number, entry.path())));
        }
        runs.sort_unstable_by(|a, b| b.cmp(a));
        Ok(runs.into_iter().map(|(_, path)| path).collect())
    }

    /// Writes the page.
    pub(crate) fn draw(&self, parts: &[Part<'_>]) -> Result<()> {
        let page = html(parts).context("cannot draw the page")?;
        let path = self.page();
        write_atomically(&path, page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Parts of a report: each study with its records, answer and sections.
pub(crate) fn parts<'a>(
    definitions: &'a [Definition],
    records: &'a RecordSet,
    machine: &'a Machine,
    studies: &'a RunStudies,
) -> Vec<Part<'a>> {
    let part = |definition: &'a Definition| Part {
        definition,
        records,
        machine,
        run: studies.find(&definition.slug),
        answer: STUDIES.answer(definition, records),
        sections: STUDIES.sections(definition, records),
    };
    definitions.iter().map(part).collect()
}

/// The study that `name` means: a slug, or a file whose name ends with .toml.
pub(crate) fn definition(name: &str) -> Result<Definition> {
    if let Some(file) = STUDIES.files().find(|file| file.slug == name) {
        return Ok(STUDIES.parse(file.text, file.slug)?);
    }
    let path = Path::new(name);
    if !name.ends_with(".toml") {
        let slugs: Vec<&str> = STUDIES.files().map(|file| file.slug).collect();
        match nearest::nearest(name, slugs.iter().copied()) {
            Some(near) => bail!("no study {name:?}: did you mean {near:?}?"),
            None => bail!(
                "no study {name:?}: the studies are {}, or a file that ends with .toml",
                slugs.join(", ")
            ),
        }
    }
    let mut text = String::new();
    // One byte more than a study file may have, so that a longer one is rejected as too long.
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read the study {}", path.display()))?;
    Ok(STUDIES.parse(&text, name)?)
}
