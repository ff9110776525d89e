//! NDN libraries and tools of other projects, installed from the package registries.

use super::toolchains;
use crate::install::once;
use crate::need::{self, Need};
use crate::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tools that install the packages. Go and Node.js may have any version: [`toolchains`] fetches newer ones if
/// needed.
pub(crate) const NEEDS: [Need; 3] = [
    need::PYTHON,
    Need {
        name: "npm",
        probe: &["npm", "--version"],
        install: "apt-get update && apt-get install --yes npm",
    },
    need::GO,
];

const PYTHON: [&str; 2] = ["python-ndn==0.5.2", "ndn-python-repo==0.3"];
const NDND: &str = "github.com/named-data/ndnd/cmd/ndnd";
const NDND_VERSION: &str = "v1.5.3";
/// Version of all NDNts packages; each depends on the others of the same version.
const NDNTS_VERSION: &str = "0.0.20250307";
const NDNTS: [&str; 8] = [
    "@ndn/endpoint",
    "@ndn/fw",
    "@ndn/nfdmgmt",
    "@ndn/node-transport",
    "@ndn/packet",
    "@ndn/tlv",
    "@ndn/util",
    "@ndn/ws-transport",
];

/// Folders of the packages.
pub(crate) struct Peers {
    dir: PathBuf,
    node: PathBuf,
}

impl Peers {
    /// Installs packages that are missing or have another version.
    pub(crate) fn install() -> Result<Self, String> {
        let dir = run::target_dir()?.join("interop");
        let peers = Self { node: toolchains::node(&dir)?, dir };
        once(&peers.dir.join("python"), &PYTHON.join(" "), |folder| peers.install_python(folder))?;
        once(&peers.dir.join("ndnts"), &format!("{NDNTS:?} {NDNTS_VERSION}"), install_ndnts)?;
        ndnd_alone()?;
        peers.place_ndnts_scripts().map_err(|error| format!("the programs on NDNts: {error}"))?;
        Ok(peers)
    }

    /// One of our programs on python-ndn.
    pub(crate) fn python(&self, script: &str) -> Command {
        let mut command = self.command(&self.dir.join("python/bin/python"));
        command
            .arg(run::root().join("proof/interop/python").join(script))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// The repository of python-ndn with this configuration.
    pub(crate) fn python_repo(&self, config: &Path) -> Command {
        let mut command = self.command(&self.dir.join("python/bin/ndn-python-repo"));
        command.arg("--config").arg(config);
        command
    }

    /// One of our programs on NDNts.
    pub(crate) fn ndnts(&self, script: &str) -> Command {
        let mut command = self.command(&self.node);
        command.arg(self.dir.join("ndnts").join(script));
        command
    }

    pub(crate) fn ndnd(&self) -> Command {
        self.command(&self.dir.join("ndnd/ndnd"))
    }

    /// A command with its own home folder, which holds its keys and no settings of the user.
    fn command(&self, program: &Path) -> Command {
        let mut command = run::command(&[program]);
        command.env("HOME", self.dir.join("python/home"));
        for variable in ["NDN_CLIENT_PIB", "NDN_CLIENT_TPM", "NDN_CLIENT_TRANSPORT"] {
            command.env_remove(variable);
        }
        command
    }

    /// Installs the packages and a key, without which `NDNApp` does not start.
    fn install_python(&self, folder: &Path) -> Result<(), String> {
        run::show(run::command(&["python3", "-m", "venv"]).arg(folder))?;
        let mut pip = run::command(&[folder.join("bin/python")]);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(PYTHON);
        run::show(&mut pip)?;
        let home = folder.join("home");
        fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let keys = folder.join("bin/pyndnsec");
        run::show(self.command(&keys).arg("init"))?;
        run::show(self.command(&keys).args(["new-item", "/interop"]))
    }

    /// Copies our programs beside the packages: Node.js searches packages from the folder of the program.
    fn place_ndnts_scripts(&self) -> std::io::Result<()> {
        for script in fs::read_dir(run::root().join("proof/interop/ndnts"))? {
            let script = script?;
            fs::copy(script.path(), self.dir.join("ndnts").join(script.file_name()))?;
        }
        Ok(())
    }
}

/// Installs ndnd, and returns its path.
pub(crate) fn ndnd_alone() -> Result<PathBuf, String> {
    let dir = run::target_dir()?.join("interop");
    let go = toolchains::go(&dir)?;
    once(&dir.join("ndnd"), &format!("{NDND} {NDND_VERSION}"), |folder| install_ndnd(&go, folder))?;
    Ok(dir.join("ndnd/ndnd"))
}

fn install_ndnts(folder: &Path) -> Result<(), String> {
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\": true}\n")
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let mut npm =
        run::command(&["npm", "install", "--save-exact", "--no-audit", "--no-fund", "--loglevel", "error"]);
    npm.args(NDNTS.map(|package| format!("{package}@{NDNTS_VERSION}")));
    run::show(npm.current_dir(folder))
}

/// Fetches the module from within a module of ours, as its own `go.mod` has no version that `go install`
/// accepts.
fn install_ndnd(go: &Path, folder: &Path) -> Result<(), String> {
    // A fetched Go must use neither another root nor another toolchain.
    let go = |words: &[&str]| {
        let mut command = run::command(&[go]);
        run::show(command.args(words).current_dir(folder).env_remove("GOROOT").env("GOTOOLCHAIN", "local"))
    };
    go(&["mod", "init", "interop"])?;
    go(&["get", &format!("{NDND}@{NDND_VERSION}")])?;
    go(&["build", "-o", "ndnd", NDND])
}
