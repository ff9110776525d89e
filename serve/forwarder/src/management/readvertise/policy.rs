//! Routes that are advertised, where, and by which commands.

use super::gateway::{self, Gateway};
use super::{Key, Timing};
use crate::management::face_info::FaceInfo;
use crate::management::replay::GRACE;
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
    /// Routes of local applications, to a gateway.
    Gateway(Gateway),
}

/// A command: the Interest to send, and its name.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) packet: Vec<u8>,
    pub(super) name: OwnedName<Ndn>,
}

impl Policy {
    /// Names of the destinations.
    pub(super) const NLSR: &'static str = "nlsr";
    pub(super) const GATEWAY: &'static str = "gateway";

    /// Name of the destination in logs and metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Nlsr => Self::NLSR,
            Self::Gateway(_) => Self::GATEWAY,
        }
    }

    /// Times of the commands.
    pub(super) fn timing(&self) -> Timing {
        match self {
            Self::Nlsr => Timing::NLSR,
            Self::Gateway(gateway) => gateway.timing(),
        }
    }

    /// Prefixes whose routes lead to the destination, the longest first.
    pub(super) fn destinations(&self) -> &'static [&'static str] {
        match self {
            Self::Nlsr => &["/localhost/nlsr"],
            Self::Gateway(_) => &gateway::DESTINATIONS,
        }
    }

    /// True for routes whose prefixes are advertised.
    pub(super) fn selects(&self, route: &Route, faces: &BTreeMap<u64, FaceInfo>) -> bool {
        match self {
            Self::Nlsr => route.origin == RouteOrigin::CLIENT,
            Self::Gateway(_) => gateway::is_local(route, faces),
        }
    }

    /// Faces that lead to the destination; `destinations` are its prefixes.
    pub(super) fn faces(
        &self,
        destinations: &[OwnedName<Ndn>],
        rib: &Rib,
        faces: &BTreeMap<u64, FaceInfo>,
    ) -> Vec<u64> {
        let mut routes = destinations.iter().map(|prefix| rib.routes(prefix.view()));
        match self {
            Self::Nlsr => {
                routes.flatten().map(|route| route.face).filter(|face| faces.contains_key(face)).collect()
            }
            Self::Gateway(_) => {
                routes.find_map(|routes| gateway::nearest(routes, faces)).into_iter().collect()
            }
        }
    }

    /// The prefix that is advertised for a prefix with routes; `None` if it is not.
    pub(super) fn target(&self, prefix: NdnName<'_>) -> Option<Key> {
        match self {
            _ if !is_global(prefix) => None,
            Self::Nlsr => Some(prefix.as_bytes().into()),
            Self::Gateway(gateway) => gateway.target(prefix),
        }
    }

    /// The command for a prefix, to the first of these faces; `None` if it is too long for one.
    pub(super) fn command(&self, prefix: &Key, registers: bool, faces: &[u64], time: u64) -> Option<Sent> {
        let verb: &[u8] = if registers { b"register" } else { b"unregister" };
        let (scope, parameters) = match self {
            Self::Nlsr => {
                let name = Some(OwnedName::from(&NdnName::parse(prefix).ok()?));
                (Scope::Localhost, ControlParameters { name, ..ControlParameters::default() })
            }
            Self::Gateway(gateway) => (Scope::Localhop, gateway.parameters(prefix, registers)?),
        };
        let builder = CommandBuilder {
            target: Target { scope, module: b"rib", verb },
            parameters: &parameters,
            nonce: time as u32,
            lifetime: self.timing().lifetime,
            signature_nonce: time.to_be_bytes(),
            time,
        };
        let interest = match self {
            Self::Nlsr => builder.build_for(b"nlsr").ok()?,
            Self::Gateway(gateway) => gateway.sign(prefix, &builder)?,
        };
        let name = OwnedName::from(&Interest::parse(&interest).ok()?.name());
        let packet = match self {
            Self::Nlsr => interest,
            Self::Gateway(_) => gateway::to_face(*faces.first()?, &interest),
        };
        Some(Sent { packet, name })
    }
}

/// Time of signing after the `last` one: now, or later than the last one. After the clock was set back far,
/// now: a time that is too late would be refused until the clock has passed it. Others accept the same as we.
pub(super) fn time_of_signing(last: u64, now: u64) -> u64 {
    let next = last.saturating_add(1);
    if next > now.saturating_add(GRACE) { now } else { now.max(next) }
}

/// True unless the names below a prefix stay on a host, or between neighbours.
fn is_global(prefix: NdnName<'_>) -> bool {
    let first = prefix.components().next();
    first.is_none_or(|first| first.value != b"localhost" && first.value != b"localhop")
}
