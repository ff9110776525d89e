//! Running a kernel, once.

use crate::build::Kernels;
use crate::guest::Tasks;
use crate::line::{Line, Reading};
use crate::scheme::KernelScheme;
use crate::watch::watch;
use anyhow::{Context, Result, anyhow, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Memory of the machine. Unused memory is not allocated on the host.
const MEMORY: &str = "mem=768M";

/// A kernel silent for this long is stuck: longer than a set of SYNs may take, or the streams of one size.
const SILENCE: Duration = Duration::from_secs(180);

/// Message of a kernel that has too little room for the floating-point state.
const TOO_SMALL: &str = "ptrace set fp regs failed";

impl Kernels {
    /// Boots the kernel with `scheme`, on `core` if one is given, and lets it do `tasks`. `command` is the
    /// program `hashlane`.
    ///
    /// # Errors
    /// It did not boot, could not do its tasks, or did not hash as it should; `stop` was set.
    pub fn boot(
        &self,
        scheme: KernelScheme,
        command: &Path,
        core: Option<usize>,
        tasks: &Tasks,
        stop: &AtomicBool,
        doing: &mut dyn FnMut(&str),
    ) -> Result<Reading> {
        let wrong = |why: String| anyhow!("the kernel with {scheme}: {why}");
        let kernel = self.files.iter().find(|(built, _)| *built == scheme);
        let (_, kernel) = kernel.ok_or_else(|| wrong("it was not built".to_owned()))?;
        // A kernel's command line cannot hold a space.
        let is_one_word = command.to_str().is_some_and(|path| !path.contains(char::is_whitespace));
        let path = command.display();
        ensure!(is_one_word, "a kernel cannot start {path}, as its path has a space: move this command");
        let run = Folder::new(self.cache.path("run"))?;
        let mut child = Command::new(command);
        child.args(["lab", "child", "--parent"]).arg(std::process::id().to_string());
        if let Some(core) = core {
            child.arg("--core").arg(core.to_string());
        }
        child.arg("--").arg(kernel).args(arguments(command, &run.0, tasks));
        let (mut result, mut small) = (None, false);
        let ended = watch(child, stop, SILENCE, &mut |line| match Line::parse(line) {
            Some(Line::Doing(what)) => doing(&what),
            Some(Line::Failed(why)) => result = Some(Err(why)),
            Some(Line::Done(reading)) => result = Some(Ok(reading)),
            None => small |= line.contains(TOO_SMALL),
        })?;
        let ended_early = || match small {
            true => format!(
                "it stops with \"{TOO_SMALL}\": the CPU saves more floating-point state than it reports and the kernel has room for"
            ),
            false => format!("it ended early ({}); last output:\n{}", ended.status, ended.said),
        };
        result.unwrap_or_else(|| Err(ended_early())).map_err(wrong)
    }
}

/// The kernel's command line. After the two dashes come the arguments of its first process: this command.
fn arguments(command: &Path, run: &Path, tasks: &Tasks) -> Vec<OsString> {
    let mut init = OsString::from("init=");
    init.push(command);
    let mut folder = OsString::from("uml_dir=");
    folder.push(run);
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let attacks: Vec<&str> = tasks.attacks.iter().map(|attack| attack.id()).collect();
    let mut arguments: Vec<OsString> = [
        MEMORY,
        "root=hostfs",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "con=null",
        "con0=null,fd:1",
        "console=tty0",
        "quiet",
        "loglevel=1",
        "panic=1",
    ]
    .map(OsString::from)
    .into();
    arguments.extend([init, folder]);
    arguments.extend(["--", "lab", "kernel-init"].map(OsString::from));
    let inside = [
        ("--sizes", list(&tasks.sizes)),
        ("--streams", tasks.streams.to_string()),
        ("--slices", tasks.slices.to_string()),
        ("--slice", tasks.slice.to_string()),
        ("--attacks", attacks.join(",")),
        ("--before", list(&tasks.before)),
        ("--seed", tasks.seed.to_string()),
    ];
    // The kernel divides its command line at spaces: an empty list would take the next flag for its value.
    for (flag, value) in inside.into_iter().filter(|(_, value)| !value.is_empty()) {
        arguments.extend([flag.into(), value.into()]);
    }
    arguments
}

/// Folder in which a kernel keeps its sockets and pid file; removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(path: PathBuf) -> Result<Self> {
        // Of a run that was killed; the cache is ours alone.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure leaves a folder behind in the cache.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_study_flows::hostile::Attack;

    #[test]
    fn the_first_process_gets_its_tasks_and_no_flag_of_an_empty_list() {
        let mut tasks = Tasks {
            sizes: vec![64, 128],
            streams: 32,
            slices: 4,
            slice: 250,
            attacks: vec![Attack::Xor, Attack::Local],
            before: vec![0, 1024],
            seed: 7,
        };
        let line = |tasks: &Tasks| {
            let line = arguments(Path::new("/bin/hashlane"), Path::new("/run"), tasks);
            line.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        let inside = "-- lab kernel-init --sizes 64,128 --streams 32 --slices 4 --slice 250 --attacks xor,local \
                      --before 0,1024 --seed 7";
        assert!(line(&tasks).ends_with(inside) && line(&tasks).contains(" init=/bin/hashlane "));
        (tasks.sizes, tasks.attacks, tasks.before) = (Vec::new(), Vec::new(), Vec::new());
        assert!(line(&tasks).ends_with("-- lab kernel-init --streams 32 --slices 4 --slice 250 --seed 7"));
    }
}
