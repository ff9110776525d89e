//! Signals of a server, and those that end a run.

use crate::error::context;
use crate::supervisor::Supervisor;
use nix::sys::signal::{SigSet, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs;
use std::io;
use std::sync::mpsc::Sender;
use std::thread;

/// Signals that are blocked, for one thread to take them.
pub struct Signals(SigSet);

impl Signals {
    /// Blocks SIGHUP, SIGINT and SIGTERM in this thread and in the threads that it starts: the kernel keeps a
    /// blocked signal also if it was ignored at the start (`nohup`). SIGXFSZ is blocked, too, and never
    /// taken: a log that has reached the limit of its size (`ulimit -f`) is an error of the write. So are
    /// SIGUSR1 and SIGUSR2, by which other servers rotate their logs.
    ///
    /// # Errors
    /// The system refuses.
    pub fn block() -> io::Result<Self> {
        let signals: SigSet = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
        let mut blocked = signals;
        for never_taken in [Signal::SIGXFSZ, Signal::SIGUSR1, Signal::SIGUSR2] {
            blocked.add(never_taken);
        }
        blocked.thread_block().map_err(io::Error::from).map_err(context("cannot block signals"))?;
        Ok(Self(signals))
    }

    /// Starts the thread that waits for signals. SIGHUP sends a message to `reload`; the others call `stop`
    /// with their name.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn handle(
        self,
        stop: impl Fn(&'static str) + Send + 'static,
        supervisor: Supervisor,
        reload: Sender<()>,
    ) -> io::Result<()> {
        let take = move || {
            let mut asked = false;
            loop {
                match self.0.wait() {
                    // Sending fails only if the thread has panicked, which is logged.
                    Ok(Signal::SIGHUP) => drop(reload.send(())),
                    // The second signal stops at once.
                    Ok(_) if asked => std::process::exit(1),
                    Ok(signal) => {
                        asked = true;
                        supervisor.stopping();
                        stop(signal.as_str());
                    }
                    // `sigwait` fails only for an invalid set.
                    Err(_) => return,
                }
            }
        };
        thread::Builder::new()
            .name("signals".into())
            .spawn(take)
            .map_err(context("cannot start the signal thread"))?;
        Ok(())
    }
}

/// Calls `stop` on a separate thread at each SIGINT and SIGTERM, and at each SIGHUP unless that was ignored
/// at the start: a run under `nohup` goes on without its terminal.
///
/// # Errors
/// The system refuses handlers or a thread.
pub fn on_stop(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    let hangup = (!is_ignored(Signal::SIGHUP)).then_some(SIGHUP);
    on_each([SIGINT, SIGTERM].into_iter().chain(hangup), move |_| stop())
}

/// Calls `stop` on a separate thread at each SIGINT and SIGTERM, and `reload` at each SIGHUP, also if that
/// was ignored at the start.
///
/// # Errors
/// The system refuses handlers or a thread.
pub fn on_stop_and_hangup(
    stop: impl Fn() + Send + 'static,
    reload: impl Fn() + Send + 'static,
) -> io::Result<()> {
    on_each([SIGINT, SIGTERM, SIGHUP], move |signal| if signal == SIGHUP { reload() } else { stop() })
}

/// Calls `each` on a separate thread at each of these signals.
fn on_each(signals: impl IntoIterator<Item = i32>, each: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let signals = signal_hook::iterator::Signals::new(signals);
    let mut signals = signals.map_err(context("cannot handle signals"))?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || signals.forever().for_each(each))
        .map_err(context("cannot start the signal thread"))?;
    Ok(())
}

/// True if the process ignores a signal. The system call that tells this can also set a handler, and is
/// unsafe.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").ok();
    let mask =
        status.as_deref().and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Without /proc, a SIGHUP ends a run.
    mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}
