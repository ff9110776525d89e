//! `hashlane flow` as users see it: output, files, exit codes; and the meter of an interface as a process.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod flow;
mod flow_config;
mod flow_live;
mod flow_metrics;
mod flow_service;
mod flow_top;
