//! Ends of an export: a file, the standard output, a collector over UDP or TCP.
//!
//! | sink | a block that cannot be delivered |
//! | --- | --- |
//! | file, writer | is lost, and the call returns the error; the file ends with the block before it |
//! | UDP | waits in a queue while the socket's buffer is full; is lost if the queue is full, sending fails, or the collector's host refuses it |
//! | TCP | waits in the queue while the collector is slow or away; is lost if the queue is full |

mod file;
mod health;
mod queue;
mod tcp;
mod udp;

pub use file::{FileOptions, Rotation};

use super::ExportError;
use file::FileSink;
use health::Health;
use queue::{Block, QUEUE_LIMIT};
use std::io::{self, Write};
use std::net::SocketAddr;
use tcp::TcpSink;
use udp::UdpSink;

/// Counts of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Flows in blocks that were written, or that a socket took and the collector's host did not refuse.
    pub flows: u64,
    /// Bytes of these blocks.
    pub bytes: u64,
    /// These blocks: messages, or pieces of files.
    pub blocks: u64,
    /// Flows in blocks that were lost.
    pub flows_lost: u64,
    /// Blocks that were lost.
    pub blocks_lost: u64,
    /// Failed system calls: writes, sends, and connections that failed or broke.
    pub errors: u64,
    /// TCP connections that were established.
    pub connections: u64,
}

/// The end of an export that takes blocks.
///
/// Each session, which is a TCP connection or a file, starts with the *prelude* of the format: templates, or
/// a line with column names.
#[derive(Debug)]
pub struct Sink {
    kind: Transport,
    prelude: Vec<u8>,
    totals: Totals,
}

#[derive(Debug)]
enum Transport {
    File(FileSink),
    Udp(UdpSink),
    Tcp(TcpSink),
}

impl Sink {
    /// A file, created now. A new file is removed if the sink is dropped before it has written or finished
    /// it.
    ///
    /// # Errors
    /// The file exists and may not be overwritten, or cannot be created.
    pub fn file(options: FileOptions) -> Result<Self, ExportError> {
        Ok(Self::new(Transport::File(FileSink::create(options)?)))
    }

    /// A writer that blocks, such as the standard output; `name` stands in errors.
    #[must_use]
    pub fn writer(name: &str, writer: Box<dyn Write + Send>) -> Self {
        Self::new(Transport::File(FileSink::writer(name, writer)))
    }

    /// A collector over UDP. Each block is a datagram.
    ///
    /// # Errors
    /// No socket can be opened.
    pub fn udp(collector: SocketAddr) -> Result<Self, ExportError> {
        Ok(Self::new(Transport::Udp(UdpSink::open(collector)?)))
    }

    /// A collector over TCP, connected to in the background, again and again while it is away: after 1 s,
    /// 2 s, 4 s, up to 1 min.
    #[must_use]
    pub fn tcp(collector: SocketAddr) -> Self {
        Self::new(Transport::Tcp(TcpSink::new(collector)))
    }

    fn new(kind: Transport) -> Self {
        Self { kind, prelude: Vec::new(), totals: Totals::default() }
    }

    /// Sets the limit of the queue of a socket, in bytes. Default: 16 MiB.
    #[must_use]
    pub fn with_queue_limit(mut self, bytes: usize) -> Self {
        match &mut self.kind {
            Transport::File(_) => {}
            Transport::Udp(sink) => sink.queue.limit = bytes,
            Transport::Tcp(sink) => sink.queue.limit = bytes,
        }
        self
    }

    /// Counts so far.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    const fn health(&self) -> Option<&Health> {
        match &self.kind {
            Transport::File(_) => None,
            Transport::Udp(sink) => Some(&sink.health),
            Transport::Tcp(sink) => Some(&sink.health),
        }
    }

    /// Latest error on the way to a collector, the reason of flows that are lost. A file's errors are
    /// returned.
    #[must_use]
    pub fn last_error(&self) -> Option<&io::Error> {
        self.health()?.error()
    }

    /// Tests if the collector is unreachable: connecting or sending has failed, or a datagram was refused,
    /// and nothing has gone well for five seconds since.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.health().is_some_and(Health::is_unreachable)
    }

    /// Tests if blocks are datagrams, which may be lost and which a packet must hold.
    pub(crate) const fn is_datagram(&self) -> bool {
        matches!(self.kind, Transport::Udp(_))
    }

    /// Start of each new session, which files and connections that are open do not get.
    pub(crate) const fn prelude(&mut self) -> &mut Vec<u8> {
        &mut self.prelude
    }

    /// Takes a block that has `flows` flows. Returns false if the block is lost as the queue is full.
    pub(crate) fn send(&mut self, block: &[u8], flows: u64, now: u64) -> Result<bool, ExportError> {
        let (prelude, totals) = (&self.prelude, &mut self.totals);
        match &mut self.kind {
            Transport::File(sink) => sink.append(block, flows, prelude, now, totals).map(|()| true),
            Transport::Udp(sink) => {
                let taken = sink.queue.push(Block::new(block, flows), totals);
                sink.pump(now, totals);
                Ok(taken)
            }
            Transport::Tcp(sink) => {
                let taken = sink.queue.push(Block::new(block, flows), totals);
                sink.pump(prelude, now, totals);
                Ok(taken)
            }
        }
    }

    /// Begins the next file if `add` bytes do not fit in this one, and returns the length of the file. The
    /// next block goes to this file, whatever its size.
    #[cfg(feature = "parquet")]
    pub(crate) fn begin(&mut self, add: usize, now: u64) -> Result<u64, ExportError> {
        match &mut self.kind {
            Transport::File(sink) => sink.begin(add, now),
            Transport::Udp(_) | Transport::Tcp(_) => Ok(0),
        }
    }

    /// Counts a block of `flows` flows that was lost before it came here.
    #[cfg(feature = "parquet")]
    pub(crate) const fn lose(&mut self, flows: u64) {
        self.totals.errors += 1;
        self.totals.flows_lost += flows;
        self.totals.blocks_lost += 1;
    }

    /// Goes on with queues and connections.
    pub(crate) fn tick(&mut self, now: u64) {
        match &mut self.kind {
            Transport::File(_) => {}
            Transport::Udp(sink) => sink.pump(now, &mut self.totals),
            Transport::Tcp(sink) => sink.pump(&self.prelude, now, &mut self.totals),
        }
    }

    /// Waits until all blocks are delivered, and counts those that are not after five seconds as lost.
    pub(crate) fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        match &mut self.kind {
            Transport::File(sink) => sink.finish(&self.prelude, &mut self.totals),
            Transport::Udp(sink) => {
                queue::drain(now, |now| {
                    sink.pump(now, &mut self.totals);
                    sink.queue.is_empty()
                });
                sink.queue.abandon(&mut self.totals);
                Ok(())
            }
            Transport::Tcp(sink) => {
                queue::drain(now, |now| {
                    sink.pump(&self.prelude, now, &mut self.totals);
                    sink.queue.is_empty()
                });
                sink.queue.abandon(&mut self.totals);
                sink.close();
                Ok(())
            }
        }
    }
}

const _: () = assert!(QUEUE_LIMIT >= 2 * 65_535, "the queue holds messages of any size");
