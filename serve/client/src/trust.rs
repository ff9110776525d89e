//! A validator that trusts certificates.

use hashlane_ndn::security::{Signed, TrustAnchors};
use hashlane_ndn::wire::Data;
use std::time::{SystemTime, UNIX_EPOCH};

/// A validator that accepts Data signed directly by one of these certificates, which must be valid now.
/// Chains of certificates are not followed.
pub fn trusted(anchors: TrustAnchors) -> impl Fn(&Data<'_>) -> Result<(), String> + Send + Sync + 'static {
    move |data| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        match anchors.verify(&Signed::data(data), now) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.to_string()),
        }
    }
}
