//! Nonces of Interests.

use hashlane_ndn::wire::Interest;

/// Replaces the Nonce of a checked Interest.
pub(crate) fn renew_nonce(packet: &mut [u8]) {
    let at = Interest::parse(packet).ok().and_then(|interest| interest.nonce_at());
    if let Some(room) = at.and_then(|at| packet.get_mut(at)) {
        room.copy_from_slice(&random_nonce().to_be_bytes());
    }
}

/// A random Nonce.
pub(crate) fn random_nonce() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    // Nonces only need to differ; the standard library's hash keys do, even without the system's random
    // numbers.
    getrandom::u32().unwrap_or_else(|_| RandomState::new().hash_one(()) as u32)
}
