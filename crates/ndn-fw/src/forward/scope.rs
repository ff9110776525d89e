//! Scopes of names: `/localhost` and `/localhop`.

use crate::face::{Face, Scope};

/// Whether the name is of this host alone: `/localhost`.
#[inline(always)]
pub(super) fn is_localhost(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost")
}

/// Tells if the name is of this forwarder's management: `/localhost/nfd`.
#[inline(always)]
pub(super) fn is_management(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost\x08\x03nfd")
}

/// Whether the name is of this host and its neighbours: `/localhop`.
#[inline(always)]
pub(super) fn is_localhop(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x08localhop")
}

/// Whether a packet of this name must not go over this face.
#[inline(always)]
pub(super) fn out_of_scope(components: &[u8], face: &Face) -> bool {
    face.scope == Scope::NonLocal && is_localhost(components)
}
