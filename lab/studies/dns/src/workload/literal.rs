//! Names written in the source.

use hashlane_name::dns::NameBuf;

/// Name that a generator writes as text; the text is valid.
pub(super) fn name(text: &str) -> NameBuf {
    text.parse().unwrap_or(NameBuf::ROOT)
}
