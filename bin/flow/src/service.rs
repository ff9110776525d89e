//! `hashlane flow meter --config` of an interface: a server, with the life of the others.

use super::explain::explained;
use anyhow::{Error, Result};
use hashlane_daemon::Daemon;
use hashlane_link::memory::Allocator;
use hashlane_meter::Config;
use hashlane_meter::format::counted;
use hashlane_meter::outputs::Origin;
use hashlane_meter::service::{Ended, Handle, Reread, Server, StartError};
use hashlane_meter::summary::missing;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

/// Descriptors for rings, files, collectors, and clients of the counters and the control socket.
const DESCRIPTORS: u64 = 4096;

/// Meters the interface of a configuration until a signal ends it, or `duration` has passed. `reread` gets
/// the configuration again.
pub(super) fn serve(
    config: &Config,
    origin: Origin,
    duration: Option<Duration>,
    reread: Reread,
) -> Result<ExitCode> {
    let mut daemon = Daemon::start(DESCRIPTORS)?;
    Allocator::use_huge_pages();
    // The meter logs the outcome of a reload.
    let started = daemon.on_signals(Handle::stop, |handle| drop(handle.reload()))?;
    let server = Server::start(config, origin, duration, reread, |note| tracing::warn!("{note}"));
    let server = server.map_err(|error| match error {
        StartError::Run(error) => explained(&error),
        error => Error::new(error),
    })?;
    let handle = server.handle();
    if let Some(path) = server.control() {
        tracing::info!(path = %path.display(), "control socket");
    }
    for url in server.metrics() {
        tracing::info!(%url, "metrics");
    }
    for output in &config.output {
        tracing::info!(output = %output.name(), format = output.format.name(), "writing");
    }
    tracing::info!(interface = %config.input.interface, workers = config.meter.workers, "metering");
    daemon.ready(|_| handle.progress())?;
    let _ = started.set(handle);
    let outcome = report(server.run());
    Ok(daemon.end("the meter", outcome))
}

/// Logs the counts of a run. An interface that went down is an error.
fn report(Ended { ran, finished }: Ended) -> io::Result<()> {
    for output in &finished {
        match output.has_failed() {
            true => tracing::warn!(%output, "output closed"),
            false => tracing::info!(%output, "output closed"),
        }
    }
    let summary = ran.map_err(|error| io::Error::other(format!("{:#}", explained(&error))))?;
    let total = summary.total();
    let (packets, flows) = (counted(total.packets, "packet"), counted(total.flows_exported, "flow"));
    tracing::info!("{packets}, {} bytes, {flows}", total.bytes);
    missing(&summary).iter().for_each(|line| tracing::warn!("{line}"));
    match summary.problems.first() {
        Some((interface, problem)) => Err(io::Error::other(format!("{}: {problem}", interface.display()))),
        None => Ok(()),
    }
}
