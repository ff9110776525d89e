//! `cargo xtask deb`

mod root;

use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::Args;
use root::FreshRoot;
use std::fs;
use std::path::{Path, PathBuf};

/// Write Debian packages of the commands
///
/// Builds the release binaries, has them write their manual pages and completions, and packs each command
/// with its systemd unit by cargo-deb, into target/debian. With --try, installs the packages in a fresh
/// Debian, runs what they hold, and purges them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Deb {
    /// Install, run and purge the packages in a fresh Debian (needs root, and the Debian archive)
    #[arg(long = "try")]
    tried: bool,
    /// Pack only this command (repeatable)
    #[arg(long, value_name = "COMMAND", value_parser = run::COMMANDS)]
    only: Vec<String>,
    /// Pack the binaries of this folder instead of building ours
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Needs cargo-deb, dpkg-shlibdeps (dpkg-dev) and systemd-analyze; --try needs mmdebstrap, too. With
CI=true, installs them.

Examples:
  cargo xtask deb
  cargo xtask deb --try
  cargo xtask deb --only hashlane-ndn
  apt-get install ./target/debian/hashlane-ndn_*.deb";

const NEEDS: [Need; 3] = [
    Need {
        name: "cargo-deb",
        probe: &["cargo", "deb", "--version"],
        install: "cargo install cargo-deb --version 3.8.0 --locked",
    },
    Need {
        name: "dpkg-shlibdeps",
        probe: &["dpkg-shlibdeps", "--version"],
        install: "apt-get update && apt-get install --yes dpkg-dev",
    },
    Need {
        name: "systemd-analyze",
        probe: &["systemd-analyze", "--version"],
        install: "apt-get update && apt-get install --yes systemd",
    },
];

const MMDEBSTRAP: Need = Need {
    name: "mmdebstrap",
    probe: &["mmdebstrap", "--version"],
    install: "apt-get update && apt-get install --yes mmdebstrap",
};

/// Units of the packages.
const UNITS: &str = "packaging/systemd";

/// Largest exposure of a unit by `systemd-analyze security`, in tenths.
const LARGEST_EXPOSURE: &str = "20";

impl Deb {
    /// All packages, tried in a fresh Debian.
    pub(crate) fn tried() -> Self {
        Self { tried: true, only: Vec::new(), binaries: None }
    }

    pub(crate) fn run(&self) -> Outcome {
        let needs = NEEDS.into_iter().chain(self.tried.then_some(MMDEBSTRAP));
        if let Err(outcome) = need::meet(&needs.collect::<Vec<_>>()) {
            return outcome;
        }
        self.pack().into()
    }

    fn pack(&self) -> Result<(), String> {
        check_units()?;
        let target = run::target_dir()?;
        let release = target.join("release");
        let commands: Vec<&str> = run::COMMANDS
            .into_iter()
            .filter(|name| self.only.is_empty() || self.only.iter().any(|only| only == name))
            .collect();
        match &self.binaries {
            None => run::show(&mut run::build(&["--release", "--locked"]))?,
            Some(folder) => copy_binaries(folder, &release, &commands)?,
        }
        let packages = target.join("debian");
        // Left by an earlier version.
        let _ = fs::remove_dir_all(&packages);
        fs::create_dir_all(&packages).map_err(|error| cannot("create", &packages, &error))?;
        for name in &commands {
            write_pages(&release, name)?;
            let package = package(name);
            let mut pack = run::command(&["cargo", "deb", "--no-build", "--locked", "--package", &package]);
            run::show(pack.arg("--output").arg(&packages).env("CARGO_TARGET_DIR", &target))?;
        }
        let paths = packages_in(&packages)?;
        if paths.len() != commands.len() {
            return Err(format!("{} has {} packages", packages.display(), paths.len()));
        }
        if self.tried {
            FreshRoot::make(&target.join("debian-root"))?.try_packages(&paths, &commands)?;
        }
        for path in &paths {
            let bytes = fs::metadata(path).map_err(|error| cannot("read", path, &error))?.len();
            println!("{}: {:.1} MB", path.display(), bytes as f64 / 1e6);
        }
        Ok(())
    }
}

/// The package of a command.
fn package(command: &str) -> String {
    if command == "hashlane" { command.to_owned() } else { format!("{command}-cli") }
}

/// Checks that each unit is as closed as the documentation says.
fn check_units() -> Result<(), String> {
    let folder = run::root().join(UNITS);
    let entries = fs::read_dir(&folder).map_err(|error| cannot("read", &folder, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| cannot("read", &folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "service") {
            let words = [
                "systemd-analyze",
                "security",
                "--offline=true",
                "--threshold",
                LARGEST_EXPOSURE,
                "--no-pager",
            ];
            let mut check = run::command(&words);
            let said = check.arg(&path).output().map_err(|error| format!("systemd-analyze: {error}"))?;
            let text = String::from_utf8_lossy(&said.stdout);
            let last = text.lines().last().unwrap_or_default();
            println!("{}: {last}", path.display());
            if !said.status.success() {
                return Err(format!("{} is too open: {last}", path.display()));
            }
        }
    }
    Ok(())
}

/// Copies binaries that exist into the folder that cargo-deb packs.
fn copy_binaries(from: &Path, to: &Path, commands: &[&str]) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| cannot("create", to, &error))?;
    for name in commands {
        let (binary, place) = (from.join(name), to.join(name));
        if fs::canonicalize(&binary).ok() != fs::canonicalize(&place).ok() {
            fs::copy(&binary, &place).map_err(|error| cannot("copy", &binary, &error))?;
        }
    }
    Ok(())
}

/// Has a command write its manual pages and its completions.
fn write_pages(release: &Path, name: &str) -> Result<(), String> {
    let folder = release.join("deb").join(name);
    let _ = fs::remove_dir_all(&folder);
    let (program, completions) = (release.join(name), folder.join("completions"));
    fs::create_dir_all(&completions).map_err(|error| cannot("create", &completions, &error))?;
    run::show(run::command(&[&program]).arg("man").arg(folder.join("man")))?;
    for (shell, file) in
        [("bash", name.to_owned()), ("zsh", format!("_{name}")), ("fish", format!("{name}.fish"))]
    {
        let said = run::command(&[&program]).args(["completions", shell]).output();
        let said = said.map_err(|error| cannot("run", &program, &error))?;
        if !said.status.success() {
            return Err(format!("{} completions {shell}: {}", program.display(), said.status));
        }
        let path = completions.join(file);
        fs::write(&path, said.stdout).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(())
}

/// The packages in a folder, by name.
fn packages_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}
