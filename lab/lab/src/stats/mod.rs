//! Statistics of a sample, and intervals for them.

mod descriptive;
mod interval;
mod launches;
mod order;
pub mod ratio;
mod signed_rank;

pub use descriptive::{mean, median, quantile, standard_deviation};
pub use interval::{CONFIDENCE, ENOUGH_SAMPLES, Interval, coverage};
pub use launches::over_launches;
pub use order::{joint_median_interval, median_interval};
pub use signed_rank::{center, fewest};
