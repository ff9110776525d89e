//! `hashlane report`

use crate::output::{
    self,
    folder::{Folder, definition},
};
use crate::studies::STUDIES;
use anyhow::{Context, Result};
use clap::Args;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::terminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Redraw report.html from the records in each folder, and print the tables.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane report hashlane-report
  hashlane report results --study my-study.toml")]
pub(crate) struct Report {
    /// Folders written by `study run`
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Study file of your own that the records belong to (repeatable)
    #[arg(long, value_name = "FILE.toml")]
    study: Vec<String>,
}

impl Report {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let own = self.study.iter().map(|file| definition(file)).collect::<Result<Vec<Definition>>>()?;
        for path in &self.folders {
            let folder = Folder::open(path);
            let (records, machine) = (folder.records()?, folder.machine()?);
            let mut slugs: Vec<_> = records.iter().map(|record| record.study.as_str()).collect();
            slugs.dedup();
            let mut definitions: Vec<Definition> = Vec::new();
            for slug in slugs {
                if definitions.iter().all(|known| known.slug != slug) {
                    definitions.push(match own.iter().find(|study| study.slug == slug) {
                        Some(study) => study.clone(),
                        None => definition(slug).with_context(|| {
                            format!(
                                "{} has records of a study of your own; name its file with --study",
                                path.display()
                            )
                        })?,
                    });
                }
            }
            folder.draw(&definitions, &records, &machine)?;
            for definition in &definitions {
                let sections = STUDIES.sections(definition, &records);
                let (width, colours) = (output::width(), output::colours());
                output::print(&terminal::text(definition, &records, &sections, width, colours))?;
            }
            output::print(&format!("\nreport: {}\n", folder.page().display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
