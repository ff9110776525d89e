//! `hashlane report`

mod fill;

use crate::output::{
    self,
    folder::{Folder, definition, parts},
};
use crate::studies::STUDIES;
use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Part, differences, json, markdown, svg_file, terminal};
use hashlane_lab::run::RunStudies;
use hashlane_records::{RecordSet, write_atomically};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Redraw report.html from the records in each folder, and print the summary.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane report hashlane-report
  hashlane report hashlane-report --verbose
  hashlane report hashlane-report --differences
  hashlane report hashlane-report --charts      SVG files for a paper or a page of your own
  hashlane report hashlane-report/run-1         an earlier run
  hashlane report hashlane-report --export markdown > results.md
  hashlane report hashlane-report --fill README.md
                                                draw the figures of your own page again

A folder keeps the definitions of its studies, so that it can be drawn on any machine and by later
versions. Folders of versions before 0.2 have none: name the file of a study of your own with --study.

--fill draws what stands between the lines `<!-- figures` and `<!-- end of figures -->` of a Markdown file
by the template in that comment, which quotes the folders by their names: {{ answer('hashlane-report',
'flow-hash') }}. docs/study-files.md lists the functions. Of several folders of one name, the latest run
counts.")]
pub(crate) struct Report {
    /// Folders written by `study run`
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Study file of your own that the records belong to, in place of the stored one (repeatable)
    #[arg(long, value_name = "FILE.toml")]
    study: Vec<String>,
    /// Print every table
    #[arg(long)]
    verbose: bool,
    /// List the results that differ from the sources
    #[arg(long)]
    differences: bool,
    /// Write the chart of each study as DIR/charts/STUDY.svg
    #[arg(long)]
    charts: bool,
    /// Print every sentence and table in this format, and nothing else
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["verbose", "differences", "charts"])]
    export: Option<Export>,
    /// Draw the figures of this Markdown file again from the records in the folders (repeatable)
    #[arg(long, value_name = "FILE.md", conflicts_with_all = ["verbose", "differences", "charts", "export"])]
    fill: Vec<PathBuf>,
    /// Change no file; fail if the figures of one differ
    #[arg(long, requires = "fill")]
    check: bool,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Export {
    /// Headings, sentences and tables
    Markdown,
    /// The same as a list of studies
    Json,
}

impl Report {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let own = self.study.iter().map(|file| definition(file)).collect::<Result<Vec<Definition>>>()?;
        if !self.fill.is_empty() {
            fill::fill(&self.folders, &self.fill, self.check, &own)?;
            return Ok(ExitCode::SUCCESS);
        }
        for path in &self.folders {
            self.folder(path, &own)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn folder(&self, path: &Path, own: &[Definition]) -> Result<()> {
        let folder = Folder::open(path);
        let (records, machine, studies) = (folder.records()?, folder.machine()?, folder.studies()?);
        let definitions = definitions(path, &records, &studies, own)?;
        let parts = parts(&definitions, &records, &machine, &studies);
        match self.export {
            Some(Export::Markdown) => {
                let texts: Vec<String> = parts.iter().map(markdown).collect();
                return Ok(output::print(&texts.join("\n"))?);
            }
            Some(Export::Json) => return Ok(output::print(&format!("{:#}\n", json(&parts)))?),
            None => {}
        }
        let drawn = folder.draw(&parts);
        let (width, colours) = (output::width(), output::colours());
        if self.charts {
            charts(&path.join("charts"), &parts)?;
        }
        if self.differences {
            for found in differences(&parts) {
                output::print(&terminal::wrapped(&format!("{}: {}", found.topic, found.text), "", width))?;
            }
            return drawn;
        }
        if self.verbose || parts.len() == 1 {
            for part in &parts {
                output::print(&format!("{}\n", terminal::text(part, width, colours)))?;
            }
        }
        let place = path.display().to_string();
        output::print(&terminal::summary(&parts, &place, width, colours))?;
        drawn?;
        output::print(&format!("\nreport:  {}\n", folder.page().display()))?;
        let earlier = folder.earlier()?;
        for earlier in earlier {
            let run = Folder::open(&earlier).machine().map(|machine| machine.run);
            let date =
                run.map_or_else(|error| format!("{error:#}"), |run| format!("{}, {}", run.date, run.size));
            output::print(&format!("earlier: {} ({date})\n", earlier.display()))?;
        }
        Ok(())
    }
}

/// Writes the chart of each study as a separate file.
fn charts(folder: &Path, parts: &[Part<'_>]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for part in parts {
        let chart = part.answer.as_ref().and_then(|answer| answer.chart.as_ref()).and_then(svg_file);
        let Some(chart) = chart else { continue };
        let path = folder.join(format!("{}.svg", part.definition.slug));
        write_atomically(&path, chart.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        output::print(&format!("chart:   {}\n", path.display()))?;
    }
    Ok(())
}

/// Definitions of the studies in the records: the user's own file, the one stored with the records, or the
/// one of this version.
fn definitions(
    path: &Path,
    records: &RecordSet,
    studies: &RunStudies,
    own: &[Definition],
) -> Result<Vec<Definition>> {
    let mut definitions: Vec<Definition> = Vec::new();
    for slug in records.studies() {
        let stored = studies.find(slug);
        definitions.push(match (own.iter().find(|study| study.slug == slug), stored) {
            (Some(study), _) => study.clone(),
            (None, Some(stored)) => {
                STUDIES
                    .parse(&stored.definition, slug)
                    .map_err(|error| anyhow!(error))
                    .with_context(|| format!("{}: the study file in studies.toml", path.display()))?
            }
            (None, None) => definition(slug).with_context(|| {
                format!("{} has records of a study of your own; name its file with --study", path.display())
            })?,
        });
    }
    Ok(definitions)
}
