//! The llvm-mca of this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::Reading;
use super::calls::Calls;
use super::function::Function;
use crate::probe::child::{self, Limits};
use std::time::Duration;

/// Limits on a run of the tool.
const LIMITS: Limits = Limits { time: Duration::from_secs(20), output: 1 << 20 };

/// Name of the program.
const NAME: &str = "llvm-mca";

/// Error where no folder of PATH has one.
const MISSING: &str = "llvm-mca is not on PATH; Debian has it in the package llvm: apt-get install llvm. The rest of \
                       the study runs without it";

/// An installed llvm-mca, with its release and its cores.
#[derive(Clone, Debug)]
pub struct Tool {
    program: PathBuf,
    version: Version,
    /// The cores of ours that it knows, and for each the prefix of the model that it takes.
    cpus: Vec<(&'static Cpu, String)>,
}

/// Major, minor, patch.
type Version = [u32; 3];

/// A core that the studies ask for.
#[derive(Debug)]
struct Cpu {
    name: &'static str,
    /// Prefix of the resource names in llvm-mca's own core model; no release of llvm-mca has them for all
    /// cores.
    prefix: &'static str,
}

/// The source's two cores, and newer ones.
const CPUS: [Cpu; 8] = [
    Cpu { name: "nehalem", prefix: "NHM" },
    Cpu { name: "skylake", prefix: "SKL" },
    Cpu { name: "icelake-server", prefix: "ICX" },
    Cpu { name: "sapphirerapids", prefix: "SPR" },
    Cpu { name: "graniterapids", prefix: "GNR" },
    Cpu { name: "znver3", prefix: "Zn3" },
    Cpu { name: "znver4", prefix: "Zn4" },
    Cpu { name: "znver5", prefix: "Zn5" },
];

/// The cores that a model may have been made for, by the prefix of its resources.
const MODELS: [(&str, &str); 7] = [
    ("SB", "Sandy Bridge"),
    ("SKL", "Skylake"),
    ("SKX", "Skylake server"),
    ("ICX", "Ice Lake server"),
    ("SPR", "Sapphire Rapids"),
    ("Zn3", "Zen 3"),
    ("Zn4", "Zen 4"),
];

impl Tool {
    /// The newest llvm-mca on PATH, named with or without its version, as `llvm-mca-19`.
    ///
    /// # Errors
    /// No llvm-mca is found, or none that runs.
    pub fn find() -> Result<Self, String> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default())
    }

    /// The newest llvm-mca in the folders of `path`, which is in the form of PATH.
    ///
    /// # Errors
    /// No llvm-mca is found, or none that runs.
    pub fn find_in(path: &OsStr) -> Result<Self, String> {
        let mut newest: Option<(Version, PathBuf)> = None;
        let mut error = MISSING.to_owned();
        for program in candidates(path) {
            match version(&program) {
                Ok(version) if newest.as_ref().is_none_or(|(newest, _)| version > *newest) => {
                    newest = Some((version, program));
                }
                Ok(_) => {}
                Err(why) => error = why,
            }
        }
        let Some((version, program)) = newest else { return Err(error) };
        let cpus = known(&program)?;
        Ok(Self { program, version, cpus })
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The version of LLVM, as `14.0.6`.
    pub fn version(&self) -> String {
        self.version.map(|part| part.to_string()).join(".")
    }

    /// The cores that can be asked for: the source's two first, then newer ones.
    pub fn cpus(&self) -> Vec<&'static str> {
        self.cpus.iter().map(|(cpu, _)| cpu.name).collect()
    }

    /// Says for which cores the tool takes the model of another; `None` if for none.
    pub fn note(&self) -> Option<String> {
        let stand_ins: Vec<_> = self
            .cpus
            .iter()
            .filter(|(cpu, resource)| !resource.starts_with(cpu.prefix))
            .map(|(cpu, resource)| {
                let model = MODELS.iter().find(|(prefix, _)| resource.starts_with(prefix));
                format!("{} (that of {})", cpu.name, model.map_or("another core", |(_, name)| name))
            })
            .collect();
        (!stand_ins.is_empty()).then(|| {
            format!("{NAME} {} takes another core's model for {}", self.version(), stand_ins.join(", "))
        })
    }

    /// Simulates a function once, from its first instruction to its last.
    ///
    /// An instruction that the core lacks is not detected: the tool then uses the figures of the core's
    /// model.
    ///
    /// # Errors
    /// The tool cannot be started or is stopped, does not take an instruction (its message names it) or does
    /// not know the core; or its summary lacks a figure or is of another number of instructions.
    pub fn run(&self, function: &Function, cpu: &str, calls: Calls) -> Result<Reading, String> {
        let assembly = format!("{}{}", function.assembly(), calls.assembly());
        let output = simulate(&self.program, cpu, &assembly, View::Summary)?;
        let reading = Reading::parse(&output).map_err(|why| format!("{NAME}: {why}"))?;
        let given = (function.instructions() + calls.assembly().lines().count()) as f64;
        let simulated = reading.instructions();
        match simulated == given {
            true => Ok(reading),
            false => Err(format!("{NAME} simulated {simulated} of {given} instructions")),
        }
    }
}

/// The programs in the folders of `path` that are called like the tool.
fn candidates(path: &OsStr) -> Vec<PathBuf> {
    let is_tool = |name: &OsStr| {
        let rest = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let is_version = |version: &str| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_version))
    };
    let mut found: Vec<_> = env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten())
        .filter(|entry| is_tool(&entry.file_name()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn version(program: &Path) -> Result<Version, String> {
    let ended = child::run(Command::new(program).arg("--version"), "", LIMITS)?;
    parse_version(&ended.stdout).ok_or_else(|| format!("{}: reports no LLVM version", program.display()))
}

/// The version in a line such as `Debian LLVM version 14.0.6`.
fn parse_version(output: &str) -> Option<Version> {
    let (_, rest) = output.split_once("LLVM version ")?;
    let version = rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
    let mut parts = version.split('.').map_while(|part| part.parse().ok());
    Some([parts.next()?, parts.next().unwrap_or(0), parts.next().unwrap_or(0)])
}

/// The cores of ours that a program lists, with the first resource of each.
fn known(program: &Path) -> Result<Vec<(&'static Cpu, String)>, String> {
    // Some releases end as if they had failed, for want of instructions.
    let help = child::run(Command::new(program).args(["-march=x86-64", "-mcpu=help"]), "", LIMITS)?;
    let listed: Vec<&str> = help
        .stdout
        .lines()
        .chain(help.stderr.lines())
        .filter_map(|line| line.split_once(" - Select the ").map(|(name, _)| name.trim()))
        .collect();
    let cpus = CPUS.iter().filter(|cpu| listed.contains(&cpu.name));
    cpus.map(|cpu| {
        let output = simulate(program, cpu.name, "\tnop\n", View::Resources)?;
        let first = output.lines().find(|line| line.starts_with("[0")).and_then(|line| line.split_once("- "));
        match first {
            Some((_, resource)) => Ok((cpu, resource.trim().to_owned())),
            None => Err(format!("{}: lists no resources of a core", program.display())),
        }
    })
    .collect()
}

/// Views that the tool can print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Summary,
    /// The same with the resources of the core.
    Resources,
}

/// Output of the tool for some instructions, executed once.
fn simulate(program: &Path, cpu: &str, assembly: &str, view: View) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(["-march=x86-64", "-iterations=1", "-instruction-info=false"]);
    command.arg(format!("-mcpu={cpu}")).arg(format!("-resource-pressure={}", view == View::Resources));
    let ended = child::run(&mut command, assembly, LIMITS)?;
    // Some releases leave out instructions that they cannot parse, print an error, and exit with success.
    if ended.status.success() && !ended.stderr.contains("error:") {
        return Ok(ended.stdout);
    }
    Err(format!("{} ended with {}: {}", program.display(), ended.status, ended.stderr.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tool; `None` and a message if it is not installed. In continuous integration it must be.
    fn tool() -> Option<Tool> {
        match Tool::find() {
            Ok(tool) => Some(tool),
            Err(error) if env::var("CI").is_ok_and(|value| value == "true" || value == "1") => {
                panic!("{error}")
            }
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    /// Bit operations alone, which call nothing with or without optimisation.
    #[inline(never)]
    fn mix(a: u64, b: u64) -> u64 {
        (a ^ b) & !(b >> 7) ^ (a << 3)
    }

    #[test]
    #[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "another processor or system")]
    fn simulates_every_instruction_of_a_function() {
        let Some(tool) = tool() else { return };
        let function = Function::at(mix as fn(u64, u64) -> u64 as usize).unwrap();
        assert_eq!(tool.cpus()[..2], ["nehalem", "skylake"]);
        for cpu in tool.cpus() {
            let alone = tool.run(&function, cpu, Calls::None).unwrap();
            let Reading([instructions, cycles, uops, ..]) = alone;
            assert_eq!(instructions, function.instructions() as f64, "{cpu}");
            assert!(cycles < 100.0 && uops >= instructions, "{cpu}: {alone:?}");
            let Reading([more, cycles, ..]) = tool.run(&function, cpu, Calls::Cold).unwrap();
            assert!(more == instructions + 2.0 && cycles > 100.0, "{cpu}: {more} {cycles}");
        }
    }

    #[test]
    fn names_cores_without_a_model_of_their_own() {
        let Some(tool) = tool() else { return };
        let note = tool.note().unwrap();
        // No release of LLVM has one of Nehalem, all of them have one of Skylake.
        assert!(note.contains("nehalem (that of Sandy Bridge)") && !note.contains(" skylake ("), "{note}");
        let zen5 = [(&CPUS[7], "Zn4AGU0".to_owned()), (&CPUS[3], "SPRPort00".to_owned())];
        let tool = Tool { version: [19, 1, 7], cpus: zen5.to_vec(), ..tool };
        let expected = "llvm-mca 19.1.7 takes another core's model for znver5 (that of Zen 4)";
        assert_eq!(tool.note().as_deref(), Some(expected));
    }

    #[test]
    fn reports_instructions_that_the_tool_rejects() {
        let Some(tool) = tool() else { return };
        let error =
            simulate(&tool.program, "skylake", "\tnop\n\tno_such_instruction\n", View::Summary).unwrap_err();
        assert!(error.contains("no_such_instruction"), "{error}");
    }

    #[test]
    fn reads_versions() {
        assert_eq!(parse_version("Debian LLVM version 14.0.6\n  Optimized build."), Some([14, 0, 6]));
        assert_eq!(parse_version("LLVM (http://llvm.org/):\n  LLVM version 20.1.0-rc2"), Some([20, 1, 0]));
        assert_eq!(parse_version("LLVM version 9"), Some([9, 0, 0]));
        assert_eq!(parse_version("LLVM version git"), None);
        assert_eq!(parse_version("14.0.6"), None);
    }

    #[test]
    fn names_the_package_where_there_is_no_tool() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        fs::write(dir.join("llvm-mca-old"), "").unwrap();
        for path in [OsStr::new(""), dir.as_os_str(), OsStr::new("/no/such/folder")] {
            let error = Tool::find_in(path).unwrap_err();
            assert_eq!(error, MISSING);
        }
    }

    #[cfg(unix)]
    #[test]
    fn passes_over_a_tool_that_does_not_run() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        symlink("/bin/false", dir.join("llvm-mca")).unwrap();
        assert!(Tool::find_in(dir.as_os_str()).unwrap_err().ends_with("reports no LLVM version"));
        if let Some(tool) = tool() {
            let program = dir.join("llvm-mca-14");
            symlink(tool.program(), &program).unwrap();
            let found = Tool::find_in(dir.as_os_str()).unwrap();
            assert_eq!((found.program(), found.version()), (program.as_path(), tool.version()));
        }
    }
}
