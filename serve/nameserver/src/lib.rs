//! The process of the name server, around the responses of `hashlane-dns`.
//!
//! - [`config`]: one TOML file, in which every value has a default.
//! - [`server`]: sockets, a UDP thread for each core and address, one thread for TCP, reloads.
//! - `interfaces`: queries past the kernel's network stack, a thread for each queue (XDP).
//! - [`framing`]: the bytes of a TCP connection as queries and responses, without I/O.
//! - [`limit`]: the response rate limiter, against amplification.
//! - `tls`: certificates, for clients and for transfers.
//! - `transfers`: zones from primaries and to secondaries, by `hashlane-transfer`.
//! - [`control`] and [`status`]: the control socket, and the reports that it gives.
//!
//! ```
//! use hashlane_nameserver::config::{Config, ZoneFile};
//! use hashlane_nameserver::Server;
//! use std::net::UdpSocket;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("example.com.zone");
//! std::fs::write(&file, "@ 300 IN SOA ns1 hostmaster 1 3600 600 86400 60\n@ 300 IN NS ns1\n")?;
//! let mut config = Config::parse("[server]\nlisten = [\"127.0.0.1:0\"]\n[control]\npath = \"\"")?;
//! config.zone = vec![ZoneFile::new("example.com", file)];
//!
//! let again = config.clone();
//! let server = Server::start(&config, Box::new(move || Ok(again.clone())))?;
//! let (address, handle) = (server.addresses()[0], server.handle());
//! let thread = std::thread::spawn(move || server.run());
//!
//! let client = UdpSocket::bind("127.0.0.1:0")?;
//! client.send_to(b"\x12\x34\0\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x06\0\x01", address)?;
//! let mut response = [0; 512];
//! client.recv_from(&mut response)?;
//! assert_eq!(response[..4], [0x12, 0x34, 0x84, 0], "an authoritative response without error");
//! assert_eq!(handle.status().zones[0].serial, Some(1));
//! handle.stop();
//! thread.join().map_err(|_| "the server panicked")??;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod account;
mod answer;
mod cell;
mod clock;
mod commands;
pub mod config;
pub mod control;
mod counters;
mod dnstap;
mod folder;
pub mod framing;
mod handle;
mod interface;
mod interfaces;
pub mod limit;
mod listen;
mod metrics;
mod reload;
pub mod server;
pub mod status;
mod tcp;
mod tls;
mod transfers;
mod udp;
mod view;
mod zones;

/// The README's example, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use config::{Config, ConfigError};
pub use counters::Sums;
pub use handle::Handle;
pub use server::Server;
