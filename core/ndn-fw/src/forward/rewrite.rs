//! Changes to Interests: a Nonce added or replaced, a forwarding hint removed.

use alloc::vec::Vec;
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::tlv::{Elements, write_element, write_nested};
use hashlane_ndn::wire::interest::{FORWARDING_HINT, HOP_LIMIT, LIFETIME, NONCE, PARAMETERS, SIGNATURE_INFO};
use hashlane_ndn::wire::{INTEREST, Interest};

/// Adds a Nonce to a checked Interest that has none.
pub(super) fn with_nonce(interest: &[u8], nonce: u32) -> Vec<u8> {
    let mut nonce = Some(nonce);
    rewrite(interest, |typ, out| {
        let behind = [None, Some(LIFETIME), Some(HOP_LIMIT), Some(PARAMETERS), Some(SIGNATURE_INFO)];
        if behind.contains(&typ)
            && let Some(nonce) = nonce.take()
        {
            write_element(NONCE, &nonce.to_be_bytes(), out);
        }
        true
    })
}

/// Replaces the Nonce of an Interest.
pub(super) fn with_other_nonce(interest: &Interest<'_>, nonce: u32) -> Vec<u8> {
    let mut out = interest.as_bytes().to_vec();
    let bytes = interest.nonce_at().and_then(|at| out.get_mut(at));
    if let Some(bytes) = bytes.invariant("the Interest has a Nonce") {
        bytes.copy_from_slice(&nonce.to_be_bytes());
    }
    out
}

/// Removes the forwarding hint of a checked Interest.
pub(super) fn without_hint(interest: &[u8]) -> Vec<u8> {
    rewrite(interest, |typ, _| typ != Some(FORWARDING_HINT))
}

/// Copies the elements of an Interest for which `keep` returns true. `keep` may write other elements before
/// each one, and before the end (`None`).
fn rewrite(interest: &[u8], mut keep: impl FnMut(Option<u32>, &mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(interest.len() + 16);
    let packet = Elements::new(interest).next().ok().flatten().invariant("a checked Interest");
    let Some(packet) = packet else { return out };
    write_nested(INTEREST, &mut out, |out| {
        let mut elements = packet.elements();
        while let Ok(Some(element)) = elements.next() {
            if keep(Some(element.typ), out) {
                out.extend_from_slice(part(interest, element.at..element.end()));
            }
        }
        keep(None, out);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::build::OwnedName;
    use hashlane_name::ndn::Ndn;
    use hashlane_name::uri::parse_uri;
    use hashlane_ndn::wire::InterestBuilder;

    #[test]
    fn only_what_is_asked_for_changes() {
        let [name, hint]: [OwnedName<Ndn>; 2] = ["/a/b", "/h"].map(|uri| parse_uri(uri.as_bytes()).unwrap());
        let mut builder = InterestBuilder::new(name.view());
        builder.must_be_fresh = true;
        builder.hints.push(hint.view());
        builder.hop_limit = Some(7);
        builder.parameters = Some(b"x");
        let bare = builder.build();
        let with = with_nonce(&bare, 0x0102_0304);
        builder.nonce = Some(0x0102_0304);
        assert_eq!(with, builder.build());
        builder.hints.clear();
        assert_eq!(without_hint(&with), builder.build());
        assert!(Interest::parse(&with).unwrap().has_valid_parameters_digest());

        let mut least = InterestBuilder::new(name.view());
        let bare = least.build();
        least.nonce = Some(1);
        assert_eq!(with_nonce(&bare, 1), least.build());
    }
}
