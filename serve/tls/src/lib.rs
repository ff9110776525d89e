//! TLS of servers: certificates and keys out of files, and sessions over non-blocking sockets.
//!
//! TLS 1.3 alone. There is no early data, which others could repeat; sessions are resumed by tickets that the
//! client keeps.
//!
//! - [`Files`], [`Identity`]: the certificate and key of a server.
//! - [`Session`]: TLS over a connected socket.
//! - [`certificates`]: the certificates of a PEM file.
#![forbid(unsafe_code)]

mod error;
mod expiry;
mod identity;
mod session;

pub use error::{certificate_reason, invalid};
pub use identity::{Files, Identity, certificates};
pub use rustls::ServerConfig;
pub use session::Session;
