//! Hierarchical names as bytes.
//!
//! A name is a sequence of components, each a type and a value of any bytes. This crate has three encodings
//! of names. Each has a checked view over borrowed bytes, a builder, and one walk over the components:
//!
//! | encoding | cost of a component | components are found by |
//! | --- | --- | --- |
//! | [`offset`] | 3 bytes of index | reading an array of ends |
//! | [`ccnx`] | 4 bytes, 2 of type and 2 of length (RFC 8609) | walking type and length |
//! | [`ndn`] | 2 bytes when small, numbers of 1, 3, 5 or 9 bytes (NDN packet format 0.3) | walking type and length |
//!
//! [`view`] checks and reads, [`build`] writes, [`convert`](mod@convert) goes from one encoding to another,
//! [`uri`] from and to text. Component types are NDN's numbers throughout; [`ccnx`] maps its own onto them.
//!
//! [`dns`] has the names of the Domain Name System, which have labels in place of components.
//!
//! ```
//! use hashlane_name::{build::OwnedName, ccnx::Ccnx, convert::convert, ndn::Ndn, uri};
//!
//! let name: OwnedName<Ndn> = uri::parse_uri(b"ndn:/hello/v=3")?;
//! assert_eq!(name.as_bytes(), b"\x07\x0a\x08\x05hello\x36\x01\x03");
//! assert_eq!(name.view().to_string(), "/hello/v=3");
//!
//! let same = convert::<Ndn, Ccnx>(&name.view())?;
//! assert_eq!(same.as_bytes(), b"\0\0\0\x0e\0\x01\0\x05hello\0\x36\0\x01\x03");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod build;
pub mod ccnx;
pub mod component;
pub mod convert;
pub mod dns;
pub mod error;
pub mod layout;
pub mod ndn;
pub mod offset;
pub mod prefix;
pub mod tlv;
pub mod uri;
pub mod view;
pub mod walk;

/// Calls the macro `$callback` with the id and the type of every encoding of this crate.
///
/// A new encoding is its file, its `mod` line above, and its entry in this list. Its type implements
/// [`Encoding`](walk::Encoding) and [`Layout`](layout::Layout), and its [`ID`](walk::Encoding::ID) is the id
/// of its entry.
///
/// ```
/// use hashlane_name::walk::Encoding;
///
/// macro_rules! ids {
///     ($($id:ident: $encoding:ty),* $(,)?) => { [$(<$encoding>::ID),*] };
/// }
/// assert_eq!(hashlane_name::for_each_encoding!(ids), ["offset", "ccnx", "ndn"]);
/// ```
///
/// Entries after the callback are added to the list: encodings of other crates, such as historical ones that
/// a study compares with.
#[macro_export]
macro_rules! for_each_encoding {
    ($callback:ident $(, $id:ident: $encoding:ty)* $(,)?) => {
        $callback! {
            offset: $crate::offset::Offset,
            ccnx: $crate::ccnx::Ccnx,
            ndn: $crate::ndn::Ndn,
            $($id: $encoding,)*
        }
    };
}

/// The most components that a name may have, in any encoding.
pub const MAX_COMPONENTS: usize = 255;

/// The most bytes that an encoded name may have, in any encoding, its outer frame included.
pub const MAX_NAME_LEN: usize = 65_535;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
