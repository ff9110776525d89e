//! The state that the TCP thread shares with the rest of the server.

use super::stream::Stream;
use crate::answer::Answerer;
use crate::cell::Reader;
use crate::clock::Clock;
use crate::counters::Counters;
use crate::handle::{Request, lock};
use crate::tls::Identity;
use crate::transfers::special::{Special, Transfer};
use crate::view::View;
use mio::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The parts of a worker that it shares with the server.
pub(crate) struct Parts {
    pub(crate) answerer: Box<Answerer>,
    pub(crate) special: Special,
    /// Takes the transfers that have ended.
    pub(crate) requests: Sender<Request>,
    pub(crate) view: Reader<View>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) clock: Clock,
    /// Certificate and key of new connections over TLS, which a reload replaces.
    pub(crate) tls: Arc<Mutex<Option<Identity>>>,
    pub(crate) stop: Arc<AtomicBool>,
    /// Number of open connections, for reports.
    pub(crate) connections: Arc<AtomicU64>,
}

impl Parts {
    /// The stream of a new connection; `None` if TLS has no certificate.
    pub(super) fn stream(&self, socket: TcpStream, is_tls: bool, now: Instant) -> Option<Stream> {
        if !is_tls {
            return Some(Stream::Plain(socket));
        }
        let identity = lock(&self.tls).clone()?;
        Stream::tls(socket, identity.config, now).inspect_err(|error| tracing::debug!(%error, "TLS")).ok()
    }

    /// Hands a transfer that has ended to the thread that frees zones.
    pub(super) fn free(&self, transfer: Option<Box<Transfer>>) {
        if let Some(transfer) = transfer {
            // The server ends.
            let _ = self.requests.send(Request::Free(transfer));
        }
    }
}
