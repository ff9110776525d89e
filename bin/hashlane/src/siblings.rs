//! The commands beside this one that studies measure.

use crate::output;
use crate::studies::STUDIES;
use anyhow::{Context as _, Result, bail};
use hashlane_command::sibling::{SIBLINGS, Sibling};
use hashlane_lab::definition::Definition;
use std::env;
use std::path::Path;
use std::process::Command;

/// Folder of the repository in which this command was built.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks that the commands that the studies start are there. Those that are missing are built, with the
/// profile of this command, if Cargo has built it and the repository is still in its place.
///
/// # Errors
/// A command is missing, and cannot be built here.
pub(crate) fn provide(definitions: &[Definition]) -> Result<()> {
    let starts = |verb: &str| {
        let mut kinds = definitions.iter().filter_map(|definition| STUDIES.kind(&definition.model));
        kinds.any(|kind| kind.starts().contains(&verb))
    };
    let missing: Vec<&Sibling> =
        SIBLINGS.iter().filter(|sibling| starts(sibling.verb) && !sibling.is_installed()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let programs: Vec<&str> = missing.iter().map(|sibling| sibling.program).collect();
    let programs = programs.join(", ");
    let Some(mut build) = build(&missing)? else {
        bail!(
            "studies of this run measure {programs}, which is neither beside this command nor on PATH; \
             install the package {}: cargo install --path {}",
            first.package,
            first.folder
        );
    };
    output::tell(&format!("building {programs}, which studies of this run measure"));
    let status = build.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("{programs} cannot be built ({status}); cargo has said why");
    }
    Ok(())
}

/// Command that builds packages beside this one; `None` if this one is not in a target folder of Cargo, or
/// the repository has gone.
fn build(missing: &[&Sibling]) -> Result<Option<Command>> {
    let this = env::current_exe().context("cannot find the path of this command")?;
    let (Some(folder), true) = (this.parent(), Path::new(REPOSITORY).join("Cargo.toml").is_file()) else {
        return Ok(None);
    };
    let (Some(target), Some(profile)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    if !target.join("CACHEDIR.TAG").is_file() {
        return Ok(None);
    }
    let profile = if profile == "debug" { "dev".as_ref() } else { profile };
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.arg("build").arg("--profile").arg(profile).arg("--target-dir").arg(target).current_dir(REPOSITORY);
    // Of the default members, so that features, and with them what is compiled already, are the same.
    missing.iter().for_each(|sibling| _ = build.args(["--bin", sibling.program]));
    Ok(Some(build))
}
