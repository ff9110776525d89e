//! The indexes of the PIT: what each does with what neighbours send, and that they forward alike.

#[path = "../forward/rig.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is shared")]
mod rig;
#[path = "../support/mod.rs"]
#[allow(unreachable_pub, reason = "it is shared")]
mod support;

mod bursts;
mod departed;
mod digest;
mod network;
mod token;
