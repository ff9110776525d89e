//! Sources of zones, and the error of a name that is no zone's.

use crate::config::ZoneFile;
use hashlane_name::dns::Name;
use std::io;

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

/// The error of a command for a zone that this server does not have.
pub(crate) fn unknown_zone(apex: Name<'_>) -> io::Error {
    let name = apex.to_string();
    let name = name.strip_suffix('.').filter(|name| !name.is_empty()).unwrap_or(&name);
    let why = format!("no zone {name}; `hashlane dns control status` lists the zones");
    io::Error::new(io::ErrorKind::NotFound, why)
}
