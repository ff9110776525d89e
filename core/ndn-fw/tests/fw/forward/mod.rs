//! Behaviour of one forwarder. The rules are those of the NFD Developer's Guide; many cases are those of
//! NFD's own tests (tests/daemon/fw).

mod data;
mod flood;
mod hazards;
mod header;
mod hint;
mod interest;
mod loops;
mod nack;
mod scope;
mod shares;
mod strategies;
