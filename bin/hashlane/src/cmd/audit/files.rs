//! Files that an audit writes: checks before the work, keys, the page and the picture.

use super::{Audit, page, picture, table};
use anyhow::{Context as _, Result, bail};
use hashlane_audit::attack::Knowledge;
use hashlane_audit::audit::{Epsilon, Report, Settings};
use hashlane_audit::curve::Curve;
use hashlane_audit::epsilon::vectors;
use hashlane_audit::subject::SubjectInfo;
use hashlane_audit::verdict::Verdict;
use hashlane_lab::report::{Block, svg_file};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

impl Audit {
    /// Checks that no file is written twice, and none that is read.
    pub(super) fn check_distinct(&self, files: [Option<&Path>; 3]) -> Result<()> {
        let read = [("--library", self.library.as_deref()), ("--table", Some(Path::new(&self.table)))];
        let written = ["--write-keys", "--page", "--picture"].into_iter().zip(files);
        let all: Vec<(&str, &Path)> =
            read.into_iter().chain(written).filter_map(|(option, path)| Some((option, path?))).collect();
        for (number, (option, path)) in all.iter().enumerate() {
            let same = all.iter().take(number).find(|(_, other)| place(other) == place(path));
            // The same library may have a hash and a table.
            if let Some((other, _)) = same.filter(|_| *option != "--table") {
                bail!("{option} and {other} name one file, {}: name another", path.display());
            }
        }
        Ok(())
    }
}

/// Path of a file without links, also of one that is not there yet.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Checks that a file can be written, before the work begins. It changes nothing.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let opened = File::options().append(true).create(true).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        std::fs::remove_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The page: a part for each function.
pub(super) fn page_of(reports: &[Report], curves: &[Option<Curve>], settings: &Settings) -> Result<String> {
    let parts: Vec<page::Part<'_>> = reports
        .iter()
        .zip(curves)
        .map(|(report, curve)| page::Part {
            name: &report.info.id,
            sentence: report.sentence(),
            facts: vec![
                format!("Source: {}", report.info.source),
                format!("ε: {}", table::epsilon_sentence(&report.epsilon)),
            ],
            curve: curve.as_ref().map(|curve| (curve, report.verdict.flood().is_some())),
        })
        .collect();
    page::html(&table::describe(&settings.geometry), settings.seed, &parts)
}

/// One picture of all functions that give hashes.
pub(super) fn picture_of(reports: &[Report], curves: &[Option<Curve>]) -> Option<String> {
    let drawn: Vec<(&Report, &Curve)> =
        reports.iter().zip(curves).filter_map(|(report, curve)| Some((report, curve.as_ref()?))).collect();
    let plots = match drawn[..] {
        [] => return None,
        [(report, curve)] => picture::of_one(curve, report.verdict.flood().is_some(), String::new()),
        _ => picture::of_many(&drawn),
    };
    svg_file(&Block::Lines(plots))
}

/// Text of the file of keys: for each verdict a line of comment, then one key a line in hexadecimal digits.
///
/// The keys are the flood's, or two of one hash under every seed if no larger flood is known.
pub(super) fn keys_text(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let SubjectInfo { id, source, .. } = &report.info;
        let (head, keys): (String, Vec<&[u8]>) = match (&report.verdict, &report.epsilon) {
            (Verdict::PairAlways, Epsilon::Broken { keys, .. }) => {
                ("two keys of one hash, needs nothing".to_owned(), keys.iter().map(Vec::as_slice).collect())
            }
            (verdict, _) => {
                let (Some(attack), Some(flood)) = (verdict.attack(), verdict.flood()) else { continue };
                let about = report.attempts.iter().map(|(about, _)| about).find(|about| about.id == attack);
                let needs = about.map_or(Knowledge::Nothing, |about| about.knowledge);
                let seed = vectors::hex(&flood.seed.to_bytes());
                let tables = flood.tables();
                let head = format!("attack {attack}, needs {needs}; the keys meet {tables}; a seed: {seed}");
                (head, flood.keys.iter().collect())
            }
        };
        // A `String` takes everything.
        let _ = writeln!(text, "# {id} ({source}): {}; {head}", report.verdict.word());
        for key in keys {
            let _ = writeln!(text, "{}", vectors::hex(key));
        }
    }
    text
}
