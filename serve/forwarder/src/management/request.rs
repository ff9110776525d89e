//! Requests to the forwarding thread, and its reports.

use super::face_info::{FaceInfo, FaceOptions};
use super::origin::Peer;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, FaceUri};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::Forwarder;
use hashlane_ndn_fw::learning::{Announcement, Reported};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Strategy;
use hashlane_ndn_fw::trace::{Sampling, Trace};
use std::net::SocketAddr;

/// Most packets that one request erases, so that it takes the forwarding thread a moment.
pub(super) const ERASE_LIMIT: usize = 256;

/// The forwarding thread, as management sees it.
pub trait Plane {
    /// Hands over a request, and returns at once.
    fn request(&mut self, request: Request);

    /// True while so many requests wait that management makes only the changes that commands ask for.
    fn is_busy(&self) -> bool {
        false
    }
}

/// A request to the forwarding thread. Each takes it a moment, however large the tables are.
#[derive(Debug)]
pub enum Request {
    /// Changes a table of the forwarder.
    Table(TableRequest),
    /// Opens, changes or closes a face.
    Face(FaceRequest),
    /// Forwards an answer of management: Data, or a link packet with a Nack.
    Data(Vec<u8>),
    /// Forwards an Interest of management. Its answer is reported, if one arrives.
    Interest(Vec<u8>),
    /// Asks for [`Report::Echo`], which shows that the thread makes progress.
    Echo,
}

/// A change of a table of the forwarder.
#[derive(Clone, Debug)]
pub enum TableRequest {
    /// Adds a next hop to the FIB, or changes its cost.
    AddNextHop {
        /// Prefix of the FIB entry.
        prefix: OwnedName<Ndn>,
        /// Face of the next hop.
        face: u64,
        /// Cost of the next hop.
        cost: u64,
    },
    /// Removes a next hop from the FIB.
    RemoveNextHop {
        /// Prefix of the FIB entry.
        prefix: OwnedName<Ndn>,
        /// Face of the next hop.
        face: u64,
    },
    /// Sets the announcement of the route of a prefix over a face; `None` removes it.
    Announce {
        /// The prefix.
        prefix: OwnedName<Ndn>,
        /// Face of the route.
        face: u64,
        /// The announcement.
        announcement: Option<Announcement>,
    },
    /// Sets the strategy of the names below a prefix; `None` unsets it.
    ChooseStrategy {
        /// The prefix.
        prefix: OwnedName<Ndn>,
        /// The strategy.
        strategy: Option<Strategy>,
    },
    /// Configures the content store.
    ConfigureCs(CsConfig),
    /// Erases packets below a prefix from the content store. The response is reported.
    Erase {
        /// The prefix.
        prefix: OwnedName<Ndn>,
        /// Most packets to erase.
        limit: usize,
        /// Command that the response answers.
        ticket: Ticket,
    },
    /// Starts a trace.
    StartTrace(Trace),
    /// Stops the trace of this number.
    StopTrace(u64),
    /// Samples the names of packets.
    Sample(Sampling),
}

/// A request about a face.
#[derive(Debug)]
pub enum FaceRequest {
    /// Opens a face. The outcome is reported.
    Create {
        /// Command that the outcome answers.
        ticket: Ticket,
        /// UDP or TCP.
        protocol: Protocol,
        /// Address of the peer.
        remote: SocketAddr,
        /// Options of the command.
        options: FaceOptions,
    },
    /// Opens the face of a host on the Ethernet of an interface. The outcome is reported.
    CreateEther {
        /// Command that the outcome answers.
        ticket: Ticket,
        /// Address of the host.
        remote: [u8; 6],
        /// Name of the interface.
        interface: String,
        /// Options of the command.
        options: FaceOptions,
    },
    /// Changes options of a face.
    Update {
        /// The face.
        face: u64,
        /// Options of the command.
        options: FaceOptions,
    },
    /// Closes a face.
    Destroy {
        /// The face.
        face: u64,
    },
}

/// A report of the forwarding thread.
#[derive(Debug)]
pub enum Report {
    /// An Interest for management.
    Interest {
        /// Face that it came from.
        face: u64,
        /// The packet.
        packet: Vec<u8>,
    },
    /// An event of a learned route.
    Route(Reported),
    /// A link packet that answers an Interest of management: Data, or a Nack.
    Answer(Vec<u8>),
    /// A face was opened.
    FaceUp {
        /// The face.
        info: Box<FaceInfo>,
        /// The party at its other end.
        peer: Peer,
    },
    /// A face was closed.
    FaceDown {
        /// The face.
        face: u64,
    },
    /// The connection of a face was lost, or made again.
    FaceLink {
        /// The face.
        face: u64,
        /// Local end of the new connection; `None` if it was lost.
        local: Option<FaceUri>,
    },
    /// Outcome of [`FaceRequest::Create`].
    FaceCreated {
        /// The command.
        ticket: Ticket,
        /// The outcome.
        outcome: FaceOutcome,
    },
    /// Response to a command, for the requests that give one.
    Response {
        /// The command.
        ticket: Ticket,
        /// The response.
        response: ControlResponse,
    },
    /// The answer to [`Request::Echo`].
    Echo,
    /// The forwarding thread has ended; with the error, if it failed.
    Ended(Option<String>),
}

impl TableRequest {
    /// Applies the change. Returns the report of its outcome, if there is one.
    pub(crate) fn apply<P: Pit>(self, forwarder: &mut Forwarder<P>) -> Option<Report> {
        match self {
            Self::AddNextHop { prefix, face, cost } => {
                forwarder.add_route(&prefix.view(), NextHop { face: face_id(face), cost });
            }
            Self::RemoveNextHop { prefix, face } => {
                // False if the face was closed meanwhile, and its next hops with it.
                let _ = forwarder.remove_route(&prefix.view(), face_id(face));
            }
            Self::Announce { prefix, face, announcement } => {
                forwarder.announce(&prefix.view(), face_id(face), announcement);
            }
            Self::ChooseStrategy { prefix, strategy: Some(strategy) } => {
                forwarder.set_strategy(&prefix.view(), strategy);
            }
            Self::ChooseStrategy { prefix, strategy: None } => {
                let was_set = forwarder.unset_strategy(&prefix.view());
                debug_assert!(was_set, "management unsets the strategies that it has set");
            }
            Self::ConfigureCs(CsConfig { capacity, admit, serve }) => {
                // A capacity that no address can hold is no limit.
                let packets = usize::try_from(capacity).unwrap_or(usize::MAX);
                let old = *forwarder.cs().config();
                forwarder.configure_cs(cs::Config { packets, admit, serve, ..old });
            }
            Self::Erase { prefix, limit, ticket } => {
                let count = forwarder.erase(&prefix.view(), limit);
                let response = erased(prefix, count, count == limit);
                return Some(Report::Response { ticket, response });
            }
            Self::StartTrace(trace) => {
                let is_started = forwarder.start_trace(trace);
                debug_assert!(is_started, "management has no more traces than a forwarder");
            }
            Self::StopTrace(id) => forwarder.stop_trace(id),
            Self::Sample(sampling) => forwarder.sample(Some(sampling)),
        }
        None
    }
}

/// Response to a command that has erased `count` packets. `limited` is true if there may be more.
pub(crate) fn erased(prefix: OwnedName<Ndn>, count: usize, limited: bool) -> ControlResponse {
    let body = ControlParameters {
        name: Some(prefix),
        count: Some(count as u64),
        // A capacity in the answer says that there may be more to erase.
        capacity: limited.then_some(ERASE_LIMIT as u64),
        ..ControlParameters::default()
    };
    ControlResponse::with(200, "OK", &body)
}

/// The face of this id. No face has an id beyond 32 bits.
pub(crate) fn face_id(id: u64) -> FaceId {
    u32::try_from(id).map_or(FaceId::NONE, FaceId)
}

/// Number that links a report to the command that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// Outcome of opening a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceOutcome {
    /// The face of this id was opened.
    Created(u64),
    /// The face of this id has the same peer.
    Exists(u64),
    /// No face was opened.
    Failed {
        /// Status code; 504 if the peer did not answer.
        code: u64,
        /// Text for people.
        text: String,
    },
}

impl FaceOutcome {
    /// The outcome when no further face may be opened.
    pub(crate) fn limit_reached() -> Self {
        Self::Failed { code: 504, text: "the forwarder has as many faces as it may have".into() }
    }
}

/// Settings of the content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsConfig {
    /// Most packets.
    pub capacity: u64,
    /// True if Data is stored.
    pub admit: bool,
    /// True if Interests are answered.
    pub serve: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::Key;
    use hashlane_ndn::time::Time;
    use hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader};
    use hashlane_ndn_fw::face::{Face, LinkType, Scope};
    use hashlane_ndn_fw::forward::{Burst, Output};
    use hashlane_ndn_fw::pit::ByName;

    struct Nowhere;

    impl Output for Nowhere {
        fn send(&mut self, _: FaceId, _: &LpHeader<'_>, _: &[u8]) {}
    }

    fn name(uri: &str) -> OwnedName<Ndn> {
        hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
    }

    #[test]
    fn erasing_responds_with_the_count_and_with_the_limit_while_there_is_more() {
        let config = hashlane_ndn_fw::forward::Config::default();
        let mut forwarder = Forwarder::with_pit(config, &Key::VECTOR, 7, ByName::default());
        let mut face = || forwarder.add_face(Face::new(Scope::Local, LinkType::PointToPoint));
        let (consumer, producer) = (face().expect("a face"), face().expect("a face"));
        forwarder.add_route(&name("/a").view(), NextHop { face: producer, cost: 0 });
        for number in 0..3 {
            let name = name(&format!("/a/{number}"));
            let interest = InterestBuilder { nonce: Some(number), ..InterestBuilder::new(name.view()) };
            let (interest, data) = (interest.build(), DataBuilder::new(name.view(), b"").build());
            let mut burst = Burst::new();
            assert!(burst.push(consumer, &interest).is_ok() && burst.push(producer, &data).is_ok());
            forwarder.receive_burst(&mut burst, Time::from_millis(1), &mut Nowhere);
        }
        let mut erase = |limit| {
            let request = TableRequest::Erase { prefix: name("/a"), limit, ticket: Ticket(1) };
            match request.apply(&mut forwarder) {
                Some(Report::Response { response, .. }) => {
                    let body = response.parameters().expect("well formed").expect("a body");
                    (response.code, body.count, body.capacity)
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(erase(2), (200, Some(2), Some(ERASE_LIMIT as u64)));
        assert_eq!(erase(2), (200, Some(1), None));
    }
}
