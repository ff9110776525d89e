//! `hashlane ndn` as processes: the forwarder, and the tools beside it.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod access;
mod announce;
mod browser;
mod certificates;
mod config;
mod dump;
mod forwarder;
mod get;
mod import;
mod lans;
mod learning;
mod log;
mod pit;
mod propagate;
mod readvertise;
mod reliability;
mod reload;
mod run;
mod shards;
mod status_page;
mod strategies;
mod supervise;
mod tools;
mod trace;
mod wss;
