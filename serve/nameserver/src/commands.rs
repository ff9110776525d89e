//! Requests to a running server.

use crate::config::ZoneFile;
use crate::handle::{Change, Handle, Request, lock};
use crate::status::{Loading, Refreshed, Reloaded, Told, ZoneStatus};
use crate::transfers::event::{Event, Wanted};
use crate::zones::unknown_zone;
use hashlane_name::dns::{NameBuf, text};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

/// Clients that wait for an outcome at most: half as many as the control socket takes.
const MAX_WAITING: usize = 8;

/// A client that waits for an outcome.
struct Waiting<'h>(&'h AtomicUsize);

impl<'h> Waiting<'h> {
    /// # Errors
    /// As many clients as may wait do so.
    fn begin(handle: &'h Handle) -> io::Result<Self> {
        let waiting = Self(&handle.0.waiting);
        if waiting.0.fetch_add(1, Ordering::Relaxed) < MAX_WAITING {
            return Ok(waiting);
        }
        let why = format!("{MAX_WAITING} commands wait already; send it without waiting, or later");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Handle {
    /// Reads the configuration again, and loads the zones whose files have changed; only `zone`, if it is
    /// given, but that in any case. Returns once they are in service.
    ///
    /// # Errors
    /// The configuration is refused, or the zone unknown; nothing has changed then. The server has ended.
    pub fn reload(&self, zone: Option<&str>) -> io::Result<Reloaded> {
        self.request(|reply| Request::Reload(zone.map(str::to_owned), reply))
    }

    /// State of one zone.
    ///
    /// # Errors
    /// There is no such zone.
    pub fn zone_status(&self, zone: &str) -> io::Result<ZoneStatus> {
        let apex = named(zone)?;
        self.zone(apex.view()).ok_or_else(|| unknown_zone(apex.view()))
    }

    /// Has the primaries of a zone asked now; with `retransfer`, the zone is transferred whatever its serial
    /// number. Returns at once: [`status`](Self::status) shows the outcome.
    ///
    /// # Errors
    /// The zone is unknown or has no primaries, or the server has ended.
    pub fn refresh(&self, zone: &str, retransfer: bool) -> io::Result<()> {
        let wanted = Wanted { apex: self.with_primaries(zone)?, is_forced: retransfer, outcome: None };
        self.event(|reply| Event::Wanted(wanted, reply)).map(drop)
    }

    /// Acts as [`refresh`](Self::refresh), and returns once the primaries have answered and a new version is
    /// in service.
    ///
    /// # Errors
    /// The errors of `refresh`; eight clients wait already; the transfer takes longer than the configuration
    /// permits for each primary, and goes on; the zone is removed meanwhile.
    pub fn refresh_and_wait(&self, zone: &str, retransfer: bool) -> io::Result<Refreshed> {
        let _waiting = Waiting::begin(self)?;
        let (outcome, ended) = channel();
        let apex = self.with_primaries(zone)?;
        let wanted = Wanted { apex, is_forced: retransfer, outcome: Some(outcome) };
        let time = self.event(|reply| Event::Wanted(wanted, reply))?;
        ended.recv_timeout(time).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                let why = format!(
                    "{zone}: not transferred within {} s; the transfer goes on, and `hashlane dns control \
                     status` shows its outcome",
                    time.as_secs()
                );
                io::Error::new(io::ErrorKind::TimedOut, why)
            }
            RecvTimeoutError::Disconnected => {
                io::Error::new(io::ErrorKind::NotFound, format!("{zone}: removed before it was transferred"))
            }
        })
    }

    /// Serves another zone, and keeps it in `transfer.folder` beside the configured ones.
    ///
    /// # Errors
    /// There is such a zone, it is not valid, or it cannot be kept; or the server has ended.
    pub fn add(&self, zone: ZoneFile) -> io::Result<()> {
        self.request(|reply| Request::Change(Change::Add(Box::new(zone)), reply))
    }

    /// Serves a zone no more that was [added](Self::add).
    ///
    /// # Errors
    /// It was not added, or the change cannot be kept; or the server has ended.
    pub fn delete(&self, zone: &str) -> io::Result<()> {
        let apex = Box::new(named(zone)?);
        self.request(|reply| Request::Change(Change::Delete(apex), reply))
    }

    /// Tells the secondaries of a zone again that it has changed. Returns at once.
    ///
    /// # Errors
    /// The zone is unknown, has no data, or nobody is to be told; or the server has ended.
    pub fn notify(&self, zone: &str) -> io::Result<()> {
        let apex = Box::new(named(zone)?);
        self.request(|reply| Request::Notify(apex, reply, None)).map(drop)
    }

    /// Acts as [`notify`](Self::notify), and returns once each secondary has answered, or was told as often as
    /// the server repeats it: about a minute.
    ///
    /// # Errors
    /// The errors of `notify`; eight clients wait already.
    pub fn notify_and_wait(&self, zone: &str) -> io::Result<Told> {
        let _waiting = Waiting::begin(self)?;
        let (answer, answers) = channel();
        let apex = Box::new(named(zone)?);
        let peers = self.request(|reply| Request::Notify(apex, reply, Some(answer)))?;
        let mut told = Told::default();
        for peer in peers {
            let replaced = "told of a newer version instead".to_owned();
            told.secondaries.insert(peer.to_string(), replaced);
        }
        // Ends when the server holds no message that waits for an answer.
        for (peer, rcode) in answers {
            let text = rcode.map_or_else(|| "no answer".to_owned(), |rcode| rcode.to_string());
            told.secondaries.insert(peer.to_string(), text);
        }
        Ok(told)
    }

    /// The name of a zone that has primaries.
    fn with_primaries(&self, zone: &str) -> io::Result<NameBuf> {
        let apex = named(zone)?;
        match self.zone(apex.view()) {
            Some(ZoneStatus { name, transfer: None, .. }) => {
                let why = format!(
                    "zone {name} has no primaries to ask; `hashlane dns control status {name}` shows its source"
                );
                Err(io::Error::new(io::ErrorKind::InvalidInput, why))
            }
            Some(_) => Ok(apex),
            None => Err(unknown_zone(apex.view())),
        }
    }

    /// The reply of the thread that owns the zones.
    fn request<T>(&self, request: impl FnOnce(Sender<io::Result<T>>) -> Request) -> io::Result<T> {
        self.check_loaded()?;
        let (reply, wait) = channel();
        self.0.requests.send(request(reply)).map_err(|_| ended())?;
        answer(&wait)
    }

    /// The reply of the thread that refreshes zones.
    fn event<T>(&self, event: impl FnOnce(Sender<io::Result<T>>) -> Event) -> io::Result<T> {
        self.check_loaded()?;
        let (reply, wait) = channel();
        self.0.events.send(event(reply)).map_err(|_| ended())?;
        answer(&wait)
    }

    /// Refuses a command that changes something before the zones are loaded: it would take as long as they.
    fn check_loaded(&self) -> io::Result<()> {
        match *lock(&self.0.loading) {
            None => Ok(()),
            Some(Loading { loaded, zones }) => {
                let why = format!(
                    "the server has loaded {loaded} of {zones} zones; send the command again once `hashlane dns \
                     control status` shows that all are loaded"
                );
                Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
            }
        }
    }
}

fn answer<T>(wait: &Receiver<io::Result<T>>) -> io::Result<T> {
    wait.recv().map_err(|_| ended())?
}

fn ended() -> io::Error {
    io::Error::other("the server has ended")
}

/// The name of a zone.
fn named(zone: &str) -> io::Result<NameBuf> {
    text::parse(zone.as_bytes()).map_err(|error| {
        let why = format!("{zone:?} is not the name of a zone: {error}");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}
