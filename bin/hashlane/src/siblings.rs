//! The commands beside this one that studies measure.

use crate::output;
use crate::studies::STUDIES;
use anyhow::{Context as _, Result, bail};
use hashlane_command::sibling::{SIBLINGS, Sibling};
use hashlane_lab::definition::Definition;
use hashlane_lab::launch::is_launch;
use std::env;
use std::path::Path;
use std::process::Command;

/// Folder of the repository in which this command was built.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks that the commands that the studies start are there. Beside a build of Cargo, with the repository in
/// its place, they are built with the profile of this command: those that are missing, and in a release build
/// also those that are older than their code, as what is measured must be what the repository has.
///
/// # Errors
/// A command is missing, and cannot be built here.
pub(crate) fn provide(definitions: &[Definition]) -> Result<()> {
    let starts = |sibling: &&Sibling| {
        let mut kinds = definitions.iter().filter_map(|definition| STUDIES.kind(&definition.model));
        kinds.any(|kind| kind.starts().contains(&sibling.verb))
    };
    let started: Vec<&Sibling> = SIBLINGS.iter().filter(starts).collect();
    let is_complete = started.iter().all(|sibling| sibling.beside().is_some());
    match build(&started)? {
        // A launch is one of many short runs, and its parent has built them.
        Some(_) if is_complete && (started.is_empty() || is_launch()) => Ok(()),
        Some(Build { is_release: false, .. }) if is_complete => Ok(()),
        Some(build) => build.run(&started),
        None => match started.iter().find(|sibling| !sibling.is_installed()) {
            Some(Sibling { program, package, folder, .. }) => bail!(
                "a study of this run measures {program}, which is neither beside this command nor on PATH; \
                 install the package {package}: cargo install --path {folder}"
            ),
            None => Ok(()),
        },
    }
}

/// A build by Cargo.
struct Build {
    cargo: Command,
    is_release: bool,
}

impl Build {
    fn run(mut self, started: &[&Sibling]) -> Result<()> {
        let programs: Vec<&str> = started.iter().map(|sibling| sibling.program).collect();
        let programs = programs.join(", ");
        output::tell(&format!("building {programs}, which studies of this run measure"));
        let status = self.cargo.status().context("cannot start cargo")?;
        if !status.success() {
            bail!("{programs} cannot be built ({status}); cargo has said why");
        }
        Ok(())
    }
}

/// The build of commands beside this one; `None` if this one is not in a target folder of Cargo, or the
/// repository has gone.
fn build(siblings: &[&Sibling]) -> Result<Option<Build>> {
    let this = env::current_exe().context("cannot find the path of this command")?;
    let (Some(folder), true) = (this.parent(), Path::new(REPOSITORY).join("Cargo.toml").is_file()) else {
        return Ok(None);
    };
    let (Some(target), Some(profile)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    if !target.join("CACHEDIR.TAG").is_file() {
        return Ok(None);
    }
    let is_release = profile != "debug";
    let profile = if is_release { profile } else { "dev".as_ref() };
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg("build").arg("--profile").arg(profile).arg("--target-dir").arg(target).current_dir(REPOSITORY);
    // Variables of Cargo about the package of this command: the build script of `ring` reads them, and would
    // run again, with all that depends on it compiled again, after each `cargo build` of the user.
    for (name, _) in env::vars_os() {
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"].map(str::as_bytes);
        if of_package.iter().any(|start| name.as_encoded_bytes().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    // Of the default members, so that features, and with them what is compiled already, are the same.
    siblings.iter().for_each(|sibling| _ = cargo.args(["--bin", sibling.program]));
    Ok(Some(Build { cargo, is_release }))
}
