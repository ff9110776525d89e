//! `cargo xtask book`

use crate::need::{self, Need};
use crate::prose::links::{from_root, relative};
use crate::prose::summary::{self, SUMMARY};
use crate::prose::text;
use crate::records::studies;
use crate::run::{self, Outcome};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Build the documentation as a book, with search and the reports of all records
///
/// Writes the chapters of docs/SUMMARY.md to target/book/src, draws the report of each folder in records/,
/// and runs mdBook. Every local link of the pages must resolve. The pages need no server and no network.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Book {}

const EXAMPLES: &str = "\
Needs mdbook; with CI=true, installs it. Reports are drawn by the newest build of hashlane, debug or release.

Examples:
  cargo xtask book";

const NEEDS: [Need; 1] = [Need {
    name: "mdbook 0.5",
    probe: &["sh", "-c", "mdbook --version | grep -q 'v0[.]5[.]'"],
    install: "cargo install mdbook --locked --version 0.5.4 --no-default-features --features search",
}];

/// The chapter that lists the reports.
const REPORTS: &str = "records/README.md";

impl Book {
    pub(crate) fn run(&self) -> Outcome {
        if let Err(outcome) = need::meet(&NEEDS) {
            return outcome;
        }
        build().into()
    }
}

fn build() -> Result<(), String> {
    let folder = run::target_dir()?.join("book");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let source = folder.join("src");
    write(&folder.join("book.toml"), &read("docs/book.toml")?)?;
    let runs = runs()?;
    let list = draw(&source, &runs)?;
    assemble(&source, &runs, &list)?;
    run::show(run::command(&["mdbook", "build"]).arg(&folder))?;

    let pages = pages(&folder.join("html"))?;
    let dead = dead(&pages, |path| folder.join("html").join(path).is_file());
    dead.iter().for_each(|link| println!("{link}"));
    if !dead.is_empty() {
        return Err(format!("{} dead links in the book", dead.len()));
    }
    println!("{} pages: {}", pages.len(), folder.join("html/index.html").display());
    Ok(())
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(run::root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Writes a file, and makes its folder if that is missing.
fn write(path: &Path, content: &str) -> Result<(), String> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, content)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes the chapters to the paths that they have in the repository, with the files that they link to.
fn assemble(source: &Path, runs: &[String], list: &str) -> Result<(), String> {
    let files: BTreeSet<String> = text::paths(&[])?.into_iter().collect();
    let mut summary = read(SUMMARY)?;
    let chapters = summary::chapters(&summary);
    for (_, target) in relative(&summary.clone()) {
        summary = summary.replace(&format!("({target})"), &format!("({})", from_root(SUMMARY, &target)));
    }
    write(&source.join("SUMMARY.md"), &summary)?;
    for chapter in chapters {
        let mut content = read(&chapter)?;
        let linked = relative(&content).into_iter().map(|(_, target)| from_root(&chapter, &target));
        for file in linked.filter(|file| files.contains(file) && !file.ends_with(".md")) {
            write(&source.join(&file), &read(&file)?)?;
        }
        // A link to the folder of a run leads to its report.
        for run in runs {
            content = content.replace(&format!("{run})"), &format!("{run}/report.html)"));
        }
        if chapter == REPORTS {
            content.push_str(list);
        }
        write(&source.join(&chapter), &content)?;
    }
    Ok(())
}

/// The folders with records, from the root of the repository.
fn runs() -> Result<Vec<String>, String> {
    let files = text::paths(&["records/*/records.csv"])?;
    Ok(files.iter().filter_map(|file| file.strip_suffix("/records.csv")).map(str::to_owned).collect())
}

/// Draws the report of each run into a copy of its folder. Returns the list of reports in Markdown.
fn draw(source: &Path, runs: &[String]) -> Result<String, String> {
    let command = hashlane()?;
    let mut list = "\n## Reports\n\n| run | studies | measured |\n| --- | --- | --- |\n".to_owned();
    for run in runs {
        for file in text::paths(&[run])? {
            write(&source.join(&file), &read(&file)?)?;
        }
        let studies = studies(run)?.join(", ");
        let mut report = run::command(&[command.as_os_str()]);
        report.arg("report").arg(source.join(run)).stdout(Stdio::null());
        let again = "if the build is older than the records' study: cargo build --package hashlane";
        run::show(&mut report).map_err(|why| format!("{why}; {again}"))?;
        let name = run.trim_start_matches("records/");
        let _ = writeln!(list, "| [{name}]({name}/report.html) | {studies} | {} |", date(run)?);
    }
    Ok(list)
}

/// The newest build of `hashlane`; builds it if it was not built yet.
fn hashlane() -> Result<PathBuf, String> {
    let target = run::target_dir()?;
    let built = |path: &PathBuf| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let builds = ["debug/hashlane", "release/hashlane"].map(|path| target.join(path));
    if let Some(newest) = builds.iter().filter(|path| path.exists()).max_by_key(|path| built(path)) {
        return Ok(newest.clone());
    }
    run::cargo("build --package hashlane")?;
    Ok(target.join("debug/hashlane"))
}

/// The day of a run.
fn date(run: &str) -> Result<String, String> {
    let path = format!("{run}/machine.toml");
    let machine = table(&path)?;
    let date = machine.get("run").and_then(|run| run.get("date")).and_then(|date| date.as_str());
    let day = date.and_then(|date| date.split_once('T')).map(|(day, _)| day.to_owned());
    day.ok_or_else(|| format!("{path}: `run.date` is no date with a time"))
}

fn table(path: &str) -> Result<toml::Table, String> {
    toml::from_str(&read(path)?).map_err(|error| format!("{path}: {error}"))
}

/// The pages in a folder and below it, by their paths from there.
fn pages(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        let failed = |error| format!("{}: {error}", current.display());
        for entry in fs::read_dir(&current).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                pages.insert(name, fs::read_to_string(&path).map_err(failed)?);
            }
        }
    }
    Ok(pages)
}

/// A line for each link to a file that is not there, or to an anchor that its page does not have.
fn dead(pages: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut dead = Vec::new();
    for (page, html) in pages {
        for target in targets(html) {
            let path = from_root(page, target);
            let anchor = target.split_once('#').map_or("", |(_, anchor)| anchor);
            let has_anchor = |html: &String| html.contains(&format!("id=\"{anchor}\""));
            let resolves = match pages.get(&path) {
                Some(html) => anchor.is_empty() || has_anchor(html),
                None => exists(&path),
            };
            if !resolves {
                dead.push(format!("{page}: dead link: {target}"));
            }
        }
    }
    dead
}

/// The targets of the links and images of a page that are local.
fn targets(html: &str) -> impl Iterator<Item = &str> {
    let attributes = [" href=\"", " src=\""];
    let values = attributes.into_iter().flat_map(|attribute| html.split(attribute).skip(1));
    let targets = values.filter_map(|rest| rest.split('"').next());
    targets.filter(|target| {
        !target.contains("://") && !["data:", "mailto:"].iter().any(|s| target.starts_with(s))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_files_and_anchors_that_are_not_there() {
        let links = "<h2 id=\"here\"></h2> <a class=\"x\" href=\"b.html#here\"></a> <img src=\"../image.svg\">
<a href=\"b.html#there\"></a> <a href=\"https://example.com/x\"></a> <a href=\"c.html\"></a> <a href=\"#here\"></a>";
        let pages = ["a/a.html", "a/b.html"].map(|page| (page.to_owned(), links.to_owned()));
        let expected = ["a/a.html: dead link: b.html#there", "a/a.html: dead link: c.html"];
        let found = dead(&pages.into(), |path| path == "image.svg");
        assert_eq!(found[..2], expected);
        assert_eq!(found.len(), 4);
    }
}
