//! The pending Interest table in a forwarder, under each of its indexes: entries added, answered by Data, and
//! ended by time.
//!
//! Interests fill the table in the order of their numbers, over two seconds of the table's time. Data then
//! comes for entries in an order that has nothing to do with that, in blocks of 256; after each block as many
//! new Interests come, so that the table stays as full as it is. In the end time passes until all have ended.
//! All of it goes through the stages of the forwarder, in bursts of 16 packets; its store holds one packet,
//! so that the table has the cache for itself. Each answer is checked: Data must go to the one who asked, and
//! end one entry.

use super::stages::{self, PACKETS, Sink, StageCounts};
use crate::load::template::Template;
use crate::load::{Index, Names};
use hashlane_hash::scheme::Key;
use hashlane_lab::probe::counter;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DigestFunction, InterestBuilder, Label};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder, Part};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Packets of a block.
pub(crate) const BLOCK: usize = 256;

/// Lifetime of the entries, and over how long the first of them are added, in milliseconds.
const LIFETIME: u64 = 4000;
const FILL: u64 = 2000;

/// Work that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The PIT's part of the last stage for an Interest that has no entry and gets one.
    Insert,
    /// The PIT's part of the last stage for Data that satisfies one entry.
    Match,
    /// All stages for such an Interest.
    Interest,
    /// All stages for such Data.
    Data,
    /// The forwarder's turn, for an entry that has ended.
    Expire,
}

impl Operation {
    /// All of them, by the ids of workloads.
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("insert", Self::Insert),
        ("match", Self::Match),
        ("interest", Self::Interest),
        ("data", Self::Data),
        ("expire", Self::Expire),
    ];
}

/// Content of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filling {
    /// Entries that are there all the time.
    pub pending: usize,
    /// The names.
    pub names: Names,
    /// Adds an entry that can be a prefix at each length shorter than the names, of a name that no Data
    /// begins with: each is a length at which Data by its name alone must be looked for.
    pub prefixes: bool,
}

/// Counts of the counter for an operation, in the order of [`Operation::ALL`].
pub(crate) type Counts = [f64; Operation::ALL.len()];

/// Fills a table anew, and does `blocks` blocks of each operation on it; at last all entries expire. The
/// count of each operation is the median of its blocks, as some are disturbed; expiry is counted as a whole.
///
/// # Errors
/// The forwarder misbehaves.
pub(crate) fn turn(
    index: Index,
    filling: &Filling,
    blocks: usize,
    key: &Key,
    seed: u64,
) -> Result<Counts, String> {
    let digest = |satisfy| ByDigest::new(DigestFunction::Sha1, satisfy, key);
    match index {
        Index::Name => Turn::new(ByName::default(), filling, key, seed)?.run(blocks),
        Index::Token => Turn::new(ByToken::new(key, 0), filling, key, seed)?.run(blocks),
        Index::Digest => Turn::new(digest(Satisfy::All), filling, key, seed)?.run(blocks),
        Index::DigestOne => Turn::new(digest(Satisfy::One), filling, key, seed)?.run(blocks),
    }
}

/// A forwarder between one consumer and one producer, and the packets of a block.
struct Turn<P: Pit> {
    forwarder: Forwarder<P>,
    consumer: FaceId,
    producer: FaceId,
    template: Template,
    filling: Filling,
    packets: Vec<Vec<u8>>,
    /// The token or digest that went out with the Interest of each number.
    labels: Vec<Label>,
    /// Numbers of the first entries, in the order in which Data arrives.
    order: Vec<u32>,
    now: Time,
    plain: Sink,
    timed: Sink,
}

impl<P: Pit> Turn<P> {
    fn new(pit: P, filling: &Filling, key: &Key, seed: u64) -> Result<Self, String> {
        if filling.pending < 4 * BLOCK || filling.pending > 1 << 24 {
            return Err(format!("{} entries: a table must have 1024 to 2^24", filling.pending));
        }
        let template =
            Template::new(filling.names, 0, LIFETIME).ok_or("no packets have names of this shape")?;
        // A face gets no more than half of the table.
        let pit_entries = 3 * filling.pending + (1 << 17);
        let store = cs::Config { packets: 1, ..cs::Config::default() };
        let config = Config { pit_entries, cs: store, ..Config::default() };
        let mut forwarder = Forwarder::with_pit(config, key, seed, pit);
        let mut add = || stages::add_face(&mut forwarder).ok_or("too many faces");
        let (consumer, producer) = (add()?, add()?);
        let root = OwnedName::<Ndn>::from_components([]).map_err(|error| error.to_string())?;
        forwarder.add_route(&root.view(), NextHop { face: producer, cost: 0 });
        let mut order: Vec<u32> = (0..filling.pending as u32).collect();
        let mut random = SplitMix64::seed_from_u64(seed);
        for at in (1..order.len()).rev() {
            order.swap(at, random.next_u64() as usize % (at + 1));
        }
        Ok(Self {
            forwarder,
            consumer,
            producer,
            template,
            filling: *filling,
            packets: vec![Vec::new(); BLOCK],
            labels: Vec::with_capacity(filling.pending),
            order,
            now: Time::from_millis(1),
            plain: Sink::plain(),
            timed: Sink::timed(),
        })
    }

    fn run(mut self, blocks: usize) -> Result<Counts, String> {
        let pending = self.filling.pending;
        let others = if self.filling.prefixes { self.add_prefixes()? } else { 0 };
        let mut numbers: Vec<u32> = Vec::with_capacity(BLOCK);
        for first in (0..pending).step_by(BLOCK) {
            self.now = Time::from_millis(1 + FILL * first as u64 / pending as u64);
            numbers.clear();
            numbers.extend((first..(first + BLOCK).min(pending)).map(|number| number as u32));
            self.ask(false, &numbers)?;
        }
        let mut samples = [const { Vec::new() }; 4];
        let order = std::mem::take(&mut self.order);
        // Each of the first entries is looked up at most once.
        for (at, asked) in order.chunks_exact(BLOCK).take(2 * blocks).enumerate() {
            numbers.clear();
            numbers.extend((0..BLOCK).map(|new| (self.labels.len() + new) as u32));
            let [insert, matching, interest, data] = &mut samples;
            let per_packet = |count: u64| count as f64 / BLOCK as f64;
            if at % 2 == 0 {
                matching.push(per_packet(self.answer(true, asked)?.1));
                insert.push(per_packet(self.ask(true, &numbers)?.1));
            } else {
                data.push(per_packet(self.answer(false, asked)?.0.sum()));
                interest.push(per_packet(self.ask(false, &numbers)?.0.sum()));
            }
        }
        if self.forwarder.pit().len() != pending + others {
            return Err(format!("{} entries are left of {}", self.forwarder.pit().len(), pending + others));
        }
        let (count, ended) = self.expire();
        if ended != pending || self.forwarder.pit().len() != others {
            return Err(format!("{ended} of {pending} entries expired"));
        }
        let [insert, matching, interest, data] =
            samples.map(|samples| hashlane_stats::median(&samples).unwrap_or_default());
        Ok([insert, matching, interest, data, count as f64 / ended as f64])
    }

    /// Adds entries that can be a prefix and outlive all others; returns how many.
    fn add_prefixes(&mut self) -> Result<usize, String> {
        let components = self.filling.names.components;
        for len in 1..components {
            let parts: Vec<String> = (0..len).map(|at| format!("other-{at}")).collect();
            let parts = parts.iter().map(|part| Component::generic(part.as_bytes()));
            let name = OwnedName::<Ndn>::from_components(parts).map_err(|error| error.to_string())?;
            let builder = InterestBuilder {
                can_be_prefix: true,
                nonce: Some(0),
                lifetime: 100 * LIFETIME,
                ..InterestBuilder::new(name.view())
            };
            self.forwarder
                .receive_bytes(self.consumer, &builder.build(), self.now, &mut self.plain)
                .map_err(|why| why.name().to_owned())?;
        }
        Ok(components - 1)
    }

    /// Forwards the first `packets` packets from a face. Returns the cost of the stages, and the PIT's part
    /// of the last one if `is_timed`.
    fn forward(&mut self, is_timed: bool, from: FaceId, packets: usize) -> Result<Forwarded, String> {
        let Self { forwarder, packets: block, now, plain, timed, .. } = self;
        let block: Vec<_> = block.iter().take(packets).map(|packet| (from, packet.as_slice())).collect();
        forward_into(forwarder, &block, *now, if is_timed { timed } else { plain })
    }

    /// Adds the entries of these numbers, at most a block of them.
    fn ask(&mut self, is_timed: bool, numbers: &[u32]) -> Result<(StageCounts, u64), String> {
        let entries = self.forwarder.pit().len() + numbers.len();
        for (packet, number) in self.packets.iter_mut().zip(numbers) {
            packet.clear();
            packet.extend_from_slice(self.template.interest(u64::from(*number)));
        }
        let (counts, part, labels) = self.forward(is_timed, self.consumer, numbers.len())?;
        if self.forwarder.pit().len() != entries {
            return Err("an Interest has an entry already".into());
        }
        // Under the index by name there are no labels.
        self.labels.extend((0..numbers.len()).map(|at| labels.get(at).copied().unwrap_or(Label::NONE)));
        Ok((counts, part))
    }

    /// Forwards Data of these numbers, a block of them.
    fn answer(&mut self, is_timed: bool, numbers: &[u32]) -> Result<(StageCounts, u64), String> {
        let entries = self.forwarder.pit().len().saturating_sub(numbers.len());
        for (packet, number) in self.packets.iter_mut().zip(numbers) {
            packet.clear();
            let label = self.labels.get(*number as usize).map_or(&[][..], Label::as_bytes);
            let bytes = self.template.data(u64::from(*number));
            packet.extend_from_slice(stages::labelled(label).frame(bytes.len()).as_bytes());
            packet.extend_from_slice(bytes);
        }
        let (counts, part, _) = self.forward(is_timed, self.producer, numbers.len())?;
        match self.forwarder.pit().len() {
            left if left == entries => Ok((counts, part)),
            left => Err(format!("{left} entries are left, expected {entries}")),
        }
    }

    /// Lets time pass until the last of the entries has expired. Returns the cost and the number of entries.
    fn expire(&mut self) -> (u64, usize) {
        let last = Time::from_millis(2 * (FILL + LIFETIME));
        let before = self.forwarder.pit().len();
        let mut count = 0;
        while let Some(next) = self.forwarder.poll_timeout().filter(|next| *next <= last) {
            self.now = self.now.max(next);
            let start = counter::start();
            self.forwarder.handle_timeout(self.now);
            count += counter::stop().saturating_sub(start);
            // Advances past all entries due by now.
            self.now = Time(self.now.0 + 1_000_000);
        }
        (count, before - self.forwarder.pit().len())
    }
}

/// Costs of the stages, and of the PIT's part of the last one if that was timed; labels of the packets sent.
type Forwarded = (StageCounts, u64, Vec<Label>);

/// Forwards a block of packets into `sink`; fails unless one packet is sent for each.
fn forward_into<P: Pit>(
    forwarder: &mut Forwarder<P>,
    block: &[(FaceId, &[u8])],
    now: Time,
    sink: &mut Sink,
) -> Result<Forwarded, String> {
    let (packets, before) = (block.len() as u64, sink.packets);
    sink.clear();
    let counts = stages::run(forwarder, block, PACKETS, now, sink);
    let sent = sink.packets - before;
    if sent != packets {
        return Err(format!("{sent} packets were sent for {packets}"));
    }
    Ok((counts, sink.count(Part::Pit), sink.labels.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_finds_its_entry_alone_under_each_index() {
        for (_, index) in Index::ALL {
            for (components, prefixes) in [(4, false), (11, true)] {
                let names = Names { components, third_distinct: false };
                let filling = Filling { pending: 1024, names, prefixes };
                let counts = turn(index, &filling, 2, &Key::VECTOR, 7).unwrap();
                assert!(counts.iter().all(|count| *count > 0.0), "{index:?} {counts:?}");
            }
        }
    }

    const FILLING: Filling =
        Filling { pending: 1024, names: Names { components: 11, third_distinct: false }, prefixes: true };

    #[test]
    fn a_forwarder_that_does_something_else_fails_the_run() {
        let mut turn = Turn::new(ByName::default(), &FILLING, &Key::VECTOR, 7).unwrap();
        let numbers: Vec<u32> = (0..256).collect();
        turn.ask(false, &numbers).unwrap();
        assert_eq!(turn.ask(true, &numbers).unwrap_err(), "0 packets were sent for 256");
        turn.answer(true, &numbers).unwrap();
        assert_eq!(turn.answer(false, &numbers).unwrap_err(), "0 packets were sent for 256");
        let small = Filling { pending: 10, ..FILLING };
        assert!(super::turn(Index::Name, &small, 1, &Key::VECTOR, 7).unwrap_err().contains("1024"));
    }

    #[test]
    fn entries_that_can_be_a_prefix_stay() {
        let mut turn = Turn::new(ByName::default(), &FILLING, &Key::VECTOR, 7).unwrap();
        assert_eq!(turn.add_prefixes(), Ok(10));
        turn.ask(false, &[1, 2, 3]).unwrap();
        assert_eq!(turn.expire().1, 3);
        assert_eq!(turn.forwarder.pit().len(), 10);
    }
}
