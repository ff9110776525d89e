//! Errors of building and booting kernels.

use std::io;
use std::path::PathBuf;

/// Reasons for which kernels are missing, or one failed at its task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// It is not Linux on x86-64, for which User Mode Linux is made.
    #[error("User Mode Linux, on which the kernels run, is for Linux on x86-64 only")]
    Machine,
    /// Packages of Debian that are not there.
    #[error(
        "the kernels are built from Debian's packages, and some are missing: run `apt-get install {}`, then \
         repeat the command",
        .0.join(" ")
    )]
    Packages(Vec<&'static str>),
    /// The kernel's source is not at the given path.
    #[error(
        "no source of Linux at {}: give --linux-source a linux-source-….tar.xz of Debian's package \
         linux-source",
        .0.display()
    )]
    NoSource(PathBuf),
    /// `ptrace` is refused.
    #[error(
        "ptrace is refused here ({0}), by which User Mode Linux runs processes: in a container allow it \
         (capability SYS_PTRACE, and no seccomp filter against it); elsewhere see that \
         kernel.yama.ptrace_scope is below 3"
    )]
    Ptrace(io::Error),
    /// The folder, MiB that are needed, MiB that are free.
    #[error(
        "{} has {} MiB free, and the source and the kernels need {}: make room, or set XDG_CACHE_HOME to a \
         folder elsewhere",
        .0.display(),
        .2,
        .1
    )]
    Disk(PathBuf, u64, u64),
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set, so there is no cache folder.
    #[error(
        "neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the source and the kernels: set \
         one"
    )]
    NoCache,
    /// The path of this command has a space in it, which a kernel's command line cannot hold.
    #[error("a kernel cannot start {}, as its path has a space: move this command", .0.display())]
    Path(PathBuf),
    /// Another run uses the folder.
    #[error("another run is building or using the kernels in {}: wait for it", .0.display())]
    Busy(PathBuf),
    /// A file or folder failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The source differs from the expected one: the file, and the text not found in it.
    #[error(
        "{0} has no {1}: this source of Linux is not one that the study knows (it was made for 6.1); give \
         another with --linux-source"
    )]
    Source(&'static str, &'static str),
    /// A program failed; its command, and its last output.
    #[error("`{0}` failed; last output:\n{1}")]
    Program(String, String),
    /// The kernel's own configuration does not have a line that was asked for.
    #[error("the kernel rejects {0}: this source of Linux is not one that the study knows")]
    Config(String),
    /// A kernel failed: its name, the cause, and its last output.
    #[error("the kernel with {0}: {1}")]
    Boot(String, String),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
}

/// Error of the file system, with the operation that failed.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> KernelError {
    let what = what.into();
    move |error| KernelError::Io(what, error)
}
