//! Studies of the Python package: hashes beside other packages, the cost of a call, and a cluster.
//!
//! [`CALLS`] runs studies of the model `python-calls`: hashes of columns and updates of sketches, timed by a
//! worker in Python. [`COLUMNS`] runs the studies of the model `python-columns`: whole columns beside
//! engines, by the same worker. [`CLUSTER`] runs studies of the model `python-cluster`: sketches of files on
//! Ray.
#![forbid(unsafe_code)]

mod calls;
mod cluster;
mod columns;
mod data;
mod interpreter;
mod metric;
mod process;
mod reply;
mod tree;

pub use calls::CALLS;
pub use cluster::CLUSTER;
pub use columns::COLUMNS;
