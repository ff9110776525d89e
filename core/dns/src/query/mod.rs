//! The batch of queries that a name server reads, as stages: datagrams → questions → hashes.
//!
//! | stage | does |
//! | --- | --- |
//! | [`Decode`] | parses each datagram: a query to answer, one to refuse with an rcode, or one to drop |
//! | [`Hash`](struct@Hash) | hashes every suffix of every question's name, eight names at once |
//!
//! [`respond`](crate::respond) looks the hashes up in the zones of a server. No stage allocates.
//!
//! ```
//! use hashlane_dns::query::{Batch, Decode, Hash, Outcome, Suffixes};
//! use hashlane_dns::wire::RecordType;
//! use hashlane_hash::scheme::Key;
//! use hashlane_table::stage::Stage;
//!
//! // Once for each thread.
//! let (mut hash, mut suffixes) = (Hash::new(&Key::random()?), Suffixes::new());
//!
//! let datagram = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x07Example\x03com\0\0\x01\0\x01";
//! let mut batch = Batch::new(&mut suffixes);
//! assert!(batch.push(0, datagram));
//! Decode.run(&mut batch);
//! hash.run(&mut batch);
//!
//! let Outcome::Answer(query) = batch.outcomes()[0] else { unreachable!("a query") };
//! assert_eq!((query.name.label_count(), query.rtype), (3, RecordType::A));
//! // www.example.com, example.com, com and the root.
//! assert_eq!(batch.suffixes(0).len(), 4);
//! # Ok::<(), getrandom::Error>(())
//! ```

mod batch;
mod hash;
mod opt;
mod parse;

pub use batch::{BATCH, Batch, Decode, Suffixes};
pub use hash::Hash;
pub use parse::{DropReason, Outcome, Query, Refusal, parse, signature, truncate};

#[cfg(test)]
mod tests;
