//! Lab.
#![deny(unsafe_code)]

pub mod model;
pub mod probe;
pub mod registry;
pub mod workload;
