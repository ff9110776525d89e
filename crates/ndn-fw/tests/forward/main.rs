//! Behaviour of one forwarder. The rules are those of the NFD Developer's Guide; many cases are those of
//! NFD's own tests (tests/daemon/fw).

#[path = "../support/mod.rs"]
#[allow(unreachable_pub, reason = "it is shared")]
mod support;

mod data;
mod flood;
mod hazards;
mod header;
mod hint;
mod interest;
mod loops;
mod nack;
#[allow(unreachable_pub, reason = "it is shared")]
mod rig;
mod scope;
mod strategies;
