//! Statistics of a sample, and intervals for them.

pub mod bootstrap;
mod descriptive;
mod interval;
mod random;
pub mod ratio;

pub use bootstrap::Bootstrap;
pub use descriptive::{mean, median, quantile, standard_deviation};
pub use interval::{Interval, Verdict};
