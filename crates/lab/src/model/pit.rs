//! The pending Interest table alone, under each of its indexes: entries added, matched by Data and taken out, and ended by time.
//!
//! The table is filled in the order of numbers, over two seconds of its own time. Data then comes for entries in an order that has nothing
//! to do with that, in blocks of 256; after each block as many new entries are added, so that the table stays as full as it is. In the end
//! time passes until all have ended. Packets are parsed, names of Interests hashed and digests computed before anything is timed. Each
//! answer is checked: Data must find the one entry of its Interest, and no other.

use super::memory::body;
use crate::load::template::Template;
use crate::load::{Index, Names};
use crate::probe::counter;
use hash::scheme::Key;
use name::build::OwnedName;
use name::component::Component;
use name::ndn::Ndn;
use ndn::face::{FaceId, Scope};
use ndn::hashed::{HashedName, NameHasher};
use ndn::pit::{
    ByDigest, ByName, ByToken, DigestFunction, Hop, InRecord, Label, OutRecord, Pit, PitToken, Satisfy,
};
use ndn::time::Time;
use ndn::wire::{Check, Data, Interest, InterestBuilder, NameReader};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

/// Packets of a block.
pub const BLOCK: usize = 256;

/// Lifetime of the entries, and over how long the first of them are added, in milliseconds.
const LIFETIME: u64 = 4000;
const FILL: u64 = 2000;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An Interest that has no entry gets one, with a record in each direction.
    Insert,
    /// Data finds its entry, which is taken out. All hashes of its name are at hand, as they are in the forwarder, whose parser leaves
    /// them.
    Match,
    /// The same, with the walk that checks the name of the Data; and where the index needs the hashes of its prefixes, they are made in
    /// that walk.
    MatchHashing,
    /// An entry that has ended is found and taken out.
    Expire,
}

impl Operation {
    /// All of them, by the ids of workloads.
    pub const ALL: [(&'static str, Self); 4] = [
        ("insert", Self::Insert),
        ("match", Self::Match),
        ("match-hashing", Self::MatchHashing),
        ("expire", Self::Expire),
    ];
}

/// What is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Entries that are there all the time.
    pub pending: usize,
    /// The names.
    pub names: Names,
    /// Whether besides there is an entry that can be a prefix at each length below that of the names, of a name that no Data begins with:
    /// each is a length at which Data by its name alone must be looked for.
    pub prefixes: bool,
}

/// Counts of the counter for an operation, in the order of [`Operation::ALL`].
pub type Counts = [f64; Operation::ALL.len()];

/// Fills a table anew, and does `blocks` blocks of each operation on it; entries are ended all. For each operation but the last the count
/// is the median of the blocks', as others disturb some of them; what ends is counted as a whole.
///
/// # Errors
/// The table does not do what it should.
pub fn turn(index: Index, filling: &Filling, blocks: usize, key: &Key, seed: u64) -> Result<Counts, String> {
    let digest = |satisfy| ByDigest::new(DigestFunction::Sha1, satisfy, key);
    match index {
        Index::Name => Turn::new(ByName::default(), false, filling, key, seed)?.run(blocks),
        Index::Token => Turn::new(ByToken::new(key, 0), true, filling, key, seed)?.run(blocks),
        Index::Digest => Turn::new(digest(Satisfy::All), true, filling, key, seed)?.run(blocks),
        Index::DigestOne => Turn::new(digest(Satisfy::One), true, filling, key, seed)?.run(blocks),
    }
}

/// A table, and the packets of a block.
struct Turn<P: Pit> {
    pit: P,
    /// Whether Data is found by what its header says.
    labelled: bool,
    template: Template,
    hasher: NameHasher,
    filling: Filling,
    packets: Vec<Vec<u8>>,
    hashes: Vec<u64>,
    /// What came back with the Interest of each number.
    labels: Vec<Label>,
    /// The numbers of the first entries, in the order in which Data comes.
    order: Vec<u32>,
    now: Time,
}

const DOWNSTREAM: FaceId = FaceId(FaceId::FIRST);
const UPSTREAM: FaceId = FaceId(FaceId::FIRST + 1);

impl<P: Pit> Turn<P> {
    fn new(pit: P, labelled: bool, filling: &Filling, key: &Key, seed: u64) -> Result<Self, String> {
        if filling.pending < 2 * BLOCK || filling.pending > 1 << 24 {
            return Err(format!("{} entries: a table has 512 to 2^24 here", filling.pending));
        }
        let template =
            Template::new(filling.names, 0, LIFETIME).ok_or("no packets have names of this shape")?;
        let mut order: Vec<u32> = (0..filling.pending as u32).collect();
        let mut random = SplitMix64::seed_from_u64(seed);
        for at in (1..order.len()).rev() {
            order.swap(at, random.next_u64() as usize % (at + 1));
        }
        Ok(Self {
            pit,
            labelled,
            template,
            hasher: NameHasher::new(key),
            filling: *filling,
            packets: vec![Vec::new(); BLOCK],
            hashes: Vec::new(),
            labels: Vec::with_capacity(filling.pending),
            order,
            now: Time::from_millis(1),
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
            self.insert(&numbers)?;
        }
        let mut samples = [const { Vec::new() }; 3];
        let order = std::mem::take(&mut self.order);
        // Of those there from the beginning each is asked for once at the most.
        for (at, asked) in order.chunks_exact(BLOCK).take(2 * blocks).enumerate() {
            let hashing = at % 2 == 1;
            let [insert, given, hashed] = &mut samples;
            let to = if hashing { hashed } else { given };
            to.push(self.matches(asked, hashing)? as f64 / BLOCK as f64);
            numbers.clear();
            numbers.extend((0..BLOCK).map(|new| (self.labels.len() + new) as u32));
            insert.push(self.insert(&numbers)? as f64 / BLOCK as f64);
        }
        if self.pit.len() != pending + others {
            return Err(format!("{} entries are left of {}", self.pit.len(), pending + others));
        }
        let (count, ended) = self.expire();
        if ended != pending || self.pit.len() != others {
            return Err(format!("{ended} of {pending} entries ended"));
        }
        let [insert, given, hashed] =
            samples.map(|samples| crate::stats::median(&samples).unwrap_or_default());
        Ok([insert, given, hashed, count as f64 / ended as f64])
    }

    /// Entries that can be a prefix, which outlive all; how many.
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
            let octets = builder.build();
            let interest =
                Interest::parse_with(&octets, &mut self.hasher).map_err(|error| error.to_string())?;
            let name = HashedName { components: body(interest.name_octets()), hashes: self.hasher.hashes() };
            let mark = self.pit.mark(&interest, Hop::default()).map_err(|why| format!("{why:?}"))?;
            self.pit.insert(&name, &interest, mark, self.now.after_millis(100 * LIFETIME));
        }
        Ok(components - 1)
    }

    /// Adds the entries of these numbers, a block of them at the most; what that took.
    fn insert(&mut self, numbers: &[u32]) -> Result<u64, String> {
        let Self { pit, template, hasher, packets, hashes, labels, now, .. } = self;
        let now = *now;
        hashes.clear();
        for (packet, number) in packets.iter_mut().zip(numbers) {
            packet.clear();
            packet.extend_from_slice(template.interest(u64::from(*number)));
        }
        let mut asked = Vec::with_capacity(numbers.len());
        for packet in packets.iter().take(numbers.len()) {
            let interest = Interest::parse_with(packet, hasher).map_err(|error| error.to_string())?;
            let mark = pit.mark(&interest, Hop::default()).map_err(|why| format!("{why:?}"))?;
            asked.push((interest, mark));
            hashes.extend_from_slice(hasher.hashes());
        }
        let width = self.filling.names.components + 1;
        let names: Vec<HashedName<'_>> = asked
            .iter()
            .zip(hashes.chunks_exact(width))
            .map(|((interest, _), hashes)| HashedName { components: body(interest.name_octets()), hashes })
            .collect();
        let mut slots = Vec::with_capacity(numbers.len());
        let expires = now.after_millis(LIFETIME);
        let start = counter::start();
        for ((name, (interest, mark)), number) in names.iter().zip(&asked).zip(numbers) {
            pit.prefetch(name.hash(), mark);
            if black_box(pit.find(name, interest, mark)).is_some() {
                continue;
            }
            let slot = pit.insert(name, interest, *mark, expires);
            if let Some((_, records)) = pit.entry_mut(slot) {
                // The number stands for the Nonce, and tells later which entry was found.
                let (token, nonce) = (PitToken::NONE, *number);
                let (face, scope) = (DOWNSTREAM, Scope::NonLocal);
                records.ins.push(InRecord { face, scope, nonce, expires, token, hinted: None });
                let out = OutRecord { face: UPSTREAM, nonce, sent: now, expires, nack: None, suppression: 0 };
                records.outs.push(out);
            }
            slots.push(slot);
        }
        let count = counter::stop().saturating_sub(start);
        for slot in &slots {
            let hop = pit.upstream(*slot);
            labels.push(Label::new(if hop.token.is_empty() { hop.digest } else { hop.token }));
        }
        if slots.len() == numbers.len() { Ok(count) } else { Err("an Interest has an entry already".into()) }
    }

    /// Lets Data of these numbers, a block of them, come; what finding and taking out took. With `hashing` the names are walked anew.
    fn matches(&mut self, numbers: &[u32], hashing: bool) -> Result<u64, String> {
        let Self { pit, template, hasher, packets, hashes, labels, labelled, filling, .. } = self;
        hashes.clear();
        for (packet, number) in packets.iter_mut().zip(numbers) {
            packet.clear();
            packet.extend_from_slice(template.data(u64::from(*number)));
        }
        let mut answers = Vec::with_capacity(numbers.len());
        for packet in packets.iter().take(numbers.len()) {
            answers.push(Data::parse_with(packet, hasher).map_err(|error| error.to_string())?);
            hashes.extend_from_slice(hasher.hashes());
        }
        let width = filling.names.components + 1;
        let hops: Vec<Label> =
            numbers.iter().filter_map(|number| labels.get(*number as usize)).copied().collect();
        // Where all that is known of the table says that no other entry can match, an index by label looks at no hash: it is shown none.
        let needs_hashes = !*labelled || filling.prefixes;
        let none = vec![0; width];
        let (mut found, mut right) = (0, 0);
        let mut check = |pit: &mut P, name: &HashedName<'_>, answer: &Data<'_>, hop: &Label, number: u32| {
            // One is the token, the other the digest; which it is, its length and the index tell.
            let hop = Hop { token: hop.as_bytes(), digest: hop.as_bytes() };
            let matches = pit.matches(name, UPSTREAM, hop, || answer.implicit_digest(), |_| 0);
            for slot in matches.unwrap_or_default() {
                if let Some(gone) = pit.remove(slot) {
                    found += 1;
                    right +=
                        usize::from(gone.records.ins.first().is_some_and(|record| record.nonce == number));
                }
            }
        };
        let packets = answers.iter().zip(&hops).zip(numbers);
        let count = if hashing {
            let start = counter::start();
            for ((answer, hop), number) in packets {
                let octets = answer.name_octets();
                let hashes = if needs_hashes {
                    let _ = black_box(hasher.packet_name(octets));
                    hasher.hashes()
                } else {
                    let _ = black_box(Check.packet_name(octets));
                    &none
                };
                check(pit, &HashedName { components: body(octets), hashes }, answer, hop, *number);
            }
            counter::stop().saturating_sub(start)
        } else {
            let start = counter::start();
            for (((answer, hop), number), hashes) in packets.zip(hashes.chunks_exact(width)) {
                let name = HashedName { components: body(answer.name_octets()), hashes };
                check(pit, &name, answer, hop, *number);
            }
            counter::stop().saturating_sub(start)
        };
        if (found, right) == (BLOCK, BLOCK) {
            Ok(count)
        } else {
            Err(format!("{BLOCK} Data found {found} entries, {right} of them their own"))
        }
    }

    /// Lets time pass until the last of the entries has ended; what that took, and how many.
    fn expire(&mut self) -> (u64, usize) {
        let pit = &mut self.pit;
        let last = Time::from_millis(2 * (FILL + LIFETIME));
        let (mut count, mut ended) = (0, 0);
        while let Some(next) = pit.next_end().filter(|next| *next <= last) {
            self.now = self.now.max(next);
            let start = counter::start();
            while let Some(slot) = pit.ended(self.now) {
                ended += usize::from(black_box(pit.remove(slot)).is_some());
            }
            count += counter::stop().saturating_sub(start);
            // What is due no later than now has been looked at; the next is due later.
            self.now = Time(self.now.0 + 1_000_000);
        }
        (count, ended)
    }
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

    #[test]
    fn data_that_finds_another_entry_is_told_of() {
        let names = Names { components: 4, third_distinct: false };
        let filling = Filling { pending: 1024, names, prefixes: false };
        let mut turn = Turn::new(ByName::default(), false, &filling, &Key::VECTOR, 7).unwrap();
        let numbers: Vec<u32> = (0..256).collect();
        turn.insert(&numbers).unwrap();
        assert_eq!(turn.insert(&numbers).unwrap_err(), "an Interest has an entry already");
        turn.matches(&numbers, false).unwrap();
        assert_eq!(
            turn.matches(&numbers, false).unwrap_err(),
            "256 Data found 0 entries, 0 of them their own"
        );
    }

    #[test]
    fn entries_that_can_be_a_prefix_stay() {
        let names = Names { components: 11, third_distinct: false };
        let filling = Filling { pending: 512, names, prefixes: true };
        let mut turn = Turn::new(ByName::default(), false, &filling, &Key::VECTOR, 7).unwrap();
        assert_eq!(turn.add_prefixes(), Ok(10));
        turn.insert(&[1, 2, 3]).unwrap();
        assert_eq!(turn.expire().1, 3);
        assert_eq!(turn.pit.len(), 10);
    }

    #[test]
    fn refuses_tables_that_are_too_small() {
        let names = Names { components: 4, third_distinct: false };
        let filling = Filling { pending: 10, names, prefixes: false };
        assert!(turn(Index::Name, &filling, 1, &Key::VECTOR, 7).unwrap_err().contains("512"));
    }
}
