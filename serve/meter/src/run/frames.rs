//! Sources of the frames of an interface, one for each worker.

use super::RunError;
use crate::config::Io;
use crate::meter::Meter;
use crate::record::FlowRecord;
use hashlane_link::ring::{Ring, RingSettings, Share};
use hashlane_link::xdp::XdpTap;
use std::io;
use std::time::Instant;

/// Captured bytes of a frame by packet sockets: all headers, also within tunnels. XDP copies whole frames.
const SNAP: u32 = 256;

/// Source of the frames of a worker.
#[derive(Debug)]
pub(super) enum Frames {
    /// Packet socket with a ring: what the interface receives and sends.
    Packet(Ring),
    /// Sockets of XDP: what the interface receives, before the kernel.
    Xdp(XdpTap),
}

impl Frames {
    /// Opens an interface for so many workers.
    pub(super) fn open(
        interface: &str,
        io: Io,
        promiscuous: bool,
        workers: usize,
    ) -> Result<Vec<Self>, RunError> {
        match io {
            Io::Auto | Io::Packet => {
                let settings = RingSettings { snap: Some(SNAP), promiscuous, ..RingSettings::default() };
                let rings = Ring::open_group(interface, &settings, Share::Hash, workers);
                let rings = rings.map_err(|error| RunError::Interface(interface.to_owned(), error))?;
                Ok(rings.into_iter().map(Self::Packet).collect())
            }
            Io::Xdp => {
                let taps = XdpTap::open_group(interface, promiscuous, workers);
                let taps = taps.map_err(|error| RunError::Xdp(interface.to_owned(), error))?;
                Ok(taps.into_iter().map(Self::Xdp).collect())
            }
        }
    }

    /// Meters the next frames, waiting for them until `deadline`. Returns `false` if none came.
    #[inline]
    pub(super) fn meter(
        &mut self,
        deadline: Instant,
        meter: &mut Meter,
        out: &mut impl FnMut(&FlowRecord),
    ) -> io::Result<bool> {
        match self {
            Self::Packet(ring) => {
                let Some(mut block) = ring.next_block(deadline)? else { return Ok(false) };
                meter.receive(block.frames(), out);
            }
            Self::Xdp(tap) => {
                if tap.receive(deadline)? == 0 {
                    return Ok(false);
                }
                meter.receive(tap.frames(), out);
            }
        }
        Ok(true)
    }

    /// Frames that were lost before the meter since the start.
    pub(super) fn lost(&mut self) -> io::Result<u64> {
        match self {
            Self::Packet(ring) => Ok(ring.counters()?.dropped),
            Self::Xdp(tap) => {
                let losses = tap.losses()?;
                Ok(losses.dropped + losses.ring_full)
            }
        }
    }

    /// Effects of this source on the host, if it has some.
    pub(super) fn note(&self) -> Option<String> {
        let Self::Xdp(tap) = self else { return None };
        let mode = tap.mode();
        Some(format!(
            "XDP ({mode}) takes all received frames from the kernel, and frames that are sent are not metered: \
             for mirror ports and taps alone"
        ))
    }
}
