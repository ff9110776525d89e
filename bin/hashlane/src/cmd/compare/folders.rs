//! Folders of records.

use crate::output::folder::Folder;
use crate::studies::STUDIES;
use anyhow::{Result, bail};
use hashlane_lab::compare::text;
use hashlane_records::RecordSet;
use hashlane_records::compare::{Comparison, folders, repeats};
use std::path::Path;

/// Compares the records of two folders: the metrics that are named, or that of each study.
pub(super) fn compare(a: &Path, b: &Path, metrics: &[String]) -> Result<Comparison> {
    let (of_a, of_b) = (records(a)?, records(b)?);
    let common = folders::metrics(&of_a, &of_b);
    if common.is_empty() {
        bail!(
            "{} and {} have no record in common: {}, {}; compare runs of the same study",
            a.display(),
            b.display(),
            content(a, &of_a),
            content(b, &of_b)
        );
    }
    if let Some(unknown) = metrics.iter().find(|metric| !common.contains(metric)) {
        bail!("no metric {unknown:?} in both folders; the metrics are {}", common.join(", "));
    }
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

/// Number of records of a folder, and its studies.
fn content(path: &Path, records: &RecordSet) -> String {
    let mut studies: Vec<&str> = records.iter().map(|record| record.study.as_str()).collect();
    studies.dedup();
    studies.sort_unstable();
    studies.dedup();
    match studies.as_slice() {
        [] => format!("{} has no records", path.display()),
        studies => format!("{} has {}", path.display(), studies.join(", ")),
    }
}
