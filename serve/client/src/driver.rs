//! The task that owns the connection.
//!
//! Only this task reads and writes the socket. It holds the pending Interests and the prefixes with a
//! receiver. Each [`Client`](crate::Client) sends it [`Command`]s over a bounded channel, from which it takes
//! none while too much waits.

use crate::link::Link;
use crate::message::Command;
use crate::tables::Tables;
use crate::transport::{ConnectError, Transport};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Most pending Interests.
const MAX_PENDING: usize = 32_768;

/// Length of the send queue in bytes from which no command is taken.
const MAX_QUEUED: usize = 1 << 20;

/// Commands that are taken together.
const BATCH: usize = 64;

/// The first pause before a new attempt to connect, and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(3)];

/// Time limit of an attempt to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// State of the connection.
enum State {
    Connected(Box<Link>),
    Connecting(Pin<Box<dyn Future<Output = Result<Link, ConnectError>> + Send>>),
}

/// Properties of the connection, as clients see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Number of connections so far, this one included.
    pub(crate) number: u64,
    /// True if the forwarder takes the client for an application on its own host.
    pub(crate) is_local: bool,
}

pub(crate) struct Driver {
    transport: Transport,
    commands: mpsc::Receiver<Command>,
    connection: watch::Sender<Connection>,
    tables: Tables,
}

impl Driver {
    pub(crate) fn new(
        transport: Transport,
        commands: mpsc::Receiver<Command>,
        sender: mpsc::WeakSender<Command>,
        connection: watch::Sender<Connection>,
    ) -> Self {
        Self { transport, commands, connection, tables: Tables::new(sender) }
    }

    /// Runs until no client is left and everything is written.
    pub(crate) async fn run(mut self, link: Link) {
        let mut state = State::Connected(Box::new(link));
        let mut pause = PAUSE[0];
        let mut open = true;
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let now = Instant::now();
            self.tables.expire(now);
            let first = self.tables.first_deadline();
            let queued = match &state {
                State::Connected(link) => link.queued(),
                State::Connecting(_) => 0,
            };
            if !open && queued == 0 {
                return;
            }
            let room = open && queued < MAX_QUEUED && self.tables.pending() < MAX_PENDING;
            tokio::select! {
                taken = self.commands.recv_many(&mut batch, BATCH), if room => {
                    open = taken > 0;
                    batch.drain(..).for_each(|command| self.take(command, &mut state));
                }
                () = sleep_until(first.unwrap_or(now)), if first.is_some() => {}
                turned = wait(&mut state) => match turned {
                    Ok(None) => match &mut state {
                        State::Connected(link) => {
                            if self.tables.receive_all(link).is_err() {
                                state = self.connect(pause);
                                pause = (pause * 2).min(PAUSE[1]);
                            } else {
                                pause = PAUSE[0];
                            }
                        }
                        State::Connecting(_) => {}
                    },
                    Ok(Some(mut link)) => {
                        self.tables.retransmit(&mut link);
                        self.connection.send_modify(|connection| {
                            connection.number += 1;
                            connection.is_local = link.is_local;
                        });
                        state = State::Connected(Box::new(link));
                    }
                    Err(_) if !open => return,
                    Err(_) => {
                        state = self.connect(pause);
                        pause = (pause * 2).min(PAUSE[1]);
                    }
                },
            }
        }
    }

    /// Begins to connect after a pause.
    fn connect(&self, pause: Duration) -> State {
        let transport = self.transport.clone();
        State::Connecting(Box::pin(async move {
            sleep(pause).await;
            match timeout(CONNECT, Link::open(&transport)).await {
                Ok(opened) => opened,
                Err(_) => Err(ConnectError { transport, error: io::ErrorKind::TimedOut.into() }),
            }
        }))
    }

    fn take(&mut self, command: Command, state: &mut State) {
        let link = match state {
            State::Connected(link) => Some(link),
            State::Connecting(_) => None,
        };
        match command {
            Command::Express { packet, wait, reply } => {
                // Without a connection it is sent over the next one.
                if let Some(link) = link {
                    self.tables.push(link, &packet);
                }
                self.tables.insert(packet, Instant::now() + wait, reply);
            }
            Command::Send(packet) => {
                if let Some(link) = link {
                    link.push(&[&packet]);
                }
            }
            Command::Digest { function, typ } => self.tables.set_digest(function, typ),
            Command::Listen { prefix, sink, reply } => {
                // A receiver that has stopped waiting has dropped the sink, too.
                let _ = reply.send(self.tables.listen(prefix, sink));
            }
            Command::Ignore { prefix } => self.tables.ignore(&prefix),
        }
    }
}

/// Waits for packets, or for the new connection.
async fn wait(state: &mut State) -> Result<Option<Link>, ConnectionLost> {
    match state {
        State::Connected(link) => link.turn().await.map(|()| None).map_err(|_| ConnectionLost),
        State::Connecting(opening) => opening.await.map(Some).map_err(|_| ConnectionLost),
    }
}

/// The connection is lost and must be made again.
struct ConnectionLost;
