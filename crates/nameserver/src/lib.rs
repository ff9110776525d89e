//! The authoritative DNS name server.
//!
//! [`load`] reads zone files (RFC 1035 §5) on all cores and reports every error with its file and line. The
//! zones are those of [`hashlane_dns`], which has no I/O of its own.
#![forbid(unsafe_code)]

pub mod load;
