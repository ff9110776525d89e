//! Link headers of outgoing packets.

use crate::face::{Face, FaceId};
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn::wire::lp::DigestField;

/// Link header of a packet to a face, with the ingress face if the application takes local fields.
#[inline(always)]
pub(super) fn header_for<'a>(to: &Face, from: FaceId, congestion_mark: u64) -> LpHeader<'a> {
    let incoming_face = to.local_fields.then_some(u64::from(from.0));
    LpHeader { incoming_face, congestion_mark, ..LpHeader::default() }
}

/// InterestDigest field of a packet to a face; empty if the face takes none.
#[inline(always)]
pub(super) fn digest_for<'d>(to: &Face, digest: &'d [u8], digest_type: u32) -> DigestField<'d> {
    if to.interest_digests { DigestField::new(digest_type, digest) } else { DigestField::default() }
}
