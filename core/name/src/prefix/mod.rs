//! The hashes of all prefixes of a name, by the published methods and by ours.
//!
//! A forwarder looks a name up by its prefixes, so it needs the hash of the first component, of the first
//! two, and so on. All methods hash the bytes that the components cover in the encoding, for the TLV
//! encodings including types and lengths:
//!
//! - [one by one](one_by_one): component by component, each hash continuing from the one before; with the
//!   intermediate hashes stored, the longest prefix can come first;
//! - [all at once](all_at_once): each prefix hashed from its start. An offset name stores the end of a
//!   prefix; a TLV name must be walked for it. With those ends stored, longest first;
//! - [all in one](all_in_one): the longest prefix alone, all that a lookup needs if it matches;
//! - [one pass](OnePass): checked, walked and hashed at once, for one name or for a burst of names.
//!
//! For a [concatenative](hashlane_hash::scheme::Concatenative) hash all methods give the same values.
//!
//! # Offset names do not bind their components
//! The bytes of an offset name do not show the ends of its components: `/ab/c` and `/a/bc` cover the same
//! bytes, and so have the same hash under any key, with every method of this module. A table of offset names
//! must compare the ends and tolerate such collisions. TLV names contain their lengths, and are not affected.
//!
//! Source: M. Mosko, "Name Hashing Performance for Three Encoding Schemes", CCNxCON 2015.

mod all_at_once;
mod buffer;
mod burst_hashes;
mod one_by_one;
mod one_pass;

pub use all_at_once::{all_at_once, all_at_once_longest_first, all_in_one};
pub use buffer::HashBuffer;
pub use burst_hashes::BurstHashes;
pub use one_by_one::{one_by_one, one_by_one_longest_first};
pub use one_pass::OnePass;
