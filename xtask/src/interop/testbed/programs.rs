//! Programs of other projects: where they are, and what is not measured without them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Steps that build the programs, for the user who has none.
pub(super) const HINT: &str = "\
nfdc is missing: build ndn-cxx, NFD, ndn-tools, PSync and NLSR (https://github.com/named-data) with one
  `./waf configure --prefix=DIR && ./waf && ./waf install` each, in this order, and ndnd with
  `go build -o DIR/bin/ndnd ./cmd/ndnd`; clone named-data/testbed to DIR/testbed, and give --path DIR";

/// A program, its project, and what needs it.
struct Wanted {
    name: &'static str,
    /// Another name of it, in newer or older releases.
    alias: Option<&'static str>,
    project: &'static str,
    needed: &'static str,
}

const fn wanted(name: &'static str, project: &'static str, needed: &'static str) -> Wanted {
    Wanted { name, alias: None, project, needed }
}

const WANTED: [Wanted; 17] = [
    wanted("nfd", "NFD", "every comparison"),
    wanted("nfdc", "NFD", "everything"),
    wanted("nfd-status-http-server", "NFD", "tools"),
    wanted("nfd-autoreg", "NFD", "tools"),
    wanted("ndnsec", "ndn-cxx", "tools, nlsr"),
    wanted("ndnpeek", "ndn-tools", "tools"),
    wanted("ndnpoke", "ndn-tools", "tools"),
    Wanted { alias: Some("ndnget"), ..wanted("ndncatchunks", "ndn-tools", "tools, goodput") },
    Wanted { alias: Some("ndnserve"), ..wanted("ndnputchunks", "ndn-tools", "tools, goodput") },
    wanted("ndnping", "ndn-tools", "tools, loss"),
    wanted("ndnpingserver", "ndn-tools", "tools, loss"),
    wanted("ndndump", "ndn-tools", "tools"),
    wanted("nlsr", "NLSR", "nlsr"),
    wanted("nlsrc", "NLSR", "nlsr"),
    wanted("ndnd", "ndnd", "tools, dv"),
    wanted("curl", "curl", "tools"),
    wanted("nft", "nftables", "loss, goodput at 1 %, unless the kernel has netem"),
];

/// The programs found, and the folders they were searched in.
pub(super) struct Programs {
    folders: Vec<PathBuf>,
    found: Vec<Option<PathBuf>>,
}

impl Programs {
    /// Searches all programs in `folders`, in their `bin` and `sbin`, and in PATH.
    pub(super) fn find(folders: &[PathBuf]) -> Self {
        let mut places: Vec<PathBuf> = Vec::new();
        for folder in folders {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            places.extend([folder.join("bin"), folder.join("sbin"), folder]);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let everywhere: Vec<PathBuf> = places.iter().cloned().chain(std::env::split_paths(&path)).collect();
        let find = |wanted: &Wanted| {
            let names = [Some(wanted.name), wanted.alias];
            names.into_iter().flatten().find_map(|name| {
                everywhere.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
            })
        };
        Self { found: WANTED.iter().map(find).collect(), folders: places }
    }

    /// Path of a program.
    ///
    /// # Errors
    /// It is missing; names the project that has it.
    pub(super) fn get(&self, name: &str) -> Result<&Path, String> {
        let Some(index) = WANTED.iter().position(|wanted| wanted.name == name) else {
            return Err(format!("{name} is not a program of the testbed"));
        };
        let missing = || format!("{name} is missing ({})", WANTED[index].project);
        self.found[index].as_deref().ok_or_else(missing)
    }

    /// The first of these programs that is missing.
    pub(super) fn need(&self, names: &[&str]) -> Result<(), String> {
        names.iter().try_for_each(|name| self.get(name).map(drop))
    }

    /// A file or folder below one of the folders of --path.
    pub(super) fn file(&self, path: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(path)).find(|path| path.exists())
    }

    /// Value of PATH under which the programs find each other.
    pub(super) fn path(&self) -> String {
        let own = self.folders.iter().map(|folder| folder.display().to_string());
        let rest = std::env::var("PATH").ok();
        own.chain(rest).collect::<Vec<_>>().join(":")
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (wanted, found) in WANTED.iter().zip(&self.found) {
            let Wanted { name, project, needed, .. } = wanted;
            match found {
                Some(path) => writeln!(f, "{name:<23} {}", path.display())?,
                None => writeln!(f, "{name:<23} MISSING ({project}); needed for: {needed}")?,
            }
        }
        Ok(())
    }
}
