//! Hash functions and tables of shared objects, in a process of their own.
//!
//! A [`Library`] is a hash function with a stated [`Signature`]. A [`Table`] has the functions of the header
//! `include/hashlane_audit.h`. Both are loaded by [`child_main`] in a process that a [`Launcher`] starts: a
//! crash, an endless loop or a closed descriptor there is a [`Fault`](crate::subject::Fault) here. That
//! process gives up all capabilities, inherited descriptors and its terminal before it loads anything, and
//! loads nothing if it cannot. [`behaviour`] checks how a function treats its arguments, and
//! exists on every system; all else calls Linux.

pub mod behaviour;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod foreign;
#[cfg(target_os = "linux")]
mod fork;
#[cfg(target_os = "linux")]
mod hash;
#[cfg(target_os = "linux")]
mod machine_code;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod privilege;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod signature;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub use child::child_main;
#[cfg(target_os = "linux")]
pub use hash::Library;
#[cfg(target_os = "linux")]
pub use measure::Sample;
#[cfg(target_os = "linux")]
pub use process::Launcher;
#[cfg(target_os = "linux")]
pub use signature::{Signature, SignatureError};
#[cfg(target_os = "linux")]
pub use table::{Comparison, Measurement, Table, TableFault};
