//! Names of the Domain Name System.
//!
//! A name is a sequence of labels of 1 to 63 bytes each, and the root, an empty label; with a length byte
//! before each label, at most 255 bytes (RFC 1035 §2.3.4, §3.1). A label may contain any byte. Comparisons
//! ignore the case of letters, and only the 26 of ASCII are letters (RFC 4343).
//!
//! [`Name`] is a checked view of a name in wire form, [`NameBuf`] one that owns its bytes without an
//! allocation, [`LabelSequence`] any run of labels of a name. [`message`] reads names out of messages,
//! including pointers; [`text`] reads and writes the presentation form.
//!
//! ```
//! use hashlane_name::dns::{Case, NameBuf, text};
//!
//! let name: NameBuf = text::parse(b"www.Example.com")?;
//! assert_eq!(name.as_bytes(), b"\x03www\x07Example\x03com\0");
//! let parent = name.view().labels_from(1);
//! assert!(parent.equals(text::parse(b"example.COM.")?.view().labels_from(0), Case::Ignored));
//! assert_eq!(name.to_string(), "www.Example.com.");
//! # Ok::<(), hashlane_name::dns::text::TextError>(())
//! ```

mod buf;
mod error;
pub mod fold;
mod labels;
pub mod message;
pub mod text;
mod view;

pub use buf::NameBuf;
pub use error::ParseError;
pub use fold::Case;
pub use labels::{LabelSequence, Labels};
pub use view::Name;

/// The most bytes of a label (RFC 1035 §2.3.4).
pub const MAX_LABEL_LEN: usize = 63;

/// The most bytes of a name in wire form, its bytes of length and the root included (RFC 1035 §2.3.4).
pub const MAX_NAME_LEN: usize = 255;

/// The most labels of a name, the root not counted: 127 of one byte each.
pub const MAX_LABELS: usize = 127;

/// The most pointers of one name. No writer needs more than one for each label.
const MAX_POINTERS: usize = 127;
