//! Behaviour of one forwarder. The rules come from the NFD Developer's Guide, many cases from NFD's own tests
//! (tests/daemon/fw).

mod access;
mod data;
mod flood;
mod hazards;
mod header;
mod hint;
mod interest;
mod learning;
mod loops;
mod nack;
mod routes;
mod scope;
mod shards;
mod shares;
mod strategies;
mod traces;
