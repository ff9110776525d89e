//! IPFIX, RFC 7011: numbers of the protocol, and a reader.

pub(crate) mod element;
mod flow;
mod read;
mod template;
pub(crate) mod time;

pub use read::{IpfixReader, ReadError, ReadReport};

/// Version in the header of a message.
pub(crate) const VERSION: u16 = 10;
/// Bytes of the header of a message.
pub(crate) const HEADER: usize = 16;
/// Bytes of the header of a set.
pub(crate) const SET_HEADER: usize = 4;
/// Id of a set of templates.
pub(crate) const TEMPLATES: u16 = 2;
/// Id of a set of options templates.
pub(crate) const OPTIONS_TEMPLATES: u16 = 3;
/// Lowest id of a template.
pub(crate) const FIRST_TEMPLATE: u16 = 256;
/// Length of a field whose values have lengths of their own.
pub(crate) const VARIABLE: u16 = 65_535;
/// Private enterprise number of the elements of the reverse direction, RFC 5103.
pub(crate) const REVERSE: u32 = 29_305;
