//! Module faces: commands and records.

use super::{Done, FaceOptions, Manager, Now, Origin, Plane, done, refused};
use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_LP_RELIABILITY, FACE_NO_INTEREST_DIGESTS,
    FACE_PIT_TOKENS, FacePersistency, FaceScope, LinkType,
};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, FaceUri};
use hashlane_ndn::wire::{Interest, MAX_PACKET};
use hashlane_ndn_fw::face::FaceCounters;
use std::sync::Arc;

/// The smallest MTU that a face can be given, in octets.
const MIN_MTU: u64 = 64;

/// Flags that a face can have.
const FLAGS: u64 = FACE_LOCAL_FIELDS | FACE_CONGESTION_MARKING | FACE_PIT_TOKENS | FACE_NO_INTEREST_DIGESTS;

/// Flags of a command that no face has: unknown ones, set or cleared, and reliability if set. To clear
/// reliability is permitted, as it is always off.
fn unsupported(parameters: &ControlParameters) -> u64 {
    let mask = parameters.mask.unwrap_or(0);
    let set = parameters.flags.unwrap_or(0) & mask;
    mask & !(FLAGS | FACE_LP_RELIABILITY) | set & FACE_LP_RELIABILITY
}

/// A face, as management knows it.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Its number, from 1.
    pub id: u64,
    /// The remote end.
    pub remote: FaceUri,
    /// The local end.
    pub local: FaceUri,
    /// Whether it is on this machine.
    pub scope: FaceScope,
    /// When it goes away.
    pub persistency: FacePersistency,
    /// How many are at the other end.
    pub link_type: LinkType,
    /// [`FACE_LOCAL_FIELDS`] and the others.
    pub flags: u64,
    /// How long its queue may be over the threshold before packets are marked, in nanoseconds.
    pub marking_interval: u64,
    /// Octets in its queue from which it is congested.
    pub congestion_threshold: u64,
    /// Largest link packet, in octets; `None` for a stream.
    pub mtu: Option<u64>,
    /// How long it lives without packets, in milliseconds; for ever where there is nothing.
    pub idle: Option<u64>,
    /// What went through it.
    pub counters: Arc<FaceCounters>,
}

impl FaceInfo {
    pub(super) fn status(&self) -> FaceStatus {
        let counters = &self.counters;
        FaceStatus {
            face_id: self.id,
            uri: self.remote.to_string(),
            local_uri: self.local.to_string(),
            expiration: self.idle,
            scope: self.scope,
            persistency: self.persistency,
            link_type: self.link_type,
            marking_interval: Some(self.marking_interval),
            congestion_threshold: Some(self.congestion_threshold),
            mtu: Some(self.told_mtu()),
            in_interests: counters.in_interests.value(),
            in_data: counters.in_data.value(),
            in_nacks: counters.in_nacks.value(),
            out_interests: counters.out_interests.value(),
            out_data: counters.out_data.value(),
            out_nacks: counters.out_nacks.value(),
            in_bytes: counters.in_bytes.value(),
            out_bytes: counters.out_bytes.value(),
            flags: self.flags,
        }
    }

    pub(super) fn matches(&self, filter: &FaceQueryFilter) -> bool {
        let FaceQueryFilter { face_id, uri_scheme, uri, local_uri, scope, persistency, link_type } = filter;
        face_id.is_none_or(|id| id == self.id)
            && uri_scheme
                .as_ref()
                .is_none_or(|scheme| [self.remote.scheme(), self.local.scheme()].contains(&scheme.as_str()))
            && uri.as_ref().is_none_or(|uri| *uri == self.remote.to_string())
            && local_uri.as_ref().is_none_or(|uri| *uri == self.local.to_string())
            && scope.is_none_or(|scope| scope == self.scope)
            && persistency.is_none_or(|persistency| persistency == self.persistency)
            && link_type.is_none_or(|link_type| link_type == self.link_type)
    }

    /// What the answers to faces/create and faces/update say; the latter without URIs.
    fn parameters(&self, with_uris: bool) -> ControlParameters {
        ControlParameters {
            face_id: Some(self.id),
            uri: with_uris.then(|| self.remote.to_string()),
            local_uri: with_uris.then(|| self.local.to_string()),
            flags: Some(self.flags),
            persistency: Some(self.persistency),
            marking_interval: Some(self.marking_interval),
            congestion_threshold: Some(self.congestion_threshold),
            mtu: Some(self.told_mtu()),
            ..ControlParameters::default()
        }
    }

    fn told_mtu(&self) -> u64 {
        self.mtu.unwrap_or(u64::MAX).min(MAX_PACKET as u64)
    }

    fn is_udp(&self) -> bool {
        matches!(self.remote, FaceUri::Ip { protocol: Protocol::Udp, .. })
    }

    /// Whether it can live on without who came to it: not a connection to a listener that the peer alone can make again.
    fn can_become(&self, persistency: FacePersistency) -> bool {
        let is_made_here = matches!(self.remote, FaceUri::Ip { protocol: Protocol::Udp | Protocol::Tcp, .. });
        persistency == self.persistency || is_made_here
    }

    /// Lets options hold. `udp_idle` is for how long a UDP face on demand lives without packets, in milliseconds.
    pub(crate) fn apply(&mut self, options: &FaceOptions, udp_idle: Option<u64>) {
        self.flags = self.flags & !options.mask | options.flags & options.mask;
        self.persistency = options.persistency.unwrap_or(self.persistency);
        let goes = self.persistency == FacePersistency::OnDemand && self.is_udp();
        self.idle = udp_idle.filter(|_| goes);
        self.marking_interval = options.marking_interval.unwrap_or(self.marking_interval);
        self.congestion_threshold = options.congestion_threshold.unwrap_or(self.congestion_threshold);
        self.mtu = options.mtu.or(self.mtu);
    }
}

impl Manager {
    pub(super) fn create_face(
        &mut self,
        parameters: &ControlParameters,
        interest: &Interest<'_>,
        now: Now,
        plane: &mut impl Plane,
    ) -> Done {
        let remote = canonical(parameters.uri.as_deref().unwrap_or_default(), "remote")?;
        let local = parameters.local_uri.as_deref().map(|uri| canonical(uri, "local")).transpose()?;
        let schemes = &self.config.schemes;
        if !schemes.contains(&remote.scheme()) {
            let known = schemes.join(", ");
            return refused(
                406,
                format!("Unsupported protocol {}: faces are made of {known}", remote.scheme()),
            );
        }
        if local.is_some() {
            return refused(406, format!("{} faces cannot be created with a LocalUri", remote.scheme()));
        }
        if remote.socket_address().is_some_and(|address| address.ip().is_multicast()) {
            return refused(406, "Cannot create multicast UDP faces");
        }
        if parameters.persistency == Some(FacePersistency::OnDemand) {
            return refused(406, "Outgoing faces do not support on-demand persistency");
        }
        match unsupported(parameters) {
            0 => {}
            FACE_LP_RELIABILITY => {
                return refused(406, "NDNLPv2 reliability is not supported: create the face without it");
            }
            flags => return refused(406, format!("Unsupported face flags {flags:#x}")),
        }
        // A UDP face is never local.
        let is_local = !remote.scheme().starts_with("udp")
            && remote.socket_address().is_some_and(|address| address.ip().to_canonical().is_loopback());
        if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && !is_local {
            return refused(406, "Local fields can only be enabled on faces with local scope");
        }
        if let Some(mtu) = parameters.mtu {
            if !remote.scheme().starts_with("udp") {
                return refused(406, "TCP faces do not support MTU overrides");
            }
            if mtu < MIN_MTU {
                return refused(406, format!("Override MTU cannot be less than {MIN_MTU}"));
            }
        }
        if let Some(face) = self.faces.values().find(|face| face.remote == remote) {
            return Ok(Some(self.created(face.id, 409, "Face with remote URI already exists")));
        }
        let ticket = self.wait(interest, now, None)?;
        plane.create_face(ticket, &remote, None, &FaceOptions::of(parameters));
        Ok(None)
    }

    /// The answer to faces/create for a face that is there.
    pub(super) fn created(&self, id: u64, code: u64, text: &str) -> ControlResponse {
        match self.faces.get(&id) {
            Some(face) => ControlResponse::with(code, text, &face.parameters(true)),
            None => ControlResponse::new(500, format!("face {id} was made and is gone again")),
        }
    }

    pub(super) fn update_face(
        &mut self,
        parameters: &ControlParameters,
        from: &Origin,
        plane: &mut impl Plane,
    ) -> Done {
        let id = parameters.face_id.filter(|&id| id != 0).unwrap_or(from.face);
        let Some(face) = self.faces.get_mut(&id) else {
            return refused(404, format!("face {id} does not exist"));
        };
        let mut wrong = ControlParameters::default();
        let mut flags = unsupported(parameters);
        if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && face.scope != FaceScope::Local {
            flags |= FACE_LOCAL_FIELDS;
        }
        if flags != 0 {
            wrong.flags = Some(flags & parameters.flags.unwrap_or(0));
            wrong.mask = Some(flags);
        }
        wrong.persistency = parameters.persistency.filter(|&persistency| !face.can_become(persistency));
        wrong.mtu = parameters.mtu.filter(|&mtu| mtu < MIN_MTU || !face.is_udp());
        if wrong != ControlParameters::default() {
            return Err(ControlResponse::with(409, "Invalid properties specified", &wrong));
        }
        let options = FaceOptions::of(parameters);
        face.apply(&options, Some(self.config.udp_idle));
        plane.update_face(id, &options);
        done(&face.parameters(false))
    }

    pub(super) fn destroy_face(&mut self, parameters: ControlParameters, plane: &mut impl Plane) -> Done {
        let id = parameters.face_id.unwrap_or(0);
        match self.faces.get(&id) {
            Some(FaceInfo { remote: FaceUri::Internal | FaceUri::Null, .. }) => {
                return refused(409, format!("face {id} is a part of the forwarder"));
            }
            Some(_) => plane.destroy_face(id),
            None => {}
        }
        done(&parameters)
    }
}

/// The URI that `text` is, where it is in its canonical form.
fn canonical(text: &str, end: &str) -> Result<FaceUri, ControlResponse> {
    let uri: FaceUri = text.parse().or_else(|error| refused(400, format!("{end} URI: {error}")))?;
    match uri.canonical() {
        Ok(canonical) if canonical == uri && uri.to_string() == text => Ok(uri),
        Ok(canonical) => refused(400, format!("Non-canonical {end} URI: write {canonical}")),
        Err(error) => refused(400, format!("Non-canonical {end} URI: {error}")),
    }
}
