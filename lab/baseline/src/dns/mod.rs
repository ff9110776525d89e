//! The compressors of BIND 10's `MessageRenderer`, before and after its ticket 1603 (2012), and none.
//!
//! [`Old`] is an ordered set of suffixes, [`New`] the hash table that replaced it, [`Dumb`] the renderer of
//! its benchmark that compresses nothing. [`PrimeBuckets`], [`WholeName`], [`HashNotStored`] and
//! [`HashedTwice`] are forms of [`New`] that the ticket discusses. They are written from the ticket's text
//! and published facts about the program; the trimming of the new one's buckets and the order of its search
//! are the original's.

mod bytes;
mod dumb;
mod new;
mod old;

pub use dumb::Dumb;
pub use new::{
    BUCKETS, Bare, HashNotStored, HashedTwice, Item, New, NewTable, PrimeBuckets, RESERVED, Stored, WholeName,
};
pub use old::Old;
