//! Sender of frames at a set rate.

use super::network::NEAR;
use hashlane_lab::study::TurnError;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, MultiHeaders, SockFlag, SockType, bind, sendmmsg, socket,
};
use std::io::IoSlice;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that one system call sends.
pub(super) const BATCH: usize = 64;

/// Time before the next batch is due from which the sender sleeps; below, it waits in a loop.
const SLEEP: Duration = Duration::from_micros(300);

/// Times as long as planned after which a load ends.
const PATIENCE: u32 = 4;

/// Time before which no load ends early.
const LEAST: Duration = Duration::from_secs(60);

/// A socket that sends whole frames on [`NEAR`].
#[derive(Debug)]
pub(super) struct Sender {
    socket: OwnedFd,
}

/// Frames to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Number of the first one.
    pub(super) from: u64,
    /// Number of frames.
    pub(super) frames: u64,
    /// Frames per second; `None`: as fast as possible.
    pub(super) rate: Option<f64>,
}

/// A load that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) frames: u64,
    pub(super) time: Duration,
}

impl Sent {
    /// Frames per second.
    pub(super) fn rate(&self) -> f64 {
        self.frames as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

impl Load {
    /// Time at which a frame is due, counted from the first one.
    fn due(&self, frame: u64) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(frame as f64 / rate))
    }

    /// Time after which the load ends, sent or not.
    fn limit(&self) -> Duration {
        // 20,000 frames a second are less than any machine sends.
        let planned = self.due(self.frames).max(Duration::from_secs_f64(self.frames as f64 / 20_000.0));
        (planned * PATIENCE).max(LEAST)
    }
}

impl Sender {
    /// Opens a socket in the namespace of this thread.
    pub(super) fn open() -> Result<Self, TurnError> {
        let failed = "cannot send on an interface";
        let mut all = getifaddrs().map_err(TurnError::io(failed))?;
        let address = all
            .find_map(|entry| entry.address.filter(|_| entry.interface_name == NEAR)?.as_link_addr().copied())
            .ok_or_else(|| TurnError::Failed(format!("no interface {NEAR}")))?;
        // Without a protocol the socket receives nothing.
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
            .map_err(TurnError::io(failed))?;
        bind(socket.as_raw_fd(), &LinkAddr::clone(&address)).map_err(TurnError::io(failed))?;
        Ok(Self { socket })
    }

    /// Sends a load; `write` appends the frame of a number. Ends early once `stop` is set, and after 4 times
    /// the planned time, but not within a minute.
    pub(super) fn send(
        &self,
        load: &Load,
        write: impl Fn(u64, &mut Vec<u8>),
        stop: &AtomicBool,
    ) -> Result<Sent, TurnError> {
        let mut headers = MultiHeaders::<LinkAddr>::preallocate(BATCH, None);
        let mut frames = vec![Vec::new(); BATCH];
        let addresses = [None; BATCH];
        let (begun, mut sent) = (Instant::now(), 0);
        while sent < load.frames && begun.elapsed() < load.limit() {
            if stop.load(Ordering::Relaxed) {
                return Err(TurnError::Stopped);
            }
            let count = (load.frames - sent).min(BATCH as u64) as usize;
            for (number, frame) in (load.from + sent..).zip(frames.iter_mut().take(count)) {
                frame.clear();
                write(number, frame);
            }
            wait_until(begun + load.due(sent));
            let slices: Vec<[IoSlice<'_>; 1]> =
                frames.iter().take(count).map(|frame| [IoSlice::new(frame)]).collect();
            let mut done = 0;
            while let (Some(slices), Some(addresses)) = (slices.get(done..), addresses.get(done..count))
                && !slices.is_empty()
            {
                let result =
                    sendmmsg(self.socket.as_raw_fd(), &mut headers, slices, addresses, [], MsgFlags::empty());
                match result {
                    Ok(results) => done += results.count(),
                    // The queue of the interface is full.
                    Err(Errno::ENOBUFS | Errno::EAGAIN | Errno::EINTR) => thread::yield_now(),
                    Err(errno) => return Err(TurnError::io("cannot send frames")(errno)),
                }
            }
            sent += count as u64;
        }
        Ok(Sent { frames: sent, time: begun.elapsed() })
    }
}

fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match left {
            Duration::ZERO => return,
            left if left > SLEEP => thread::sleep(left - SLEEP),
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_due_by_the_rate() {
        let load = Load { from: 7, frames: 100_000, rate: Some(50_000.0) };
        assert_eq!(load.due(25_000), Duration::from_millis(500));
        assert_eq!(load.limit(), LEAST);
        let fast = Load { frames: 1_000_000, rate: None, ..load };
        assert_eq!((fast.due(25_000), fast.limit()), (Duration::ZERO, Duration::from_secs(200)));
        let sent = Sent { frames: 10, time: Duration::from_secs(2) };
        assert_eq!(sent.rate(), 5.0);
    }
}
