//! Scopes of names: `/localhost` and `/localhop`.

use crate::face::{Face, Scope};

/// True for names below `/localhost`, which stay on this host.
#[inline(always)]
pub(super) fn is_localhost(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost")
}

/// True for names of this forwarder's management: below `/localhost/nfd`.
#[inline(always)]
pub(super) fn is_management(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost\x08\x03nfd")
}

/// True for names below `/localhop`, which go no further than the neighbours.
#[inline(always)]
pub(super) fn is_localhop(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x08localhop")
}

/// True if a packet of this name must not cross this face.
#[inline(always)]
pub(super) fn out_of_scope(components: &[u8], face: &Face) -> bool {
    face.scope == Scope::NonLocal && is_localhost(components)
}
