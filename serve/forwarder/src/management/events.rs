//! The stream of face events.

use super::face_info::FaceInfo;
use super::reply::{FRESHNESS, Reply};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEQUENCE_NUM};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::FaceEventNotification;
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::mgmt::values::FaceEventKind;
use hashlane_ndn::wire::{DataBuilder, Interest};
use std::collections::VecDeque;

/// Events that are kept for late Interests.
const BACKLOG: usize = 256;

/// Events, numbered from 0.
#[derive(Default)]
pub(super) struct Events {
    /// Number of the next event.
    next: u64,
    /// The last events: time, and Data packet.
    recent: VecDeque<(u64, Vec<u8>)>,
}

impl Events {
    /// Adds an event. Returns its Data packet, which answers the Interests that wait for it in the PIT.
    pub(super) fn post(&mut self, kind: FaceEventKind, face: &FaceInfo, now: u64) -> Option<Vec<u8>> {
        let event = FaceEventNotification {
            kind,
            face_id: face.id,
            uri: face.remote.to_string(),
            local_uri: face.local.to_string(),
            scope: face.scope,
            persistency: face.persistency,
            link_type: face.link_type,
            flags: face.flags,
        };
        let components = [&b"localhost"[..], b"nfd", b"faces", b"events"].map(Component::generic);
        let stream = OwnedName::<Ndn>::from_components(components);
        let name = stream.and_then(|stream| with_number(stream.view(), SEQUENCE_NUM, self.next));
        let name = name.ok().invariant("the name of an event is short")?;
        let content = event.to_bytes();
        let data = DataBuilder { freshness: Some(FRESHNESS), ..DataBuilder::new(name.view(), &content) };
        let packet = data.build();
        self.next += 1;
        if self.recent.len() == BACKLOG {
            self.recent.pop_front();
        }
        self.recent.push_back((now, packet.clone()));
        Some(packet)
    }

    /// Answers an Interest for an event. With a number it is for that event; without, for the last event
    /// while that is fresh, and else for the next. An Interest for one of the next [`BACKLOG`] events waits
    /// in the PIT.
    pub(super) fn answer(&self, interest: &Interest<'_>, now: u64) -> Reply {
        let mut rest = interest.name().components().skip(Target::LEN);
        match (rest.next(), rest.next()) {
            (None, _) if interest.can_be_prefix() => {
                let last = self.recent.back().filter(|(at, _)| now.saturating_sub(*at) < FRESHNESS);
                last.map_or(Reply::Later, |(_, packet)| Reply::Data(packet.clone()))
            }
            (Some(component), None) => {
                let Some(wanted) = number(component, SEQUENCE_NUM) else { return Reply::Nothing };
                match wanted.checked_sub(self.next) {
                    Some(ahead) if ahead < BACKLOG as u64 => Reply::Later,
                    Some(_) => Reply::Nothing,
                    None => self.past(wanted).into(),
                }
            }
            _ => Reply::Nothing,
        }
    }

    /// Packet of an event that has happened, unless too many came after it.
    fn past(&self, number: u64) -> Option<Vec<u8>> {
        let behind = usize::try_from(self.next.checked_sub(number)?).ok()?;
        let index = self.recent.len().checked_sub(behind)?;
        self.recent.get(index).map(|(_, packet)| packet.clone())
    }
}
