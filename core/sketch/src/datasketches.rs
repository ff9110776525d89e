//! Sketches of Apache DataSketches, read and written: by its libraries in Java, C++, Python, Go and Rust, and
//! by the engines that embed them (Druid, Spark, Hive, DuckDB's extension).
//!
//! **These sketches are not keyed.** Their hash is MurmurHash3 with a published seed, as merging with
//! sketches of others needs. Whoever chooses keys can make many that count as few, or few that count as many:
//! use [`Distinct`](crate::Distinct) where keys come from strangers.
//!
//! Keys are hashed as their libraries do: text as UTF-8 and bytes as they are, integers as the 8 bytes of a
//! signed number of 64 bits, little-endian. Empty keys are ignored.
//!
//! Source of the formats: the documentation of Apache DataSketches ("HLL sketch", "Theta sketch") and the
//! preambles of its sketches.

mod hll;
mod murmur;
mod theta;

pub use hll::{Hll, HllResult, HllType};
pub use theta::{Theta, ThetaResult};

/// Seed of all sketches that are merged with others.
const SEED: u64 = 9001;
