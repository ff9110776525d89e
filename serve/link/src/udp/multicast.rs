//! UDP sockets of multicast groups.

use super::{KERNEL_QUEUE, Segmentation, UdpSocket};
use crate::context::context;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

impl UdpSocket {
    /// Opens the socket of a multicast group on one interface, by its number and one of its addresses. It
    /// receives what other hosts of that link send to the group, and sends over that interface. The source of
    /// IPv4 datagrams is `local`, of IPv6 an address that the kernel chooses; their port is the group's.
    ///
    /// Own datagrams are not received. Sockets of several interfaces, and of other programs, may have one
    /// group and port.
    ///
    /// # Errors
    ///
    /// The address is not a group's, or of another family than `local`; the interface is gone or down; no
    /// file descriptors are left.
    pub fn join(group: SocketAddr, interface: u32, local: IpAddr) -> io::Result<Self> {
        let open = || -> io::Result<Socket> {
            let kind = Type::DGRAM.nonblocking().cloexec();
            let socket = Socket::new(Domain::for_address(group), kind, Some(Protocol::UDP))?;
            socket.set_reuse_address(true)?;
            match (group.ip(), local) {
                (IpAddr::V4(address), IpAddr::V4(local)) if address.is_multicast() => {
                    // Only what comes by this interface, not what other sockets have joined.
                    socket.set_multicast_all_v4(false)?;
                    socket.bind(&group.into())?;
                    socket.join_multicast_v4_n(&address, &InterfaceIndexOrAddress::Index(interface))?;
                    socket.set_multicast_if_v4(&local)?;
                    socket.set_multicast_loop_v4(false)?;
                }
                (IpAddr::V6(address), IpAddr::V6(_)) if address.is_multicast() => {
                    socket.set_only_v6(true)?;
                    // Kernels before Linux 4.20 lack the option. A group of one link works without it: its
                    // socket is bound to the interface.
                    let _ = socket.set_multicast_all_v6(false);
                    socket.bind(&SocketAddrV6::new(address, group.port(), 0, interface).into())?;
                    socket.join_multicast_v6(&address, interface)?;
                    socket.set_multicast_if_v6(interface)?;
                    socket.set_multicast_loop_v6(false)?;
                }
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
            Ok(socket)
        };
        let socket = open().map_err(|error| {
            context(format_args!("cannot join the multicast group {group} on interface {interface}"), &error)
        })?;
        // A shorter queue than requested is no error.
        let _ = socket.set_recv_buffer_size(KERNEL_QUEUE);
        let _ = socket.set_send_buffer_size(KERNEL_QUEUE);
        Ok(Self { socket, segmentation: Segmentation::OFF })
    }
}
