//! Rigs of tests and studies: [programs](program) that are killed on drop, [waits](wait) with a deadline, [free
//! ports](ports), [network namespaces](namespace), [files of `/proc`](proc), settings of other projects'
//! [forwarders] and of [name servers](nameservers). These return errors: studies use them, too. [`long`]
//! chooses the size of a test.
//!
//! For tests alone, where a failure is a panic: runs of the [`command`] in temporary folders, its
//! [children], and [processes](process) beside a test.
#![forbid(unsafe_code)]

#[allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "panics are how a test fails")]
pub mod children;
#[allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "panics are how a test fails")]
pub mod command;
pub mod forwarders;
pub mod long;
pub mod nameservers;
pub mod namespace;
pub mod ports;
pub mod proc;
#[allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "panics are how a test fails")]
pub mod process;
pub mod program;
pub mod wait;
