//! The life of a server process on Linux, without its protocol.
//!
//! - [`Daemon`]: start, signals, readiness and end of a server.
//! - [`signals`]: SIGINT, SIGTERM and SIGHUP, also if they were ignored at the start (`nohup`).
//! - [`log`]: lines on standard error, which never block the server and never end it.
//! - [`supervisor`]: notifications to systemd, with its watchdog.
//! - [`activation`]: listening sockets that systemd hands over.
//! - [`metrics`]: counters over HTTP, in the text format of Prometheus.
//! - [`prometheus`]: that format.
//! - [`config`]: configurations in TOML, with a "did you mean" for unknown keys.
//! - [`control`]: a Unix socket for commands to a running server, and its client.
//! - [`privileges`]: the user that a server runs as, once its sockets are bound.
//! - [`limits`]: file descriptors.
//! - [`text`]: text files of the user, read with a limit.
#![forbid(unsafe_code)]

pub mod activation;
pub mod config;
pub mod control;
mod error;
mod life;
pub mod limits;
pub mod log;
pub mod metrics;
pub mod privileges;
pub mod prometheus;
pub mod signals;
pub mod supervisor;
pub mod text;

pub use life::Daemon;

/// The example of the README, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
