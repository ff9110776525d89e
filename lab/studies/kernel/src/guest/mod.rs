//! The first process of a kernel of the study, its only one. It has the host's files, read-only, and nothing
//! else: no distribution, no shell.

mod ask;
mod report;
mod route;
mod streams;
mod syn;

pub use self::report::Tasks;

use self::report::{Result, cannot, report};
use crate::line::{Line, Reading};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use std::convert::Infallible;
use std::io;

/// Does the tasks, reports the results, and turns the machine off. Returns only if this is not the first
/// process of a kernel.
///
/// # Errors
/// This is an ordinary process: nothing was done.
pub fn run(tasks: &Tasks) -> io::Result<Infallible> {
    if std::process::id() != 1 {
        return Err(io::Error::other(
            "this is the first process of a kernel that `hashlane study run flow-kernel` starts; it does nothing elsewhere",
        ));
    }
    // A report that cannot be written is missed by the reader, who then fails the run.
    report(&work(tasks).map_or_else(Line::Failed, Line::Done));
    reboot(RebootMode::RB_POWER_OFF).map_err(io::Error::from)
}

fn work(tasks: &Tasks) -> Result<Reading> {
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>)
        .map_err(cannot("mount /proc"))?;
    route::set_up()?;
    let mut reading = Reading { checked: ask::check(tasks.seed)?, ..Reading::default() };
    let asked = ask::Asked::new()?;
    asked.cycles(&mut reading)?;
    for &size in &tasks.sizes {
        report(&Line::Doing(format!("{} streams of {size} bytes", tasks.streams)));
        reading.streams.insert(size, streams::throughput(tasks, size)?);
        // Repeated, as other work of the machine may disturb a moment but not all.
        asked.cycles(&mut reading)?;
    }
    drop(asked);
    syn::measure(tasks, &mut reading)?;
    Ok(reading)
}
