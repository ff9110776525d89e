//! Whose Data is accepted.

use hashlane_ndn::security::{Signed, TrustAnchors};
use hashlane_ndn::wire::Data;
use std::time::{SystemTime, UNIX_EPOCH};

/// A validator that accepts Data which one of these certificates verifies, and which is valid now. No chain of certificates is followed.
pub fn trusted(anchors: TrustAnchors) -> impl Fn(&Data<'_>) -> Result<(), String> + Send + Sync + 'static {
    move |data| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        match anchors.verify(&Signed::data(data), now) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.to_string()),
        }
    }
}
