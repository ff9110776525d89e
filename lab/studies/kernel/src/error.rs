//! Errors of building and booting kernels.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Reasons for which kernels are missing, or one failed at its task.
#[derive(Debug)]
#[non_exhaustive]
pub enum KernelError {
    /// It is not Linux on x86-64, for which User Mode Linux is made.
    Machine,
    /// Packages of Debian that are not there.
    Packages(Vec<&'static str>),
    /// The kernel's source is not at the given path.
    NoSource(PathBuf),
    /// `ptrace` is refused.
    Ptrace(io::Error),
    /// The folder, MiB that are needed, MiB that are free.
    Disk(PathBuf, u64, u64),
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set, so there is no cache folder.
    NoCache,
    /// The path of this command has a space in it, which a kernel's command line cannot hold.
    Path(PathBuf),
    /// Another run uses the folder.
    Busy(PathBuf),
    /// A file or folder failed.
    Io(String, io::Error),
    /// The source differs from the expected one: the file, and the text not found in it.
    Source(&'static str, &'static str),
    /// A program failed; its command, and its last output.
    Program(String, String),
    /// The kernel's own configuration does not have a line that was asked for.
    Config(String),
    /// A kernel failed: its name, the cause, and its last output.
    Boot(String, String),
    /// The run was stopped.
    Stopped,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => {
                f.write_str("User Mode Linux, on which the kernels run, is for Linux on x86-64 only")
            }
            Self::Packages(names) => {
                write!(
                    f,
                    "the kernels are built from Debian's packages, and some are missing: run `apt-get install {}`, then repeat the command",
                    names.join(" ")
                )
            }
            Self::NoSource(path) => write!(
                f,
                "no source of Linux at {}: give --linux-source a linux-source-….tar.xz of Debian's package linux-source",
                path.display()
            ),
            Self::Ptrace(error) => write!(
                f,
                "ptrace is refused here ({error}), by which User Mode Linux runs processes: in a container allow it (capability SYS_PTRACE, and no \
                 seccomp filter against it); elsewhere see that kernel.yama.ptrace_scope is below 3"
            ),
            Self::Disk(folder, needed, free) => write!(
                f,
                "{} has {free} MiB free, and the source and the kernels need {needed}: make room, or set XDG_CACHE_HOME to a folder elsewhere",
                folder.display()
            ),
            Self::NoCache => f.write_str(
                "neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the source and the kernels: set one",
            ),
            Self::Path(path) => write!(
                f,
                "a kernel cannot start {}, as its path has a space: move this command",
                path.display()
            ),
            Self::Busy(folder) => {
                write!(f, "another run is building or using the kernels in {}: wait for it", folder.display())
            }
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Source(file, what) => write!(
                f,
                "{file} has no {what}: this source of Linux is not one that the study knows (it was made for 6.1); give another with --linux-source"
            ),
            Self::Program(command, said) => write!(f, "`{command}` failed; last output:\n{said}"),
            Self::Config(line) => write!(
                f,
                "the kernel rejects {line}: this source of Linux is not one that the study knows"
            ),
            Self::Boot(name, why) => write!(f, "the kernel with {name}: {why}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for KernelError {}

/// Error of the file system, with the operation that failed.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> KernelError {
    let what = what.into();
    move |error| KernelError::Io(what, error)
}
