//! Folders of records.

use crate::output::folder::Folder;
use crate::studies::STUDIES;
use anyhow::{Result, bail};
use hashlane_lab::compare::text;
use hashlane_records::RecordSet;
use hashlane_records::compare::{Comparison, folders, repeats};
use std::path::Path;

/// Compares the records of two folders: the metrics that are named, or each study's own.
pub(super) fn compare(a: &Path, b: &Path, metrics: &[String]) -> Result<Comparison> {
    let (of_a, of_b) = (records(a)?, records(b)?);
    folders::check([a, b], [&of_a, &of_b], metrics)?;
    Ok(folders::compare(&of_a, &of_b, metrics, metric))
}

/// Table of the intervals that hold the values of other runs of one build.
pub(super) fn same(folders: &[&Path], width: u16) -> Result<String> {
    let runs = folders.iter().map(|folder| records(folder)).collect::<Result<Vec<_>>>()?;
    let found = repeats::repeats(&runs);
    if found.is_empty() {
        bail!("the folders have no timed record in common: name runs of the same study by one build");
    }
    Ok(text::repeats(&found, width))
}

/// Metric of a study that comes with the command.
fn metric(slug: &str) -> Option<String> {
    let file = STUDIES.files().find(|file| file.slug == slug)?;
    STUDIES.parse(file.text, file.slug).ok().map(|study| study.metric)
}

fn records(path: &Path) -> Result<RecordSet> {
    if path.is_file() {
        bail!("{} is a file: name a folder of records, or compare two builds with --run", path.display());
    }
    Folder::open(path).records()
}
