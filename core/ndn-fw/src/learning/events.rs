//! Events of learned routes, which leave the forwarder through a bounded queue.

use crate::face::FaceId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_table::share::Holder;

/// Most events that wait.
pub const MAX_EVENTS: usize = 64;

/// Most events of one holder that wait.
const MAX_OF_HOLDER: usize = 16;

/// Event of a route that was learned, or may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteEvent {
    /// Data that answered a discovery Interest has brought an announcement: a Data packet that announces a
    /// prefix of its name, and whose signature has not been verified.
    Announced(Box<[u8]>),
    /// Data has come over the learned route of this prefix.
    Used(OwnedName<Ndn>),
    /// The next hop of the learned route of this prefix has sent a Nack: it has no route.
    Broken(OwnedName<Ndn>),
}

/// Event with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Face of the route.
    pub face: FaceId,
    /// Holder of the face, to whose share the event is charged.
    pub holder: Holder,
    /// The event.
    pub event: RouteEvent,
}

/// Events that wait. A full queue drops new ones: an announcement comes again with the next Data, and the use
/// of a route with later Data.
#[derive(Clone, Debug, Default)]
pub struct RouteEvents(Vec<Reported>);

impl RouteEvents {
    /// True if no event waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an event, unless it waits already, or there are too many.
    pub(crate) fn add(&mut self, reported: Reported) {
        let of_holder = self.0.iter().filter(|other| other.holder == reported.holder).count();
        let has_room = self.0.len() < MAX_EVENTS && of_holder < MAX_OF_HOLDER;
        if has_room && !self.0.contains(&reported) {
            self.0.push(reported);
        }
    }

    /// Takes all events, in order.
    pub(crate) fn take(&mut self) -> Vec<Reported> {
        core::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_neighbour_leaves_room_for_the_events_of_others() {
        let mut events = RouteEvents::default();
        let mut add = |holder, byte| {
            let event = RouteEvent::Announced(Box::from([byte]));
            events.add(Reported { face: FaceId(256), holder: Holder::new(holder, true), event });
        };
        (0..100).for_each(|byte| add(1, byte));
        (0..100).for_each(|_| add(2, 7));
        let taken = events.take();
        assert_eq!(taken.len(), MAX_OF_HOLDER + 1, "an event that waits is not repeated");
        assert!(events.is_empty());
        for number in 0..1000 {
            let event = RouteEvent::Announced(Box::default());
            events.add(Reported { face: FaceId(256), holder: Holder::new(number, true), event });
        }
        assert_eq!(events.take().len(), MAX_EVENTS);
    }
}
