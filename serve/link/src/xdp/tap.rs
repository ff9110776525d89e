//! All frames that an interface receives.

use super::XdpError;
use super::interface::{Interface, check_unused};
use super::memory::Frame;
use super::open::{self, Mode};
use super::parts::Parts;
use crate::burst::Losses;
use crate::capture;
use crate::context::context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Frames that are received together at most.
const BURST: usize = 256;

/// LINKTYPE number of Ethernet.
const ETHERNET: u32 = 1;

/// The frames that some of the queues of an interface receive.
///
/// **The kernel does not get these frames**, nor do packet sockets: for an interface whose frames are for
/// nobody on this host, behind a mirror port or a tap. Frames that the interface sends are not received.
///
/// Each queue holds 64 MiB of frames, 32,768 of them, which are locked in memory.
#[derive(Debug)]
pub struct XdpTap {
    queues: Vec<Queue>,
    /// The queue of the last frames.
    current: usize,
    mode: Mode,
    /// Removes the program from the interface, once the last tap drops it, and ends its promiscuous mode.
    _held: Arc<(OwnedFd, Option<OwnedFd>)>,
}

/// A queue, and the frames of its last burst.
#[derive(Debug)]
struct Queue {
    parts: Parts,
    /// Frames with the places of their first byte and their lengths.
    held: Vec<(Frame, usize, usize)>,
    /// Frames that the kernel gets back.
    spent: Vec<Frame>,
    /// Time at which they were taken, in nanoseconds since 1970.
    time: u64,
}

impl XdpTap {
    /// Opens an interface with so many taps, each with its share of the receive queues. With `promiscuous`,
    /// the interface receives frames to other hosts, too.
    ///
    /// Prefers the driver to the network stack, and zero-copy to copies.
    ///
    /// # Errors
    /// No such Ethernet interface; it has fewer queues, an address, whose packets the host would not get any
    /// more, or an MTU above 1,774 bytes; the process lacks a permission; another program has XDP on the
    /// interface; the kernel lacks what is needed.
    pub fn open_group(interface: &str, promiscuous: bool, taps: usize) -> Result<Vec<Self>, XdpError> {
        let open::Tapped { parts, mode, attached, promiscuous } = open::open_all(interface, promiscuous)?;
        let queues = parts.len();
        if taps > queues {
            return Err(XdpError::Queues(queues));
        }
        let held = Arc::new((attached, promiscuous));
        let mut all: Vec<_> = (0..taps.max(1))
            .map(|_| Self { queues: Vec::new(), current: 0, mode, _held: Arc::clone(&held) })
            .collect();
        for (number, parts) in parts.into_iter().enumerate() {
            let at = number % all.len();
            if let Some(tap) = all.get_mut(at) {
                tap.queues.push(Queue { parts, held: Vec::new(), spent: Vec::new(), time: 0 });
            }
        }
        Ok(all)
    }

    /// Checks that an interface exists and has no address, without opening it.
    ///
    /// # Errors
    /// No such Ethernet interface, or it has an address.
    pub fn check(interface: &str) -> Result<(), XdpError> {
        Interface::find(interface)?;
        check_unused(interface)
    }

    /// Place where the program runs.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Receives frames that wait in one of the queues, in place of the last ones, or waits for some until
    /// `deadline`. Returns their number; 0 if none came. All queues have their turn.
    ///
    /// # Errors
    /// The interface is [down](io::ErrorKind::NetworkDown) or [was removed](io::ErrorKind::NotFound), or a system
    /// call failed.
    pub fn receive(&mut self, deadline: Instant) -> io::Result<usize> {
        if let Some(queue) = self.queues.get_mut(self.current) {
            queue.release();
        }
        let taken = self.take();
        if taken > 0 {
            return Ok(taken);
        }
        let wait = deadline.saturating_duration_since(Instant::now());
        let wait = PollTimeout::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        let sockets = self.queues.iter().map(|queue| queue.parts.socket.as_fd());
        let mut entries: Vec<_> = sockets.map(|socket| PollFd::new(socket, PollFlags::POLLIN)).collect();
        match poll(&mut entries, wait) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(context("cannot wait for frames", &errno.into())),
        }
        let taken = self.take();
        if taken == 0 {
            self.queues.iter().try_for_each(|queue| queue.parts.check_up())?;
        }
        Ok(taken)
    }

    /// Takes the frames of the next queue that has some.
    fn take(&mut self) -> usize {
        let count = self.queues.len();
        for number in (self.current + 1..).take(count) {
            let number = number % count.max(1);
            if let Some(queue) = self.queues.get_mut(number)
                && queue.take()
            {
                self.current = number;
                return queue.held.len();
            }
        }
        0
    }

    /// The frames of the last receive. All have the time of that receive.
    pub fn frames(&self) -> impl Iterator<Item = capture::Frame<'_>> {
        self.queues.get(self.current).into_iter().flat_map(Queue::frames)
    }

    /// Frames that were lost, in all queues.
    ///
    /// # Errors
    /// The kernel does not report its counts.
    pub fn losses(&self) -> io::Result<Losses> {
        let mut sum = Losses::default();
        for queue in &self.queues {
            let losses = queue.parts.losses(self.mode == Mode::ZeroCopy)?;
            sum.dropped += losses.dropped;
            sum.ring_full += losses.ring_full;
            sum.invalid += losses.invalid;
        }
        Ok(sum)
    }
}

impl Queue {
    /// Gives the frames of the last burst back.
    fn release(&mut self) {
        let Self { parts, held, spent, .. } = self;
        spent.extend(held.drain(..).map(|(frame, ..)| frame));
        parts.give_back(spent);
    }

    /// Takes the next frames. Returns `true` if there were any.
    fn take(&mut self) -> bool {
        let Self { parts, held, time, .. } = self;
        while held.len() < BURST
            && let Some(taken) = parts.receive.take()
        {
            held.push(taken);
        }
        if held.is_empty() {
            return false;
        }
        parts.receive.release();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        *time = since.map_or(0, |since| since.as_nanos() as u64);
        true
    }

    fn frames(&self) -> impl Iterator<Item = capture::Frame<'_>> {
        let Self { parts, held, time, .. } = self;
        held.iter().map(move |(frame, start, length)| {
            let bytes = parts.frames.bytes(frame).get(*start..start + length).unwrap_or_default();
            capture::Frame { link: Some(ETHERNET), time: *time, original: bytes.len() as u32, bytes }
        })
    }
}
