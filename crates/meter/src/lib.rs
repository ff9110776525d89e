//! The flow meter: records of flows.
//!
//! A [`FlowRecord`] holds both directions of a flow.
#![forbid(unsafe_code)]

pub mod record;

pub use record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};
