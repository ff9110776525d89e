//! Memory of messages and records.

use hashlane_dns::wire::{Content, Question, Record};

/// Approximate memory of a message, in bytes.
pub(super) fn message(content: &Content) -> usize {
    let records: usize = content.records.iter().map(record).sum();
    size_of::<Content>() + content.questions.len() * size_of::<Question>() + records
}

/// Approximate memory of a record, in bytes.
pub(super) fn record(record: &Record) -> usize {
    size_of::<Record>() + record.data.len()
}
