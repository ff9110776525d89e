//! The first process of a kernel of the study, its only one. It has the host's files, read-only, and nothing
//! else: no distribution, no shell.

mod ask;
mod route;
mod streams;
mod syn;

use super::line::Line;
use hashlane_study_flows::hostile::Attack;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};

/// Measurements to make.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// Octets of a message, for each measurement of throughput.
    pub sizes: Vec<u32>,
    /// Streams side by side.
    pub streams: u32,
    /// Slices of time of a measurement, and milliseconds of each.
    pub slices: u32,
    /// Milliseconds of a slice.
    pub slice: u32,
    /// The sets of hostile SYNs.
    pub attacks: Vec<Attack>,
    /// Numbers of hostile SYNs sent before each measurement of one.
    pub before: Vec<u32>,
    /// The seed of the sets.
    pub seed: u64,
}

/// Result whose error says for which reason the process cannot go on.
type Result<T> = std::result::Result<T, String>;

/// Does the tasks, reports the results, and turns the machine off. Returns only if this is not the first
/// process of a kernel.
///
/// # Errors
/// This is an ordinary process: nothing was done.
pub fn run(tasks: &Tasks) -> io::Result<Infallible> {
    if std::process::id() != 1 {
        return Err(io::Error::other(
            "this is the first process of a kernel that `hashlane study run flow-kernel` starts, and of no use elsewhere",
        ));
    }
    // A report that cannot be written is missed by the reader, who then fails the run.
    match work(tasks) {
        Ok(()) => say(&Line::Done),
        Err(why) => say(&Line::Failed(why)),
    }
    reboot(RebootMode::RB_POWER_OFF).map_err(io::Error::from)
}

fn work(tasks: &Tasks) -> Result<()> {
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>)
        .map_err(cannot("mount /proc"))?;
    route::set_up()?;
    say(&Line::Checked(ask::check(tasks.seed)?));
    let asked = ask::Asked::new()?;
    asked.cycles()?;
    for &size in &tasks.sizes {
        say(&Line::Doing(format!("{} streams of {size} octets", tasks.streams)));
        say(&Line::Streams(size, streams::throughput(tasks, size)?));
        // Again and again, as whatever else the machine does may disturb a moment, and not all.
        asked.cycles()?;
    }
    drop(asked);
    syn::measure(tasks)
}

fn say(line: &Line) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// "cannot WHAT: ERROR".
fn cannot<E: fmt::Display>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("cannot {what}: {error}")
}
