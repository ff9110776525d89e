//! Routes that are advertised, where, and by which commands.

use super::{Key, Timing};
use crate::management::face_info::FaceInfo;
use crate::rib::{Rib, Route};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Scope};
use hashlane_ndn::wire::Interest;
use std::collections::BTreeMap;

/// Choice of routes, and destination of the commands.
#[derive(Debug)]
pub(super) enum Policy {
    /// Routes of origin *client*, to the NLSR of this host.
    Nlsr,
}

/// A command: the Interest to send, and its name.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) packet: Vec<u8>,
    pub(super) name: OwnedName<Ndn>,
}

impl Policy {
    /// Name of the destination in logs and metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Nlsr => "nlsr",
        }
    }

    /// Times of the commands.
    pub(super) fn timing(&self) -> Timing {
        match self {
            Self::Nlsr => Timing::NLSR,
        }
    }

    /// Prefixes whose routes lead to the destination, the longest first.
    pub(super) fn destinations(&self) -> &'static [&'static str] {
        match self {
            Self::Nlsr => &["/localhost/nlsr"],
        }
    }

    /// True for routes whose prefixes are advertised.
    pub(super) fn selects(&self, route: &Route, _: &BTreeMap<u64, FaceInfo>) -> bool {
        match self {
            Self::Nlsr => route.origin == RouteOrigin::CLIENT,
        }
    }

    /// Faces that lead to the destination, of which `destinations` are the prefixes.
    pub(super) fn faces(
        &self,
        destinations: &[OwnedName<Ndn>],
        rib: &Rib,
        faces: &BTreeMap<u64, FaceInfo>,
    ) -> Vec<u64> {
        let routes = destinations.iter().flat_map(|prefix| rib.routes(prefix.view()));
        match self {
            Self::Nlsr => routes.map(|route| route.face).filter(|face| faces.contains_key(face)).collect(),
        }
    }

    /// The prefix that is advertised for a prefix with routes; `None` if it is not.
    pub(super) fn target(&self, prefix: NdnName<'_>) -> Option<Key> {
        match self {
            Self::Nlsr => is_global(prefix).then(|| prefix.as_bytes().into()),
        }
    }

    /// The command for a prefix; `None` if it is too long for one.
    pub(super) fn command(&self, prefix: &Key, registers: bool, time: u64) -> Option<Sent> {
        let prefix = OwnedName::from(&NdnName::parse(prefix).ok()?);
        let verb: &[u8] = if registers { b"register" } else { b"unregister" };
        let builder = |scope, parameters| CommandBuilder {
            target: Target { scope, module: b"rib", verb },
            parameters,
            nonce: time as u32,
            lifetime: self.timing().lifetime,
            signature_nonce: time.to_be_bytes(),
            time,
        };
        let packet = match self {
            Self::Nlsr => {
                let parameters = ControlParameters { name: Some(prefix), ..ControlParameters::default() };
                builder(Scope::Localhost, &parameters).build_for(b"nlsr").ok()?
            }
        };
        let name = OwnedName::from(&Interest::parse(&packet).ok()?.name());
        Some(Sent { packet, name })
    }
}

/// True unless the names below a prefix stay on a host, or between neighbours.
fn is_global(prefix: NdnName<'_>) -> bool {
    let first = prefix.components().next();
    first.is_none_or(|first| first.value != b"localhost" && first.value != b"localhop")
}
