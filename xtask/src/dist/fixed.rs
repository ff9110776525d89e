//! Static binaries: they hold their C library (musl), and run on every Linux of their architecture.

use super::{cannot, output};
use crate::need::Need;
use crate::run;
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const TARGET: &str = "x86_64-unknown-linux-musl";

/// The commands with a static build. `hashlane` has none: its audit loads shared objects, which a static
/// binary cannot.
const COMMANDS: [&str; 4] = ["hashlane-dns", "hashlane-ndn", "hashlane-flow", "hashlane-names"];

pub(super) const NEEDS: [Need; 2] = [
    Need {
        name: "Rust for x86_64-unknown-linux-musl",
        probe: &[
            "sh",
            "-c",
            "ls \"$(rustc --print target-libdir --target x86_64-unknown-linux-musl)\"/libstd-*",
        ],
        install: "rustup target add x86_64-unknown-linux-musl",
    },
    // For the assembly and C of ring.
    Need {
        name: "musl-gcc",
        probe: &["musl-gcc", "--version"],
        install: "apt-get update && apt-get install --yes musl-tools",
    },
];

/// Builds the commands, and tries each in a folder with nothing else. Returns their paths.
///
/// # Errors
/// The build fails, a binary is not static, or a command fails.
pub(super) fn build() -> Result<Vec<PathBuf>, String> {
    let mut build = run::command(&["cargo", "build", "--release", "--locked", "--target", TARGET]);
    run::show(build.args(COMMANDS.iter().flat_map(|name| ["--bin", name])))?;
    let folder = run::target_dir()?.join(TARGET).join("release");
    let binaries = COMMANDS.map(|name| folder.join(name));
    try_all(&binaries)?;
    Ok(binaries.to_vec())
}

/// Tries binaries, named as the commands are.
///
/// # Errors
/// A binary is not static, or a command fails.
pub(super) fn try_all(binaries: &[PathBuf]) -> Result<(), String> {
    let root = std::env::temp_dir().join(format!("hashlane-static-{}", std::process::id()));
    let ended = binaries.iter().try_for_each(|binary| {
        // Left by the command before.
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).map_err(|error| cannot("create", &root, &error))?;
        try_one(binary, &root)
    });
    let _ = fs::remove_dir_all(&root);
    ended
}

fn try_one(binary: &Path, root: &Path) -> Result<(), String> {
    if let Some(loader) = loader(binary)? {
        return Err(format!("{} is not static: it needs {loader}", binary.display()));
    }
    let name = binary.file_name().unwrap_or_default().to_string_lossy().into_owned();
    fs::copy(binary, root.join(&name)).map_err(|error| cannot("copy", binary, &error))?;
    let alone = Alone { name: &name, root };
    let captures = run::root().join("vectors/captures/ipv4.pcap");
    match name.as_str() {
        "hashlane-ndn" => alone.forwards()?,
        "hashlane-dns" => {
            alone.write(
                "zone",
                "$ORIGIN example.\n@ 3600 IN SOA ns h 1 2 3 4 5\n@ 3600 IN NS ns\nns A 192.0.2.1\n",
            )?;
            alone.says(&["check-config", "--print"], "[server]")?;
            alone.says(&["render", "/zone"], "3 records")?;
        }
        "hashlane-flow" => {
            fs::copy(&captures, root.join("pcap")).map_err(|error| cannot("copy", &captures, &error))?;
            alone.says(&["show", "/pcap"], "24 packets")?;
        }
        "hashlane-names" => {
            alone.write("list", "0.0.0.0 ads.example\n")?;
            alone.write("names", "ads.example\n")?;
            alone.says(&["match", "/list", "--names", "/names"], "ads.example")?;
        }
        _ => alone.says(&["--version"], "hashlane")?,
    }
    println!("{name}: static, runs in a folder with nothing else");
    Ok(())
}

/// Program that loads the shared libraries of a binary; `None` if it is static.
fn loader(binary: &Path) -> Result<Option<String>, String> {
    let bytes = fs::read(binary).map_err(|error| cannot("read", binary, &error))?;
    let failed = |error: object::Error| format!("{}: {error}", binary.display());
    let header = FileHeader64::<object::Endianness>::parse(bytes.as_slice()).map_err(failed)?;
    let endian = header.endian().map_err(failed)?;
    let segments = header.program_headers(endian, bytes.as_slice()).map_err(failed)?;
    let interpreter = segments.iter().find(|segment| segment.p_type(endian) == PT_INTERP);
    let path = interpreter.and_then(|segment| segment.data(endian, bytes.as_slice()).ok());
    Ok(path.map(|path| String::from_utf8_lossy(path).trim_end_matches('\0').to_owned()))
}

/// A command in a folder with nothing else, which is its root folder.
struct Alone<'a> {
    name: &'a str,
    root: &'a Path,
}

impl Alone<'_> {
    fn write(&self, name: &str, content: &str) -> Result<(), String> {
        let path = self.root.join(name);
        fs::write(&path, content).map_err(|error| cannot("write", &path, &error))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(self.root).arg(format!("/{}", self.name)).args(words);
        command
    }

    fn says(&self, words: &[&str], expected: &str) -> Result<(), String> {
        let said = output(&mut self.command(words))?;
        match said.contains(expected) {
            true => Ok(()),
            false => Err(format!("`{} {}` does not print {expected:?}: {said}", self.name, words.join(" "))),
        }
    }

    /// Runs the forwarder, and asks it for its status.
    fn forwards(&self) -> Result<(), String> {
        let words = ["run", "--unix", "/nfd.sock", "--udp", "127.0.0.1:0", "--tcp", "none", "--ws", "none"];
        let mut forwarder = self.command(&words);
        let mut forwarder =
            forwarder.stderr(Stdio::null()).spawn().map_err(|error| format!("{}: {error}", self.name))?;
        let said = self.says(&["status", "--connect", "unix:///nfd.sock", "--wait", "10"], "pit");
        let stopped = run::command(&["kill", "-TERM", &forwarder.id().to_string()]).status();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(status)) = forwarder.try_wait() {
                return said.and(match status.success() {
                    true => Ok(()),
                    false => Err(format!("`{} run`: {status}", self.name)),
                });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = forwarder.kill();
        let _ = forwarder.wait();
        said.and(Err(format!("`{} run` has not ended: {stopped:?}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_with_shared_libraries_is_refused_with_its_loader() {
        let path = std::env::current_exe().unwrap();
        let loader = loader(&path).unwrap().expect("tests are linked to the C library of the system");
        assert!(loader.starts_with("/lib"), "{loader}");
        let error = try_all(&[path]).unwrap_err();
        assert!(error.ends_with(&format!("is not static: it needs {loader}")), "{error}");
    }
}
