//! Frames by hand.

use super::*;

/// A socket that sends and receives whole frames.
pub(super) struct Raw(OwnedFd);

impl Raw {
    pub(super) fn open(interface: &str) -> Self {
        let all = SockProtocol::EthAll;
        let fd = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, all).unwrap();
        let mut entries = getifaddrs().unwrap().filter(|entry| entry.interface_name == interface);
        let address = entries.find_map(|entry| entry.address?.as_link_addr().copied()).unwrap();
        bind(fd.as_raw_fd(), &address).unwrap();
        nix::sys::socket::setsockopt(
            &fd,
            nix::sys::socket::sockopt::ReceiveTimeout,
            &nix::sys::time::TimeVal::new(PATIENCE.as_secs() as i64, 0),
        )
        .unwrap();
        Self(fd)
    }

    pub(super) fn send(&self, frame: &[u8]) {
        assert_eq!(send(self.0.as_raw_fd(), frame, MsgFlags::empty()), Ok(frame.len()));
    }

    /// The next frame for which `wanted` holds.
    pub(super) fn receive(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut frame = [0; 2048];
        loop {
            let length = nix::sys::socket::recv(self.0.as_raw_fd(), &mut frame, MsgFlags::empty()).unwrap();
            if wanted(&frame[..length]) {
                return frame[..length].to_vec();
            }
        }
    }
}

/// Ends of a frame: Ethernet addresses of the client and the server.
pub(super) type Ends = [[u8; 6]; 2];

/// Bytes of IPv4 with this UDP payload from 10.9.0.1, port 4000, with valid checksums.
pub(super) fn ipv4(to: [u8; 4], port: u16, payload: &[u8]) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ipv4([10, 9, 0, 1], to, 9).udp(4000, port);
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

/// Bytes of IPv6 with this UDP payload from fd09::1, port 4000, with valid checksums.
pub(super) fn ipv6(port: u16, payload: &[u8]) -> Vec<u8> {
    let [from, to] = ["fd09::1", SERVER[1]].map(|ip| ip.parse::<std::net::Ipv6Addr>().unwrap().octets());
    let mut packet = Vec::new();
    etherparse::PacketBuilder::ipv6(from, to, 9).udp(4000, port).write(&mut packet, payload).unwrap();
    packet
}

/// An Ethernet frame to the server, with tags and type given in `kind`.
pub(super) fn ethernet([client, server]: Ends, kind: &[u8], packet: &[u8]) -> Vec<u8> {
    [&server[..], &client, kind, packet].concat()
}

pub(super) const IPV4: &[u8] = &[0x08, 0x00];
pub(super) const IPV6: &[u8] = &[0x86, 0xdd];
pub(super) const SERVER_IPV4: [u8; 4] = [10, 9, 0, 2];

/// A change of a sound packet.
pub(super) type Change = (&'static str, fn(&mut Vec<u8>));
