//! The UDP worker: one thread with one socket, which runs each batch to completion.
//!
//! A worker waits in the receive itself, so that a batch costs two system calls. While queries come one by
//! one at a high rate, it pauses before it receives, so that a batch has several ([`Moderation`]). The kernel
//! divides the clients among the sockets of an address (`SO_REUSEPORT`), or the interface among its queues
//! (XDP): the worker is the same for both. No worker writes what another one reads, but for counters that
//! are read on demand.

use crate::answer::Answerer;
use crate::cell::Reader;
use crate::clock::{Clock, Now};
use crate::config::RateLimit;
use crate::counters::Counters;
use crate::interface::Interface;
use crate::limit::{LimitKey, Limiter, ResponseClass, Verdict};
use crate::tls::Channel;
use crate::transfers::special::{Received, Reply, Special};
use crate::view::View;
use hashlane_dns::query::{BATCH, truncate};
use hashlane_dns::slices::Parts as _;
use hashlane_hash::scheme::Key;
use hashlane_link::burst::{Burst, Losses, Replies};
use hashlane_link::moderation::{self, Moderation, Settings, Step, Turn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest wait for a datagram: the worker then looks if it should stop, and lets go of replaced zones.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

/// Pause after an error of the socket, for example for want of memory.
const PAUSE: Duration = Duration::from_millis(10);

/// Source of no datagram.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// A worker, with the source of its datagrams.
pub(crate) struct Worker<B> {
    pub(crate) source: B,
    /// Interface of the source, if that is a queue of one.
    pub(crate) interface: Option<Arc<Interface>>,
    pub(crate) answerer: Box<Answerer>,
    pub(crate) special: Special,
    pub(crate) view: Reader<View>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) clock: Clock,
    /// Secret key of the rate limiter.
    pub(crate) key: Key,
    /// Threads that share the limit of rates.
    pub(crate) threads: usize,
    pub(crate) stop: Arc<AtomicBool>,
    /// Longest pause between two batches.
    pub(crate) pause: Duration,
}

impl<B: Burst> Worker<B> {
    /// Answers datagrams until the server stops.
    pub(crate) fn run(mut self) {
        let mut limits = self.view.rate_limit.clone();
        let mut limiter = Limiter::new(&self.key, &limits, self.threads);
        let mut moderation = Moderation::new(Settings { pause: self.pause, poll: Duration::ZERO });
        let (mut step, mut next_look) = (Step::Wait, Duration::ZERO);
        if !self.pause.is_zero() {
            // Without it, pauses are longer.
            let _ = moderation::sleep_precisely();
        }
        while !self.stop.load(Ordering::Relaxed) {
            self.counters.turns.add(1);
            let datagrams = match step {
                Step::Wait => self.source.recv_wait(),
                Step::Poll => self.source.recv(),
                Step::Pause(pause) => {
                    std::thread::sleep(pause);
                    self.source.recv()
                }
            };
            let packets = datagrams.as_ref().map_or(0, |packets| *packets);
            if self.view.refresh() && self.view.rate_limit != limits {
                limits = RateLimit::clone(&self.view.rate_limit);
                limiter = Limiter::new(&self.key, &limits, self.threads);
            }
            let outcome = datagrams.as_ref().map(drop).map_err(io::Error::kind);
            match datagrams {
                Ok(0) => {}
                Ok(count) => self.answer(count, &mut limiter),
                Err(error) => {
                    tracing::debug!(%error, "UDP");
                    std::thread::sleep(PAUSE);
                }
            }
            let elapsed = self.clock.elapsed();
            if elapsed >= next_look || outcome.is_err() {
                next_look = elapsed + PATIENCE;
                self.look(outcome);
            }
            step = moderation.next(elapsed, Turn { packets, ..Turn::default() });
        }
    }

    /// Takes note of the state of the interface, and takes over the counts of its queue.
    #[cold]
    fn look(&self, received: Result<(), io::ErrorKind>) {
        let Some(interface) = &self.interface else { return };
        interface.note(received);
        // The kernel has these counts for each open socket.
        let Losses { malformed, dropped, ring_full, queue_full, invalid } =
            self.source.losses().unwrap_or_default();
        self.counters.malformed.set(malformed);
        self.counters.xdp_dropped.set(dropped);
        self.counters.xdp_ring_full.set(ring_full);
        self.counters.xdp_queue_full.set(queue_full);
        self.counters.xdp_invalid.set(invalid);
    }

    #[inline]
    fn answer(&mut self, received: usize, limiter: &mut Limiter) {
        let Self { source, answerer, special, view, counters, clock, .. } = self;
        let now = clock.now();
        let (datagrams, mut replies) = source.split();
        let (mut specials, mut count) = ([0; BATCH], 0);
        let mut messages = [(NOWHERE, &[][..]); BATCH];
        // A receive brings at most as many datagrams as the batch has.
        for (place, datagram) in messages.iter_mut().zip(datagrams) {
            *place = datagram;
        }
        let messages = messages.get(..received).unwrap_or(&messages);
        answerer.run(view, counters, (now.seconds, Channel::Clear.into()), messages, |number, response| {
            let Some((to, _)) = messages.get(number).copied() else { return false };
            let mut len = response.message.len();
            if len == 0 {
                return true;
            }
            let reply = response.reply;
            if reply.is_special {
                if let Some(place) = specials.get_mut(count) {
                    (*place, count) = (number, count + 1);
                }
                return true;
            }
            // A client with a valid cookie has received a response at this address (RFC 7873 §5.2.3).
            let verdict = match reply.is_known {
                true => Verdict::Send,
                false => limiter.check(to.ip(), || response.subject(), now.millis),
            };
            let is_too_long = len > replies.longest(number);
            match verdict {
                Verdict::Send if !is_too_long => {}
                Verdict::Drop => {
                    counters.limited_dropped.add(1);
                    return true;
                }
                verdict => {
                    let cut = truncate(response.message);
                    debug_assert!(cut.is_some(), "a response of this server is well-formed");
                    let Some(cut) = cut else {
                        counters.limited_dropped.add(1);
                        return true;
                    };
                    len = cut;
                    counters.limited_truncated.add(u64::from(verdict == Verdict::Truncate));
                }
            }
            let message = response.message.part(..len);
            counters.rcode(reply.rcode);
            counters.truncated.add(u64::from(reply.truncated || is_too_long));
            counters.sent_bytes.add(len as u64);
            push(&mut replies, counters, (number, to), message);
            true
        });
        for number in specials.part(..count) {
            let Some((to, message)) = messages.get(*number).copied() else { continue };
            let longest = replies.longest(*number);
            let received =
                Received { message, from: to, channel: Channel::Clear, seconds: now.seconds, longest };
            let Reply::Message(response) = special.reply(answerer, view, counters, received) else {
                continue;
            };
            if response.is_empty() || !is_sent(limiter, counters, to, now) {
                continue;
            }
            counters.sent_bytes.add(response.len() as u64);
            push(&mut replies, counters, (*number, to), &response);
        }
        send(&mut replies, counters);
    }
}

/// Counts the response to a special message against the limit of errors. Returns true if it may be sent: the
/// sender of a NOTIFY repeats it, and transfers are asked for over TCP.
#[cold]
fn is_sent(limiter: &mut Limiter, counters: &Counters, to: SocketAddr, now: Now) -> bool {
    let subject = || LimitKey { kind: ResponseClass::Error, name: 0 };
    let is_sent = matches!(limiter.check(to.ip(), subject, now.millis), Verdict::Send);
    counters.limited_dropped.add(u64::from(!is_sent));
    is_sent
}

/// Queues a response, after those in the queue were sent if it is full.
#[inline]
fn push(replies: &mut impl Replies, counters: &Counters, (number, to): (usize, SocketAddr), message: &[u8]) {
    if replies.push(number, to, message) {
        return;
    }
    send(replies, counters);
    // An interface that sends nothing has no room for another one.
    if !replies.push(number, to, message) {
        counters.unsent.add(1);
    }
}

/// Sends the queue. Responses that the kernel does not take are lost, as datagrams are.
#[inline]
fn send(replies: &mut impl Replies, counters: &Counters) {
    let queued = replies.queued();
    if queued == 0 {
        return;
    }
    match replies.send() {
        Ok(sent) => {
            counters.sent.add(sent.sent as u64);
            counters.unsent.add(sent.dropped as u64);
        }
        Err(error) => {
            counters.unsent.add(queued as u64);
            tracing::debug!(%error, "UDP");
        }
    }
}
