//! Names and messages of the DNS: generated ones, and real ones out of [zone files](zone) and
//! [captures](capture).

pub mod capture;
pub mod corpus;
mod held;
mod hostile;
mod literal;
mod memory;
pub mod zone;

pub use corpus::{Corpus, Kind, UnknownCorpus, split};
