//! The first process of a kernel of the study, its only one. It has the host's files, read-only, and nothing
//! else: no distribution, no shell.

mod ask;
mod report;
mod route;
mod streams;
mod syn;

pub use self::report::Tasks;

use self::report::{Result, cannot, report};
use crate::line::Line;
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
    match work(tasks) {
        Ok(()) => report(&Line::Done),
        Err(why) => report(&Line::Failed(why)),
    }
    reboot(RebootMode::RB_POWER_OFF).map_err(io::Error::from)
}

fn work(tasks: &Tasks) -> Result<()> {
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>)
        .map_err(cannot("mount /proc"))?;
    route::set_up()?;
    report(&Line::Checked(ask::check(tasks.seed)?));
    let asked = ask::Asked::new()?;
    asked.cycles()?;
    for &size in &tasks.sizes {
        report(&Line::Doing(format!("{} streams of {size} bytes", tasks.streams)));
        report(&Line::Streams(size, streams::throughput(tasks, size)?));
        // Repeated, as other work of the machine may disturb a moment but not all.
        asked.cycles()?;
    }
    drop(asked);
    syn::measure(tasks)
}
