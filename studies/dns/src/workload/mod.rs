//! Names and messages of the DNS: generated ones, and real ones out of [zone files](zone) and
//! [captures](capture).

pub mod capture;
pub mod corpus;
mod hostile;
pub mod zone;

pub use corpus::{Corpus, Kind, UnknownCorpus, split};

use hashlane_dns::wire::{Content, Question, Record};

/// Octets of memory that a message holds, about.
fn memory(content: &Content) -> usize {
    let records: usize = content.records.iter().map(record_memory).sum();
    size_of::<Content>() + content.questions.len() * size_of::<Question>() + records
}

/// Octets of memory that a record holds, about.
fn record_memory(record: &Record) -> usize {
    size_of::<Record>() + record.data.len()
}
