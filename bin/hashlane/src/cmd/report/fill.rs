//! `hashlane report --fill`: figures of records in Markdown files.

use super::definitions;
use crate::output::{
    self,
    folder::{Folder, MACHINE, RECORDS, parts},
};
use anyhow::{Context, Result, anyhow, bail};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::fill::{Run, Runs, StudyTexts, fill as filled};
use hashlane_lab::run::Machine;
use hashlane_records::write_atomically;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of a Markdown file, and of a text file.
const MOST_BYTES: u64 = 16 << 20;

/// Draws the figures of `files` from the runs in `folders`; with `check` only compares them.
pub(super) fn fill(folders: &[PathBuf], files: &[PathBuf], check: bool, own: &[Definition]) -> Result<()> {
    let mut runs = Runs::new();
    for folder in folders {
        let (name, run) = (name(folder)?, run(folder, own)?);
        // Dates in UTC are in the order of their texts.
        let is_later = |other: &Run| run.machine.run.date > other.machine.run.date;
        if runs.get(&name).is_none_or(is_later) {
            runs.insert(name, run);
        }
    }
    let runs = Arc::new(runs);
    let mut outdated = Vec::new();
    for file in files {
        let text = read(file)?;
        let drawn =
            filled(&text, &runs).map_err(|why| anyhow!(why)).with_context(|| file.display().to_string())?;
        if drawn == text {
            continue;
        }
        if check {
            outdated.push(file.display().to_string());
        } else {
            write_atomically(file, drawn.as_bytes())
                .with_context(|| format!("cannot write {}", file.display()))?;
            output::print(&format!("written: {}\n", file.display()))?;
        }
    }
    if !outdated.is_empty() {
        bail!(
            "figures differ from the records in {}; --fill without --check draws them",
            outdated.join(", ")
        );
    }
    Ok(())
}

/// The last part of a folder's path.
fn name(folder: &Path) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{} has no name: write its path", folder.display()))?.to_owned())
}

fn run(path: &Path, own: &[Definition]) -> Result<Run> {
    let folder = Folder::open(path);
    let mut run = Run::default();
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        let file = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        if file.extension().is_some_and(|extension| extension == "txt") {
            run.files.insert(name(&file)?, read(&file)?);
        }
    }
    if path.join(RECORDS).exists() {
        let (records, studies) = (folder.records()?, folder.studies()?);
        run.machine = folder.machine()?;
        let definitions = definitions(path, &records, &studies, own)?;
        for part in parts(&definitions, &records, &run.machine, &studies) {
            run.studies.insert(part.definition.slug.clone(), StudyTexts::new(&part));
        }
    } else if path.join(MACHINE).exists() {
        run.machine = Machine::read(&path.join(MACHINE))?;
    } else {
        bail!("{} has no records.csv; `hashlane study run` writes one", path.display());
    }
    Ok(run)
}

fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(file)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read {}", file.display()))?;
    if text.len() as u64 > MOST_BYTES {
        bail!("{} has more than 16 MiB", file.display());
    }
    Ok(text)
}
