//! The test programs of the workspace, two of them at a time: half of their time is waiting for processes.

mod build;
mod queue;

use crate::run;
use queue::Queue;
use std::env;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Programs whose time is printed at the end: the slowest.
const SLOWEST: usize = 10;

/// A test program that Cargo has built.
#[derive(Debug)]
struct Program {
    /// Folder of the package, and the target if it is an integration test: `lab/lab`, `bin/flow command`.
    name: String,
    executable: PathBuf,
    /// The folder of its package.
    package: PathBuf,
    /// Starts other programs and waits for them, as integration tests outside of `core/` do.
    is_waiting: bool,
}

/// End of a program.
struct Ran {
    name: String,
    seconds: f64,
    failure: Option<String>,
}

/// Builds the tests and runs them, all of them also after a failure. `is_long` runs them in their long form.
///
/// Programs that wait run while others are built: the compiler leaves no core idle, they leave two. A second
/// worker begins after the build, with the programs that compute.
///
/// # Errors
/// The build or a test fails.
pub(crate) fn run(is_long: bool) -> Result<(), String> {
    let logs = run::target_dir()?.join("test-logs");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    build::started()?;
    let (queue, ran) = (Queue::default(), Mutex::<Vec<Ran>>::default());
    let work = |prefers_waiting: bool| {
        while let Some(program) = queue.next(prefers_waiting) {
            let one = program.run(&logs, is_long);
            let mut ran = ran.lock().unwrap_or_else(PoisonError::into_inner);
            let mark = if one.failure.is_some() { "FAILED" } else { "ok" };
            let known = queue.known();
            println!("{:>4}/{known:<3}  {mark:<6}  {:>6.1} s  {}", ran.len() + 1, one.seconds, one.name);
            if let Some(failure) = &one.failure {
                println!("{failure}");
            }
            ran.push(one);
        }
    };
    let built = thread::scope(|scope| {
        scope.spawn(|| work(true));
        let start = Instant::now();
        let built = build::tests(|program| queue.push(program));
        println!("      the tests are built after {:.1} s", start.elapsed().as_secs_f64());
        queue.complete();
        work(false);
        built
    });
    let ran = summary(ran.into_inner().unwrap_or_else(PoisonError::into_inner));
    built.and(ran)
}

fn summary(mut ran: Vec<Ran>) -> Result<(), String> {
    ran.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nthe slowest:");
    for one in ran.iter().take(SLOWEST) {
        println!("  {:>6.1} s  {}", one.seconds, one.name);
    }
    let failed: Vec<&str> =
        ran.iter().filter(|one| one.failure.is_some()).map(|one| one.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("tests of {} fail", failed.join(", "))) }
}

impl Program {
    /// Bytes of the file.
    fn size(&self) -> u64 {
        fs::metadata(&self.executable).map_or(0, |file| file.len())
    }

    fn run(&self, logs: &Path, is_long: bool) -> Ran {
        let start = Instant::now();
        let log = logs.join(format!("{}.log", self.name.replace(['/', ' '], "-")));
        let failure = self.succeed(&log, is_long).err().map(|why| {
            let said = fs::read(&log).unwrap_or_default();
            format!("{}\n{}: {why}", String::from_utf8_lossy(&said).trim_end(), self.executable.display())
        });
        Ran { name: self.name.clone(), seconds: start.elapsed().as_secs_f64(), failure }
    }

    /// Output goes to a file: a pipe would stay open as long as a process that a test left behind.
    fn succeed(&self, log: &Path, is_long: bool) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", log.display());
        let output = File::create(log).map_err(failed)?;
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .env("RUST_TEST_THREADS", self.threads().to_string())
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(output);
        // A check before a merge says the same of the same code; the nightly one looks for what it has not
        // seen.
        let (name, default) = if is_long { ("PROPTEST_CASES", "2048") } else { ("PROPTEST_RNG_SEED", "1") };
        if env::var_os(name).is_none() {
            command.env(name, default);
        }
        if is_long {
            command.env("HASHLANE_LONG", "1");
        }
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }

    /// Tests at a time: one a core, and two where most of them wait.
    fn threads(&self) -> usize {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        if self.is_waiting { 2 * cores } else { cores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_program_that_fails_is_shown() {
        let folder = run::target_dir().unwrap().join("test-logs");
        fs::create_dir_all(&folder).unwrap();
        let failing = Program {
            name: "a failing one".to_owned(),
            executable: "/bin/ls".into(),
            package: run::root().join("xtask"),
            is_waiting: false,
        };
        // `ls` of the package's folder succeeds.
        assert!(failing.run(&folder, false).failure.is_none());
        let missing = Program { executable: "/bin/false".into(), ..failing };
        let failure = missing.run(&folder, false).failure.unwrap();
        assert!(failure.contains("/bin/false: exit status: 1"), "{failure}");
    }
}
