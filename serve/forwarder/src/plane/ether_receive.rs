//! Frames in: batches of each Ethernet, and faces for new hosts.

use super::faces::Faces;
use super::flood::{Flood, Floods};
use super::peers;
use super::pipeline::Pipeline;
use super::port::PortKind;
use super::ports::Ports;
use super::ready::{Class, Ready};
use super::token::SocketKind;
use crate::management::FaceOptions;
use hashlane_link::packet::{Frame, FrameBatch};
use hashlane_ndn::endpoints::Endpoint;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::tlv;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{BURST, Burst, DropReason};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::Owner;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::io;

/// Batches of one Ethernet in one turn, and the frames of one.
const BATCHES: usize = 4;
const BATCH: usize = 64;

/// Receives from the Ethernets.
#[derive(Debug, Default)]
pub(super) struct EtherReceiver {
    /// Made for the first Ethernet.
    batch: Option<Box<FrameBatch>>,
    /// Measurements of each Ethernet.
    floods: Floods,
    /// Ethernets that could not be read, though frames may wait.
    failed: BTreeSet<usize>,
    /// Those whose failure is logged.
    logged: BTreeSet<usize>,
}

/// A packet of a frame, and the face that has received it, if there is one.
type Received<'p> = (Frame<'p>, &'p [u8], Option<FaceId>);

impl EtherReceiver {
    /// Frees the memory of the buffers, after large frames have used more of it than small ones need.
    pub(super) fn free_memory(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.release();
        }
    }

    /// Begins the measurements of an Ethernet: another one, or one in place of the last of this number.
    pub(super) fn begin_measuring(&mut self, number: usize, rng: &mut Rng) {
        self.floods.begin(number, rng);
    }

    /// True while hosts of an Ethernet are limited.
    pub(super) fn is_limiting(&self) -> bool {
        self.floods.is_limiting()
    }

    /// Counts the frames that each Ethernet has lost, and updates the limits of its hosts.
    pub(super) fn measure<P: Pit>(&mut self, faces: &mut Faces<P>) {
        self.floods.numbers().for_each(|number| self.measure_ether(number, faces));
    }

    fn measure_ether<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) {
        let Pipeline { forwarder, ports, .. } = &mut faces.pipeline;
        let now = ports.now;
        if let Some(flood) = self.floods.due(number, now)
            && let Some((ports, ether)) = ports.ether_mut(number)
        {
            let is_of = |kind: &PortKind| matches!(kind, PortKind::Ether { number: of, .. } if *of == number);
            flood.measure(ether, now, forwarder.counters(), |each| Ports::take_heard(ports, is_of, each));
        }
    }

    /// Schedules all Ethernets again if one could not be read: no event reports its frames a second time.
    pub(super) fn retry(&mut self, ethers: impl Iterator<Item = usize>, ready: &mut Ready) {
        let failed = std::mem::take(&mut self.failed);
        if !failed.is_empty() {
            ethers.for_each(|number| ready.push(SocketKind::Ether.token(number), Class::First));
        }
        self.logged.retain(|number| failed.contains(number));
    }

    /// Receives the frames of one Ethernet for one turn. Returns true if there may be more. `takes_new` is
    /// true if faces are opened for new hosts.
    pub(super) fn receive<P: Pit>(&mut self, number: usize, takes_new: bool, faces: &mut Faces<P>) -> bool {
        let mut batch = self.batch.take().unwrap_or_else(|| Box::new(FrameBatch::new(BATCH)));
        let (batches, more) = self.receive_batches(number, takes_new, &mut batch, faces);
        self.batch = Some(batch);
        // A short queue overflows also between turns that read it empty.
        if batches > 0 {
            self.measure_ether(number, faces);
        }
        more
    }

    /// Receives batches until one is not full. Returns the number of full ones, and true if there may be
    /// more.
    fn receive_batches<P: Pit>(
        &mut self,
        number: usize,
        takes_new: bool,
        batch: &mut FrameBatch,
        faces: &mut Faces<P>,
    ) -> (usize, bool) {
        for full in 0..BATCHES {
            let (Some(ether), Some(flood)) =
                (faces.pipeline.ports.ethers.get(number), self.floods.get_mut(number))
            else {
                // The interface has gone since the event.
                return (full, false);
            };
            if let Err(error) = ether.recv(batch) {
                // An interface that goes down is logged by those who watch the interfaces.
                let is_known = error.kind() == io::ErrorKind::NetworkDown || !self.logged.insert(number);
                if !is_known {
                    tracing::error!(interface = ether.interface, %error, "cannot read frames; retrying every second");
                }
                self.failed.insert(number);
                return (full, false);
            }
            let frames: SmallVec<[Frame<'_>; BATCH]> = batch.iter(&ether.socket).collect();
            for burst in frames.chunks(BURST) {
                receive_burst(number, burst, takes_new, flood, faces);
            }
            if !batch.is_full() {
                return (full, false);
            }
        }
        (BATCHES, true)
    }
}

/// Forwards up to [`BURST`] frames of one Ethernet.
fn receive_burst<P: Pit>(
    number: usize,
    frames: &[Frame<'_>],
    takes_new: bool,
    flood: &mut Flood,
    faces: &mut Faces<P>,
) {
    let group = faces.pipeline.ports.ethers.get(number).and_then(|ether| ether.group);
    let mut received: SmallVec<[Received<'_>; BURST]> = SmallVec::new();
    let mut tuples = SmallVec::<[_; BURST]>::new();
    for frame in frames {
        let Some(packet) = tlv::leading(frame.payload) else {
            faces.pipeline.count_drop(FaceId::NONE, DropReason::Malformed);
            continue;
        };
        tuples.push(peers::tuple_of_ether(number, frame.from));
        received.push((*frame, packet, None));
    }
    faces.peers.find_burst(&tuples, |at, found| {
        if let Some((frame, _, face)) = received.get_mut(at) {
            *face = if frame.is_group { group } else { found };
        }
    });
    // Count before a new host replaces a silent one: the hosts of this batch are not silent.
    for run in received.chunk_by(|(_, _, a), (_, _, b)| a == b) {
        if let [(_, _, Some(face)), ..] = run {
            let bytes = run.iter().map(|(_, packet, _)| packet.len()).sum();
            faces.pipeline.count_received(*face, run.len(), bytes);
        }
    }
    // Hosts with a face are counted there, except for what they send to the group.
    for (frame, ..) in received.iter().filter(|(frame, _, face)| frame.is_group || face.is_none()) {
        flood.count_stranger(Owner::of_ethernet(frame.from));
    }
    if flood.drains() {
        drop_floods(&mut received, flood, faces);
    }
    let mut burst = Burst::new();
    for (frame, packet, face) in &received {
        let face = match face {
            Some(face) => Ok(*face),
            // The configuration has no face for the group, or it was destroyed.
            None if frame.is_group => Err(DropReason::UnknownFace),
            None => face_of_host(number, frame.from, packet, takes_new, faces),
        };
        let from = if frame.is_group { Endpoint::ethernet(frame.from) } else { Endpoint::default() };
        match face {
            Ok(face) => faces.pipeline.push_from(face, from, packet, &mut burst),
            Err(reason) => faces.pipeline.count_drop(FaceId::NONE, reason),
        }
    }
    faces.pipeline.forward(&mut burst);
}

/// Drops the frames of the hosts that are limited.
#[cold]
fn drop_floods<P: Pit>(received: &mut SmallVec<[Received<'_>; BURST]>, flood: &Flood, faces: &mut Faces<P>) {
    received.retain(|(frame, _, face)| {
        let limited = flood.limits(Owner::of_ethernet(frame.from));
        if limited {
            faces.pipeline.count_drop(face.unwrap_or(FaceId::NONE), DropReason::Flood);
        }
        !limited
    });
}

/// The face of a host that had none when its batch arrived. Opens it if the frame carries a packet.
///
/// # Errors
/// The reason why the frame is dropped.
#[cold]
fn face_of_host<P: Pit>(
    number: usize,
    host: [u8; 6],
    packet: &[u8],
    takes_new: bool,
    faces: &mut Faces<P>,
) -> Result<FaceId, DropReason> {
    let face = match faces.peers.find(&peers::tuple_of_ether(number, host)) {
        Some(face) => face,
        None if takes_new => {
            LpPacket::parse(packet).map_err(|_| DropReason::Malformed)?;
            let persistency = Some(FacePersistency::OnDemand);
            let options = FaceOptions { persistency, ..FaceOptions::default() };
            faces.open_ether(number, host, &options).ok_or(DropReason::UnknownFace)?
        }
        None => return Err(DropReason::UnknownFace),
    };
    faces.pipeline.count_received(face, 1, packet.len());
    Ok(face)
}
