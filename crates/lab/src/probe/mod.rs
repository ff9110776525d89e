//! How time is taken, and what else is asked of a subject.

pub mod clock;
pub mod counter;
pub mod cycles;
pub mod mca;
pub mod spread;
