//! Names as text: NDN URIs, and plain file paths.
//!
//! # Writing
//! `Display` of a [`Component`] and of a [`Name`](crate::view::Name) writes the URI without its scheme: `/`
//! before each component, `/` alone for the name without components. A component is
//!
//! | component | text |
//! | --- | --- |
//! | type 8 | the escaped value |
//! | type 1 or 2, 32 bytes | `sha256digest=` or `params-sha256=`, and 64 hexadecimal digits |
//! | type 50, 52, 54, 56, 58, the shortest form of a number | `seg=`, `off=`, `v=`, `t=`, `seq=`, and the number |
//! | any other | the type's number, `=`, the escaped value |
//!
//! An escaped value has `A-Z a-z 0-9 - . _ ~` as they are, and any other byte as `%` and two hexadecimal
//! digits. A value of nothing but periods, the empty one too, gets three more.
//!
//! # Reading
//! [`parse_uri`] takes the form above, an optional scheme `ndn:`, and `//authority` after a scheme, which it
//! ignores, as the source says. It also takes `8=`, upper-case hexadecimal digits, the other characters that
//! a URI's path may contain unescaped (`! $ & ' ( ) * + , ; = : @`), and a trailing slash. Everything else is
//! an error: an empty component or one of one or two periods, a space, `?`, `#`, or a byte that is not ASCII.
//!
//! [`parse_path`] takes a file's path: each element between slashes is a generic component, byte for byte.
//! Neither `%` nor `=` nor a period has a meaning; as in a file system, several slashes are one, and a
//! trailing slash is ignored.
//!
//! [`parse_line`] takes both and decides by the start of the line alone: `ndn:` is a URI, `/` is a path. So
//! every line of `find /usr -type f` is a path, however it is spelled, and no line changes its meaning
//! because one form fails to parse. Put `ndn:` before URIs that have no scheme.
//!
//! Sources: NDN packet format 0.3, Name, NDN URI Scheme; NDN naming conventions revision 3 (NDN-0022) for the
//! types 50 to 58; RFC 3986 §2 and §3.3.

mod display;
mod parse;

use crate::build::{NameBuilder, OwnedName};
use crate::component::{
    BYTE_OFFSET, Component, IMPLICIT_SHA256_DIGEST, PARAMETERS_SHA256_DIGEST, SEGMENT, SEQUENCE_NUM,
    TIMESTAMP, VERSION,
};
use crate::error::BuildError;
use crate::layout::Layout;

pub use self::parse::parse_uri;

/// Prefixes of the types with a value of 64 hexadecimal digits.
const DIGEST_PREFIXES: [(u16, &str); 2] =
    [(IMPLICIT_SHA256_DIGEST, "sha256digest"), (PARAMETERS_SHA256_DIGEST, "params-sha256")];

/// Prefixes of the types with a decimal number as value.
const NUMBER_PREFIXES: [(u16, &str); 5] =
    [(SEGMENT, "seg"), (BYTE_OFFSET, "off"), (VERSION, "v"), (TIMESTAMP, "t"), (SEQUENCE_NUM, "seq")];

/// The rule that a text breaks, and the offset (bytes from the start of the text) where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// A line starts neither with `ndn:` nor with `/`.
    #[error("expected a path that starts with \"/\" or a URI that starts with \"ndn:\"")]
    NeitherUriNorPath,
    /// The name does not start with a slash.
    #[error("expected \"/\" at offset {at}")]
    MissingSlash {
        /// Offset of the text in its place.
        at: usize,
    },
    /// A value is empty, or one or two periods alone.
    #[error("the value at offset {at} is empty or only periods; write three periods more (\"...\" is empty)")]
    FewPeriods {
        /// Offset of the value.
        at: usize,
    },
    /// A percent sign without two hexadecimal digits after it.
    #[error("expected two hexadecimal digits after \"%\" at offset {at}")]
    BadEscape {
        /// Offset of the percent sign.
        at: usize,
    },
    /// A byte that must be escaped in a URI.
    #[error("the byte at offset {at} must be written \"%{byte:02X}\"")]
    Unescaped {
        /// Offset of the byte.
        at: usize,
        /// The byte.
        byte: u8,
    },
    /// The text before `=` is neither a number nor a known prefix.
    #[error(
        "unknown prefix before \"=\" at offset {at}: expected a type's number, sha256digest, params-sha256, \
         seg, off, v, t or seq; write a \"=\" that belongs to the value \"%3D\""
    )]
    UnknownPrefix {
        /// Offset of the component.
        at: usize,
    },
    /// A component type that is not a decimal number from 1 to 65,535 without leading zeros.
    #[error("the component type at offset {at} is not a number from 1 to 65535")]
    BadType {
        /// Offset of the component.
        at: usize,
    },
    /// A value that is not a decimal number below 2^64 without leading zeros.
    #[error("expected a decimal number below 2^64 without leading zeros at offset {at}")]
    BadNumber {
        /// Offset of the value.
        at: usize,
    },
    /// A digest that is not 64 hexadecimal digits.
    #[error("expected 64 hexadecimal digits at offset {at}")]
    BadDigest {
        /// Offset of the digest.
        at: usize,
    },
    /// The components do not make a name.
    #[error("at offset {at}: {error}")]
    Build {
        /// Offset of the component.
        at: usize,
        /// The rule that they break.
        #[source]
        error: BuildError,
    },
}

/// The name of a file's path: each element a generic component, byte for byte.
///
/// # Errors
/// [`UriError::MissingSlash`] for a path that is not absolute, [`UriError::Build`] for one with too many
/// elements or bytes.
pub fn parse_path<E: Layout>(path: &[u8]) -> Result<OwnedName<E>, UriError> {
    let Some((b'/', rest)) = path.split_first() else {
        return Err(UriError::MissingSlash { at: 0 });
    };
    let mut builder = NameBuilder::new();
    let mut at = 1;
    for element in rest.split(|&byte| byte == b'/') {
        if !element.is_empty() {
            builder.push(Component::generic(element)).map_err(|error| UriError::Build { at, error })?;
        }
        at += element.len() + 1;
    }
    Ok(builder.finish())
}

/// The name on one line, given without its line ending: [a URI](parse_uri) if it starts with `ndn:`, [a
/// path](parse_path) if it starts with `/`.
///
/// # Errors
/// [`UriError::NeitherUriNorPath`] for any other line; else the error of the form that the line starts.
pub fn parse_line<E: Layout>(line: &[u8]) -> Result<OwnedName<E>, UriError> {
    if line.starts_with(b"/") {
        parse_path(line)
    } else if parse::after_scheme(line).is_some() {
        parse_uri(line)
    } else {
        Err(UriError::NeitherUriNorPath)
    }
}
