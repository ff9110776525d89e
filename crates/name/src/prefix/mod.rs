//! The hashes of all prefixes of a name, in the ways that have been proposed, and in ours.
//!
//! A forwarder looks a name up by its prefixes, so it needs the hash of the first component, of the first two, and so
//! on. All ways hash the bytes that the components cover in the encoding, for the TLV encodings their types and
//! lengths with them:
//!
//! - [one by one](one_by_one): component by component, each hash going on from the one before; with the intermediate
//!   hashes kept, the longest prefix can be had first;
//! - [all at once](all_at_once): each prefix hashed from its start; where the prefix ends an offset name says, and a
//!   TLV name must be walked for. With those ends kept, longest first;
//! - [one pass](OnePass): checked, walked and hashed in one go, for one name or for a burst of names.
//!
//! For a [concatenative](hashlane_hash::scheme::Concatenative) hash all ways give the same values.
//!
//! # Offset names do not bind their borders
//! The bytes of an offset name do not tell where its components end: `/ab/c` and `/a/bc` cover the same bytes, and
//! so have the same hash under any key, in every way of this module. A table of offset names must compare the borders
//! and bear such collisions. TLV names carry their lengths, and are not affected.
//!
//! Source: M. Mosko, "Name Hashing Performance for Three Encoding Schemes", CCNxCON 2015.

mod all_at_once;
mod burst_hashes;
mod kept;
mod one_by_one;
mod one_pass;

pub use all_at_once::{all_at_once, all_at_once_longest_first};
pub use burst_hashes::BurstHashes;
pub use kept::Kept;
pub use one_by_one::{one_by_one, one_by_one_longest_first};
pub use one_pass::OnePass;
