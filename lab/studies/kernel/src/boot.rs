//! Running a kernel, once.

use crate::build::Kernels;
use crate::error::KernelError;
use crate::guest::Tasks;
use crate::line::Line;
use crate::scheme::KernelScheme;
use crate::watch::watch;
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

/// Results of a kernel's boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Number of its hashes that were compared with ours.
    pub checked: u64,
    /// Bytes of a message; Mbit/s of all streams, of each slice of time.
    pub streams: Vec<(u32, Vec<f64>)>,
    /// Times by measurement: counts of the time-stamp counter per call, of each repetition, at several times
    /// of the boot.
    pub cycles: Vec<(String, Vec<f64>)>,
    /// Counts per segment that meets no table.
    pub floor: Vec<f64>,
    /// Costs of hostile SYNs.
    pub syn: Vec<SynReading>,
}

/// Cost of the SYNs of a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SynReading {
    /// The set.
    pub attack: String,
    /// Number of hostile SYNs before, and counts per SYN then, of each block.
    pub points: Vec<(u32, Vec<f64>)>,
    /// Entries of the fullest bucket, after the last.
    pub longest: Option<u64>,
    /// SYNs that were sent, and entries of the table after the last.
    pub table: Option<(u64, u64)>,
    /// Entries that stayed in the table after each request was reset.
    pub left: Option<u64>,
    /// Number of SYNs sent, if the set was ended because it took too long.
    pub short: Option<u32>,
}

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
    ) -> Result<Reading, KernelError> {
        let Some((_, kernel)) = self.files.iter().find(|(built, _)| *built == scheme) else {
            return Err(KernelError::Boot(scheme.to_string(), "it was not built".to_owned()));
        };
        if command.to_str().is_none_or(|path| path.contains(char::is_whitespace)) {
            return Err(KernelError::Path(command.to_owned()));
        }
        let run = Folder::new(self.cache.path("run"))?;
        let mut child = Command::new(command);
        child.args(["lab", "child", "--parent"]).arg(std::process::id().to_string());
        if let Some(core) = core {
            child.arg("--core").arg(core.to_string());
        }
        child.arg("--").arg(kernel).args(arguments(command, &run.0, tasks));
        let mut reading = Reading::default();
        let (mut failed, mut done, mut small) = (None, false, false);
        let ended = watch(child, stop, SILENCE, &mut |line| match line.parse() {
            Ok(Line::Doing(what)) => doing(&what),
            Ok(Line::Failed(why)) => failed = Some(why),
            Ok(Line::Done) => done = true,
            Ok(line) => reading.take(line),
            Err(_) => small |= line.contains(TOO_SMALL),
        })?;
        let wrong = |why: String| Err(KernelError::Boot(scheme.to_string(), why));
        match failed {
            Some(why) => wrong(why),
            None if small => wrong(format!(
                "it stops with \"{TOO_SMALL}\": the CPU saves more floating-point state than it reports and the kernel has room for"
            )),
            None if !done => {
                wrong(format!("it ended early ({}); last output:\n{}", ended.status, ended.said))
            }
            None => Ok(reading),
        }
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

impl Reading {
    fn take(&mut self, line: Line) {
        match line {
            Line::Checked(count) => self.checked = count,
            Line::Streams(size, figures) => self.streams.push((size, figures)),
            Line::Cycles(what, figures) => match self.cycles.iter_mut().find(|(timed, _)| *timed == what) {
                Some((_, all)) => all.extend(figures),
                None => self.cycles.push((what, figures)),
            },
            Line::Floor(figures) => self.floor = figures,
            Line::Syn(attack, before, figures) => self.syn_of(attack).points.push((before, figures)),
            Line::Longest(attack, entries) => self.syn_of(attack).longest = Some(entries),
            Line::Table(attack, sent, entries) => self.syn_of(attack).table = Some((sent, entries)),
            Line::Left(attack, entries) => self.syn_of(attack).left = Some(entries),
            Line::Short(attack, sent) => self.syn_of(attack).short = Some(sent),
            Line::Doing(_) | Line::Failed(_) | Line::Done => {}
        }
    }

    fn syn_of(&mut self, attack: String) -> &mut SynReading {
        let at = self.syn.iter().position(|syn| syn.attack == attack).unwrap_or_else(|| {
            self.syn.push(SynReading { attack, ..SynReading::default() });
            self.syn.len() - 1
        });
        &mut self.syn[at]
    }
}

/// Folder in which a kernel keeps its sockets and pid file; removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(path: PathBuf) -> Result<Self, KernelError> {
        // Of a run that was killed; the cache is ours alone.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(crate::error::io(format!("cannot make {}", path.display())))?;
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
    fn the_first_process_gets_its_tasks() {
        let tasks = Tasks {
            sizes: vec![64, 128],
            streams: 32,
            slices: 4,
            slice: 250,
            attacks: vec![Attack::Xor, Attack::Local],
            before: vec![0, 1024],
            seed: 7,
        };
        let line = arguments(Path::new("/bin/hashlane"), Path::new("/run"), &tasks);
        let line = line.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join(" ");
        assert!(line.contains(" init=/bin/hashlane "), "{line}");
        assert!(
            line.ends_with(
                "-- lab kernel-init --sizes 64,128 --streams 32 --slices 4 --slice 250 --attacks xor,local --before 0,1024 --seed 7"
            ),
            "{line}"
        );
    }

    #[test]
    fn a_list_that_is_empty_has_no_flag() {
        let tasks = Tasks {
            sizes: Vec::new(),
            streams: 32,
            slices: 4,
            slice: 250,
            attacks: Vec::new(),
            before: Vec::new(),
            seed: 7,
        };
        let line = arguments(Path::new("/bin/hashlane"), Path::new("/run"), &tasks);
        assert!(line.iter().all(|part| !part.is_empty()), "{line:?}");
        assert!(!line.contains(&OsString::from("--sizes")), "{line:?}");
    }

    #[test]
    fn lines_make_a_reading() {
        let mut reading = Reading::default();
        for line in [
            "checked 9",
            "streams 64 13 14",
            "cycles miss 18.5",
            "cycles miss 19",
            "floor 7",
            "syn xor 0 8",
            "syn xor 64 9 10",
            "longest xor 96",
            "table xor 320 300",
            "left xor 299",
        ] {
            reading.take(format!("hashlane: {line}").parse().unwrap());
        }
        assert_eq!((reading.checked, reading.floor.as_slice()), (9, [7.0].as_slice()));
        assert_eq!(reading.cycles, [("miss".to_owned(), vec![18.5, 19.0])]);
        assert_eq!(reading.streams, [(64, vec![13.0, 14.0])]);
        let [syn] = &reading.syn[..] else { panic!("{:?}", reading.syn) };
        assert_eq!(syn.points, [(0, vec![8.0]), (64, vec![9.0, 10.0])]);
        assert_eq!((syn.longest, syn.short), (Some(96), None));
        assert_eq!((syn.table, syn.left), (Some((320, 300)), Some(299)));
    }
}
