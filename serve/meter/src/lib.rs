//! The flow meter: packets in, records of flows out, and their export to files and collectors.
//!
//! A [`Meter`] is a state machine from frames to records, without input or output. A [`FlowRecord`] holds
//! both directions of a flow. An [`Exporter`] writes records in one format to a [`Sink`]; an [`IpfixReader`]
//! reads them back. [`MeterStats`] are the counters of a meter, with their text for Prometheus. An
//! [`Overview`] ranks hosts, conversations and services.
//!
//! A run takes packets from captures or an interface ([`meter_captures`], [`meter_interface`]) and hands its
//! flows to an [`Output`]: [`outputs::Exporters`], [`metrics::Metrics`], and with the feature `top` a view on
//! the terminal.
#![forbid(unsafe_code)]

mod biflow;
mod check;
pub mod config;
pub mod export;
pub mod format;
pub mod largest;
pub mod meter;
pub mod metrics;
pub mod outputs;
mod packet;
mod pipeline;
pub mod run;
pub mod service;
pub mod show;
pub mod stats;
pub mod summary;
pub mod time;
#[cfg(feature = "top")]
pub mod top;

pub use check::check;
pub use config::{Config, ConfigError};
#[cfg(feature = "parquet")]
pub use export::ParquetExporter;
pub use export::{
    CsvExporter, ExportError, Exporter, FileOptions, IpfixExporter, IpfixOptions, JsonExporter,
    Netflow9Exporter, Netflow9Options, Rotation, Sink, Times, Totals,
};
pub use hashlane_ipfix as ipfix;
pub use hashlane_ipfix::{IpfixReader, ReadError, ReadReport, record};
pub use largest::{FlowList, LargestFlows, Ranking};
pub use meter::{Meter, MeterOptions, Packet};
pub use record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};
pub use run::{
    Capture, Live, Output, Progress, RunError, RunOptions, RunState, Summary, interface_index,
    meter_captures, meter_interface,
};
pub use show::Overview;
pub use stats::{Dropped, MeterStats, prometheus};

/// The README's example, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
