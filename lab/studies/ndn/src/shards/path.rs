//! Paths of the packets of a thread: by a forwarder alone, by a shard, or by none.

use super::clock::Clock;
use super::ends::{Ends, Packets, Plan};
use super::post::Post;
use hashlane_forwarder::shards::{
    Action, Batch, Exchange, Outlet, Router, Through, forward_batch, pass_on, route_burst,
};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Burst, Forwarder, Output};
use hashlane_ndn_fw::shard::{Dispatch, Load};
use std::sync::Arc;
use std::time::Duration;

/// Batches of the queue between two bursts of the thread's own packets, as in a worker.
const BATCHES: usize = 16;

/// Longest wait for the queue.
const WAIT: Duration = Duration::from_millis(1);

/// Longest wait for the queue of a thread that packets reach by the network, too.
const NETWORK_WAIT: Duration = Duration::from_micros(20);

/// Path of the packets of a thread.
pub(super) trait Path: Send {
    /// Forwards packets from the thread's own faces.
    ///
    /// # Errors
    /// A packet is not forwarded.
    fn forward(&mut self, packets: &Packets, now: Time, ends: &mut Ends) -> Result<(), String>;

    /// Takes packets from other threads. Returns false if there are none.
    ///
    /// # Errors
    /// Another thread has lost packets.
    fn take_queue(&mut self, _now: Time, _ends: &mut Ends) -> Result<bool, String> {
        Ok(false)
    }

    /// True if another thread takes less than it is given.
    fn is_congested(&self) -> bool {
        false
    }

    /// Ends a burst.
    fn end_burst(&mut self, now: Time);

    /// Waits for packets from other threads, for a short time.
    fn wait(&mut self, _clock: Clock, _ends: &mut Ends) -> Result<(), String> {
        std::thread::sleep(WAIT);
        Ok(())
    }

    /// Counts since the last call.
    fn take_counts(&mut self) -> Counts {
        Counts::default()
    }
}

/// Counts of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Packets handed over to other threads.
    pub handed_over: u64,
    /// Packets forwarded.
    pub forwarded: u64,
}

/// A forwarder without shards: one thread of the product.
pub(super) struct Alone(pub(super) Forwarder);

/// A shard, and the thread's ends of the queues.
pub(super) struct Shard {
    pub(super) own: usize,
    pub(super) forwarder: Forwarder,
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) plan: Arc<Plan>,
    pub(super) load: Load,
    pub(super) exchange: Exchange,
    /// Network to the peers of other threads; `None` if packets are handed over to the thread that has the
    /// face.
    pub(super) post: Option<Post>,
    pub(super) counts: Counts,
}

/// No forwarder: each packet goes to the other end of its exchange.
pub(super) struct Nothing;

/// Sends to the ends of the same thread.
struct ToEnds<'a>(&'a mut Ends);

impl Output for ToEnds<'_> {
    #[inline]
    fn send(&mut self, face: FaceId, _: &LpHeader<'_>, packet: &[u8]) {
        self.0.receive(face, packet);
    }
}

/// Sends to any face over the network, or to the thread that has the face.
struct ToOwners<'a> {
    own: usize,
    plan: &'a Plan,
    ends: &'a mut Ends,
    post: Option<&'a mut Post>,
    handed_over: u64,
}

impl Outlet for ToOwners<'_> {
    #[inline]
    fn send(&mut self, exchange: &mut Exchange, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        if let Some(post) = &mut self.post {
            return post.send(face, packet, self.ends);
        }
        let owner = self.plan.owner(face);
        if owner == self.own {
            self.ends.receive(face, packet);
        } else {
            self.handed_over += 1;
            exchange.send(owner, face, header, packet);
        }
    }
}

impl Path for Alone {
    fn forward(&mut self, packets: &Packets, now: Time, ends: &mut Ends) -> Result<(), String> {
        let mut burst = Burst::new();
        for (face, packet) in packets.iter() {
            burst.push(face, packet).map_err(|why| format!("a packet is not taken: {why:?}"))?;
        }
        if !burst.is_empty() {
            self.0.receive_burst(&mut burst, now, &mut ToEnds(ends));
        }
        Ok(())
    }

    fn end_burst(&mut self, now: Time) {
        self.0.handle_timeout(now);
    }
}

impl Shard {
    /// Takes this batch and those after it.
    fn take_batches(&mut self, first: Option<Batch>, now: Time, ends: &mut Ends) -> Result<bool, String> {
        let Self { own, forwarder, plan, exchange, post, counts, .. } = self;
        let mut outlet = ToOwners { own: *own, plan, ends, post: post.as_mut(), handed_over: 0 };
        let (mut batches, mut next) = (0, first);
        while let Some(batch) = next {
            for (face, action, packet) in batch.iter() {
                match action {
                    Action::Send => {
                        let packet = LpPacket::parse(packet).map_err(|error| error.to_string())?;
                        outlet.ends.receive(face, packet.fragment);
                    }
                    Action::Forward { .. } => counts.forwarded += 1,
                }
            }
            forward_batch(&batch, forwarder, now, exchange, &mut outlet);
            exchange.give_back(batch);
            batches += 1;
            next = if batches < BATCHES { exchange.try_next() } else { None };
        }
        counts.handed_over += outlet.handed_over;
        match exchange.take_lost() {
            0 => Ok(batches > 0),
            lost => Err(format!("{lost} packets were lost between threads")),
        }
    }
}

impl Path for Shard {
    fn forward(&mut self, packets: &Packets, now: Time, ends: &mut Ends) -> Result<(), String> {
        let Self { own, forwarder, dispatch, plan, load, exchange, post, counts } = self;
        let mut burst = Burst::new();
        let mut outlet = ToOwners { own: *own, plan, ends, post: post.as_mut(), handed_over: 0 };
        for (face, packet) in packets.iter() {
            burst.push(face, packet).map_err(|why| format!("a packet is not taken: {why:?}"))?;
        }
        if burst.is_empty() {
            return Ok(());
        }
        route_burst(Router { own: *own, dispatch, load }, forwarder, &mut burst, now, exchange);
        counts.forwarded += burst.remaining() as u64;
        counts.handed_over += (burst.len() - burst.remaining()) as u64;
        forwarder.forward_decoded(&mut burst, now, &mut Through(exchange, &mut outlet));
        pass_on(forwarder, &mut burst, exchange);
        counts.handed_over += outlet.handed_over;
        Ok(())
    }

    fn take_queue(&mut self, now: Time, ends: &mut Ends) -> Result<bool, String> {
        let has_arrivals = self.post.as_mut().is_some_and(|post| post.take(ends));
        let batch = self.exchange.try_next();
        Ok(self.take_batches(batch, now, ends)? || has_arrivals)
    }

    fn is_congested(&self) -> bool {
        self.exchange.is_congested()
    }

    fn end_burst(&mut self, now: Time) {
        self.exchange.flush();
        self.post.iter_mut().for_each(Post::flush);
        self.forwarder.handle_timeout(now);
    }

    fn wait(&mut self, clock: Clock, ends: &mut Ends) -> Result<(), String> {
        let batch = self.exchange.wait(if self.post.is_some() { NETWORK_WAIT } else { WAIT });
        let now = clock.now();
        if self.take_batches(batch, now, ends)? {
            self.end_burst(now);
        }
        Ok(())
    }

    fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }
}

impl Path for Nothing {
    fn forward(&mut self, packets: &Packets, _: Time, ends: &mut Ends) -> Result<(), String> {
        packets.iter().for_each(|(_, packet)| ends.receive_own(packet));
        Ok(())
    }

    fn end_burst(&mut self, _: Time) {}
}
