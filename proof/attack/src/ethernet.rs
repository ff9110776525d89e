//! Ethernet without IP: a neighbour with one address, and a host that forges its source addresses.

use crate::attacker::Speed;
use crate::network::{INTERFACE, Mac};
use crate::wire::Wire;
use hashlane_link::interfaces;
use hashlane_link::packet::{FrameBatch, PacketSocket};
use hashlane_link::udp::SendBatch;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::tlv;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, bind, send, socket};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// Group of all forwarders, as in NFD.
pub(crate) const GROUP: Mac = [0x01, 0, 0x5e, 0, 0x17, 0xaa];

/// Ethernet type of NDN.
const ETHERTYPE: u16 = 0x8624;
/// Frames of one system call.
const BATCH: usize = 8;

/// URI of a host or a group.
pub(crate) fn uri(address: Mac) -> String {
    FaceUri::Ether(address).to_string()
}

/// Connects to a host, from the address of the interface.
pub(crate) fn connect(to: Mac) -> io::Result<Box<dyn Wire>> {
    let all = interfaces::list()?;
    let own = all.iter().find(|interface| interface.name == INTERFACE).ok_or(io::ErrorKind::NotFound)?;
    let address = own.ethernet.ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut socket = PacketSocket::open(ETHERTYPE, GROUP).map_err(io::Error::other)?;
    socket.attach(own.index, address)?;
    let (incoming, outgoing) = (FrameBatch::new(BATCH), SendBatch::new(BATCH));
    Ok(Box::new(Frames { socket, to, incoming, outgoing, received: VecDeque::new() }))
}

/// Link packets in frames to and from one host.
struct Frames {
    socket: PacketSocket,
    to: Mac,
    incoming: FrameBatch,
    outgoing: SendBatch,
    received: VecDeque<Vec<u8>>,
}

impl Wire for Frames {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        if self.socket.push(&mut self.outgoing, self.to, &[packet]) {
            // A frame that the kernel does not take is lost, like a frame anywhere.
            let _ = self.socket.send(&mut self.outgoing);
        }
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        if let Some(packet) = self.received.pop_front() {
            return Ok(Some(packet));
        }
        // Rounded up: the kernel counts milliseconds.
        let millis = u16::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u16::MAX);
        let mut ready = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, PollTimeout::from(millis)) {
            Ok(0) | Err(Errno::EINTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        self.socket.recv(&mut self.incoming)?;
        let to = self.to;
        let frames = self.incoming.iter(&self.socket).filter(|frame| frame.from == to && !frame.is_group);
        self.received.extend(frames.filter_map(|frame| tlv::leading(frame.payload).map(<[u8]>::to_vec)));
        Ok(self.received.pop_front())
    }
}

/// A host that forges the source address of each frame.
pub(crate) struct Forger {
    socket: OwnedFd,
    to: Mac,
}

/// First bytes of a forged address: it is administered locally.
const FORGED: [u8; 2] = [0x02, 0x66];

impl Forger {
    /// Opens a socket that sends to a host, and receives nothing.
    ///
    /// # Errors
    /// There is no such interface, or this process may not open the socket.
    pub(crate) fn open(to: Mac) -> Result<Self, String> {
        let failed = |error: Errno| format!("cannot send frames: {error}");
        let mut all = getifaddrs().map_err(failed)?.filter(|entry| entry.interface_name == INTERFACE);
        let link = all.find_map(|entry| entry.address?.as_link_addr().copied());
        let link = link.ok_or_else(|| format!("cannot send frames: no interface {INTERFACE}"))?;
        // A socket without a protocol receives nothing.
        let socket =
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None).map_err(failed)?;
        bind(socket.as_raw_fd(), &link).map_err(failed)?;
        Ok(Self { socket, to })
    }

    /// Sends the packets of the numbers from `first` on. `write` writes the packet of a number; `source`
    /// returns the number of its forged address. Returns the number of frames that the kernel took.
    pub(crate) fn flood(
        &self,
        speed: Speed,
        first: u64,
        source: impl Fn(u64) -> u32,
        mut write: impl FnMut(u64, &mut Vec<u8>),
    ) -> u64 {
        let (mut frame, mut taken) = (Vec::new(), 0);
        speed.pace(|sent, count| {
            for number in first + sent..first + sent + count {
                frame.clear();
                frame.extend_from_slice(&header(self.to, forged(source(number))));
                write(number, &mut frame);
                let outcome = send(self.socket.as_raw_fd(), &frame, MsgFlags::empty());
                taken += u64::from(outcome.is_ok());
            }
        });
        taken
    }
}

/// Forged address of a number.
fn forged(number: u32) -> Mac {
    let ([a, b], [c, d, e, f]) = (FORGED, number.to_be_bytes());
    [a, b, c, d, e, f]
}

/// True for the URI of a forged address.
pub(crate) fn is_forged(uri: &str) -> bool {
    let [a, b] = FORGED;
    uri.starts_with(&format!("ether://[{a:02x}:{b:02x}:"))
}

fn header(to: Mac, from: Mac) -> [u8; 14] {
    let mut header = [0; 14];
    header[..6].copy_from_slice(&to);
    header[6..12].copy_from_slice(&from);
    header[12..].copy_from_slice(&ETHERTYPE.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forged_addresses_are_of_hosts_and_differ_from_others() {
        let addresses = [0, 1, u32::MAX].map(forged);
        assert_eq!(addresses[2], [0x02, 0x66, 0xff, 0xff, 0xff, 0xff]);
        assert!(addresses.iter().all(|address| hashlane_link::packet::is_host(*address)));
        assert!(addresses.iter().all(|address| is_forged(&uri(*address))));
        assert!(!is_forged(&uri(GROUP)) && !is_forged(&uri([0x02, 0, 0x66, 0, 0, 1])));
    }

    #[test]
    fn a_frame_begins_with_its_receiver_its_sender_and_the_type() {
        let header = header([1; 6], [2; 6]);
        assert_eq!(header, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x86, 0x24]);
    }
}
