//! Events of the thread that refreshes zones.

use super::fetch::{Fetched, Limits, Told};
use super::inbox::Inbox;
use super::kept::Kept;
use super::peers::Peer;
use crate::status::Refreshed;
use hashlane_dns::zone::Zone;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// An event of the thread.
pub(crate) enum Event {
    /// The zones with primaries, after a reload.
    Configured(Vec<Secondary>, Limits, usize),
    /// A server says that a zone has changed, and to which version, if the NOTIFY names one.
    Notified(NameBuf, Option<Told>),
    /// The operator wants a zone. The reply is the time in which the primaries answer, if there is such a
    /// zone.
    Wanted(Wanted, Sender<io::Result<Duration>>),
    /// A version was put in service, or the reason for which it was not.
    Installed(NameBuf, Result<(), String>),
    /// A thread has asked the primaries.
    Done(NameBuf, Box<Done>),
}

/// A zone that the operator wants to be asked for now.
pub(crate) struct Wanted {
    pub(crate) apex: NameBuf,
    /// Transferred in any case.
    pub(crate) is_forced: bool,
    /// Receives the outcome.
    pub(crate) outcome: Option<Sender<Refreshed>>,
}

/// A zone with primaries.
pub(crate) struct Secondary {
    pub(crate) apex: NameBuf,
    /// Label in its catalog: with another one, it is another zone.
    pub(crate) id: Vec<u8>,
    pub(crate) primaries: Vec<Peer>,
    pub(crate) kept: Kept,
    pub(crate) news: Arc<Inbox>,
    /// The version from the disk, and its age in seconds.
    pub(crate) current: Option<(Arc<Zone>, u64)>,
}

/// A received version of a zone.
pub(crate) struct Version {
    pub(crate) apex: NameBuf,
    /// Label in its catalog.
    pub(crate) id: Vec<u8>,
    pub(crate) zone: Arc<Zone>,
    /// Differences that lead to it from the version in service, if they are known.
    pub(crate) deltas: Option<Vec<Delta>>,
}

/// The outcome of a thread, and the file that it wrote.
pub(crate) struct Done {
    /// The zone that it was started for: one that was removed and added again is another one.
    pub(crate) watched: Weak<()>,
    pub(crate) outcome: Result<(Fetched, SocketAddr), String>,
    pub(crate) kept: Kept,
    /// The version that a NOTIFY has named, if no primary had it.
    pub(crate) missed: Option<Told>,
}
