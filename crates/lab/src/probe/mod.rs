//! How things are timed.

pub mod clock;
pub mod counter;
pub mod cycles;
pub mod spread;
