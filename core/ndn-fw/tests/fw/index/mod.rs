//! The indexes of the PIT: what each does with what neighbours send, and that they forward alike.

mod bursts;
mod departed;
mod digest;
mod network;
mod token;
