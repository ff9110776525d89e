//! The process of the NDN forwarder, around the state machine of `hashlane-ndn-fw`.
//!
//! - [`config`]: one TOML file, in which every value has a default.
//! - [`Observation`]: metrics, and the status page.
//! - [`server`]: sockets, the forwarding thread, and management on another thread.
//! - [`management`]: NFD's management protocol, as a state machine without sockets.
//! - [`rib`]: routes, and the FIB computed from them.
//! - [`shards`]: forwarding threads that share nothing.
//! - [`import`](mod@import): nfd.conf as a configuration of this forwarder.
//!
//! A forwarder inside another program:
//!
//! ```
//! use hashlane_forwarder::{Config, Server};
//! use std::os::unix::net::UnixStream;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("hashlane-example-{}.sock", std::process::id()));
//! // All other values are NFD's defaults.
//! let mut config = Config::parse("[cs]\npackets = 1000\n[faces.udp]\nlisten = [\"127.0.0.1:0\"]")?;
//! config.faces.unix.path = vec![path.clone()];
//! config.faces.tcp.listen.clear();
//! config.faces.websocket.listen.clear();
//!
//! let server = Server::start(&config)?;
//! for channel in server.channels() {
//!     println!("listening on {channel}");
//! }
//! let stopper = server.stopper();
//! let forwarding = std::thread::spawn(|| server.run());
//! UnixStream::connect(&path)?;
//! stopper.stop();
//! forwarding.join().map_err(|_| "the forwarder panicked")??;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod clock;
pub mod config;
mod handed;
mod heartbeat;
pub mod import;
mod initial;
pub mod management;
mod observe;
mod plane;
mod prepare;
mod reload;
pub mod rib;
pub mod server;
pub mod shards;
mod totals;

pub use config::{Config, PitIndex};
pub use heartbeat::Heartbeats;
pub use observe::Observation;
pub use reload::Reloader;
pub use server::{Server, Stopper};
pub use totals::Totals;
