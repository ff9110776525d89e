//! Objects that are divided into segments.
//!
//! ```text
//! object    = Data /<name>/v=<version>/seg=0, …/seg=1, …, the last one named by FinalBlockId
//! metadata  = Data /<name>/32=metadata/v=<version>/seg=0, its content the name with the version
//! ```
//! Sources: NDN Naming Conventions revision 3; RDR, Realtime Data Retrieval (NDN-0027).

use crate::client::{Client, Express};
use crate::driver::{Outcome, random_nonce};
use crate::packet::{ExpressError, OwnedData, Validate, intact, is_application_nack};
use crate::window::{RoundTrip, Window};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, KEYWORD, SEGMENT, VERSION};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::tlv::{self, WireError};
use hashlane_ndn::wire::{InterestBuilder, NackReason};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// Value of the keyword component that metadata is asked for with.
pub const METADATA: &[u8] = b"metadata";

/// Segments that may have come before one that is waited for.
const AHEAD: u64 = 2048;

/// How the version of an object is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// The name may have a version or be that of one segment; else metadata are asked for, and where there are none, any Data below the name.
    #[default]
    Auto,
    /// By metadata.
    Metadata,
    /// By any fresh Data below the name.
    Prefix,
    /// The name has the version, or there is none.
    None,
}

/// How an object is fetched.
#[derive(Clone)]
pub struct FetchOptions {
    /// How its version is found.
    pub discovery: Discovery,
    /// The lifetime of Interests, in milliseconds; also how long the answers that tell the version are waited for.
    pub lifetime: u64,
    /// How often the Interest for a segment is sent again.
    pub retries: u32,
    /// Interests that are under way at the most.
    pub most: usize,
    /// What Data is accepted.
    pub validate: Arc<Validate<'static>>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            discovery: Discovery::Auto,
            lifetime: 4000,
            retries: 15,
            most: 512,
            validate: Arc::new(intact),
        }
    }
}

/// How far a fetch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Segments that came.
    pub segments: u64,
    /// Octets of content in them.
    pub octets: u64,
    /// Segments of the object, once one has told.
    pub total: Option<u64>,
    /// Interests that were sent again.
    pub sent_again: u64,
    /// How often the congestion window was cut.
    pub cuts: u64,
    /// Interests that may be under way now.
    pub window: usize,
    /// The estimated round-trip time.
    pub round_trip: Option<Duration>,
}

/// An object that is being fetched.
pub struct Fetch {
    client: Client,
    options: FetchOptions,
    /// The name before the number of the segment.
    base: OwnedName<Ndn>,
    /// The segment that comes out next, and the one that was never asked for.
    next_out: u64,
    next_sent: u64,
    /// How many segments there are.
    end: Option<u64>,
    ready: BTreeMap<u64, OwnedData>,
    /// What to send again, and how often it was sent.
    again: BTreeMap<u64, u32>,
    under_way: HashMap<u64, UnderWay>,
    /// The number of the next Interest.
    next_number: u64,
    sink: mpsc::UnboundedSender<(u64, Outcome)>,
    /// As many answers as there are Interests under way, at the most.
    answers: mpsc::UnboundedReceiver<(u64, Outcome)>,
    window: Window,
    round_trip: RoundTrip,
    progress: Progress,
}

struct UnderWay {
    segment: u64,
    since: Instant,
    /// How often it was sent, this time included.
    sent: u32,
}

impl Client {
    /// Finds the version of an object. [`Fetch::next`] then brings its segments.
    ///
    /// # Errors
    /// There is no answer, or none that tells a version.
    pub async fn fetch(&self, name: NdnName<'_>, options: FetchOptions) -> Result<Fetch, FetchError> {
        let last = name.components().last().map(|component| component.typ);
        match (options.discovery, last) {
            (Discovery::Auto, Some(SEGMENT)) => {
                let data = self.ask(name, false, false, 3, &options).await?;
                Ok(Fetch::new(self, OwnedName::from(&name), options).with_single(data))
            }
            (Discovery::None, _) | (Discovery::Auto, Some(VERSION)) => {
                Ok(Fetch::new(self, OwnedName::from(&name), options))
            }
            (Discovery::Metadata, _) => self.fetch_by_metadata(name, 3, options).await,
            (Discovery::Prefix, _) => self.fetch_by_prefix(name, options).await,
            (Discovery::Auto, _) => match self.fetch_by_metadata(name, 1, options.clone()).await {
                // Who has no metadata may not answer, or answer with something else.
                Err(FetchError::Express(ExpressError::Closed)) => {
                    Err(FetchError::Express(ExpressError::Closed))
                }
                Err(_) => self.fetch_by_prefix(name, options).await,
                found => found,
            },
        }
    }

    async fn fetch_by_metadata(
        &self,
        name: NdnName<'_>,
        retries: u32,
        options: FetchOptions,
    ) -> Result<Fetch, FetchError> {
        let metadata = Component { typ: KEYWORD, value: METADATA };
        let asked = OwnedName::<Ndn>::from_components(name.components().chain([metadata]));
        let asked = asked.map_err(FetchError::Name)?;
        let data = self.ask(asked.view(), true, true, retries, &options).await?;
        let data = data.view();
        let first = tlv::Elements::new(data.content()).next().map_err(FetchError::Metadata)?;
        let first = first.and_then(|element| data.content().get(..element.end()));
        match NdnName::parse(first.unwrap_or_default()) {
            Ok(versioned) => Ok(Fetch::new(self, OwnedName::from(&versioned), options)),
            Err(error) => Err(FetchError::Metadata(WireError::Name { at: 0, error })),
        }
    }

    async fn fetch_by_prefix(&self, name: NdnName<'_>, options: FetchOptions) -> Result<Fetch, FetchError> {
        let data = self.ask(name, true, true, 1, &options).await?;
        let found = data.view().name();
        let Some(segment) = found.components().last().and_then(|last| number(last, SEGMENT)) else {
            return Ok(Fetch::new(self, OwnedName::from(&found), options).with_single(data));
        };
        let before = found.components().take(found.len() - 1);
        let base = OwnedName::from_components(before).map_err(FetchError::Name)?;
        let mut fetch = Fetch::new(self, base, options);
        fetch.take(segment, data)?;
        Ok(fetch)
    }

    async fn ask(
        &self,
        name: NdnName<'_>,
        can_be_prefix: bool,
        must_be_fresh: bool,
        retries: u32,
        options: &FetchOptions,
    ) -> Result<OwnedData, FetchError> {
        let lifetime = options.lifetime;
        let interest =
            InterestBuilder { can_be_prefix, must_be_fresh, lifetime, ..InterestBuilder::new(name) };
        let how = Express { retries, validate: &*options.validate, wait: None };
        self.express(&interest, &how).await.map_err(FetchError::Express)
    }
}

impl Fetch {
    fn new(client: &Client, base: OwnedName<Ndn>, options: FetchOptions) -> Self {
        let (sink, answers) = mpsc::unbounded_channel();
        Self {
            client: client.clone(),
            base,
            next_out: 0,
            next_sent: 0,
            end: None,
            ready: BTreeMap::new(),
            again: BTreeMap::new(),
            under_way: HashMap::new(),
            next_number: 0,
            sink,
            answers,
            window: Window::new(options.most),
            round_trip: RoundTrip::new(),
            progress: Progress::default(),
            options,
        }
    }

    /// The object is this one packet.
    fn with_single(mut self, data: OwnedData) -> Self {
        self.count(&data);
        self.ready.insert(0, data);
        self.end = Some(1);
        self
    }

    /// The name with the version, before the number of the segment.
    pub fn name(&self) -> NdnName<'_> {
        self.base.view()
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let (window, round_trip) = (self.window.size(), self.round_trip.smoothed());
        Progress { total: self.end, window, round_trip, ..self.progress }
    }

    /// The next segment, in their order; `None` after the last.
    ///
    /// # Errors
    /// A segment did not come, or was refused. The fetch is then over.
    pub async fn next(&mut self) -> Result<Option<OwnedData>, FetchError> {
        loop {
            if let Some(data) = self.ready.remove(&self.next_out) {
                self.next_out += 1;
                return Ok(Some(data));
            }
            if self.end.is_some_and(|end| self.next_out >= end) {
                return Ok(None);
            }
            while self.under_way.len() < self.window.size() {
                let Some((segment, sent)) = self.next_to_send() else { break };
                self.send(segment, sent + 1).await?;
            }
            let closed = FetchError::Express(ExpressError::Closed);
            let (number, outcome) = self.answers.recv().await.ok_or(closed)?;
            self.answered(number, outcome).await?;
        }
    }

    /// A segment to ask for, and how often it was before.
    fn next_to_send(&mut self) -> Option<(u64, u32)> {
        if let Some(again) = self.again.pop_first() {
            return Some(again);
        }
        loop {
            let segment = self.next_sent;
            if self.end.is_some_and(|end| segment >= end) || segment >= self.next_out + AHEAD {
                return None;
            }
            self.next_sent += 1;
            // The one that told the version has come already.
            if segment >= self.next_out && !self.ready.contains_key(&segment) {
                return Some((segment, 0));
            }
        }
    }

    async fn send(&mut self, segment: u64, sent: u32) -> Result<(), FetchError> {
        let name = with_number(self.base.view(), SEGMENT, segment).map_err(FetchError::Name)?;
        let interest = InterestBuilder {
            nonce: Some(random_nonce()),
            lifetime: self.options.lifetime,
            ..InterestBuilder::new(name.view())
        };
        let number = self.next_number;
        self.next_number += 1;
        self.under_way.insert(number, UnderWay { segment, since: Instant::now(), sent });
        let wait = self.round_trip.timeout();
        let sent = self.client.express_numbered(interest.build(), wait, number, &self.sink).await;
        sent.map_err(FetchError::Express)
    }

    async fn answered(&mut self, number: u64, outcome: Outcome) -> Result<(), FetchError> {
        let Some(under_way) = self.under_way.remove(&number) else { return Ok(()) };
        let segment = under_way.segment;
        match outcome {
            Ok(data) => {
                // An answer to one that was sent twice may be that to the first.
                if under_way.sent == 1 {
                    self.round_trip.take(under_way.since.elapsed());
                }
                if data.congested() {
                    self.cut(number);
                } else {
                    self.window.grow();
                }
                let valid = (self.options.validate)(&data.view());
                valid.map_err(|rule| FetchError::Express(ExpressError::Invalid(rule)))?;
                self.take(segment, data)
            }
            // Segments behind the end may have been asked for before it was known.
            Err(_) if self.end.is_some_and(|end| segment >= end) => Ok(()),
            Err(error @ (ExpressError::Timeout { .. } | ExpressError::Nack(_))) => {
                if under_way.sent > self.options.retries {
                    return Err(FetchError::Segment { segment, sent: under_way.sent, error });
                }
                let is_timeout = matches!(error, ExpressError::Timeout { .. });
                if self.cut(number) && is_timeout {
                    self.round_trip.back_off();
                }
                if error == ExpressError::Nack(NackReason::NO_ROUTE) {
                    // The producer may be connecting again.
                    sleep(self.round_trip.timeout()).await;
                }
                self.progress.sent_again += 1;
                self.again.insert(segment, under_way.sent);
                Ok(())
            }
            Err(error) => Err(FetchError::Express(error)),
        }
    }

    fn cut(&mut self, number: u64) -> bool {
        let cut = self.window.cut(number, self.next_number);
        self.progress.cuts += u64::from(cut);
        cut
    }

    fn count(&mut self, data: &OwnedData) {
        self.progress.segments += 1;
        self.progress.octets += data.view().content().len() as u64;
    }

    fn take(&mut self, segment: u64, data: OwnedData) -> Result<(), FetchError> {
        let view = data.view();
        if is_application_nack(&view) {
            return Err(FetchError::Absent { name: view.name().to_string() });
        }
        if let Some(last) = view.final_block().and_then(|last| number(last, SEGMENT)) {
            self.end = Some(last.saturating_add(1));
        }
        if segment >= self.next_out && self.end.is_none_or(|end| segment < end) {
            self.count(&data);
            self.ready.insert(segment, data);
        }
        Ok(())
    }
}

/// Why an object could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// An Interest brought nothing.
    Express(ExpressError),
    /// A segment did not come.
    Segment {
        /// Its number.
        segment: u64,
        /// How often it was asked for.
        sent: u32,
        /// The last reason.
        error: ExpressError,
    },
    /// The producer says that there is no such object.
    Absent {
        /// The name of the Data that says so.
        name: String,
    },
    /// Metadata that do not name a version.
    Metadata(WireError),
    /// The name has no room for the number of a segment.
    Name(BuildError),
    /// It is a dataset of this module, which the forwarder gives on its own host only: nothing was asked.
    NotLocal {
        /// The module.
        module: String,
    },
    /// The object has too many octets for what it is.
    TooLong {
        /// Octets that it may have.
        most: usize,
    },
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Express(error) => error.fmt(f),
            Self::Segment { segment, sent, error } => {
                write!(f, "segment {segment} did not come, asked for {sent} times: {error}")
            }
            Self::Absent { name } => write!(f, "the producer says that there is no {name}"),
            Self::Metadata(error) => write!(f, "the metadata do not name a version: {error}"),
            Self::Name(error) => error.fmt(f),
            Self::NotLocal { module } => crate::management::write_not_local(f, module),
            Self::TooLong { most } => write!(f, "the object has more than {most} octets"),
        }
    }
}

impl Error for FetchError {}
