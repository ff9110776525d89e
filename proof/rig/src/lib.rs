//! Rigs of the tests: runs of the commands in temporary folders, processes beside a test, namespaces.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
#![allow(clippy::missing_panics_doc, reason = "panics are how a test fails")]

pub mod children;
pub mod command;
pub mod process;
