//! The server as its clients see it: real sockets on loopback ports.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod catalogs;
mod connections;
mod control;
mod dnstap;
mod doubts;
mod failing;
mod floods;
mod loading;
mod operator;
mod primaries;
mod query_rights;
mod reload;
mod signatures;
mod support;
mod tcp;
mod tls;
mod tls_transfers;
mod transfers;
mod udp;
mod waiting;
mod xdp;
