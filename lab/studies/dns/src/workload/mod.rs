//! Names and messages of the DNS.

mod attacks;
mod corpus;
mod held;
mod hostile;
mod reading;
mod serving;

use hashlane_name::dns::NameBuf;

pub(crate) use corpus::{Corpus, Workload, benign, benign_reading, generator, rendered, split, vectors};
pub(crate) use serving::ordinary;

/// Name that a generator writes as text; the text is valid.
fn name(text: &str) -> NameBuf {
    text.parse().unwrap_or(NameBuf::ROOT)
}
