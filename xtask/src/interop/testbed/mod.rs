//! `cargo xtask interop testbed`: our forwarder in the place of NFD, with the programs of the NDN testbed.
//!
//! This command builds none of the programs: it searches NFD, NLSR, ndn-tools and ndnd in the folders of
//! `--path`. Each measurement runs over NFD and over ours: a check that fails over both is wrong itself.

mod apps;
mod convergence;
mod dv;
mod fib;
mod goodput;
mod hosts;
mod lab;
mod loss;
mod mesh;
mod network;
mod nfdc;
mod nlsr;
mod nlsr_conf;
mod node;
mod pair;
mod programs;
mod readvertise;
mod report;
mod routers;
mod sandbox;
mod secured;
mod steps;
mod templates;
mod tools;
mod topology;

use crate::run::{self, Outcome};
use clap::{Args, ValueEnum};
use lab::Lab;
use programs::Programs;
use report::Report;
pub(crate) use report::is_whole;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topology::Topology;

/// Run NFD, NLSR and the tools of the NDN testbed beside our forwarder
///
/// Searches the programs of other projects in the folders of --path and in PATH, says which are missing, and
/// what is not measured without them. Needs root, for network namespaces. All processes, namespaces and
/// mounts are inside a process namespace that ends with this command, also by Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Testbed {
    /// Folder with the programs, or with bin/ of an installation (repeatable) [default: HASHLANE_TESTBED]
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    /// Run only this part (repeatable)
    #[arg(long, value_enum, value_name = "PART")]
    only: Vec<Part>,
    /// Binary of hashlane-ndn, in place of a release build
    #[arg(long, value_name = "FILE")]
    hashlane: Option<PathBuf>,
    /// End after this many minutes
    #[arg(long, value_name = "N", default_value_t = 90)]
    minutes: u64,
    /// Rounds over each forwarder in which NLSR converges on the testbed's topology, for their difference
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// File of the report [default: interop/testbed.md in the target directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[arg(long, hide = true)]
    inside: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask interop testbed                                  what it needs, and what PATH has of it
  sudo -E cargo xtask interop testbed --path /opt/ndn          all parts
  sudo -E cargo xtask interop testbed --path /opt/ndn --only tools
  sudo HASHLANE_TESTBED=/opt/ndn cargo xtask records testbed   all parts, and keep the report";

/// Variable with the folders of --path.
const FOLDERS: &str = "HASHLANE_TESTBED";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// nfd.conf of each host of the testbed, imported and run
    Hosts,
    /// Each tool over NFD and over ours; every subcommand of nfdc
    Tools,
    /// Pings between NFD and ours, with reliability on and off, over a link that loses datagrams
    Loss,
    /// NLSR on a ring
    Ring,
    /// NLSR on the topology of the testbed, from its host files in testbed/host_vars of a folder of --path
    Nlsr,
    /// NLSR advertises the prefixes of clients, and withdraws them
    Readvertise,
    /// ndn-dv of ndnd on a ring
    Dv,
    /// 100 MB by ndncatchunks through two nodes, for each second of CPU time
    Goodput,
}

/// Runs a part, and returns what failed.
type Run = fn(&Lab, &mut Report) -> Vec<String>;

/// The parts in the order of the report, with the programs without which they are not run.
const PARTS: [(Part, &[&str], Run); 8] = [
    (Part::Hosts, &hosts::NEEDS, hosts::run),
    (Part::Tools, &["nfdc"], tools::run),
    (Part::Loss, &loss::NEEDS, loss::run),
    (Part::Goodput, &goodput::NEEDS, goodput::run),
    (Part::Ring, &nlsr::NEEDS, |lab, report| nlsr::run(lab, &Topology::ring(6), 0, report)),
    (Part::Nlsr, &nlsr::NEEDS, run_testbed),
    (Part::Readvertise, &readvertise::NEEDS, readvertise::run),
    (Part::Dv, &dv::NEEDS, dv::run),
];

/// NLSR on the topology of the testbed, if its host files are there.
fn run_testbed(lab: &Lab, report: &mut Report) -> Vec<String> {
    let Some(folder) = lab.programs.file("testbed/host_vars") else {
        report.text(
            "Nlsr: not run, testbed/host_vars is missing: clone named-data/testbed into a folder of --path.",
        );
        return Vec::new();
    };
    match Topology::testbed(&folder) {
        Ok(topology) => nlsr::run(lab, &topology, lab.rounds, report),
        Err(why) => vec![format!("the topology of the testbed: {why}")],
    }
}

impl Testbed {
    pub(crate) fn run(&self) -> Outcome {
        let programs = Programs::find(&self.paths());
        if self.inside {
            return self.measure(programs).into();
        }
        print!("{programs}");
        if programs.get("nfdc").is_err() {
            return Outcome::Skipped(programs::HINT.to_owned());
        }
        if let Err(why) = sandbox::possible() {
            return Outcome::Skipped(why);
        }
        self.outside().into()
    }

    /// Folders with the programs.
    fn paths(&self) -> Vec<PathBuf> {
        match std::env::var_os(FOLDERS) {
            Some(folders) if self.path.is_empty() => std::env::split_paths(&folders).collect(),
            _ => self.path.clone(),
        }
    }

    /// Builds our forwarder, and runs this command again in namespaces.
    fn outside(&self) -> Result<(), String> {
        let hashlane = match &self.hashlane {
            Some(path) => absolute(path)?,
            None => {
                let words = ["cargo", "build", "--release", "--bin", "hashlane-ndn"];
                run::show(&mut run::command(&words))?;
                run::target_dir()?.join("release/hashlane-ndn")
            }
        };
        let mut words: Vec<std::ffi::OsString> =
            vec!["--inside".into(), "--hashlane".into(), hashlane.into()];
        for path in &self.paths() {
            words.extend(["--path".into(), absolute(path)?.into()]);
        }
        for part in &self.only {
            let name = part.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            words.extend(["--only".into(), name.into()]);
        }
        let out = match &self.out {
            Some(path) => path.clone(),
            None => run::target_dir()?.join("interop/testbed.md"),
        };
        words.extend(["--rounds".into(), self.rounds.to_string().into()]);
        words.extend(["--out".into(), std::path::absolute(&out).unwrap_or(out).into()]);
        sandbox::enter(&words, Duration::from_secs(60 * self.minutes))
    }

    /// Runs the parts, inside the namespaces.
    fn measure(&self, programs: Programs) -> Result<(), String> {
        let hashlane = self.hashlane.clone().ok_or("--inside needs --hashlane")?;
        let mut report = Report::new(self.out.as_deref())?;
        let lab = Lab::new(programs, hashlane, self.rounds)?;
        report.text(&lab.versions());
        let wants = |part| self.only.is_empty() || self.only.contains(&part);
        let mut failed = Vec::new();
        for (part, needs, run) in PARTS.into_iter().filter(|(part, ..)| wants(*part)) {
            match lab.programs.need(needs) {
                Ok(()) => failed.extend(run(&lab, &mut report)),
                Err(why) => report.text(&format!("{part:?}: not run, {why}.")),
            }
        }
        report.end(&failed)?;
        match failed.len() {
            0 => Ok(()),
            count => Err(format!("{count} checks, listed above")),
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
}
