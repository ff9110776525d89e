//! Statistics of samples, and figures as text for people.
//!
//! - [`Interval`]: an estimate with its bounds, and the coverage of the bounds.
//! - [`mean`], [`standard_deviation`], [`median`], [`quantile`]: one number of a sample.
//! - [`median_interval`]: a median bounded by order statistics, whatever the distribution;
//!   [`joint_median_interval`] bounds several medians together.
//! - [`center`]: the centre of a symmetric sample, by Wilcoxon's signed ranks.
//! - [`ratio::independent`]: the ratio of two estimates that were measured apart.
//! - [`mod@format`]: figures, counts, shares and intervals as text.
//! - [`escape`]: text of others, without control characters.
//! - [`nearest`]: "did you mean" for misspelled names.
//!
//! The bounds assume no distribution, and state what they cover: of fewer than six samples, less than 95 %.
//! Logarithms, powers and roots of floats need the standard library, so the crate is not `no_std`.
//!
//! ```
//! use hashlane_stats::format::{figure, interval};
//! use hashlane_stats::{median_interval, ratio};
//!
//! let before = median_interval(&[41.0, 40.2, 40.9, 43.1, 40.4, 40.6, 40.7]).ok_or("no finite sample")?;
//! let after = median_interval(&[20.3, 20.1, 20.9, 20.2, 20.4, 21.7, 20.0]).ok_or("no finite sample")?;
//! assert_eq!(format!("{} {}", figure(before.value), interval(before, figure)), "40.7 [40.2, 43.1]");
//!
//! let speedup = ratio::independent(before, after).ok_or("not above 0")?;
//! assert_eq!(interval(speedup, figure), "[1.9, 2.1]");
//!
//! // Five samples bound a median at 93 % only.
//! let few = median_interval(&[41.0, 40.2, 40.9, 43.1, 40.4]).ok_or("no finite sample")?;
//! assert!(!few.is_conclusive());
//! assert_eq!(interval(few, figure), "[40.2, 43.1] at 93 %");
//! # Ok::<(), &str>(())
//! ```
#![forbid(unsafe_code)]

mod descriptive;
pub mod escape;
pub mod format;
mod interval;
pub mod nearest;
mod order;
pub mod ratio;
mod signed_rank;

pub use descriptive::{mean, median, quantile, standard_deviation};
pub use interval::{CONFIDENCE, ENOUGH_SAMPLES, Interval, coverage};
pub use order::{joint_median_interval, median_interval};
pub use signed_rank::{center, fewest};

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
