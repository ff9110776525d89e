//! Names and messages of the DNS.

mod corpus;
mod held;
mod hostile;

use hashlane_name::dns::NameBuf;

pub(crate) use corpus::{Corpus, generator, split};

/// Name that a generator writes as text; the text is valid.
fn name(text: &str) -> NameBuf {
    text.parse().unwrap_or(NameBuf::ROOT)
}
