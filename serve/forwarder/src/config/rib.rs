//! The table `[rib]` of the configuration.

use super::propagate::Propagate;
use serde::{Deserialize, Serialize};

/// Routes that prefix announcements make, and prefixes that others are asked to advertise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rib {
    /// Prefix announcements that are accepted.
    pub prefix_announcements: Announcements,
    /// Most routes that announcements of one face make.
    pub announcements_per_face: usize,
    /// True if the prefixes of routes of origin *client* are advertised by the NLSR of this host.
    pub readvertise_nlsr: bool,
    /// Propagation of prefixes to a gateway.
    pub propagate: Propagate,
}

/// Prefix announcements that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Announcements {
    /// None.
    Off,
    /// Those that are signed with a trusted key, as in `management.trust_anchors`, or by the rules of
    /// `trust.prefix_announcement`.
    Trusted,
}

impl Default for Rib {
    fn default() -> Self {
        Self {
            prefix_announcements: Announcements::Off,
            announcements_per_face: 64,
            readvertise_nlsr: false,
            propagate: Propagate::default(),
        }
    }
}

impl Rib {
    /// Most routes that announcements of one face make; `None` if announcements are refused.
    pub(crate) fn announcements(&self) -> Option<usize> {
        (self.prefix_announcements == Announcements::Trusted).then_some(self.announcements_per_face)
    }
}
