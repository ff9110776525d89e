//! The step `prose` of `cargo xtask test`: Markdown files, and the code and packages that they describe.

pub(crate) mod links;
pub(crate) mod style;
pub(crate) mod summary;
pub(crate) mod text;

mod circles;
mod commits;
pub(crate) mod crates;
mod markdown;
mod walks;

use crate::records::{Changes, outdated};
use crate::run::Outcome;
use clap::Args;
use text::tracked;

/// Check the Markdown files, and the code against them
///
/// The step `prose` of `cargo xtask test`: links, paths of files, chapters of the book, walks and tables of
/// crates; arrows between crates, circles of files; commits of records, and marks of changed code.
#[derive(Debug, Args)]
pub(crate) struct Prose {
    /// Write the tables of crates first, from `cargo metadata`
    #[arg(long)]
    write: bool,
}

impl Prose {
    pub(crate) fn run(&self) -> Outcome {
        match self.write {
            true => crates::packages()
                .and_then(|packages| crates::write(&packages))
                .map_or_else(Outcome::Failed, |()| check()),
            false => check(),
        }
    }
}

/// Checks the tracked Markdown files, sources and records.
pub(crate) fn check() -> Outcome {
    match faults() {
        Ok(0) => Outcome::Passed,
        Ok(faults) => Outcome::Failed(format!("{faults} faults")),
        Err(why) => Outcome::Failed(why),
    }
}

/// Prints the faults, and returns their number.
fn faults() -> Result<usize, String> {
    let (texts, sources) = (tracked(&["*.md"])?, tracked(&["*.rs", "*.toml"])?);
    let machines = tracked(&["records/**/machine.toml"])?;
    let packages = crates::packages()?;
    let files: Vec<&str> = texts.iter().chain(&sources).map(|text| text.path.as_str()).collect();
    let document = texts.iter().find(|text| text.path == walks::DOCUMENT);
    let checks = [
        ("broken links", links::broken(&texts)),
        ("dead paths", links::dead_paths(&texts, &files)),
        ("wrong chapters", summary::faults(&texts)),
        ("wrong walks", walks::wrong(document.map_or("", |text| text.content.as_str()), &sources)),
        ("outdated tables of crates", crates::outdated(&texts, &packages)),
        ("forbidden arrows between crates", crates::forbidden(&packages)),
        ("circles of files", circles::circles(&sources)),
        ("records without their commit", commits::missing(&machines)?),
        ("records without their marks", outdated(&mut Changes::new(&packages)?)?),
    ];
    for (_, faults) in &checks {
        faults.iter().for_each(|fault| println!("{fault}"));
    }
    let counts = checks.each_ref().map(|(name, faults)| format!("{} {name}", faults.len()));
    println!("{} Markdown files: {}", texts.len(), counts.join(", "));
    Ok(checks.iter().map(|(_, faults)| faults.len()).sum())
}
