//! `hashlane compare`

use crate::output::{self, folder::Folder};
use anyhow::{Result, bail};
use clap::Args;
use hashlane_lab::compare::compare;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the ratio B / A of each figure in two folders of records.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane study run name-encodings --out before
  hashlane study run name-encodings --out after     (after a change)
  hashlane compare before after

There is no verdict (faster, slower): separate runs differ by more than the noise within each run.
Compare two runs of one build first, to see their difference. The exit code does not depend on
the ratios.")]
pub(crate) struct Compare {
    /// Folder of the first run
    a: PathBuf,
    /// Folder of the second run
    b: PathBuf,
    /// Metric to compare
    #[arg(long, default_value = "cycles_mean")]
    metric: String,
}

impl Compare {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let (a, b) = (Folder::open(&self.a).records()?, Folder::open(&self.b).records()?);
        let comparison = compare(&a, &b);
        if !comparison.rows.iter().any(|row| row.key.metric == self.metric) {
            let mut metrics: Vec<_> = comparison.rows.iter().map(|row| row.key.metric.as_str()).collect();
            metrics.sort_unstable();
            metrics.dedup();
            match metrics.is_empty() {
                true => bail!("the two folders have no record in common"),
                false => {
                    bail!(
                        "no metric {:?} in both folders; the metrics are {}",
                        self.metric,
                        metrics.join(", ")
                    )
                }
            }
        }
        output::print(&comparison.text(&self.metric, output::width()))?;
        Ok(ExitCode::SUCCESS)
    }
}
