//! `hashlane ndn` as processes: the forwarder, and the tools beside it.

mod access;
mod config;
mod get;
mod log;
mod pit;
pub(crate) mod process;
mod reload;
mod run;
mod supervise;
mod tools;
