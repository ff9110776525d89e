//! Hash functions and tables of shared objects, in a process of their own.
//!
//! A [`Library`] is a hash function with a stated [`Signature`]. A [`Table`] has the functions of the header
//! `include/hashlane_audit.h`. Both are loaded by [`child_main`] in a process that a [`Launcher`] starts: a
//! crash, an endless loop or a closed descriptor there is a [`Fault`](crate::subject::Fault) here. That
//! process gives up all capabilities, inherited descriptors and its terminal before it loads anything, and
//! loads nothing if it cannot. [`behaviour`] checks how a function treats its arguments.

pub mod behaviour;
mod child;
mod foreign;
mod fork;
mod hash;
mod machine_code;
mod measure;
mod privilege;
mod process;
mod signature;
mod table;
mod wire;

pub use child::child_main;
pub use hash::Library;
pub use measure::Sample;
pub use process::Launcher;
pub use signature::{Signature, SignatureError};
pub use table::{Comparison, Measurement, Table, TableFault};
