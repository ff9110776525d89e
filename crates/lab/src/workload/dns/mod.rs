//! Names and messages of the DNS.

pub mod corpus;
mod hostile;

pub use corpus::{Corpus, Kind, UnknownCorpus};
