//! Properties of the client's fetch, for a forwarder that loses, delays, repeats, damages and makes up
//! packets: the segments come in order and as they were published, and the fetch ends.
//!
//! The clock of the runtime stands still, and jumps while everybody waits.

use crate::steps::Steps;
use hashlane_client::{Client, Discovery, FetchError, FetchOptions, METADATA, Transport};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, KEYWORD, SEGMENT, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{DataBuilder, Interest, LpHeader, LpPacket, NackReason};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::timeout;

/// Retransmissions of an Interest.
const RETRIES: u32 = 2;

/// Interests in flight.
const IN_FLIGHT: usize = 6;

/// Segments that a fetch requests beyond the next one to deliver.
const AHEAD: u64 = 2048;

/// Longest time of a fetch, by the clock that jumps.
const HOUR: Duration = Duration::from_secs(3600);

/// A published object.
struct Object {
    /// Its name with the version.
    name: OwnedName<Ndn>,
    segments: Vec<Vec<u8>>,
}

impl Object {
    fn new(segments: usize) -> Self {
        let name = with_number(uri("/o").view(), VERSION, 1).expect("a short name");
        Self { name, segments: (0..segments).map(|number| vec![number as u8; number % 7 + 1]).collect() }
    }

    /// A segment; `end` is the number of the last one that it states.
    fn segment(&self, segment: u64, end: u64) -> Option<Vec<u8>> {
        let content = self.segments.get(usize::try_from(segment).ok()?)?;
        let name = with_number(self.name.view(), SEGMENT, segment).ok()?;
        let last = with_number(self.name.view(), SEGMENT, end).ok()?;
        let final_block = last.view().components().last();
        Some(
            DataBuilder { final_block, freshness: Some(1), ..DataBuilder::new(name.view(), content) }.build(),
        )
    }

    /// The Data that answers an Interest.
    fn answer(&self, interest: &Interest<'_>, end: u64) -> Option<Vec<u8>> {
        let name = interest.name();
        let last = name.components().last()?;
        if (last.typ, last.value) == (KEYWORD, METADATA) {
            let versioned = with_number(name, VERSION, 1).ok()?;
            let first = with_number(versioned.view(), SEGMENT, 0).ok()?;
            return Some(DataBuilder::new(first.view(), self.name.as_bytes()).build());
        }
        match number(last, SEGMENT) {
            Some(segment) => self.segment(segment, end),
            // Any segment answers an Interest for the object.
            None if interest.can_be_prefix() => self.segment(end.min(self.segments.len() as u64 - 1), end),
            None => None,
        }
    }
}

/// Acts of the forwarder so far.
#[derive(Debug, Default)]
struct Acts {
    /// Interests received, and those for each name.
    interests: usize,
    sent: BTreeMap<Vec<u8>, u32>,
    /// True after an answer that no honest producer gives.
    lied: bool,
}

fn uri(text: &str) -> OwnedName<Ndn> {
    parse_uri(text.as_bytes()).expect("a name")
}

/// Fetches an object from a forwarder that answers as the steps say, and rightly after the last one.
pub fn check_fetch(octets: &[u8]) {
    let mut steps = Steps(octets);
    let (how, count) = (steps.octet(), usize::from(steps.octet()) % 60 + 1);
    let object = Object::new(count);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let acts = RefCell::new(Acts::default());
    runtime.expect("a runtime").block_on(async {
        let (near, far) = duplex(1 << 12);
        let nowhere = Transport::Unix("/nonexistent/forwarder.sock".into());
        let client = Client::over(near, &nowhere);
        let serving = async {
            serve(far, &object, steps, &acts).await;
            pending::<()>().await;
        };
        tokio::select! {
            () = serving => {}
            ended = timeout(HOUR, fetch(&client, &object, how, &acts)) => {
                assert!(ended.is_ok(), "a fetch without end");
            }
        }
    });
}

/// Fetches the object, and checks each segment.
async fn fetch(client: &Client, object: &Object, how: u8, acts: &RefCell<Acts>) {
    let (name, discovery) = match how & 3 {
        0 => (object.name.clone(), Discovery::Auto),
        1 => (uri("/o"), Discovery::Metadata),
        2 => (uri("/o"), Discovery::Prefix),
        _ => (uri("/o"), Discovery::Auto),
    };
    let options = FetchOptions {
        discovery,
        lifetime: 100,
        retries: RETRIES,
        max_in_flight: IN_FLIGHT,
        ..FetchOptions::default()
    };
    let mut fetch = match client.fetch(name.view(), options).await {
        Ok(fetch) => fetch,
        Err(error) => return check_error(&error),
    };
    let mut delivered = 0;
    let outcome = loop {
        match fetch.next().await {
            Ok(Some(data)) => {
                let data = data.view();
                let expected = with_number(fetch.name(), SEGMENT, delivered).expect("a short name");
                let is_object = fetch.name() == object.name.view();
                assert!(is_object || acts.borrow().lied, "an object of another name");
                if is_object {
                    assert_eq!(data.name(), expected.view(), "a segment out of order");
                    let content = object.segments.get(delivered as usize);
                    assert_eq!(content.map(Vec::as_slice), Some(data.content()));
                }
                delivered += 1;
                let progress = fetch.progress();
                assert!(progress.window <= IN_FLIGHT && progress.segments >= delivered);
                assert!(progress.total.is_none_or(|total| delivered <= total) || acts.borrow().lied);
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        assert!(delivered <= AHEAD, "segments without end");
    };
    let (interests, lied) = {
        let acts = acts.borrow();
        (acts.interests as u64, acts.lied)
    };
    let limit = (object.segments.len() as u64 + AHEAD) * u64::from(RETRIES + 1);
    assert!(interests < limit, "Interests without end");
    match outcome {
        Ok(()) => {
            let all = object.segments.len() as u64;
            assert!(delivered == all || lied, "{delivered} of {all} segments");
            assert!(matches!(fetch.next().await, Ok(None)), "the end stays");
        }
        Err(error) => {
            if let FetchError::Segment { sent, .. } = error {
                assert_eq!(sent, RETRIES + 1);
            }
            check_error(&error);
        }
    }
}

fn check_error(error: &FetchError) {
    assert!(!error.to_string().is_empty());
}

/// Answers Interests until the connection is closed, by either end.
async fn serve(mut stream: DuplexStream, object: &Object, mut steps: Steps<'_>, acts: &RefCell<Acts>) {
    let (mut bytes, mut chunk, mut delayed) = (Vec::new(), [0; 4096], Vec::new());
    while let Ok(count) = stream.read(&mut chunk).await
        && count > 0
    {
        bytes.extend_from_slice(&chunk[..count]);
        while let Some(len) = tlv::frame(&bytes).expect("packets of the client")
            && len as usize <= bytes.len()
        {
            let packet: Vec<u8> = bytes.drain(..len as usize).collect();
            let packet = LpPacket::parse(&packet).expect("a packet of the client");
            let interest = Interest::parse(packet.fragment).expect("a client that asks");
            count_interest(&interest, &mut acts.borrow_mut());
            let Some(answers) = act(&interest, object, &mut steps, &mut acts.borrow_mut(), &mut delayed)
            else {
                return;
            };
            for answer in answers {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn count_interest(interest: &Interest<'_>, acts: &mut Acts) {
    assert!(interest.nonce().is_some() && interest.lifetime() == 100);
    acts.interests += 1;
    let sent = acts.sent.entry(interest.name().as_bytes().to_vec()).or_default();
    *sent += 1;
    // A discovery may ask for a segment by its name, too.
    assert!(*sent <= 2 * (RETRIES + 3), "an Interest is sent without end");
}

/// The packets that one step sends for an Interest; `None` if it closes the connection.
fn act(
    interest: &Interest<'_>,
    object: &Object,
    steps: &mut Steps<'_>,
    acts: &mut Acts,
    delayed: &mut Vec<Vec<u8>>,
) -> Option<Vec<Vec<u8>>> {
    let step = steps.octet();
    let last = object.segments.len() as u64 - 1;
    let with_header =
        |header: LpHeader<'_>, packet: &[u8]| [header.wrapped(packet.len()).as_bytes(), packet].concat();
    let nack = |reason| {
        let header = LpHeader { nack: Some(NackReason(reason)), ..LpHeader::default() };
        with_header(header, interest.as_bytes())
    };
    let right = || object.answer(interest, last).unwrap_or_else(|| nack(150));
    Some(match step & 15 {
        0..=6 => vec![right()],
        7 => Vec::new(),
        8 => vec![nack([0, 50, 100, 150][usize::from(step >> 6)])],
        9 => vec![right(), right()],
        10 => {
            delayed.push(right());
            let late = if step & 16 == 0 { Vec::new() } else { std::mem::take(delayed) };
            late.into_iter().rev().collect()
        }
        11 => {
            acts.lied = true;
            let mut answer = right();
            let at = usize::from(steps.octet()) * answer.len() / 256;
            // The first bytes frame the stream.
            if at > 8 {
                answer[at] ^= 1 << (step >> 5);
            }
            vec![answer]
        }
        12 => {
            acts.lied = true;
            let name = if step & 16 == 0 { uri("/o/other") } else { parent(interest.name()) };
            vec![DataBuilder::new(name.view(), b"foreign").build()]
        }
        13 => {
            acts.lied = true;
            let ends = [0, last / 2, last + 1, u64::MAX];
            vec![object.answer(interest, ends[usize::from(step >> 6)]).unwrap_or_else(right)]
        }
        14 => {
            acts.lied = true;
            let data =
                DataBuilder { content_type: APPLICATION_NACK, ..DataBuilder::new(interest.name(), b"") };
            vec![data.build()]
        }
        _ if step & 16 == 0 => {
            let header = LpHeader { congestion_mark: 1, ..LpHeader::default() };
            vec![object.answer(interest, last).map_or_else(right, |data| with_header(header, &data))]
        }
        _ if step & 32 == 0 => {
            acts.lied = true;
            vec![steps.octets(usize::from(step >> 6) * 8).to_vec(), right()]
        }
        _ => return None,
    })
}

/// The name without its last component.
fn parent(name: NdnName<'_>) -> OwnedName<Ndn> {
    let parts: Vec<Component<'_>> = name.components().take(name.len().saturating_sub(1)).collect();
    OwnedName::from_components(parts).expect("a part of a name")
}
