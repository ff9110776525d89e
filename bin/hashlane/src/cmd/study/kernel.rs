//! `hashlane study kernel-patches` and `kernel-selftest`

use crate::output;
use anyhow::Result;
use clap::Args;
use hashlane_study_kernel::patches::{self, SELFTEST};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane study kernel-patches ~/linux --out patches
  git -C ~/linux am --signoff $PWD/patches/siphash/000[1-3]*.patch

TREE is a source tree of Linux 6.1 or later; the patches are written for it, and it is not changed.
Two series are written; apply one of them: siphash hashes all of a connection's tuple under
a key of 128 bits, jhash is the cheaper alternative. Each has a letter with the figures of flow-kernel,
the change of the hash, a KUnit test, and the selftest of kernel-selftest.

The author is git's user.name and user.email.")]
pub(super) struct PatchesArgs {
    /// Source tree of Linux: the folder with its top Makefile
    tree: PathBuf,
    /// Folder for the series
    #[arg(long, value_name = "DIR", default_value = "hashlane-patches")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane study kernel-selftest > flood.sh
  sudo bash flood.sh 8192

The script needs root, ip and python3, makes a new network namespace, and takes seconds. A
server that owns a prefix gets SYNs that differ in the upper bits of the destination address alone.
It exits with 0 if a SYN behind them costs no more than behind random ones, with 1 if it costs four
times as much, with 4 if it cannot run.")]
pub(super) struct SelftestArgs {}

impl PatchesArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let written = patches::write(&self.tree, &self.out)?;
        let mut text = format!("Linux {}\n", written.version);
        for (hash, paths) in &written.series {
            writeln!(text, "{}: {} patches and a letter", hash.id, paths.len().saturating_sub(1))?;
            for path in paths {
                writeln!(text, "  {}", path.display())?;
            }
        }
        for note in &written.notes {
            writeln!(text, "note: {note}")?;
        }
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SelftestArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        output::print(SELFTEST)?;
        Ok(ExitCode::SUCCESS)
    }
}
