//! Probes: how time is taken, and how machine code is simulated.

pub mod c_program;
mod child;
pub mod clock;
mod cores;
pub mod counter;
pub mod cpu_time;
pub mod mca;

pub use cores::Cores;
