//! The CPU's instructions, and the choice among them at run time.
//!
//! This is the only module of the crate with `unsafe`. Each kind of CPU is a token: its `detect` returns a
//! value only on a CPU that has the instructions. The kernels of the other modules are safe, generic over a
//! token's trait and `#[inline(always)]`; a token's `run` compiles them with its instructions enabled.

pub(crate) mod crc;
mod crc_table;
pub(crate) mod lanes;
pub(crate) mod stage;
pub(crate) mod unit;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;
