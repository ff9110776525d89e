//! Marks of studies whose code has changed since their records, and the figures in Markdown files.

use super::machine::{Facts, marked};
use super::timed::Changes;
use crate::prose::text::tracked;
use crate::run;
use std::collections::BTreeSet;
use std::fs;

/// The beginning of a text with figures.
const FIGURES: &str = "<!-- figures\n";

/// The facts and the studies of a folder with records; `None` without records.
///
/// # Errors
/// A file is not read.
pub(super) fn read(folder: &str) -> Result<Option<(Facts, Vec<String>)>, String> {
    let file = format!("{folder}/machine.toml");
    let path = run::root().join(&file);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    let facts = Facts::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    Ok(Some((facts, studies(folder)?)))
}

/// The studies of the records in a folder; of a folder without records, its name.
///
/// # Errors
/// The records are not read.
pub(crate) fn studies(folder: &str) -> Result<Vec<String>, String> {
    let path = run::root().join(folder).join("records.csv");
    if !path.exists() {
        return Ok(folder.rsplit('/').next().map(str::to_owned).into_iter().collect());
    }
    let records = fs::read_to_string(path).map_err(|error| format!("{folder}/records.csv: {error}"))?;
    let slugs = records.lines().skip(1).filter_map(|record| record.split(',').next());
    Ok(slugs.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect())
}

/// The studies whose timed code differs from the commit of their records.
///
/// # Errors
/// git does not know the commit.
pub(super) fn changed(
    facts: &Facts,
    studies: &[String],
    changes: &mut Changes<'_>,
) -> Result<Vec<String>, String> {
    let mut changed = Vec::new();
    for study in studies {
        if changes.is_changed(study, &facts.build.commit)? {
            changed.push(study.clone());
        }
    }
    Ok(changed)
}

/// Records whose marks do not fit the present code, a line each.
///
/// # Errors
/// A file is not read, or git cannot be run.
pub(crate) fn outdated(changes: &mut Changes<'_>) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    each(|file, facts, studies| {
        let changed = changed(facts, &studies, changes)?;
        if changed != facts.build.changed {
            let list = if changed.is_empty() { "no study".to_owned() } else { changed.join(", ") };
            let commit = &facts.build.commit;
            lines.push(format!(
                "{file}: timed code of {list} has changed since {commit}; run `cargo xtask records --mark`"
            ));
        }
        Ok(())
    })?;
    Ok(lines)
}

/// Writes the marks of all records.
///
/// # Errors
/// As above, or a file cannot be written.
pub(super) fn write(changes: &mut Changes<'_>) -> Result<(), String> {
    each(|file, facts, studies| {
        let changed = changed(facts, &studies, changes)?;
        if changed == facts.build.changed {
            return Ok(());
        }
        let path = run::root().join(file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        fs::write(&path, marked(&text, &changed)).map_err(|error| format!("{file}: {error}"))?;
        println!("marked: {file}");
        Ok(())
    })
}

/// Calls `act` with each `machine.toml`, its facts and its studies. A commit that the clone lacks, as a
/// shallow one may, is reported by another check.
fn each(mut act: impl FnMut(&str, &Facts, Vec<String>) -> Result<(), String>) -> Result<(), String> {
    for file in machines()? {
        let folder = file.trim_end_matches("/machine.toml");
        let Some((facts, studies)) = read(folder)? else { continue };
        let commit = format!("{}^{{commit}}", facts.build.commit);
        if run::works(&["git", "cat-file", "-e", &commit]) {
            act(&file, &facts, studies)?;
        }
    }
    Ok(())
}

/// All `machine.toml`, also those that git does not track yet.
fn machines() -> Result<Vec<String>, String> {
    let folders = |path: &str| -> Result<Vec<String>, String> {
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let mut found = Vec::new();
        for entry in fs::read_dir(run::root().join(path)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.path().is_dir() {
                found.push(format!("{path}/{}", entry.file_name().to_string_lossy()));
            }
        }
        found.sort();
        Ok(found)
    };
    let mut files = Vec::new();
    for machine in folders("records")? {
        let runs = folders(&machine)?.into_iter().map(|run| format!("{run}/machine.toml"));
        files.extend(runs.filter(|file| run::root().join(file).exists()));
    }
    Ok(files)
}

/// Draws the figures of all Markdown files that have some.
///
/// # Errors
/// The command cannot be built, or a text names records that there are not.
pub(super) fn draw() -> Result<(), String> {
    let files: Vec<String> = tracked(&["*.md"])?
        .into_iter()
        .filter(|text| text.content.contains(FIGURES))
        .map(|text| text.path)
        .collect();
    if files.is_empty() {
        return Ok(());
    }
    run::cargo("build --package hashlane")?;
    let mut fill = run::command(&[run::target_dir()?.join("debug/hashlane")]);
    fill.arg("report");
    fill.args(machines()?.iter().map(|file| file.trim_end_matches("/machine.toml")));
    fill.args(files.iter().flat_map(|file| ["--fill", file]));
    run::show(&mut fill)
}
