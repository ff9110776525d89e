//! Exchanges through the stages of the forwarder, without I/O.
//!
//! Work is done in blocks: 256 Interests, as many as a load of 16 windows of 16 keeps unanswered, and then
//! the Data of all of them, in bursts of 16 packets of one face each, as the forwarder's process reads them.
//! Each stage is timed as a whole; the parts of the last one are timed in every other block, by readings of
//! the counter in between.

use super::stages::{self, PACKETS, Sink, StageCounts};
use crate::load::template::Template;
use crate::load::{Index, Names};
use hashlane_hash::scheme::Key;
use hashlane_lab::probe::counter;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DigestFunction, Interest, Label};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder, Part};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};

/// Exchanges of a block.
pub(crate) const BLOCK: usize = PAIRS * PACKETS;

/// Pairs of a consumer and a producer.
const PAIRS: usize = 16;

/// Ids of the timed parts: all stages, the first two of them, and the parts of the last.
pub(crate) const PARTS: [&str; 6] = ["whole", "decode", "prefetch", "store", "pit", "fib"];

/// Counts of the counter, of a block, in the order of [`PARTS`].
pub(crate) type Counts = [u64; PARTS.len()];

/// A forwarder of any index that does blocks.
pub(crate) trait Profile {
    /// Exchanges until the content store is full, which it is in a forwarder that has run for a while.
    fn exchanges_to_fill(&self) -> usize;

    /// Forwards two blocks, and times the stages of one and the parts of the other.
    ///
    /// # Errors
    /// The forwarder sends the wrong packets.
    fn block(&mut self) -> Result<Counts, String>;

    /// Fills the content store, by `most` exchanges at most.
    ///
    /// # Errors
    /// As [`block`](Self::block).
    fn fill(&mut self, most: usize) -> Result<(), String> {
        let exchanges = self.exchanges_to_fill().min(most);
        (0..exchanges.div_ceil(BLOCK)).try_for_each(|_| self.block().map(drop))
    }

    /// Counts of each part for an exchange, by so many blocks.
    ///
    /// # Errors
    /// As [`block`](Self::block).
    fn sample(&mut self, blocks: usize) -> Result<[f64; PARTS.len()], String> {
        let mut sum = Counts::default();
        for _ in 0..blocks {
            sum.iter_mut().zip(self.block()?).for_each(|(sum, count)| *sum += count);
        }
        Ok(sum.map(|sum| sum as f64 / (blocks * BLOCK) as f64))
    }
}

/// One whose PIT has this index, with a route to each producer; `None` for a shape that no workload has.
pub(crate) fn indexed(index: Index, names: Names, key: &Key) -> Option<Box<dyn Profile>> {
    let digest = |satisfy| ByDigest::new(DigestFunction::Sha1, satisfy, key);
    match index {
        Index::Name => boxed(index, names, key, ByName::default()),
        Index::Token => boxed(index, names, key, ByToken::new(key, 0)),
        Index::Digest => boxed(index, names, key, digest(Satisfy::All)),
        Index::DigestOne => boxed(index, names, key, digest(Satisfy::One)),
    }
}

// Each in a separate frame: they are large.
#[inline(never)]
fn boxed<P: Pit + 'static>(index: Index, names: Names, key: &Key, pit: P) -> Option<Box<dyn Profile>> {
    Some(Box::new(Exchanges::with(names, key, index.digests(), pit)?))
}

/// A forwarder, and the sink of its packets.
pub(crate) struct Exchanges<P = ByName> {
    block: Block<P>,
    plain: Sink,
    timed: Sink,
}

/// A forwarder, and the packets of a block.
struct Block<P> {
    templates: Vec<Template>,
    consumers: Vec<FaceId>,
    producers: Vec<FaceId>,
    forwarder: Forwarder<P>,
    /// The digest that neighbours send with an Interest, if they do.
    digests: Option<DigestFunction>,
    now: Time,
    next: u64,
    interests: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
}

impl Exchanges {
    /// By name, with a route to each producer; `None` for a shape that no workload has.
    pub(crate) fn new(names: Names, key: &Key) -> Option<Self> {
        Self::with(names, key, None, ByName::default())
    }
}

impl<P: Pit> Exchanges<P> {
    fn with(names: Names, key: &Key, digests: Option<DigestFunction>, pit: P) -> Option<Self> {
        let block = Block::new(names, key, digests, pit)?;
        Some(Self { block, plain: Sink::plain(), timed: Sink::timed() })
    }

    /// Forwards a block in bursts of `size` packets, and times the stage that decodes and hashes.
    ///
    /// # Errors
    /// As [`block`](Profile::block).
    pub(crate) fn decode(&mut self, size: usize) -> Result<u64, String> {
        Ok(self.block.exchange(size, &mut self.plain)?.decode)
    }
}

impl<P: Pit> Block<P> {
    fn new(names: Names, key: &Key, digests: Option<DigestFunction>, pit: P) -> Option<Self> {
        let templates: Vec<Template> =
            (0..PAIRS).map(|pair| Template::new(names, pair, 4000)).collect::<Option<_>>()?;
        let mut forwarder = Forwarder::with_pit(Config::default(), key, 1, pit);
        let (mut consumers, mut producers) = (Vec::new(), Vec::new());
        for template in &templates {
            for end in [&mut consumers, &mut producers] {
                end.push(stages::add_face(&mut forwarder)?);
            }
            forwarder.add_route(&template.prefix().view(), NextHop { face: *producers.last()?, cost: 0 });
        }
        Some(Self {
            templates,
            consumers,
            producers,
            forwarder,
            digests,
            now: Time::from_millis(1),
            next: 0,
            interests: vec![Vec::new(); BLOCK],
            data: vec![Vec::new(); BLOCK],
        })
    }

    /// The packets of the next block; the packets of a pair follow one another.
    fn prepare(&mut self) {
        self.now = Time(self.now.0 + 1_000_000);
        let Self { templates, interests, data, digests, next, .. } = self;
        let packets = interests.chunks_mut(PACKETS).zip(data.chunks_mut(PACKETS));
        for (template, (interests, data)) in templates.iter_mut().zip(packets) {
            for ((number, interest), data) in (*next..).zip(interests).zip(data) {
                interest.clear();
                let bytes = template.interest(number);
                // A template's packets are right.
                if let Some(function) = digests
                    && let Ok(parsed) = Interest::parse(bytes)
                {
                    let digest = function.digest(&parsed);
                    let header = stages::labelled(digest.as_bytes());
                    interest.extend_from_slice(header.frame(bytes.len()).as_bytes());
                }
                interest.extend_from_slice(bytes);
                data.clear();
                data.extend_from_slice(template.data(number));
            }
        }
        self.next += PACKETS as u64;
    }

    /// Puts the labels of the Interests on their Data, as producers do.
    fn label_data(&mut self, labels: &[Label]) {
        for (label, data) in labels.iter().zip(&mut self.data) {
            let header = stages::labelled(label.as_bytes());
            data.splice(..0, header.frame(data.len()).as_bytes().iter().copied());
        }
    }

    /// Forwards a block in bursts of `size` packets. The turn at its end counts as part of the last stage.
    fn exchange(&mut self, size: usize, sink: &mut Sink) -> Result<StageCounts, String> {
        self.prepare();
        let sent = sink.packets;
        sink.clear();
        let packets = of_faces(&self.interests, &self.consumers);
        let mut counts = stages::run(&mut self.forwarder, &packets, size, self.now, sink);
        self.label_data(&sink.labels);
        let packets = of_faces(&self.data, &self.producers);
        counts.add(stages::run(&mut self.forwarder, &packets, size, self.now, sink));
        let start = counter::start();
        self.forwarder.handle_timeout(self.now);
        counts.act += counter::stop().saturating_sub(start);
        match sink.packets - sent {
            sent if sent == 2 * BLOCK as u64 => Ok(counts),
            sent => Err(format!("{sent} packets were sent for {BLOCK} exchanges")),
        }
    }
}

/// Packets with their ingress faces, [`PACKETS`] from each.
fn of_faces<'p>(packets: &'p [Vec<u8>], faces: &[FaceId]) -> Vec<(FaceId, &'p [u8])> {
    let faces = faces.iter().flat_map(|face| [*face; PACKETS]);
    faces.zip(packets.iter().map(Vec::as_slice)).collect()
}

impl<P: Pit> Profile for Exchanges<P> {
    fn exchanges_to_fill(&self) -> usize {
        self.block.forwarder.cs().config().packets
    }

    fn block(&mut self) -> Result<Counts, String> {
        let Self { block, plain, timed } = self;
        let stages = block.exchange(PACKETS, plain)?;
        block.exchange(PACKETS, timed)?;
        let [store, pit, fib] = [Part::Store, Part::Pit, Part::Fib].map(|part| timed.count(part));
        Ok([stages.sum(), stages.decode, stages.prefetch, store, pit, fib])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::wire::LpPacket;

    #[test]
    fn each_block_is_forwarded_and_each_part_is_timed() {
        for names in
            [Names { components: 4, third_distinct: false }, Names { components: 11, third_distinct: true }]
        {
            let mut forwarding = Exchanges::new(names, &Key::VECTOR).unwrap();
            for _ in 0..3 {
                let counts = forwarding.block().unwrap();
                assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
            }
            for size in [1, 16, 64] {
                assert!(forwarding.decode(size).unwrap() > 0);
            }
            assert_eq!(forwarding.block.forwarder.cs().len(), 9 * BLOCK);
            assert!(forwarding.block.forwarder.pit().is_empty());
        }
    }

    #[test]
    fn every_index_does_the_same_and_labels_come_back() {
        let names = Names { components: 11, third_distinct: false };
        for (_, index) in Index::ALL {
            let mut forwarding = indexed(index, names, &Key::VECTOR).unwrap();
            assert!(forwarding.block().unwrap().iter().all(|count| *count > 0), "{index:?}");
        }
        let mut by_token = Exchanges::with(names, &Key::VECTOR, None, ByToken::new(&Key::VECTOR, 0)).unwrap();
        by_token.block().unwrap();
        assert_eq!(by_token.timed.labels.len(), BLOCK);
        let first = LpPacket::parse(&by_token.block.data[0]).unwrap();
        assert_eq!(first.header.pit_token, by_token.timed.labels[0].as_bytes());
    }
}
