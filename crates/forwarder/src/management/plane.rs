//! What management asks of the forwarding threads.

use super::StrategyInstance;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::mgmt::{ControlParameters, FaceUri};

/// The forwarding threads, as management sees them. Every method returns at once.
pub trait Plane {
    /// Puts a next hop into the FIB, or changes its cost.
    fn route(&mut self, prefix: NdnName<'_>, face: u64, cost: u64);

    /// Takes a next hop out of the FIB.
    fn unroute(&mut self, prefix: NdnName<'_>, face: u64);

    /// Gives the names below `prefix` a strategy, or that of the prefix above.
    ///
    /// # Errors
    /// What is wrong with the parameters of the strategy.
    fn strategy(&mut self, prefix: NdnName<'_>, strategy: Option<&StrategyInstance>) -> Result<(), String>;

    /// Makes a face. What comes of it is told by [`Manager::face_created`](super::Manager::face_created).
    fn create_face(
        &mut self,
        ticket: Ticket,
        remote: &FaceUri,
        local: Option<&FaceUri>,
        options: &FaceOptions,
    );

    /// Changes a face.
    fn update_face(&mut self, face: u64, options: &FaceOptions);

    /// Closes a face.
    fn destroy_face(&mut self, face: u64);

    /// Configures the content store.
    fn cs(&mut self, config: CsConfig);

    /// Erases at most `limit` packets below `prefix` from the content store. What comes of it is told by
    /// [`Manager::erased`](super::Manager::erased).
    fn erase(&mut self, prefix: NdnName<'_>, limit: u64, ticket: Ticket);
}

/// By which an answer finds its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// What a command says about a face; nothing where it leaves something as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceOptions {
    /// When the face goes away.
    pub persistency: Option<FacePersistency>,
    /// [`FACE_LOCAL_FIELDS`](hashlane_ndn::mgmt::values::FACE_LOCAL_FIELDS) and the others.
    pub flags: u64,
    /// Which of the flags are meant.
    pub mask: u64,
    /// How long the queue may be over its threshold before packets are marked, in nanoseconds.
    pub marking_interval: Option<u64>,
    /// Octets in the queue from which the face is congested.
    pub congestion_threshold: Option<u64>,
    /// Largest link packet, in octets.
    pub mtu: Option<u64>,
}

impl FaceOptions {
    pub(super) fn of(parameters: &ControlParameters) -> Self {
        Self {
            persistency: parameters.persistency,
            flags: parameters.flags.unwrap_or(0),
            mask: parameters.mask.unwrap_or(0),
            marking_interval: parameters.marking_interval,
            congestion_threshold: parameters.congestion_threshold,
            mtu: parameters.mtu,
        }
    }
}

/// What came of making a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceOutcome {
    /// It was made.
    Created(u64),
    /// There is one already.
    Exists(u64),
    /// There is none: with a status code, 504 where nobody answered, and a text.
    Failed {
        /// The code.
        code: u64,
        /// The text.
        text: String,
    },
}

impl FaceOutcome {
    /// The outcome when no further face may be opened.
    pub(crate) fn limit_reached() -> Self {
        Self::Failed { code: 504, text: "there are as many faces as there may be".into() }
    }
}

/// How the content store is to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsConfig {
    /// Packets that it may hold.
    pub capacity: u64,
    /// Whether Data is put in.
    pub admit: bool,
    /// Whether Data is taken out.
    pub serve: bool,
}
