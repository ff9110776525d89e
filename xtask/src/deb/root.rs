//! A fresh Debian in a folder, in which packages are installed, run and purged.

use super::cannot;
use crate::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Release of Debian, as the build's: a package needs at least the C library that it was built with.
const RELEASE: &str = "/etc/os-release";

/// A line for each command, and what it says.
const PROBES: [(&str, &str, &str); 5] = [
    ("hashlane", "hashlane schemes", "siphash-2-4"),
    ("hashlane-dns", "hashlane-dns check-config --print", "[server]"),
    ("hashlane-ndn", FORWARDER, "pit"),
    ("hashlane-flow", "hashlane-flow --help", "meter"),
    ("hashlane-names", "hashlane-names --help", "match"),
];

/// Checks the units of the packages that are installed: their syntax, the programs and the units they name.
const UNITS: &str = "\
set -e
cd /usr/lib/systemd/system
for unit in $(ls | grep '^hashlane-' | sed 's/@\\./@eth0./'); do
    systemd-analyze verify --man=no $unit
done";

/// Prints the files that the packages leave after they are purged.
const LEFT: &str = "find / -xdev \\( -name '*hashlane*' -o -name 'nfd.sock' \\) -not -path '/proc/*' -not -path \
                    '/var/log/*' -not -path '/packages*'";

/// Starts the forwarder as its unit does, asks it for its status, and ends it.
const FORWARDER: &str = "\
set -e
hashlane-ndn check-config /etc/hashlane/forwarder.toml
mkdir -p /run/nfd && chown ndn /run/nfd
setpriv --reuid ndn --regid ndn --clear-groups hashlane-ndn run --config /etc/hashlane/forwarder.toml \
    --udp 127.0.0.1:16363 --tcp none --ws none &
forwarder=$!
hashlane-ndn status --wait 10
kill $forwarder
wait $forwarder
rmdir /run/nfd";

/// The folder with the Debian. It is removed on drop.
pub(super) struct FreshRoot(PathBuf);

impl FreshRoot {
    /// Makes a minimal Debian with systemd in `folder`, from the archive that this machine uses.
    ///
    /// # Errors
    /// The archive cannot be reached, or this user is not root.
    pub(super) fn make(folder: &Path) -> Result<Self, String> {
        let release =
            fs::read_to_string(RELEASE).map_err(|error| cannot("read", RELEASE.as_ref(), &error))?;
        let suite = release
            .lines()
            .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
            .ok_or_else(|| format!("{RELEASE} names no release of Debian"))?;
        let _ = fs::remove_dir_all(folder);
        let root = Self(folder.to_owned());
        let words = ["mmdebstrap", "--variant=minbase", "--mode=root", "--include=systemd", suite];
        let mut make = run::command(&words);
        run::show(make.arg(folder).args(archives()?))?;
        Ok(root)
    }

    /// Installs the packages, runs the commands, purges the packages, and looks for what they leave.
    ///
    /// # Errors
    /// A step fails; a purge leaves a file.
    pub(super) fn try_packages(&self, packages: &[PathBuf], commands: &[&str]) -> Result<(), String> {
        let folder = self.0.join("packages");
        fs::create_dir_all(&folder).map_err(|error| cannot("create", &folder, &error))?;
        for package in packages {
            let place = folder.join(package.file_name().unwrap_or_default());
            fs::copy(package, &place).map_err(|error| cannot("copy", package, &error))?;
        }
        run::show(&mut self.shell("apt-get install --yes --no-install-recommends /packages/*.deb"))?;
        for (_, line, expected) in PROBES.into_iter().filter(|(command, ..)| commands.contains(command)) {
            let said = self.shell(line).output().map_err(|error| format!("chroot: {error}"))?;
            if !said.status.success() || !String::from_utf8_lossy(&said.stdout).contains(expected) {
                let errors = String::from_utf8_lossy(&said.stderr);
                return Err(format!("`{line}` in a fresh Debian: {}, {}", said.status, errors.trim_end()));
            }
        }
        run::show(&mut self.shell(UNITS))?;
        run::show(&mut self.shell("apt-get purge --yes 'hashlane*'"))?;
        let said = self.shell(LEFT).output().map_err(|error| format!("chroot: {error}"))?;
        let left = String::from_utf8_lossy(&said.stdout);
        if left.trim().is_empty() {
            println!("a fresh Debian: installed, run and purged, nothing is left");
            Ok(())
        } else {
            Err(format!("purged packages leave files: {}", left.trim().replace('\n', ", ")))
        }
    }

    /// A line for the shell of the Debian.
    fn shell(&self, line: &str) -> Command {
        let mut command = run::command(&["chroot"]);
        command.arg(&self.0).args(["/bin/sh", "-c", line]);
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
        command.env("LC_ALL", "C.UTF-8");
        command
    }
}

impl Drop for FreshRoot {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{}", cannot("remove", &self.0, &error));
        }
    }
}

/// Lists of this machine with archives of Debian itself, for mmdebstrap.
fn archives() -> Result<Vec<PathBuf>, String> {
    let lists = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"].map(PathBuf::from);
    let lists: Vec<PathBuf> = lists.into_iter().filter(|list| list.is_file()).collect();
    if lists.is_empty() {
        return Err("this machine has no list of archives; write /etc/apt/sources.list".to_owned());
    }
    Ok(lists)
}
