//! The lab: what is measured, how it is counted, what is kept of it and how it is shown.
//!
//! - [`study`]: study files, the data that say what to measure and what to hold it against.
//! - [`workload`]: what is worked on; [`model`]: what is timed; [`probe`]: how; [`registry`]: which ids there are.
//! - [`load`]: traffic for a forwarder in a process of its own.
//! - [`kernel`]: kernels with other hashes of connections, built and run.
//! - [`stats`]: the statistics and their intervals.
//! - [`record`]: the facts that a run leaves, and the machine they come from.
//! - [`report`]: the page and the terminal's tables, computed from records.
//! - [`compare`]: two sets of records, side by side.
//!
//! Only a run measures. It writes records; every table, chart and verdict is computed from records.
#![deny(unsafe_code)]

pub mod compare;
mod hex;
pub mod kernel;
pub mod load;
pub mod model;
pub mod probe;
pub mod record;
pub mod registry;
pub mod report;
pub mod stats;
pub mod study;
pub mod workload;
