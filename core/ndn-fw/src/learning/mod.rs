//! Routes that forwarding learns from prefix announcements.
//!
//! An announcement is a signed Data packet by which a producer states that it serves a prefix. The management
//! verifies it and makes the route; the forwarder keeps the [`Announcements`] of routes, attaches them to
//! Data that answers discovery Interests, and reports [`RouteEvent`]s.
//!
//! Source: NDNLPv2, PrefixAnnouncement and NonDiscovery; Shi, Newberry, Zhang: "On Broadcast-based
//! Self-Learning in Named Data Networking", IFIP Networking 2017.

mod announcements;
mod events;

pub use announcements::{Announcement, Announcements};
pub use events::{MAX_EVENTS, Reported, RouteEvent, RouteEvents};

/// Longest announcement that is sent with Data, in bytes: the first fragment on a link with the MTU of an
/// Ethernet has room for it.
pub const MAX_ANNOUNCEMENT: usize = 1024;

/// Interval between two reports that a learned route is used, in milliseconds.
pub(crate) const RENEWAL: u64 = 60_000;
