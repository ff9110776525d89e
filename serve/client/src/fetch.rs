//! Retrieval of objects that are divided into segments.
//!
//! ```text
//! object    = Data /<name>/v=<version>/seg=0, …/seg=1, …, the last one named by FinalBlockId
//! metadata  = Data /<name>/32=metadata/v=<version>/seg=0, its content the name with the version
//! ```
//! Sources: NDN Naming Conventions revision 3; RDR, Realtime Data Retrieval (NDN-0027).

mod error;
mod options;

pub use error::FetchError;
pub use options::{Discovery, FetchOptions, Progress};

use crate::client::{Client, Express};
use crate::message::Outcome;
use crate::nonce::random_nonce;
use crate::packet::{ExpressError, OwnedData, is_application_nack};
use crate::window::{RoundTrip, Window};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, KEYWORD, SEGMENT, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::tlv::{self, WireError};
use hashlane_ndn::wire::{InterestBuilder, NackReason};
use std::collections::{BTreeMap, HashMap};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// Value of the keyword component in names of metadata.
pub const METADATA: &[u8] = b"metadata";

/// Most segments that are requested beyond the next one to deliver.
const AHEAD: u64 = 2048;

/// A fetch in progress.
pub struct Fetch {
    client: Client,
    options: FetchOptions,
    /// Name of the segments, without their number.
    base: OwnedName<Ndn>,
    /// The next segment to deliver, and the next one to request for the first time.
    next_out: u64,
    next_sent: u64,
    /// Number of segments, once it is known.
    end: Option<u64>,
    ready: BTreeMap<u64, OwnedData>,
    /// Segments to retransmit, with the times that each was sent.
    lost: BTreeMap<u64, u32>,
    in_flight: HashMap<u64, InFlight>,
    /// Number of the next Interest.
    next_number: u64,
    sink: mpsc::UnboundedSender<(u64, Outcome)>,
    /// At most as many answers as there are Interests in flight.
    answers: mpsc::UnboundedReceiver<(u64, Outcome)>,
    window: Window,
    round_trip: RoundTrip,
    progress: Progress,
}

struct InFlight {
    segment: u64,
    since: Instant,
    /// Times that the segment was requested, this one included.
    sent: u32,
}

impl Client {
    /// Discovers the version of an object. [`Fetch::next`] then returns its segments.
    ///
    /// # Errors
    /// There is no answer, or none with a version.
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
                // A producer without metadata may not answer, or with other Data.
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
            lost: BTreeMap::new(),
            in_flight: HashMap::new(),
            next_number: 0,
            sink,
            answers,
            window: Window::new(options.max_in_flight),
            round_trip: RoundTrip::new(),
            progress: Progress::default(),
            options,
        }
    }

    /// Completes the fetch of an object of one packet.
    fn with_single(mut self, data: OwnedData) -> Self {
        self.count(&data);
        self.ready.insert(0, data);
        self.end = Some(1);
        self
    }

    /// Name of the object with its version.
    pub fn name(&self) -> NdnName<'_> {
        self.base.view()
    }

    /// Progress so far.
    pub fn progress(&self) -> Progress {
        let (window, round_trip) = (self.window.size(), self.round_trip.smoothed());
        Progress { total: self.end, window, round_trip, ..self.progress }
    }

    /// The next segment in order; `None` after the last.
    ///
    /// # Errors
    /// A segment did not come, or was refused. The fetch cannot go on.
    pub async fn next(&mut self) -> Result<Option<OwnedData>, FetchError> {
        loop {
            if let Some(data) = self.ready.remove(&self.next_out) {
                self.next_out += 1;
                return Ok(Some(data));
            }
            if self.end.is_some_and(|end| self.next_out >= end) {
                return Ok(None);
            }
            while self.in_flight.len() < self.window.size() {
                let Some((segment, sent)) = self.next_to_send() else { break };
                self.send(segment, sent + 1).await?;
            }
            let closed = FetchError::Express(ExpressError::Closed);
            let (number, outcome) = self.answers.recv().await.ok_or(closed)?;
            self.handle_answer(number, outcome).await?;
        }
    }

    /// The next segment to request, and the times that it was before.
    fn next_to_send(&mut self) -> Option<(u64, u32)> {
        if let Some(lost) = self.lost.pop_first() {
            return Some(lost);
        }
        loop {
            let segment = self.next_sent;
            if self.end.is_some_and(|end| segment >= end) || segment >= self.next_out + AHEAD {
                return None;
            }
            self.next_sent += 1;
            // The segment of the discovery is there already.
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
        self.in_flight.insert(number, InFlight { segment, since: Instant::now(), sent });
        let wait = self.round_trip.timeout();
        let sent = self.client.express_numbered(interest.build(), wait, number, &self.sink).await;
        sent.map_err(FetchError::Express)
    }

    async fn handle_answer(&mut self, number: u64, outcome: Outcome) -> Result<(), FetchError> {
        let Some(in_flight) = self.in_flight.remove(&number) else { return Ok(()) };
        let segment = in_flight.segment;
        match outcome {
            Ok(data) => {
                // An answer after a retransmission may be that to the first Interest (Karn's algorithm).
                if in_flight.sent == 1 {
                    self.round_trip.add_sample(in_flight.since.elapsed());
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
            // Segments past the end may have been requested before it was known.
            Err(_) if self.end.is_some_and(|end| segment >= end) => Ok(()),
            Err(error @ (ExpressError::Timeout { .. } | ExpressError::Nack(_))) => {
                if in_flight.sent > self.options.retries {
                    return Err(FetchError::Segment { segment, sent: in_flight.sent, error });
                }
                let is_timeout = matches!(error, ExpressError::Timeout { .. });
                if self.cut(number) && is_timeout {
                    self.round_trip.back_off();
                }
                if error == ExpressError::Nack(NackReason::NO_ROUTE) {
                    // The producer may be reconnecting.
                    sleep(self.round_trip.timeout()).await;
                }
                self.progress.retransmissions += 1;
                self.lost.insert(segment, in_flight.sent);
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
        self.progress.bytes += data.view().content().len() as u64;
    }

    fn take(&mut self, segment: u64, data: OwnedData) -> Result<(), FetchError> {
        let view = data.view();
        if is_application_nack(&view) {
            return Err(FetchError::Absent { name: view.name().to_string() });
        }
        if let Some(last) = view.final_block().and_then(|last| number(last, SEGMENT)) {
            let end = last.saturating_add(1);
            if let Some(old) = self.end.replace(end)
                && old < end
            {
                // Segments past the earlier end were not kept, or not requested again.
                self.next_sent = self.next_sent.min(old);
            }
        }
        if segment >= self.next_out && self.end.is_none_or(|end| segment < end) {
            self.count(&data);
            self.ready.insert(segment, data);
        }
        Ok(())
    }
}
