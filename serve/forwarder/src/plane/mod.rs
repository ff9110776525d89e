//! The forwarding thread: one event loop over all sockets, around one [`Forwarder`].
//!
//! A round waits for events, reads a bounded amount of each socket that has something, forwards it in
//! bursts, and then sends what has gathered: for each socket one system call for many packets on either
//! side, and none that must fail. Streams report that they are readable, and only while a queue waits that
//! they are writable. The clock is read once a round; timers are the forwarder's wheel, and cost no system
//! call. Before a round the thread may pause, or look for events without sleeping, so that it is not woken
//! for each packet ([`Moderation`]). The management is another thread. It sends
//! [requests](crate::management::Request), and each takes a moment.
//!
//! Each module uses only those above it in this list:
//!
//! - `token`, `ready`, `rate_limit`, `calls`, `slots`: tokens of events, turns of sockets, limits per second,
//!   numbers of sockets;
//! - `message`, `turns`, `route_queue`, `reports`: the queues to and from the management;
//! - `wire`, `socket`, `backlog`, `udp`, `ether`, `origin`, `connection`: transports, and the schedule of
//!   reconnections;
//! - `flood`: limits of the peers that flood a UDP socket or an Ethernet;
//! - `link_service`, `port`, `ports`: the sending ends of faces, and the output of the forwarder to them;
//! - `pipeline`, `reader`: the forwarder with its ports, and the receiving ends of connections;
//! - `peers`, `shares`, `evict`, `faces`: the faces: opened, changed, closed, and closed for new peers;
//! - `udp_receive`, `ether_receive`: sources of datagrams and frames;
//! - `lans`, `listen`: faces that come and go with interfaces, and the listening sockets;
//! - `handshake`, `accept`, `dial`: sources of connections;
//! - `requests`: requests of the management.

mod accept;
mod backlog;
mod calls;
mod connection;
mod dial;
mod ether;
mod ether_receive;
mod evict;
mod faces;
mod flood;
mod handshake;
mod lans;
pub(crate) mod link_service;
mod listen;
pub(crate) mod message;
mod origin;
mod peers;
mod pipeline;
mod port;
mod ports;
mod rate_limit;
mod reader;
mod ready;
pub(crate) mod reports;
mod requests;
mod route_queue;
mod shares;
mod slots;
mod socket;
mod token;
mod turns;
pub(crate) mod udp;
mod udp_receive;
mod wire;

pub(crate) use lans::open_packets;
pub(crate) use listen::Sockets;

use crate::clock::Clock;
use crate::config::Faces as FaceConfig;
use crate::management::Report;
use crate::shards::Crew;
use accept::Listeners;
use dial::Dialer;
use ether::Ether;
use ether_receive::EtherReceiver;
use faces::Faces;
use handshake::Handshakes;
use hashlane_hash::scheme::Key;
use hashlane_link::moderation::{self, Moderation, Step, Turn};
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::forward::Forwarder;
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::Holders;
use lans::{Lans, Receivers};
use message::RequestQueue;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token, Waker};
use peers::Peers;
use pipeline::Pipeline;
use ports::Ports;
use ready::{Class, Ready};
use reports::Reports;
use slots::Slots;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use token::SocketKind;
use udp::Udp;
use udp_receive::UdpReceiver;

/// Longest wait for events, and the interval of [`Plane::sweep`], in milliseconds.
const HOUSEKEEPING: u64 = 1000;

/// Time for the sockets of one class in a round.
const SLICE: Duration = Duration::from_millis(2);

/// Batches of the other threads in one round.
const HANDED_OVER: usize = 32;

/// Pause while the thread of another shard takes less than it is given.
const CONGESTED: Duration = Duration::from_micros(50);

/// Turns after which the clock is read.
const TURNS: usize = 8;

/// Time for which the thread still answers pending Interests after a request to end, in milliseconds. The
/// rest of the second belongs to the kernel, which closes up to 16,128 connections.
const DRAIN: u64 = 500;

/// State of the forwarding thread.
pub(crate) struct Plane<P> {
    poll: Poll,
    requests: RequestQueue,
    faces: Faces<P>,
    udp: UdpReceiver,
    ether: EtherReceiver,
    lans: Lans,
    listeners: Listeners,
    handshakes: Handshakes,
    dialer: Dialer,
    ready: Ready,
    moderation: Moderation,
    /// Packets received, Interests sent and Data received, before the turn that is to be moderated.
    counted: [u64; 3],
    clock: Clock,
    /// True if the thread of another shard takes less than it is given.
    is_congested: bool,
    /// True if the other threads may have handed over more than one round takes.
    has_more: bool,
    /// Time of the last sweep.
    swept: Time,
    /// Time at which the thread ends, once it is asked to.
    ends: Option<Time>,
}

/// The forwarder of a thread.
pub(crate) struct Forwarding<P> {
    pub(crate) forwarder: Forwarder<P>,
    /// The threads of the other shards; `None` if there is one shard.
    pub(crate) crew: Option<Box<Crew>>,
    pub(crate) clock: Clock,
}

/// Random numbers that nobody outside may know.
pub(crate) struct Secrets {
    /// Key of the tables of UDP peers and of parties.
    pub(crate) peers: Key,
    /// Seed of the sequence numbers of first fragments.
    pub(crate) seed: u64,
}

/// The poll instance of the thread, and the waker that interrupts its wait.
pub(crate) fn poll() -> io::Result<(Poll, Arc<Waker>)> {
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), SocketKind::Waker.token(0))?;
    Ok((poll, Arc::new(waker)))
}

impl<P: Pit> Plane<P> {
    /// The state of a thread, built on that thread.
    ///
    /// # Errors
    /// Events of a socket cannot be registered.
    pub(crate) fn new(
        poll: Poll,
        sockets: Sockets,
        config: FaceConfig,
        forwarding: Forwarding<P>,
        requests: RequestQueue,
        reports: Reports,
        secrets: &Secrets,
    ) -> io::Result<Self> {
        let Forwarding { forwarder, crew, clock } = forwarding;
        let registry = || poll.registry().try_clone();
        let unix = sockets.unix.into_iter().zip(config.unix.path.iter().cloned()).collect();
        let listeners = Listeners::new(poll.registry(), unix, sockets.tcp, sockets.websocket)?;
        let mut udp = Slots::new();
        for (number, mut socket) in sockets.udp.into_iter().enumerate() {
            poll.registry().register(&mut socket, SocketKind::Udp.token(number), Interest::READABLE)?;
            let local = socket.local_addr()?;
            udp.insert(Udp::new(socket, local));
        }
        let pipeline = Pipeline {
            forwarder,
            ports: Ports::new(udp, &config.memory, reports.clone(), registry()?),
            crew,
        };
        let (holders, peers) = (Holders::new(&secrets.peers), Peers::new(&secrets.peers));
        let mut rng = Rng::new(secrets.seed);
        let moderation = Moderation::new(config.moderation.settings());
        let mut receiver = UdpReceiver::new(pipeline.ports.sockets.next_number(), &mut rng);
        let mut ether = EtherReceiver::default();
        let mut faces = Faces::new(pipeline, holders, peers, config, reports, registry()?, rng);
        faces.pipeline.ports.now = clock.now();
        faces.tls = sockets.tls;
        let receivers = Receivers { udp: &mut receiver, ether: &mut ether };
        let lans = Lans::start(sockets.lans, registry()?, receivers, &mut faces)?;
        Ok(Self {
            requests,
            faces,
            udp: receiver,
            ether,
            lans,
            listeners,
            handshakes: Handshakes::new(registry()?),
            dialer: Dialer::new(registry()?),
            ready: Ready::default(),
            moderation,
            counted: [0; 3],
            clock,
            is_congested: false,
            has_more: false,
            swept: Time::default(),
            ends: None,
            poll,
        })
    }

    /// Runs until it is asked to end.
    ///
    /// # Errors
    /// The wait for events has failed.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        // Without it, pauses are longer.
        let _ = moderation::sleep_precisely();
        loop {
            let timeout = self.moderate();
            if self.round(&mut events, timeout)? {
                return Ok(());
            }
        }
    }

    /// Pauses before the next round, if that saves wake-ups. Returns the longest time to wait for events.
    fn moderate(&mut self) -> Duration {
        let timeout = self.poll_timeout();
        // With several shards, packets wake workers: their turns would have to be moderated, too.
        if timeout.is_zero() || self.faces.pipeline.crew.is_some() {
            return timeout;
        }
        let counters = self.faces.pipeline.forwarder.counters();
        let [interests, data, nacks] =
            [&counters.in_interests, &counters.in_data, &counters.in_nacks].map(|counter| counter.value());
        let counted = [interests + data + nacks, counters.out_interests.value(), data];
        let [packets, asked, answered] = std::array::from_fn(|at| (counted[at] - self.counted[at]) as usize);
        self.counted = counted;
        match self.moderation.next(self.clock.elapsed(), Turn { packets, asked, answered }) {
            Step::Wait => timeout,
            Step::Poll => Duration::ZERO,
            Step::Pause(pause) => {
                std::thread::sleep(pause);
                Duration::ZERO
            }
        }
    }

    /// Waits for events, at most for `timeout`, and handles them. Returns true if the thread has ended.
    fn round(&mut self, events: &mut Events, timeout: Duration) -> io::Result<bool> {
        let timeout = if self.faces.pipeline.prepare_to_wait() { timeout } else { Duration::ZERO };
        match self.poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => done?,
        }
        self.faces.pipeline.end_wait();
        self.refresh_clock();
        self.check_end();
        self.has_more = self.faces.pipeline.receive_handed_over(HANDED_OVER);
        for event in &*events {
            self.note(event);
        }
        self.is_congested = self.faces.pipeline.is_congested();
        for class in Class::ALL {
            self.serve_class(class);
        }
        if self.udp.is_limiting() {
            self.udp.measure(&mut self.faces);
        }
        if self.ether.is_limiting() {
            self.ether.measure(&mut self.faces);
        }
        let Pipeline { forwarder, ports, .. } = &mut self.faces.pipeline;
        forwarder.handle_retries(ports.now, ports);
        self.faces.pipeline.ports.handle_timeouts();
        if self.faces.pipeline.forwarder.has_route_events() {
            self.report_route_events();
        }
        self.faces.flush();
        self.faces.pipeline.flush_handed_over();
        if self.is_congested && !self.has_more {
            std::thread::sleep(CONGESTED);
        }
        let Pipeline { forwarder, ports, .. } = &mut self.faces.pipeline;
        forwarder.handle_timeout(ports.now);
        if ports.now.since(self.swept).as_millis() >= u128::from(HOUSEKEEPING) {
            self.sweep();
        }
        Ok(self.check_end() || (self.ends.is_some() && self.is_drained()))
    }

    /// Reports the events of learned routes.
    #[cold]
    fn report_route_events(&mut self) {
        let events = self.faces.pipeline.forwarder.take_route_events();
        events.into_iter().for_each(|event| self.faces.reports.add(Report::Route(event)));
    }

    /// Schedules the socket of an event. The end of a connection is noted, and its queue flushed, at once.
    fn note(&mut self, event: &Event) {
        if let Some((SocketKind::Face, slot)) = SocketKind::of(event.token()) {
            if event.is_read_closed() || event.is_error() {
                self.faces.note_end(slot);
            }
            if event.is_writable() {
                self.faces.flush_slot(slot);
            }
        }
        self.push_ready(event.token(), false);
    }

    /// Schedules a socket. `busy` is true if its last turn left something to read.
    fn push_ready(&mut self, token: Token, busy: bool) {
        let class = match SocketKind::of(token) {
            Some((
                SocketKind::Waker
                | SocketKind::Unix
                | SocketKind::Udp
                | SocketKind::Ether
                | SocketKind::Interfaces,
                _,
            )) => Class::First,
            Some((SocketKind::Face, slot)) if self.faces.pipeline.ports.is_local(slot) => {
                if busy {
                    Class::BusyLocal
                } else {
                    Class::First
                }
            }
            _ if busy => Class::Busy,
            _ => Class::Quiet,
        };
        self.ready.push(token, class);
    }

    /// Gives the sockets of a class that wait one turn each, for a slice of time: at least one, and all if
    /// there are few. The others come first in the next round.
    fn serve_class(&mut self, class: Class) {
        let waiting = self.ready.len(class);
        let mut start = None;
        for turn in 1..=waiting {
            // A flood makes rounds long, and there is always another one.
            if self.check_end() {
                return;
            }
            let Some(token) = self.ready.pop(class) else { return };
            if self.serve(token) {
                self.push_ready(token, true);
            }
            self.faces.pipeline.send_refusals();
            if turn % TURNS == 0 && self.now().since(*start.get_or_insert_with(|| self.now())) >= SLICE {
                return;
            }
        }
    }

    /// Gives one socket its turn: a bounded amount of work. Returns true if there may be more.
    fn serve(&mut self, token: Token) -> bool {
        let Some((kind, number)) = SocketKind::of(token) else {
            debug_assert!(false, "all tokens are made by SocketKind::token");
            return false;
        };
        if self.is_congested && kind != SocketKind::Waker {
            // The kernel keeps, and if need be drops, what the other threads have no room for.
            return true;
        }
        let Self { faces, requests, udp, ether, lans, listeners, handshakes, dialer, ready, .. } = self;
        match kind {
            SocketKind::Waker => return requests::handle_requests(requests, faces, dialer),
            SocketKind::Unix => return listeners.accept_unix(number, faces),
            SocketKind::Tcp => return listeners.accept_tcp(number, faces),
            SocketKind::WebSocket => return listeners.accept_websocket(number, handshakes, faces, ready),
            SocketKind::Udp => return udp.receive(number, faces),
            SocketKind::Ether => return ether.receive(number, udp.takes_new(), faces),
            SocketKind::Interfaces => lans.note_changes(),
            SocketKind::Face => return faces.receive(number),
            SocketKind::Handshake => handshakes.continue_handshake(number, faces, ready),
            SocketKind::Connecting => dialer.handle_event(number, faces),
        }
        false
    }

    /// Begins to drain if the thread is asked to end. Returns true if the time for that is over.
    fn check_end(&mut self) -> bool {
        if self.ends.is_none() && self.requests.drains() {
            self.listeners.close();
            self.udp.refuse_new();
            self.ends = Some(self.now().after_millis(DRAIN));
        }
        self.ends.is_some_and(|end| self.now() >= end)
    }

    /// True if no Interest is pending and nothing waits to be sent.
    fn is_drained(&mut self) -> bool {
        self.faces.pipeline.is_drained() && self.faces.pipeline.ports.is_idle()
    }

    /// Longest time to wait for events.
    fn poll_timeout(&self) -> Duration {
        if !self.ready.is_empty() || self.has_more {
            return Duration::ZERO;
        }
        let longest = match () {
            () if self.ends.is_some() => Duration::from_millis(10),
            () if self.udp.is_limiting() || self.ether.is_limiting() => flood::INTERVAL,
            () => Duration::from_millis(HOUSEKEEPING),
        };
        let Pipeline { forwarder, ports, .. } = &self.faces.pipeline;
        let turns = [forwarder.poll_timeout(), ports.reliable.poll_timeout()];
        let turn = turns.into_iter().flatten().min();
        let turn = turn.map_or(longest, |turn| turn.since(self.now()));
        // The kernel counts in milliseconds; a timer that is due within one can wait for it.
        turn.max(Duration::from_millis(1)).min(longest)
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    /// Sets the time of the round.
    fn refresh_clock(&mut self) {
        self.faces.pipeline.ports.now = self.now();
    }

    /// Does the work of once a second: closes idle faces, ends late handshakes and attempts, and tries again
    /// the sockets that failed.
    fn sweep(&mut self) {
        let Self { faces, udp, ether, lans, listeners, handshakes, dialer, ready, .. } = self;
        let now = faces.pipeline.ports.now;
        self.swept = now;
        faces.close_idle();
        faces.pipeline.ports.expire_fragments();
        handshakes.expire(faces);
        dialer.expire(faces);
        dialer.reconnect(faces);
        listeners.retry(ready);
        lans.follow(Receivers { udp, ether }, faces);
        let has_shrunk = faces.pipeline.ports.has_shrunk();
        if faces.pipeline.forwarder.shrink() || has_shrunk {
            udp.free_memory();
            ether.free_memory();
            faces.pipeline.ports.sockets.iter_mut().for_each(Udp::free_memory);
            faces.pipeline.ports.ethers.iter_mut().for_each(Ether::free_memory);
            hashlane_link::memory::release_freed();
        }
        udp.measure(faces);
        ether.measure(faces);
        udp.retry(faces.pipeline.ports.sockets.numbers(), ready);
        ether.retry(faces.pipeline.ports.ethers.numbers(), ready);
        faces.shares.next_second();
        let suppressed = faces.log.next_second();
        faces.pipeline.forwarder.counters().suppressed_lines.add(suppressed);
        faces.forget_parties();
        let lost: usize = faces.pipeline.ports.sockets.iter_mut().map(Udp::log_lost).sum();
        let lost = lost + faces.pipeline.ports.ethers.iter_mut().map(Ether::log_lost).sum::<usize>();
        let Pipeline { forwarder, ports, crew } = &mut faces.pipeline;
        if let Some(crew) = crew {
            crew.balance(now);
        }
        forwarder.gauge(now);
        ports.reliable.count(forwarder.counters());
        ports.queue_drops += lost as u64;
        forwarder.counters().queue_drops.set(ports.queue_drops);
    }
}

#[cfg(test)]
mod tests;
