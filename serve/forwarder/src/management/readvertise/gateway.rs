//! Propagation of the prefixes of local applications to a gateway.
//!
//! A prefix is registered under the shortest identity that is a prefix of it: that identity's name is
//! registered at the gateway, by a command under `/localhop/nfd/rib` that the identity's key signs. A last
//! component `nrd` of an identity is not part of its prefix.
//!
//! The gateway is the neighbour to which the route of the longest prefix of `/localhop/nfd` leads, and of
//! several the one of the lowest cost. Groups of neighbours are none. A command names the face of the
//! gateway, as the FIB has this forwarder itself for its prefix.
//!
//! Source: NFD, `rib.auto_prefix_propagate`.

use super::{Key, Timing};
use crate::management::face_info::FaceInfo;
use crate::rib::Route;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::values::{FaceScope, LinkType, RouteOrigin};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters};
use hashlane_ndn::security::Signer;
use hashlane_ndn::wire::{KeyLocator, LpHeader, SignatureInfo};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prefixes whose routes lead to the gateway, the longest first.
pub(super) const DESTINATIONS: [&str; 3] = ["/localhop/nfd", "/localhop", "/"];

/// Most commands without an answer, each with another key.
const WINDOW: usize = 8;

/// Key of an identity, and its prefix.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Prefix that is registered.
    prefix: OwnedName<Ndn>,
    /// Name of the key.
    key: OwnedName<Ndn>,
    signer: Signer,
}

impl Identity {
    /// The identity of this name, with its key and the key's name.
    pub fn new(name: NdnName<'_>, key: NdnName<'_>, signer: Signer) -> Self {
        let is_service = name.components().last() == Some(Component::generic(b"nrd"));
        let components = name.components().take(name.len() - usize::from(is_service));
        let prefix = OwnedName::from_components(components).unwrap_or_else(|_| OwnedName::from(&name));
        Self { prefix, key: OwnedName::from(&key), signer }
    }

    /// Prefix that is registered.
    pub fn prefix(&self) -> NdnName<'_> {
        self.prefix.view()
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.prefix, &self.key, self.signer.public_key())
            == (&other.prefix, &other.key, other.signer.public_key())
    }
}

/// Settings of the propagation. Times are in milliseconds.
#[derive(Clone, Debug)]
pub struct Propagation {
    /// Identities; none: nothing is propagated.
    pub identities: Vec<Identity>,
    /// Cost of the routes at the gateway.
    pub cost: u64,
    /// Time that a command waits for its answer.
    pub timeout: u64,
    /// Time until a prefix is registered again.
    pub refresh: u64,
    /// First pause after a failure.
    pub retry_min: u64,
    /// Longest pause after a failure.
    pub retry_max: u64,
}

/// Choice of prefixes, and the commands about them.
#[derive(Debug)]
pub(super) struct Gateway {
    settings: Propagation,
    /// Identities by their encoded prefixes. Those that were removed stay while their prefix is withdrawn.
    identities: BTreeMap<Key, Arc<Identity>>,
}

impl Gateway {
    pub(super) fn new(mut settings: Propagation) -> Self {
        // The shortest prefix is found first.
        settings.identities.sort_by_key(|identity| identity.prefix.view().len());
        let identities = settings.identities.iter().map(|one| (key(one), Arc::new(one.clone()))).collect();
        Self { settings, identities }
    }

    /// Replaces the settings, and keeps the identities whose prefix `is_used`. Returns false if the settings
    /// are the same.
    pub(super) fn configure(&mut self, settings: Propagation, is_used: impl Fn(&Key) -> bool) -> bool {
        let Self { settings: new, identities } = Self::new(settings);
        if self.settings.is_same(&new) {
            return false;
        }
        self.settings = new;
        self.identities.retain(|prefix, _| is_used(prefix));
        self.identities.extend(identities);
        true
    }

    /// True if an identity is configured.
    pub(super) fn is_on(&self) -> bool {
        !self.settings.identities.is_empty()
    }

    pub(super) fn timing(&self) -> Timing {
        let Propagation { refresh, retry_min, retry_max, timeout, .. } = self.settings;
        Timing { refresh, retry_min, retry_max, lifetime: timeout, window: WINDOW }
    }

    pub(super) fn target(&self, prefix: NdnName<'_>) -> Option<Key> {
        let is_prefix = |identity: &&Identity| {
            let short = identity.prefix.view();
            short.len() <= prefix.len() && short.components().eq(prefix.components().take(short.len()))
        };
        self.settings.identities.iter().find(is_prefix).map(key)
    }

    /// Parameters of a command for the prefix of an identity.
    pub(super) fn parameters(&self, prefix: &Key, registers: bool) -> Option<ControlParameters> {
        Some(ControlParameters {
            name: Some(self.identities.get(prefix)?.prefix.clone()),
            origin: Some(RouteOrigin::CLIENT),
            cost: registers.then_some(self.settings.cost),
            ..ControlParameters::default()
        })
    }

    /// The command, signed by the identity of a prefix.
    pub(super) fn sign(&self, prefix: &Key, command: &CommandBuilder<'_>) -> Option<Vec<u8>> {
        let Identity { key, signer, .. } = &**self.identities.get(prefix)?;
        let key_locator = Some(KeyLocator::Name(key.view()));
        let info = SignatureInfo { key_locator, ..SignatureInfo::of(signer.signature_type()) };
        command.build_signed(info, |pieces| signer.sign(&pieces)).ok()
    }
}

/// A link packet that the forwarder sends to a face, whatever its FIB has.
pub(super) fn to_face(face: u64, interest: &[u8]) -> Vec<u8> {
    let header = LpHeader { next_hop_face: Some(face), ..LpHeader::default() };
    [header.wrapped(interest.len()).as_bytes(), interest].concat()
}

impl Propagation {
    fn is_same(&self, other: &Self) -> bool {
        let numbers = |one: &Self| (one.cost, one.timeout, one.refresh, one.retry_min, one.retry_max);
        let (own, others) = (&self.identities, &other.identities);
        numbers(self) == numbers(other)
            && own.len() == others.len()
            && own.iter().zip(others).all(|(one, other)| one.is_same(other))
    }
}

fn key(identity: &Identity) -> Key {
    identity.prefix.as_bytes().into()
}

/// True if a route is one of a local application.
pub(super) fn is_local(route: &Route, faces: &BTreeMap<u64, FaceInfo>) -> bool {
    faces.get(&route.face).is_some_and(|face| face.scope == FaceScope::Local)
}

/// The face of the gateway, if one of these routes leads to a neighbour.
pub(super) fn nearest(
    routes: impl IntoIterator<Item = Route>,
    faces: &BTreeMap<u64, FaceInfo>,
) -> Option<u64> {
    let is_neighbour =
        |face: &FaceInfo| face.scope == FaceScope::NonLocal && face.link_type == LinkType::PointToPoint;
    let routes = routes.into_iter().filter(|route| faces.get(&route.face).is_some_and(is_neighbour));
    routes.min_by_key(|route| (route.cost, route.face)).map(|route| route.face)
}
