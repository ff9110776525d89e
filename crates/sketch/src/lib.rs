//! Mergeable sketches.
#![forbid(unsafe_code)]

mod distinct;
mod error;
pub mod hasher;
mod heavy;
mod imbalance;
mod keyed;
mod keys;
mod prefixes;
mod registers;
mod sketch;
mod spread;
mod wire;

pub use distinct::{Distinct, DistinctResult};
pub use error::{Error, ReadError};
pub use heavy::{HeavyHitter, HeavyHitters, HeavyHittersResult};
pub use imbalance::{Function, Imbalance, ImbalanceResult, KeyImbalance, Load};
pub use keys::Keys;
pub use prefixes::{Depth, FIB_ENTRY, Memory, PIT_ENTRY, Prefixes, PrefixesResult, fib, pit};
pub use sketch::{Kind, Sketch};
pub use spread::{Reduction, Spread, SpreadResult};
