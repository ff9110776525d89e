//! `cargo xtask dist`

mod fixed;

use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Write the release archives
///
/// Builds the release binaries, moves their debugging information to separate files, and writes to
/// target/dist the archive that users download, the archive of the debugging information, and their SHA-256.
/// The binaries keep the names of their functions, as the llvm-mca probe of flow-hash needs them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dist {
    /// Pack this binary of the host instead of building ours (repeatable)
    #[arg(long, value_name = "FILE")]
    binary: Vec<PathBuf>,
    /// Build and pack static binaries, and try each in an empty folder (needs root, for chroot); with
    /// --binary, the static ones of these files
    #[arg(long = "static")]
    is_static: bool,
}

const EXAMPLES: &str = "\
Needs objcopy (binutils), tar, gzip and sha256sum; --static needs musl-gcc and Rust for
x86_64-unknown-linux-musl, too. With CI=true, installs them.

Examples:
  cargo xtask dist
  cargo xtask dist --static
  cargo xtask dist --binary target/release/hashlane --binary target/release/hashlane-dns";

const NEEDS: [Need; 4] = [
    Need { name: "objcopy", probe: &["objcopy", "--version"], install: "apt-get install --yes binutils" },
    Need { name: "tar", probe: &["tar", "--version"], install: "apt-get install --yes tar" },
    Need { name: "gzip", probe: &["gzip", "--version"], install: "apt-get install --yes gzip" },
    Need {
        name: "sha256sum",
        probe: &["sha256sum", "--version"],
        install: "apt-get install --yes coreutils",
    },
];

/// Largest binary of a release, in bytes.
const LARGEST: u64 = 25_000_000;

/// Files of the repository that go into the archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

impl Dist {
    pub(crate) fn run(&self) -> Outcome {
        let more = self.is_static.then_some(fixed::NEEDS);
        let needs: Vec<Need> = NEEDS.into_iter().chain(more.into_iter().flatten()).collect();
        if let Err(outcome) = need::meet(&needs) {
            return outcome;
        }
        self.pack().into()
    }

    fn pack(&self) -> Result<(), String> {
        let target = run::target_dir()?;
        let binaries = match self.binary.as_slice() {
            [] if self.is_static => fixed::build()?,
            [] => {
                run::show(&mut run::build(&["--release", "--locked"]))?;
                run::COMMANDS.map(|name| target.join("release").join(name)).to_vec()
            }
            // The commands below run in the folder of the repository.
            some => some
                .iter()
                .map(|binary| fs::canonicalize(binary).map_err(|error| cannot("read", binary, &error)))
                .collect::<Result<_, _>>()?,
        };
        if self.is_static && !self.binary.is_empty() {
            fixed::try_all(&binaries)?;
        }
        let platform = if self.is_static { fixed::TARGET.to_owned() } else { host()? };
        let name = format!("hashlane-{}-{platform}", env!("CARGO_PKG_VERSION"));
        let archives = pack(&binaries, &target.join("dist"), &name, LARGEST)?;
        for archive in archives {
            let bytes = fs::metadata(&archive).map_err(|error| cannot("read", &archive, &error))?.len();
            println!("{}: {:.1} MB", archive.display(), bytes as f64 / 1e6);
        }
        Ok(())
    }
}

/// The target of the compiler, such as `x86_64-unknown-linux-gnu`.
fn host() -> Result<String, String> {
    let said = output(&mut run::command(&["rustc", "--version", "--verbose"]))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc --version --verbose` names no host".to_owned())
}

/// Time of the last commit, for the files in the archives: the same commit gives the same archives.
fn time() -> String {
    let said = output(&mut run::command(&["git", "log", "-1", "--format=%ct"]));
    said.map_or_else(|_| "0".to_owned(), |time| time.trim().to_owned())
}

/// Packs binaries into the archives `NAME.tar.gz` and `NAME-debug.tar.gz` in `dist`, and writes their
/// checksums to `NAME.sha256`. Returns the paths of the archives.
///
/// # Errors
/// A file cannot be read or written, a tool fails, or a binary without debugging information has more than
/// `largest` bytes.
fn pack(binaries: &[PathBuf], dist: &Path, name: &str, largest: u64) -> Result<[PathBuf; 2], String> {
    let debug = format!("{name}-debug");
    let (folder, debug_folder) = (dist.join(name), dist.join(&debug));
    for folder in [&folder, &debug_folder] {
        // Left by a run that failed.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
    }
    let objcopy = |options: &[&str]| {
        let mut command = run::command(&["objcopy"]);
        command.args(options);
        command
    };
    for binary in binaries {
        let program = binary.file_name().unwrap_or_default();
        let (stripped, mut symbols) = (folder.join(program), debug_folder.join(program).into_os_string());
        symbols.push(".debug");
        run::show(objcopy(&["--only-keep-debug"]).arg(binary).arg(&symbols))?;
        // The link names the file of the debugging information and its checksum, for debuggers.
        let link = format!("--add-gnu-debuglink={}", symbols.display());
        run::show(objcopy(&["--strip-debug", &link]).args([binary, &stripped]))?;
        let bytes = fs::metadata(&stripped).map_err(|error| cannot("read", &stripped, &error))?.len();
        if bytes > largest {
            let program = program.display();
            return Err(format!(
                "{program} has {bytes} bytes without debugging information, more than {largest}"
            ));
        }
    }
    for document in DOCUMENTS {
        let path = run::root().join(document);
        fs::copy(&path, folder.join(document)).map_err(|error| cannot("copy", &path, &error))?;
    }
    let time = time();
    let archives = [name, &debug].map(|name| format!("{name}.tar.gz"));
    for (archive, folder) in archives.iter().zip([name, &debug]) {
        let mut tar = run::command(&["tar", "--create", "--sort=name", "--owner=0", "--group=0"]);
        tar.args(["--numeric-owner", "--mode=u=rwX,go=rX", &format!("--mtime=@{time}")]);
        tar.args(["--use-compress-program=gzip -9n", "--file", archive, folder]);
        run::show(tar.current_dir(dist))?;
    }
    let sums = output(run::command(&["sha256sum"]).args(&archives).current_dir(dist))?;
    let path = dist.join(format!("{name}.sha256"));
    fs::write(&path, sums).map_err(|error| cannot("write", &path, &error))?;
    for folder in [&folder, &debug_folder] {
        fs::remove_dir_all(folder).map_err(|error| cannot("remove", folder, &error))?;
    }
    Ok(archives.map(|archive| dist.join(archive)))
}

/// Standard output of a command.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    if !ran.status.success() {
        return Err(format!(
            "`{program}`: {}: {}",
            ran.status,
            String::from_utf8_lossy(&ran.stderr).trim_end()
        ));
    }
    String::from_utf8(ran.stdout).map_err(|error| format!("`{program}`: {error}"))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSymbol};

    fn has_debug(path: &Path) -> (bool, usize) {
        let octets = fs::read(path).unwrap();
        let file = object::File::parse(octets.as_slice()).unwrap();
        let functions = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text).count();
        (file.has_debug_symbols(), functions)
    }

    #[test]
    fn the_archives_hold_the_binary_its_documents_and_its_debugging_information() {
        if let Err(outcome) = need::meet(&NEEDS) {
            assert!(matches!(outcome, Outcome::Skipped(_)), "{outcome:?}");
            return;
        }
        // Any binary with debugging information will do: this one.
        let binary = std::env::current_exe().unwrap();
        let dist = std::env::temp_dir().join(format!("hashlane-dist-{}", std::process::id()));
        let archives = pack(std::slice::from_ref(&binary), &dist, "hashlane-1.2.3-x", u64::MAX).unwrap();
        let list = |archive: &Path| output(Command::new("tar").arg("tzf").arg(archive)).unwrap();
        let program = binary.file_name().unwrap().to_str().unwrap();
        let files = ["", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", program];
        let expected = files.map(|file| format!("hashlane-1.2.3-x/{file}\n")).concat();
        assert_eq!(list(&archives[0]), expected);
        let expected = format!("hashlane-1.2.3-x-debug/\nhashlane-1.2.3-x-debug/{program}.debug\n");
        assert_eq!(list(&archives[1]), expected);
        output(Command::new("sha256sum").args(["-c", "hashlane-1.2.3-x.sha256"]).current_dir(&dist)).unwrap();
        for archive in &archives {
            output(Command::new("tar").arg("xzf").arg(archive).current_dir(&dist)).unwrap();
        }
        let stripped = dist.join("hashlane-1.2.3-x").join(program);
        // The names of functions stay, for llvm-mca; the rest goes.
        let ((before, all), (after, kept)) = (has_debug(&binary), has_debug(&stripped));
        assert!(before && !after && kept == all && all > 100, "{all} {kept}");
        assert!(has_debug(&dist.join(format!("hashlane-1.2.3-x-debug/{program}.debug"))).0);
        let octets = fs::read(&stripped).unwrap();
        let file = object::File::parse(octets.as_slice()).unwrap();
        assert_eq!(file.gnu_debuglink().unwrap().unwrap().0, format!("{program}.debug").as_bytes());
        assert!(Command::new(&stripped).arg("--list").output().unwrap().status.success(), "it runs");
        fs::remove_dir_all(&dist).unwrap();
    }

    #[test]
    fn a_binary_that_is_too_large_is_refused_with_both_sizes() {
        if need::meet(&NEEDS).is_err() {
            return;
        }
        let dist = std::env::temp_dir().join(format!("hashlane-large-{}", std::process::id()));
        let error = pack(&[std::env::current_exe().unwrap()], &dist, "hashlane-1.2.3-x", 1000).unwrap_err();
        fs::remove_dir_all(&dist).unwrap();
        assert!(
            error.starts_with("xtask-")
                && error.contains(" bytes without debugging information, ")
                && error.ends_with("more than 1000"),
            "{error}"
        );
    }
}
