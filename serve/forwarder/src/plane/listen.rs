//! The sockets that the forwarder listens on.

use super::lans::{self, Lan, LanSocket};
use crate::config::Faces as FaceConfig;
use crate::handed::Handed;
use hashlane_link::udp::UdpSocket;
use hashlane_link::{tcp, unix};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_tls::Identity;
use mio::net::TcpListener;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Listening sockets of each kind, in the order of the configuration.
pub(crate) struct Sockets {
    pub(crate) unix: Vec<unix::Listener>,
    pub(crate) tcp: Vec<TcpListener>,
    /// WebSocket, without and with TLS.
    pub(crate) websocket: Vec<(TcpListener, Protocol)>,
    /// Certificate and key of WebSockets with TLS.
    pub(super) tls: Option<Identity>,
    pub(crate) udp: Vec<UdpSocket>,
    /// Links of interfaces.
    pub(super) lans: Vec<(Lan, LanSocket)>,
}

impl Sockets {
    /// Opens all sockets of a configuration, except those that are handed over.
    ///
    /// # Errors
    /// The error of the first socket that cannot be opened.
    pub(crate) fn open(config: &FaceConfig, mut handed: Handed, tls: Option<Identity>) -> io::Result<Self> {
        let path = |path: &PathBuf| match handed.take(path) {
            Some(listener) => unix::Listener::from_supervisor(listener),
            None => unix::Listener::bind(path.clone(), config.unix.mode),
        };
        let udp = |address: &SocketAddr| {
            let mut socket = UdpSocket::bind(*address)?;
            socket.set_segmentation(config.udp.offload);
            let (wanted, given) =
                (config.udp.receive_buffer, socket.set_receive_queue(config.udp.receive_buffer)?);
            if given < wanted {
                tracing::warn!(
                    local = %address, wanted, given,
                    "short UDP receive queue; raise net.core.rmem_max, or lower faces.udp.receive_buffer"
                );
            }
            Ok(socket)
        };
        let listen = |protocol| move |address: &SocketAddr| Ok((tcp::listen(*address)?, protocol));
        let plain = config.websocket.listen.iter().map(listen(Protocol::WebSocket));
        let secure = config.websocket.tls.listen.iter().map(listen(Protocol::WebSocketTls));
        Ok(Self {
            unix: config.unix.path.iter().map(path).collect::<io::Result<_>>()?,
            tcp: config.tcp.listen.iter().map(|address| tcp::listen(*address)).collect::<io::Result<_>>()?,
            websocket: plain.chain(secure).collect::<io::Result<_>>()?,
            tls,
            udp: config.udp.listen.iter().map(udp).collect::<io::Result<_>>()?,
            lans: lans::open_all(config)?,
        })
    }

    /// URIs of the sockets, for the channel dataset of the management protocol.
    ///
    /// # Errors
    /// The address of a socket cannot be read.
    pub(crate) fn channels(&self, config: &FaceConfig) -> io::Result<Vec<FaceUri>> {
        let unix = config.unix.path.iter().map(|path| Ok(unix_uri(path)));
        let uri = |protocol| move |address: io::Result<_>| Ok(FaceUri::from_address(protocol, address?));
        let tcp = self.tcp.iter().map(TcpListener::local_addr).map(uri(Protocol::Tcp));
        let udp = self.udp.iter().map(UdpSocket::local_addr).map(uri(Protocol::Udp));
        let websocket =
            self.websocket.iter().map(|(listener, protocol)| uri(*protocol)(listener.local_addr()));
        let ethers = self.lans.iter().filter_map(|(lan, _)| lan.channel()).map(Ok);
        unix.chain(tcp).chain(udp).chain(websocket).chain(ethers).collect()
    }
}

/// URI of a Unix socket.
pub(super) fn unix_uri(path: &Path) -> FaceUri {
    FaceUri::Unix(path.to_string_lossy().into_owned())
}
