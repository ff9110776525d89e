//! Facts of the machine and of the run behind a set of records: `machine.toml`.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::noise::Noise;
use crate::memory;
use hashlane_records::write_atomically;

/// Most bytes of a file.
const MAX_BYTES: u64 = 16 << 20;

/// Facts of the machine of a set of records. Facts that the system does not report are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// The processor.
    pub cpu: Cpu,
    /// The rest of the machine, and its system.
    pub system: System,
    /// The command that measured.
    pub build: Build,
    /// The run.
    pub run: Run,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cpu {
    /// The model's name.
    pub model: Option<String>,
    /// The vendor's name.
    pub vendor: Option<String>,
    /// Logical processors that this process may use.
    pub cores: Option<u32>,
    /// Instruction sets of the processor that matter for hashing, under the kernel's names.
    pub flags: Vec<String>,
    /// `true` on a virtual machine: times may then include other guests' work.
    pub hypervisor: Option<bool>,
    /// The frequency governor of the first processor.
    pub governor: Option<String>,
    /// `true` if the core may clock above its base rate.
    pub turbo: Option<bool>,
}

/// The rest of the machine, and its system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct System {
    /// The operating system.
    pub os: String,
    /// The architecture.
    pub arch: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Main memory, in KiB.
    pub memory_kib: Option<u64>,
}

/// The command that measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Build {
    /// The version of hashlane.
    pub hashlane: String,
    /// The commit that was checked out when it was built; changes that were not committed do not show.
    pub commit: Option<String>,
    /// The compiler.
    pub rustc: Option<String>,
    /// Slugs of the studies whose timed code has changed since that commit, as far as it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// Settings and circumstances of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// When it began, in UTC (RFC 3339).
    pub date: String,
    /// The command line.
    pub command: Vec<String>,
    /// The size: `quick` or `full`.
    pub size: String,
    /// The seed of the generated workloads.
    #[serde(with = "crate::hex")]
    pub seed: u64,
    /// The run did not measure all that it was asked for: it was stopped or killed, or a study failed.
    pub partial: bool,
    /// The reason for that.
    pub partial_reason: Option<String>,
    /// The rate of the time-stamp counter before the run, in GHz.
    pub tsc_ghz_before: Option<f64>,
    /// The rate of the time-stamp counter after the run, in GHz.
    pub tsc_ghz_after: Option<f64>,
    /// Counts by which the time-stamp counter advances at a time.
    pub tsc_step: Option<u64>,
    /// The core's clock before the run, in GHz.
    pub core_ghz_before: Option<f64>,
    /// The core's clock after the run, in GHz.
    pub core_ghz_after: Option<f64>,
    /// Remarks needed to read the figures, such as the number of lines of a file that were skipped.
    pub notes: Vec<String>,
    /// Noise of the machine during the run.
    pub noise: Noise,
}

impl Run {
    /// Marks the run as partial. The first reason is kept.
    pub fn mark_partial(&mut self, reason: String) {
        self.partial = true;
        self.partial_reason.get_or_insert(reason);
    }
}

/// Instruction sets that matter for hashing, under the kernel's names (x86, then Arm).
const FLAGS: [&str; 15] = [
    "sse4_2",
    "pclmulqdq",
    "aes",
    "bmi2",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "vpclmulqdq",
    "vaes",
    "crc32",
    "asimd",
    "pmull",
    "sha2",
    "sve",
];

impl Machine {
    /// This machine and this build; the caller adds the run. Reads `/proc` and `/sys` if they exist.
    pub fn detect() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let mut cpu = read("/proc/cpuinfo").map(|text| Cpu::from_cpuinfo(&text)).unwrap_or_default();
        cpu.cores = std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok());
        cpu.governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").map(trimmed);
        let turbo = |file: &str, is_on: [(&str, bool); 2]| {
            let text = read(&format!("/sys/devices/system/cpu/{file}"))?;
            is_on.into_iter().find(|(word, _)| *word == text.trim()).map(|(_, is_on)| is_on)
        };
        cpu.turbo = turbo("intel_pstate/no_turbo", [("0", true), ("1", false)])
            .or_else(|| turbo("cpufreq/boost", [("0", false), ("1", true)]));
        Self {
            cpu,
            system: System {
                os: std::env::consts::OS.to_owned(),
                arch: std::env::consts::ARCH.to_owned(),
                kernel: read("/proc/sys/kernel/osrelease").map(trimmed),
                memory_kib: read("/proc/meminfo")
                    .and_then(|text| memory::field(&text, "MemTotal:"))
                    .map(|bytes| bytes >> 10),
            },
            build: Build {
                hashlane: env!("CARGO_PKG_VERSION").to_owned(),
                commit: option_env!("HASHLANE_COMMIT").map(str::to_owned),
                rustc: option_env!("HASHLANE_RUSTC").map(str::to_owned),
                changed: Vec::new(),
            },
            run: Run::default(),
        }
    }

    /// Parses the content of a `machine.toml`; `origin` names the file in errors.
    ///
    /// # Errors
    /// The content is not TOML, or has a field that is not a machine's.
    pub fn parse(text: &str, origin: &str) -> io::Result<Self> {
        let error = |error: toml::de::Error| error.to_string().trim_end().to_owned();
        toml::from_str(text).map_err(|e| io::Error::other(format!("{origin}: {}", error(e))))
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), or the file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let origin = path.display().to_string();
        let read = || -> io::Result<String> {
            let mut text = String::new();
            std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
            if text.len() as u64 > MAX_BYTES {
                return Err(io::Error::other(format!("longer than {} MiB", MAX_BYTES >> 20)));
            }
            Ok(text)
        };
        let text = read().map_err(|error| io::Error::new(error.kind(), format!("{origin}: {error}")))?;
        Self::parse(&text, &origin)
    }

    /// The content of the file.
    ///
    /// # Errors
    /// A fact that TOML cannot hold: a memory of 2^63 KiB or more.
    pub fn to_toml(&self) -> io::Result<String> {
        toml::to_string(self).map_err(io::Error::other)
    }

    /// Writes the file `path`, whole or not at all.
    ///
    /// # Errors
    /// Whatever keeps the file from being written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_atomically(path, self.to_toml()?.as_bytes())
    }
}

impl Cpu {
    /// Facts of the first processor in the text of `/proc/cpuinfo`.
    fn from_cpuinfo(text: &str) -> Self {
        let field = |names: &[&str]| {
            text.lines().filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
                let value = value.trim();
                (names.contains(&name.trim()) && !value.is_empty()).then(|| value.to_owned())
            })
        };
        let all = field(&["flags", "Features"]);
        let has: HashSet<&str> = all.iter().flat_map(|flags| flags.split_whitespace()).collect();
        Self {
            model: field(&["model name", "Model", "Hardware"]),
            vendor: field(&["vendor_id", "CPU implementer"]),
            flags: FLAGS.iter().filter(|f| has.contains(*f)).map(|&f| f.to_owned()).collect(),
            // Arm kernels do not say.
            hypervisor: text.contains("vendor_id").then(|| has.contains("hypervisor")),
            ..Self::default()
        }
    }
}

/// Memory that this process may take without swapping and under its limits, in bytes; `None` if the system
/// reports neither.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = memory::field(&text, "MemAvailable:");
    free.into_iter().chain(memory::room().map(|room| room.bytes)).min()
}

fn trimmed(text: String) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some Xeon\n\
        flags\t\t: fpu sse4_2 avx2 bmi2 hypervisor avx512f\n\nprocessor\t: 1\nmodel name\t: Other\n";
    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd aes pmull sha2 crc32\n\
        CPU implementer\t: 0x41\n";

    #[test]
    fn reads_what_the_kernel_says_of_the_processor() {
        let x86 = Cpu::from_cpuinfo(X86);
        assert_eq!(x86.model.as_deref(), Some("Some Xeon"));
        assert_eq!(x86.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(x86.flags, ["sse4_2", "bmi2", "avx2", "avx512f"]);
        assert_eq!(x86.hypervisor, Some(true));
        let arm = Cpu::from_cpuinfo(ARM);
        assert_eq!(arm.model, None);
        assert_eq!(arm.vendor.as_deref(), Some("0x41"));
        assert_eq!(arm.flags, ["aes", "crc32", "asimd", "pmull", "sha2"]);
        assert_eq!(arm.hypervisor, None);
        assert_eq!(Cpu::from_cpuinfo(""), Cpu::default());
    }

    #[test]
    fn facts_survive_the_file() {
        let mut machine = Machine::detect();
        machine.run.seed = u64::MAX;
        machine.run.partial = true;
        machine.run.partial_reason = Some("stopped by \"Ctrl-C\"\n".into());
        machine.run.command = vec!["hashlane".into(), "study".into()];
        machine.run.tsc_ghz_before = Some(2.7);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("machine.toml");
        machine.write(&path).unwrap();
        assert_eq!(Machine::read(&path).unwrap(), machine);
    }

    #[test]
    fn refuses_what_is_not_a_machine() {
        let error = Machine::parse("[cpu]\ncolour = \"red\"\n", "machine.toml").unwrap_err().to_string();
        assert!(error.starts_with("machine.toml: ") && error.contains("colour"), "{error}");
        assert!(Machine::parse("[run]\nseed = \"12\"\n", "m").is_err());
        assert!(Machine::read(Path::new("/nonexistent/machine.toml")).is_err());
    }

    #[test]
    fn the_build_knows_its_compiler() {
        assert!(Machine::detect().build.rustc.unwrap().starts_with("rustc 1."));
    }

    #[test]
    #[cfg(unix)]
    fn refuses_a_file_without_an_end() {
        let error = Machine::read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero") && error.contains("longer than 16 MiB"), "{error}");
    }
}
