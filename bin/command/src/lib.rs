//! The parts that the commands `hashlane`, `hashlane-dns`, `hashlane-ndn`, `hashlane-flow` and
//! `hashlane-names` share.
//!
//! - [`main`](fn@main): arguments, errors and exit code of a command.
//! - [`CheckConfig`]: `check-config` of a server.
//! - [`import`]: configurations of other servers.
//! - [`sibling`]: `hashlane dns …` runs `hashlane-dns …`.
//! - [`terminal`]: output to the terminal.
//! - [`number`]: numbers on the command line.
#![forbid(unsafe_code)]

mod check_config;
pub mod import;
pub mod number;
mod pages;
mod run;
pub mod sibling;
pub mod terminal;

pub use check_config::CheckConfig;
pub use run::main;

/// Exit code after Ctrl-C, as shells define it: 128 + SIGINT.
pub const STOPPED: u8 = 130;
