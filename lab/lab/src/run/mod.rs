//! Facts of a run beside its records: the machine, its noise, and the studies.

pub mod date;
pub mod machine;
pub mod noise;
mod studies;

pub use self::machine::Machine;
pub use self::noise::{Activity, Noise};
pub use self::studies::{RunStudies, RunStudy};
