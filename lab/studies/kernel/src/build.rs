//! Building the kernels: one tree, one kernel after the other.

use crate::cache::Cache;
use crate::scheme::KernelScheme;
use crate::source::{self, Source};
use crate::watch::watch;
use crate::{edit, needs};
use anyhow::{Context, Result, bail, ensure};
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

/// Options that are on in a kernel; all others are off.
const CONFIG: &str = include_str!("tree/config");
/// The file with these options in the tree, and the file of the whole configuration.
const CONFIG_FILE: &str = "hashlane.config";
const WHOLE_CONFIG: &str = ".config";

/// Kernel stack in pages, as a power of two, for a large floating-point state.
const STACK: &str = "CONFIG_KERNEL_STACK_ORDER=2";
const LARGER_STACK: &str = "CONFIG_KERNEL_STACK_ORDER=4";

const SILENCE: Duration = Duration::from_secs(600);

/// Built kernels, and the facts needed to boot them.
#[derive(Debug)]
pub struct Kernels {
    pub(crate) cache: Cache,
    pub(crate) files: Vec<(KernelScheme, PathBuf)>,
    /// Remarks needed to read the figures.
    pub notes: Vec<String>,
}

impl Kernels {
    /// Builds a kernel for each of `schemes`, or takes those that an earlier run built from the same source
    /// in the same manner. `archive` is the source if it is not Debian's; `doing` is called often, with the
    /// current step.
    ///
    /// # Errors
    /// Something that is needed is missing; the source is not as expected; a program failed; `stop` was set.
    pub fn build(
        schemes: &[KernelScheme],
        archive: Option<&Path>,
        stop: &AtomicBool,
        doing: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let archive = needs::check(archive)?;
        let cache = Cache::open()?;
        let wide = state_is_wide();
        let source = source::prepare(&cache, &archive, wide, stop, doing)?;
        for (name, text) in edit::FILES {
            source::write(&source.folder.join(edit::FOLDER).join(name), text)?;
        }
        let tree = Tree { source: &source, config: config(wide), compiler: compiler()?, stop };
        let mut files = Vec::new();
        for &scheme in schemes {
            let file = cache.path(&format!("linux-{scheme}-{:016x}", tree.fingerprint(scheme)));
            if !file.is_file() {
                tree.build(scheme, &file, doing)?;
                remove_older(&cache, scheme, &file)?;
            }
            files.push((scheme, file));
        }
        let mut notes = vec![format!(
            "Linux {} as User Mode Linux, of {}, by {}",
            tree.version()?,
            file_name(&archive),
            tree.compiler
        )];
        if wide {
            notes.push(format!(
                "the CPU's registers take more than {} bytes, with which this Linux does not boot as User \
                 Mode Linux: it was built with room for 16384, and larger stacks",
                edit::FITS
            ));
        }
        Ok(Self { cache, files, notes })
    }
}

/// `true` if the state that the CPU saves of floating point and vectors is larger than User Mode Linux has
/// room for.
#[cfg(target_arch = "x86_64")]
fn state_is_wide() -> bool {
    let features = raw_cpuid::CpuId::new().get_extended_state_info();
    features.is_some_and(|state| state.xsave_area_size_enabled_features() > edit::FITS)
}

#[cfg(not(target_arch = "x86_64"))]
fn state_is_wide() -> bool {
    false
}

fn config(wide: bool) -> String {
    if wide { CONFIG.replace(STACK, LARGER_STACK) } else { CONFIG.to_owned() }
}

/// First line of the compiler's version output.
fn compiler() -> Result<String> {
    let output = Command::new("gcc").arg("--version").output().context("cannot run gcc")?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.lines().next().unwrap_or("gcc").to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Kernels of the same scheme that were built otherwise.
fn remove_older(cache: &Cache, scheme: KernelScheme, file: &Path) -> Result<()> {
    let prefix = format!("linux-{scheme}-");
    let folder = cache.folder();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
        let print = file_name(&path).strip_prefix(&prefix).map(str::len);
        if path != file && print == Some(16) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

struct Tree<'a> {
    source: &'a Source,
    config: String,
    compiler: String,
    stop: &'a AtomicBool,
}

impl Tree<'_> {
    /// Of all that a kernel is made from.
    fn fingerprint(&self, scheme: KernelScheme) -> u64 {
        let [(_, ehash), (_, probe)] = edit::FILES;
        let header = scheme.header();
        let parts = [self.source.stamp.as_str(), &self.config, &self.compiler, ehash, probe, &header];
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part.as_bytes());
        }
        SipHash24::new(&Key::VECTOR).hash(&bytes)
    }

    fn build(&self, scheme: KernelScheme, file: &Path, doing: &mut dyn FnMut(&str)) -> Result<()> {
        self.configure(doing)?;
        source::write(&self.source.folder.join(edit::FOLDER).join(edit::SCHEME), &scheme.header())?;
        let jobs = available_parallelism().map_or(1, usize::from);
        let mut compiled = 0;
        let what = format!("building the kernel with {scheme}");
        doing(&what);
        self.make(&[&format!("-j{jobs}"), "linux"], &mut |line| {
            if line.trim_start().starts_with("CC ") {
                compiled += 1;
                doing(&format!("{what}: {compiled} files compiled"));
            }
        })?;
        // A file of that name is whole.
        let part = file.with_extension("part");
        fs::copy(self.source.folder.join("linux"), &part)
            .with_context(|| format!("cannot write {}", part.display()))?;
        fs::rename(&part, file).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Sets the options that are on, unless an earlier run did.
    fn configure(&self, doing: &mut dyn FnMut(&str)) -> Result<()> {
        let asked = self.source.folder.join(CONFIG_FILE);
        let whole = self.source.folder.join(WHOLE_CONFIG);
        if whole.is_file() && fs::read_to_string(&asked).is_ok_and(|found| found == self.config) {
            return Ok(());
        }
        doing("configuring a small User Mode Linux");
        // Its own copy is written when all is well.
        let new = self.source.folder.join("hashlane.config.new");
        source::write(&new, &self.config)?;
        self.make(&["KCONFIG_ALLCONFIG=hashlane.config.new", "allnoconfig"], &mut |_| ())?;
        let found = fs::read_to_string(&whole).with_context(|| format!("cannot read {}", whole.display()))?;
        let lines = self.config.lines().filter(|line| line.starts_with("CONFIG_"));
        for line in lines.filter(|line| !line.ends_with("=n")) {
            let taken = found.lines().any(|other| other == line);
            ensure!(taken, "the kernel rejects {line}: this source of Linux is not one that the study knows");
        }
        fs::rename(&new, &asked).with_context(|| format!("cannot write {}", asked.display()))
    }

    fn make(&self, targets: &[&str], line: &mut dyn FnMut(&str)) -> Result<()> {
        let mut make = Command::new("make");
        make.arg("-C").arg(&self.source.folder).arg("ARCH=um").args(targets);
        // Of a make that runs this, and of a user's own kernels.
        for variable in ["MAKEFLAGS", "MFLAGS", "KBUILD_OUTPUT", "KCONFIG_CONFIG", "CROSS_COMPILE", "ARCH"] {
            make.env_remove(variable);
        }
        make.env("LC_ALL", "C").env("KBUILD_BUILD_TIMESTAMP", "0");
        let ended = watch(make, self.stop, SILENCE, line)?;
        if ended.status.success() {
            return Ok(());
        }
        bail!("`make ARCH=um {}` failed; last output:\n{}", targets.join(" "), ended.said)
    }

    /// Version that the tree states.
    fn version(&self) -> Result<String> {
        let path = self.source.folder.join("Makefile");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(source::stated_version(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_state_has_a_larger_stack() {
        assert!(config(false).contains(STACK) && !config(false).contains(LARGER_STACK));
        assert!(config(true).contains(LARGER_STACK) && !config(true).contains(STACK));
    }

    #[test]
    fn a_kernel_is_named_after_its_inputs() {
        let stop = AtomicBool::new(false);
        let source = Source { folder: "/tmp".into(), stamp: "a".into() };
        let other = Source { folder: "/tmp".into(), stamp: "b".into() };
        let tree = |source, config: &str| {
            Tree { source, config: config.into(), compiler: "gcc".into(), stop: &stop }
                .fingerprint(KernelScheme::Base)
        };
        let first = tree(&source, "");
        assert_eq!(first, tree(&source, ""));
        assert!(first != tree(&other, "") && first != tree(&source, "x"));
        let tree = Tree { source: &source, config: String::new(), compiler: "gcc".into(), stop: &stop };
        assert_ne!(first, tree.fingerprint(KernelScheme::Flat));
    }
}
