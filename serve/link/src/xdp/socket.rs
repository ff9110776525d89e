//! A socket of one receive queue.

use super::frame::{MAX_ETHERNET, Received};
use super::memory::{FRAME, Frame, Frames};
use super::parts::Parts;
use super::rings::{Completion, Transmit};
use crate::burst::{Burst, Losses, Replies};
use crate::context::context;
use crate::udp::Sent;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, send};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Most system calls of one send: in copying modes, the kernel sends 32 frames in each, and so all of the
/// ring in half as many.
const MAX_KICKS: usize = 64;

/// Longest wait for frames while replies wait in the ring, in milliseconds. They are then sent again.
const RETRY: u8 = 1;

/// A datagram of the last burst.
#[derive(Debug)]
struct Held {
    frame: Frame,
    start: usize,
    end: usize,
    received: Received,
}

/// A socket that receives the datagrams of one queue of an interface, and replies to them.
///
/// Holds 6 MiB of frames, which are locked in memory: 2,048 to receive into, and 1,024 for replies.
#[derive(Debug)]
pub struct XdpSocket {
    parts: Parts,
    held: Vec<Held>,
    /// Frames that the kernel gets back for others to be received into.
    spent: Vec<Frame>,
    /// Replies since the last send.
    queued: usize,
    burst: usize,
    /// Bytes of the longest IP packet that is sent.
    longest: usize,
    wait: PollTimeout,
    is_zero_copy: bool,
    malformed: u64,
    /// Sends that found the queue of the interface full.
    queue_full: u64,
    /// Removes the program from the interface, once the last socket drops it.
    _attached: Arc<OwnedFd>,
}

impl XdpSocket {
    pub(super) fn new(
        parts: Parts,
        attached: Arc<OwnedFd>,
        (mtu, is_zero_copy): (usize, bool),
        burst: usize,
        patience: Duration,
    ) -> Self {
        let burst = burst.clamp(1, 1024);
        // Up to a millisecond longer rather than many calls within it.
        let wait = PollTimeout::try_from(patience.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        Self {
            parts,
            held: Vec::with_capacity(burst),
            spent: Vec::with_capacity(burst),
            queued: 0,
            burst,
            longest: mtu.min(FRAME - MAX_ETHERNET),
            wait,
            is_zero_copy,
            malformed: 0,
            queue_full: 0,
            _attached: attached,
        }
    }

    /// Gives the frames of the last burst back, and takes the next ones. Returns `true` if there were any.
    fn take(&mut self) -> bool {
        let Self { parts, held, spent, burst, malformed, .. } = self;
        spent.extend(held.drain(..).map(|held| held.frame));
        let mut taken = 0;
        while taken < *burst
            && let Some((frame, start, length)) = parts.receive.take()
        {
            taken += 1;
            let end = start + length;
            let bytes = parts.frames.bytes(&frame).get(start..end).unwrap_or_default();
            match Received::parse(bytes) {
                Ok(received) => held.push(Held { frame, start, end, received }),
                Err(_) => {
                    *malformed += 1;
                    spent.push(frame);
                }
            }
        }
        if taken > 0 {
            parts.receive.release();
        }
        parts.give_back(spent);
        taken > 0
    }

    /// Sends replies that the queue of the interface had no room for, so that they wait for no other ones.
    #[inline]
    fn flush(&mut self) {
        let Self { parts, queue_full, .. } = self;
        if parts.transmit.unsent() > 0 {
            // `check_up` reports an interface that is down, and the next `send` all else.
            let _ = kick(&parts.socket, &parts.transmit, queue_full);
            parts.completion.take(&mut parts.free);
        }
    }
}

/// Has the kernel send the frames of the ring, as many as the queue of the interface has room for. Adds 1 to
/// `full` if it had none for all.
fn kick(socket: &OwnedFd, transmit: &Transmit, full: &mut u64) -> io::Result<()> {
    for _ in 0..MAX_KICKS {
        if transmit.unsent() == 0 || !transmit.needs_wakeup() {
            return Ok(());
        }
        match send(socket.as_raw_fd(), &[], MsgFlags::MSG_DONTWAIT) {
            // EAGAIN: the kernel has sent as many as it does in one call.
            Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EBUSY | Errno::ENOBUFS) => break,
            Err(errno) => return Err(context("cannot send frames", &errno.into())),
        }
    }
    // The other frames stay in the ring until the next receive or send.
    *full += 1;
    Ok(())
}

impl Burst for XdpSocket {
    type Replies<'a> = XdpReplies<'a>;

    fn recv_wait(&mut self) -> io::Result<usize> {
        self.flush();
        if !self.take() {
            let wait = if self.parts.transmit.unsent() == 0 { self.wait } else { RETRY.into() };
            let mut entries = [PollFd::new(self.parts.socket.as_fd(), PollFlags::POLLIN)];
            match poll(&mut entries, wait) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(context("cannot wait for frames", &errno.into())),
            }
            self.flush();
            if !self.take() {
                self.parts.check_up()?;
            }
        }
        Ok(self.held.len())
    }

    fn recv(&mut self) -> io::Result<usize> {
        self.flush();
        self.take();
        Ok(self.held.len())
    }

    fn split(&mut self) -> (impl Iterator<Item = (SocketAddr, &[u8])>, XdpReplies<'_>) {
        let Self { parts, held, queued, longest, queue_full, .. } = self;
        let Parts { socket, frames, transmit, completion, free, .. } = parts;
        let (frames, held) = (&*frames, &held[..]);
        let datagrams = held.iter().map(|held| (held.received.from, held.payload(frames)));
        let queue = Queue { socket, transmit, completion, free, queued, full: queue_full };
        (datagrams, XdpReplies { frames, held, queue, longest: *longest })
    }

    fn losses(&self) -> io::Result<Losses> {
        let losses = self.parts.losses(self.is_zero_copy)?;
        Ok(Losses { malformed: self.malformed, queue_full: self.queue_full, ..losses })
    }
}

impl Held {
    #[inline]
    fn bytes<'a>(&'a self, frames: &'a Frames) -> &'a [u8] {
        frames.bytes(&self.frame).get(self.start..self.end).unwrap_or_default()
    }

    #[inline]
    fn payload<'a>(&'a self, frames: &'a Frames) -> &'a [u8] {
        self.received.payload(self.bytes(frames))
    }
}

/// Replies to the datagrams of a burst.
#[derive(Debug)]
pub struct XdpReplies<'a> {
    frames: &'a Frames,
    held: &'a [Held],
    queue: Queue<'a>,
    longest: usize,
}

/// The parts of a socket that send.
#[derive(Debug)]
struct Queue<'a> {
    socket: &'a OwnedFd,
    transmit: &'a mut Transmit,
    completion: &'a mut Completion,
    free: &'a mut Vec<Frame>,
    queued: &'a mut usize,
    /// Sends that found the queue of the interface full.
    full: &'a mut u64,
}

impl Replies for XdpReplies<'_> {
    #[inline]
    fn longest(&self, number: usize) -> usize {
        let headers = self.held.get(number).map_or(0, |held| held.received.packet_headers());
        self.longest.saturating_sub(headers)
    }

    #[inline]
    fn push(&mut self, number: usize, _to: SocketAddr, payload: &[u8]) -> bool {
        let Self { frames, held, queue, .. } = self;
        let Some(held) = held.get(number) else { return false };
        if queue.free.is_empty() {
            queue.completion.take(queue.free);
        }
        if !queue.transmit.has_room() {
            return false;
        }
        let Some(mut frame) = queue.free.pop() else { return false };
        match held.received.reply(held.bytes(frames), payload, frames.bytes_mut(&mut frame)) {
            Some(length) => {
                queue.transmit.give(frame, length);
                *queue.queued += 1;
                true
            }
            None => {
                queue.free.push(frame);
                false
            }
        }
    }

    #[inline]
    fn queued(&self) -> usize {
        *self.queue.queued
    }

    fn send(&mut self) -> io::Result<Sent> {
        let Queue { socket, transmit, completion, free, queued, full } = &mut self.queue;
        let sent = std::mem::take(*queued);
        transmit.publish();
        let kicked = kick(socket, transmit, full);
        completion.take(free);
        kicked.map(|()| Sent { sent, dropped: 0 })
    }
}
