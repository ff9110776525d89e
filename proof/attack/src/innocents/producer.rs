//! Local producers: one that answers at once, and one that never does.

use super::PREFIX;
use crate::packets::{self, Received};
use crate::session::Session;
use hashlane_ndn::wire::Interest;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks at the flag.
const TICK: Duration = Duration::from_millis(20);

/// Thread of a producer, stopped when dropped.
struct Serving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Calls `turn` until it fails or the producer is dropped.
    fn start(mut turn: impl FnMut() -> bool + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || while !flag.load(Ordering::Relaxed) && turn() {});
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has nothing to report.
            let _ = thread.join();
        }
    }
}

/// A producer that answers every Interest below its prefix.
pub(crate) struct Producer(#[expect(dead_code, reason = "stops when dropped")] Serving);

impl Producer {
    /// Registers the prefix of the innocents, and answers small Data.
    pub(crate) fn start(socket: &Path) -> Result<Self, String> {
        Self::of(socket, PREFIX, 8)
    }

    /// Registers `prefix`, and answers with contents of `len` bytes.
    pub(crate) fn of(socket: &Path, prefix: &str, len: usize) -> Result<Self, String> {
        let mut session = Session::unix(socket)?;
        session.register(prefix)?;
        let mut wire = session.into_wire();
        let content = vec![b'd'; len];
        Ok(Self(Serving::start(move || {
            let bytes = match wire.receive(TICK) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return true,
                Err(_) => return false,
            };
            let Some(Received::Interest(bytes)) = Received::parse(&bytes) else { return true };
            match Interest::parse(&bytes) {
                Ok(interest) => wire.send(&packets::answer(&interest, &content)).is_ok(),
                Err(_) => true,
            }
        })))
    }
}

/// An application that takes Interests and never answers.
pub(crate) struct Sink(#[expect(dead_code, reason = "stops when dropped")] Serving);

impl Sink {
    pub(crate) fn start(socket: &Path, prefix: &str) -> Result<Self, String> {
        let mut session = Session::unix(socket)?;
        session.register(prefix)?;
        let mut wire = session.into_wire();
        Ok(Self(Serving::start(move || wire.discard(TICK).is_ok())))
    }
}
