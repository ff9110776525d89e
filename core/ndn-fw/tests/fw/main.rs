//! The forwarder and its tables, as one program.
//!
//! - [`forward`]: behaviour of one forwarder.
//! - [`index`]: the indexes of the PIT.
//! - [`tables`]: the tables compared with slow and plain ones.
//! - [`simulation`]: networks of forwarders, drawn from seeds.
#![allow(unreachable_pub, reason = "the parts of a program share their items")]

mod forward;
mod index;
mod rig;
mod simulation;
mod support;
mod tables;
