//! Sources of zones.

use crate::config::ZoneFile;

/// The source of a zone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    File,
    Primaries,
    /// A catalog of the other zones.
    Produced,
}

pub(super) fn source(file: &ZoneFile) -> Source {
    match () {
        () if file.is_produced() => Source::Produced,
        () if file.primaries.is_empty() => Source::File,
        () => Source::Primaries,
    }
}
