//! Properties of a face, and the options that commands set.

use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType};
use hashlane_ndn::mgmt::{ControlParameters, FaceUri};
use hashlane_ndn::wire::MAX_PACKET;
use hashlane_ndn_fw::face::{Counter, FaceCounters};
use std::sync::Arc;

/// Properties of a face.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Id of the face, from 1.
    pub id: u64,
    /// URI of the remote end.
    pub remote: FaceUri,
    /// URI of the local end.
    pub local: FaceUri,
    /// Local if the peer is on this host.
    pub scope: FaceScope,
    /// Condition on which the face is closed.
    pub persistency: FacePersistency,
    /// Number of peers at the other end.
    pub link_type: LinkType,
    /// Bits such as [`FACE_LOCAL_FIELDS`](hashlane_ndn::mgmt::values::FACE_LOCAL_FIELDS).
    pub flags: u64,
    /// Time above the queue threshold before packets are marked, in nanoseconds.
    pub marking_interval: u64,
    /// Queue length from which the face is congested, in bytes.
    pub congestion_threshold: u64,
    /// Longest link packet, in bytes; `None` for a stream.
    pub mtu: Option<u64>,
    /// Milliseconds without packets after which the face is closed; `None` for no limit.
    pub idle: Option<u64>,
    /// Packets and bytes, in and out, at each shard.
    pub counters: Arc<[Arc<FaceCounters>]>,
}

impl FaceInfo {
    pub(super) fn status(&self) -> FaceStatus {
        let sum = |counter: fn(&FaceCounters) -> &Counter| {
            self.counters.iter().map(|shard| counter(shard).value()).sum()
        };
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
            mtu: Some(self.reported_mtu()),
            in_interests: sum(|all| &all.in_interests),
            in_data: sum(|all| &all.in_data),
            in_nacks: sum(|all| &all.in_nacks),
            out_interests: sum(|all| &all.out_interests),
            out_data: sum(|all| &all.out_data),
            out_nacks: sum(|all| &all.out_nacks),
            in_bytes: sum(|all| &all.in_bytes),
            out_bytes: sum(|all| &all.out_bytes),
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

    /// Body of the answers to faces/create and faces/update; the latter has no URIs.
    pub(super) fn parameters(&self, with_uris: bool) -> ControlParameters {
        ControlParameters {
            face_id: Some(self.id),
            uri: with_uris.then(|| self.remote.to_string()),
            local_uri: with_uris.then(|| self.local.to_string()),
            flags: Some(self.flags),
            persistency: Some(self.persistency),
            marking_interval: Some(self.marking_interval),
            congestion_threshold: Some(self.congestion_threshold),
            mtu: Some(self.reported_mtu()),
            ..ControlParameters::default()
        }
    }

    fn reported_mtu(&self) -> u64 {
        self.mtu.unwrap_or(u64::MAX).min(MAX_PACKET as u64)
    }

    /// True if the face sends datagrams or frames, so that it has an MTU and can be idle.
    pub(super) fn is_datagram(&self) -> bool {
        matches!(self.remote, FaceUri::Ip { protocol: Protocol::Udp, .. } | FaceUri::Ether(_))
    }

    /// True if the face can have link reliability: a UDP face to one peer.
    pub(super) fn can_be_reliable(&self) -> bool {
        let is_udp = matches!(self.remote, FaceUri::Ip { protocol: Protocol::Udp, .. });
        is_udp && self.link_type == LinkType::PointToPoint
    }

    /// True if the face can have this persistency. A connection that the peer made is on-demand: only the
    /// peer can make it again. The face of a group is permanent.
    pub(super) fn can_become(&self, persistency: FacePersistency) -> bool {
        let is_made_here =
            self.is_datagram() || matches!(self.remote, FaceUri::Ip { protocol: Protocol::Tcp, .. });
        persistency == self.persistency || is_made_here && self.link_type == LinkType::PointToPoint
    }

    /// Applies options. `udp_idle` is the idle timeout of an on-demand UDP or Ethernet face, in milliseconds.
    pub(crate) fn apply(&mut self, options: &FaceOptions, udp_idle: Option<u64>) {
        self.flags = self.flags & !options.mask | options.flags & options.mask;
        self.persistency = options.persistency.unwrap_or(self.persistency);
        let times_out = self.persistency == FacePersistency::OnDemand && self.is_datagram();
        self.idle = udp_idle.filter(|_| times_out);
        self.marking_interval = options.marking_interval.unwrap_or(self.marking_interval);
        self.congestion_threshold = options.congestion_threshold.unwrap_or(self.congestion_threshold);
        self.mtu = options.mtu.or(self.mtu);
    }
}

/// Options of a face that a command sets; `None` keeps the current value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceOptions {
    /// Condition on which the face is closed.
    pub persistency: Option<FacePersistency>,
    /// Values of the flags in `mask`.
    pub flags: u64,
    /// Flags to set or clear.
    pub mask: u64,
    /// Time above the queue threshold before packets are marked, in nanoseconds.
    pub marking_interval: Option<u64>,
    /// Queue length from which the face is congested, in bytes.
    pub congestion_threshold: Option<u64>,
    /// Longest link packet, in bytes.
    pub mtu: Option<u64>,
}

impl FaceOptions {
    pub(super) fn of(parameters: &ControlParameters) -> Self {
        Self {
            persistency: parameters.persistency,
            // Flags and Mask come together or not at all.
            flags: parameters.flags.unwrap_or(0),
            mask: parameters.mask.unwrap_or(0),
            marking_interval: parameters.marking_interval,
            congestion_threshold: parameters.congestion_threshold,
            mtu: parameters.mtu,
        }
    }
}
