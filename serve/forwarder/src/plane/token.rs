//! Event tokens: the kind of a socket, and its number among the sockets of that kind.

use mio::Token;

/// Kind of a socket: the upper half of its token. The lower half is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum SocketKind {
    Waker,
    Unix,
    Tcp,
    WebSocket,
    Udp,
    Face,
    Handshake,
    Connecting,
    Ether,
    Interfaces,
}

impl SocketKind {
    const ALL: [Self; 10] = [
        Self::Waker,
        Self::Unix,
        Self::Tcp,
        Self::WebSocket,
        Self::Udp,
        Self::Face,
        Self::Handshake,
        Self::Connecting,
        Self::Ether,
        Self::Interfaces,
    ];

    /// The token of one socket. `number` is below 2^32.
    pub(super) fn token(self, number: usize) -> Token {
        debug_assert!(number <= Self::MAX_NUMBER, "a socket number takes the lower half of its token");
        Token((self as usize) << 32 | number)
    }

    /// The kind and number of a token; `None` for a token that [`token`](Self::token) did not make.
    pub(super) fn of(token: Token) -> Option<(Self, usize)> {
        Some((*Self::ALL.get(token.0 >> 32)?, token.0 & Self::MAX_NUMBER))
    }

    /// The largest number of a socket. Counters wrap here.
    pub(super) const MAX_NUMBER: usize = 0xffff_ffff;
}
