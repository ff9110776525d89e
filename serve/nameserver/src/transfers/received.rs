//! A message with its way.

use crate::tls::Channel;
use std::net::SocketAddr;

/// A received message.
#[derive(Clone, Copy)]
pub(crate) struct Received<'m> {
    pub(crate) message: &'m [u8],
    pub(crate) from: SocketAddr,
    pub(crate) channel: Channel,
    pub(crate) seconds: u32,
    /// Bytes of the longest response that can be sent.
    pub(crate) longest: usize,
}
