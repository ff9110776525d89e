//! The process of the name server.
#![forbid(unsafe_code)]

mod answer;
mod cell;
mod clock;
pub mod config;
pub mod control;
mod counters;
pub mod limit;
mod listen;
pub mod load;
mod metrics;
mod privileges;
mod reload;
pub mod server;
pub mod status;
mod tcp;
mod udp;
mod view;
mod zones;

pub use config::{Config, ConfigError};
pub use counters::{Sums, Transport};
pub use server::{Handle, Server};
