//! Queries and responses for collectors: dnstap messages in Frame Streams over a Unix socket.
//!
//! The formats: [dnstap.proto](https://github.com/dnstap/dnstap.pb), and [Frame
//! Streams](https://github.com/farsightsec/fstrm). A thread that answers puts two frames, the query and its
//! response, into a bounded queue, and never waits: without room they are counted and lost. Another thread
//! connects to the collector, again and again if it goes away; what the collector has not taken, and what has
//! waited for it meanwhile, is counted and lost, too. Responses are recorded before the rate limit.

mod frame;

use frame::{Pair, control};
use hashlane_dns::respond::Transport;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pairs of frames in the queue at most.
const QUEUE: usize = 4096;

/// Longest wait for the collector.
const PATIENCE: Duration = Duration::from_secs(5);

/// Shortest and longest time between two connections.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Bytes that are written at once.
const BLOCK: usize = 64 << 10;

/// The end of the queue that the threads have.
#[derive(Clone)]
pub(crate) struct Tap {
    frames: SyncSender<Vec<u8>>,
    identity: Arc<[u8]>,
    lost: Arc<AtomicU64>,
}

/// The thread that writes to the collector.
pub(crate) struct Collector {
    path: PathBuf,
    frames: Receiver<Vec<u8>>,
    lost: Arc<AtomicU64>,
}

impl Tap {
    /// A queue, and the thread that empties it into a socket.
    pub(crate) fn new(path: PathBuf, identity: &str, lost: Arc<AtomicU64>) -> (Self, Collector) {
        let (sender, frames) = sync_channel(QUEUE);
        let identity = identity.as_bytes().into();
        let collector = Collector { path, frames, lost: Arc::clone(&lost) };
        (Self { frames: sender, identity, lost }, collector)
    }

    /// Queues a query and its response.
    #[cold]
    pub(crate) fn record(&self, transport: Transport, from: SocketAddr, query: &[u8], response: &[u8]) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let pair = Pair { identity: &self.identity, transport, from, time, query, response };
        if self.frames.try_send(pair.frames()).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Collector {
    /// Writes frames until the server ends.
    pub(crate) fn run(self) {
        let mut wait = RETRY.0;
        loop {
            let written = self.connect().and_then(|stream| {
                wait = RETRY.0;
                self.write(stream)
            });
            match written {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(path = %self.path.display(), %error, "dnstap: no collector; trying again");
                }
            }
            std::thread::sleep(wait);
            wait = (2 * wait).min(RETRY.1);
            // What has waited is old.
            let old = self.frames.try_iter().take(QUEUE).count();
            self.lost.fetch_add(old as u64, Ordering::Relaxed);
        }
    }

    /// Connects, and agrees on the content.
    fn connect(&self) -> io::Result<UnixStream> {
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&control(frame::READY))?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        let [_, _, _, _, a, b, c, d, kind @ ..] = head;
        let rest = u32::from_be_bytes([a, b, c, d]).saturating_sub(4);
        if u32::from_be_bytes(kind) != frame::ACCEPT || rest > 512 {
            return Err(io::Error::other("the collector does not accept"));
        }
        let mut fields = vec![0; rest as usize];
        stream.read_exact(&mut fields)?;
        if rest > 0 && !fields.windows(frame::CONTENT.len()).any(|bytes| bytes == frame::CONTENT) {
            return Err(io::Error::other("the collector wants other content than dnstap"));
        }
        stream.write_all(&control(frame::START))?;
        tracing::info!(path = %self.path.display(), "dnstap: collector connected");
        Ok(stream)
    }

    /// Writes the frames of the queue. Returns once the server ends.
    fn write(&self, mut stream: UnixStream) -> io::Result<()> {
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            let mut pairs = 1;
            match self.frames.recv_timeout(PATIENCE) {
                Ok(frames) => block.extend_from_slice(&frames),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return stream.write_all(&control(frame::STOP));
                }
            }
            while block.len() < BLOCK
                && let Ok(frames) = self.frames.try_recv()
            {
                block.extend_from_slice(&frames);
                pairs += 1;
            }
            stream.write_all(&block).inspect_err(|_| {
                self.lost.fetch_add(pairs, Ordering::Relaxed);
            })?;
            block.clear();
        }
    }
}
