//! Studies of NDN: forwarders in processes of their own, and indexes of the pending Interest table.
//!
//! - [`FORWARDERS`], model `forwarder`: CPU time per exchange under load, ours and other projects'.
//! - [`PIT`], model `pit`: the indexes by name, digest and token.
//! - [`SHARDS`], model `shards`: forwarding threads that share nothing, without sockets.
#![forbid(unsafe_code)]

mod forwarder;
pub mod load;
mod metric;
pub mod model;
mod pit;
mod shards;
mod under_load;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of forwarders under load.
pub const FORWARDERS: ProgramStudy = ProgramStudy {
    model: forwarder::MODEL,
    files: study_files!["ndn-forwarder"],
    starts: &["ndn"],
    run: forwarder::run,
};

/// Studies of indexes of the pending Interest table.
pub const PIT: ProgramStudy =
    ProgramStudy { model: pit::MODEL, files: study_files!["pit-index"], starts: &[], run: pit::run };

/// Studies of forwarding threads.
pub const SHARDS: ProgramStudy = ProgramStudy {
    model: shards::MODEL,
    files: study_files![by_name "ndn-shards"],
    starts: &[],
    run: shards::run,
};
