//! `hashlane dns` as users see it: output, files, exit codes; and the name server as a process.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod dns;
mod dns_import;
mod dns_serve;
mod dns_transfer;
mod dns_xdp;
