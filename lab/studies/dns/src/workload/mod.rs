//! Names and messages of the DNS.

pub mod corpus;
mod held;
mod hostile;
mod literal;

pub use corpus::{Corpus, Kind, UnknownCorpus, split};
