//! The sockets that the forwarder listens on.

use crate::config::Faces as FaceConfig;
use hashlane_link::udp::UdpSocket;
use hashlane_link::{tcp, unix};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Listening sockets of each kind, in the order of the configuration.
pub(crate) struct Sockets {
    pub(crate) unix: Vec<unix::Listener>,
    pub(crate) tcp: Vec<mio::net::TcpListener>,
    pub(crate) websocket: Vec<mio::net::TcpListener>,
    pub(crate) udp: Vec<UdpSocket>,
}

impl Sockets {
    /// Opens all sockets of a configuration.
    ///
    /// # Errors
    /// The error of the first socket that cannot be opened.
    pub(crate) fn open(config: &FaceConfig) -> io::Result<Self> {
        let path = |path: &PathBuf| unix::Listener::bind(path.clone(), config.unix.mode);
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
        Ok(Self {
            unix: config.unix.path.iter().map(path).collect::<io::Result<_>>()?,
            tcp: config.tcp.listen.iter().map(|address| tcp::listen(*address)).collect::<io::Result<_>>()?,
            websocket: config
                .websocket
                .listen
                .iter()
                .map(|address| tcp::listen(*address))
                .collect::<io::Result<_>>()?,
            udp: config.udp.listen.iter().map(udp).collect::<io::Result<_>>()?,
        })
    }

    /// URIs of the sockets, for the channel dataset of the management protocol.
    pub(crate) fn channels(&self, config: &FaceConfig) -> Vec<FaceUri> {
        let mut channels: Vec<FaceUri> = config.unix.path.iter().map(|path| unix_uri(path)).collect();
        let mut add = |protocol, address: io::Result<SocketAddr>| {
            channels.extend(address.ok().map(|address| FaceUri::from_address(protocol, address)));
        };
        self.tcp.iter().for_each(|listener| add(Protocol::Tcp, listener.local_addr()));
        self.udp.iter().for_each(|socket| add(Protocol::Udp, socket.local_addr()));
        self.websocket.iter().for_each(|listener| add(Protocol::WebSocket, listener.local_addr()));
        channels
    }
}

/// URI of a Unix socket.
pub(super) fn unix_uri(path: &Path) -> FaceUri {
    FaceUri::Unix(path.to_string_lossy().into_owned())
}
