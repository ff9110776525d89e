//! Loads of queues or members that a hash chooses, under one key and under many candidates at once.

mod function;
mod linear;
mod result;

pub use function::Function;
pub use result::{ImbalanceResult, KeyImbalance, Load};

use crate::error::{Error, ReadError, alike, within};
use crate::hasher::check;
use crate::keys::Keys;
use crate::sketch::Sketch;
use crate::wire::{MOST, Reader, SketchKind, Writer, total};
use core::fmt;
use hashlane_flow::ehash::SipHash13;
use hashlane_flow::rss::{CardKey, SYMMETRIC_KEY};
use hashlane_flow::shards::Shards;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use linear::Cards;
use std::sync::Arc;

/// Loads of `queues` queues, or members of a group, in packets and in bytes: under the key in use, key 0, and
/// under candidates 1, 2, ….
///
/// Rows are tuples of the packets in network order: source address, destination address, source port,
/// destination port. A row of 36 bytes has IPv6 addresses, IPv4-mapped ones for IPv4; one of 12 bytes has
/// IPv4 addresses. Exact sums. The bytes of the sketch hold the card's key of [`Function::Rss`], but no
/// candidate. Takes 16 bytes a queue and key, and for [`Function::Rss`] 1.1 KiB a key while it is updated; 2
/// to 18 bytes a queue and key when written.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_sketch::{Function, Imbalance, Keys};
///
/// let key = Key::new([7; 16]);
/// let mut loads = Imbalance::new(Function::SymmetricRss, 8, 100, &key)?;
/// // One elephant and 200 mice: source and destination addresses, and two ports.
/// let rows: Vec<u8> = (0..200_u16)
///     .flat_map(|port| [[10, 0, 0, 1, 10, 0, 0, 2, 1, 187].as_slice(), &port.to_be_bytes()].concat())
///     .collect();
/// let packets: Vec<u64> = (0..200).map(|row| if row == 0 { 50 } else { 1 }).collect();
/// loads.update(&Keys::rows(&rows, 12)?, Some(&packets), None)?;
///
/// let result = loads.result();
/// assert!(result.best.packets <= result.current.packets);
/// println!("the key of candidate {}: {:02x?}", result.best.number, loads.card_key(result.best.number)?);
/// # Ok::<(), hashlane_sketch::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Imbalance {
    function: Function,
    queues: usize,
    /// Candidates, key 0 not counted.
    candidates: usize,
    check: u64,
    /// Until the sketch is read from bytes; shared with clones.
    keys: Option<Arc<Candidates>>,
    /// Load of each queue under key 0, then under key 1, and so on.
    loads: Vec<Load>,
    /// Sum of the loads under each key.
    total: Load,
}

/// The key of the sketch, and what candidates need for updates.
#[derive(Clone)]
pub(crate) struct Candidates {
    key: Key,
    choice: Choice,
}

#[derive(Clone)]
enum Choice {
    Cards(Cards),
    Shards(Vec<Shards<SipHash13>>),
}

impl Candidates {
    fn new(function: &Function, queues: usize, candidates: usize, key: &Key) -> Self {
        let numbers = 0..=candidates as u64;
        let choice = match function {
            Function::Keyed => Choice::Shards(
                numbers.map(|number| Shards::new::<Tuple>(&hash_key(key, number), queues)).collect(),
            ),
            function => Choice::Cards(Cards::new(numbers.map(|number| function.card(key, number)), queues)),
        };
        Self { key: *key, choice }
    }
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Candidates(..)")
    }
}

/// Key `number` of a keyed hash.
fn hash_key(key: &Key, number: u64) -> Key {
    if number == 0 { *key } else { key.derive(b"imbalanc", number) }
}

impl Imbalance {
    /// Most loads: queues times keys. 64 MiB.
    pub const MOST_LOADS: usize = 1 << 22;

    /// Most candidates. Their tables take 75 MiB.
    pub const MOST_CANDIDATES: usize = 1 << 16;

    /// No load on `queues` queues, with as many candidate keys, derived from `key`. Queues: 1 to 128 for
    /// cards, to 65,536 for a keyed hash.
    ///
    /// # Errors
    /// A number is out of range.
    pub fn new(function: Function, queues: usize, candidates: usize, key: &Key) -> Result<Self, Error> {
        within("number of queues", queues as u64, 1, function.most_queues() as u64)?;
        within("number of candidates", candidates as u64, 0, Self::MOST_CANDIDATES as u64)?;
        let loads = queues * (candidates + 1);
        within("number of queues times keys", loads as u64, 1, Self::MOST_LOADS as u64)?;
        let keys = Some(Arc::new(Candidates::new(&function, queues, candidates, key)));
        let loads = vec![Load::default(); loads];
        let total = Load::default();
        Ok(Self { function, queues, candidates, check: check(key), keys, loads, total })
    }

    /// Gives a sketch that was read from bytes its key, so that it can be updated and tells its candidates.
    ///
    /// # Errors
    /// The sketch was made with another key.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        if check(key) != self.check {
            return Err(Error::WrongKey);
        }
        self.keys = Some(Arc::new(Candidates::new(&self.function, self.queues, self.candidates, key)));
        Ok(self)
    }

    /// Function that chooses the queue.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.queues
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Checks that the sketch can take so many more packets and bytes.
    ///
    /// # Errors
    /// A total would pass 2⁶³ − 1.
    pub fn check_room(&self, packets: u64, bytes: u64) -> Result<(), Error> {
        self.total.grown(Load { packets, bytes }).map(drop)
    }

    /// Adds packets: of each row as many as its place in `packets` has, or 1; with the bytes of all of them
    /// in `bytes`, or 0.
    ///
    /// # Errors
    /// The sketch has no key, rows are of another width, a column has more or fewer rows, or the total of
    /// packets or bytes would pass 2⁶³ − 1. The sketch then stays as it was.
    pub fn update(
        &mut self,
        rows: &Keys<'_>,
        packets: Option<&[u64]>,
        bytes: Option<&[u64]>,
    ) -> Result<(), Error> {
        packets.map_or(Ok(()), |packets| rows.check_rows("packets", packets.len()))?;
        bytes.map_or(Ok(()), |bytes| rows.check_rows("bytes", bytes.len()))?;
        let keys = self.check_rows(rows)?;
        let sum = |numbers: &[u64]| total(numbers.iter().copied());
        // No queue overflows, as the total does not.
        self.total = self
            .total
            .grown(Load { packets: packets.map_or(rows.len() as u64, sum), bytes: bytes.map_or(0, sum) })?;
        let load = |row| Load {
            packets: packets.map_or(1, |packets| packets.get(row).copied().unwrap_or(0)),
            bytes: bytes.map_or(0, |bytes| bytes.get(row).copied().unwrap_or(0)),
        };
        let rows: Vec<(Tuple, Load)> =
            rows.iter().enumerate().map(|(number, row)| (tuple(row), load(number))).collect();
        match &keys.choice {
            Choice::Cards(cards) => cards.add(&rows, &mut self.loads),
            Choice::Shards(shards) => {
                let tuples: Vec<Tuple> = rows.iter().map(|(tuple, _)| *tuple).collect();
                for (shards, loads) in shards.iter().zip(self.loads.chunks_mut(self.queues)) {
                    shards.shard_burst(&tuples, |row, shard| {
                        if let (Some(load), Some((_, by))) = (loads.get_mut(shard), rows.get(row)) {
                            load.add(*by);
                        }
                    });
                }
            }
        }
        Ok(())
    }

    /// Checks that the sketch has its key, and rows a width that it takes.
    pub(crate) fn check_rows(&self, rows: &Keys<'_>) -> Result<Arc<Candidates>, Error> {
        let keys = self.keys.clone().ok_or(Error::NoKey)?;
        match rows.iter().find(|row| ![Tuple::LEN, V4_LEN].contains(&row.len())) {
            Some(row) => Err(Error::Width { width: row.len(), expected: Tuple::LEN }),
            None => Ok(keys),
        }
    }

    /// Packets and bytes of all queues.
    pub(crate) fn total(&self) -> Load {
        self.total
    }

    /// Load of each queue under key `number`, or nothing beyond the candidates.
    pub fn loads(&self, number: u64) -> &[Load] {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_mul(self.queues));
        let loads = at.and_then(|at| self.loads.get(at..at.checked_add(self.queues)?));
        loads.unwrap_or_default()
    }

    /// Key `number` of a card, for `ethtool -X … hkey`.
    ///
    /// # Errors
    /// The sketch has no key, or no key has this number.
    pub fn card_key(&self, number: u64) -> Result<CardKey, Error> {
        within("number of the key", number, 0, self.candidates as u64)?;
        Ok(self.function.card(&self.keys.as_ref().ok_or(Error::NoKey)?.key, number))
    }

    /// Key `number` of a keyed hash.
    ///
    /// # Errors
    /// The sketch has no key, or no key has this number.
    pub fn hash_key(&self, number: u64) -> Result<Key, Error> {
        within("number of the key", number, 0, self.candidates as u64)?;
        Ok(hash_key(&self.keys.as_ref().ok_or(Error::NoKey)?.key, number))
    }

    /// The imbalance under each key.
    pub fn result(&self) -> ImbalanceResult {
        let imbalance =
            |(number, loads): (u64, &[Load])| KeyImbalance { number, ..KeyImbalance::from_loads(loads) };
        let keys: Vec<_> = (0..).zip(self.loads.chunks(self.queues)).map(imbalance).collect();
        let current = keys.first().copied().unwrap_or(KeyImbalance { number: 0, packets: 1.0, bytes: 1.0 });
        let less = |a: &&KeyImbalance, b: &&KeyImbalance| {
            a.packets.total_cmp(&b.packets).then(a.bytes.total_cmp(&b.bytes)).then(a.number.cmp(&b.number))
        };
        let best = keys.iter().min_by(less).copied().unwrap_or(current);
        let mut others: Vec<f64> = keys.iter().skip(1).map(|key| key.packets).collect();
        others.sort_unstable_by(f64::total_cmp);
        let median = others.get(others.len() / 2).copied().unwrap_or(current.packets);
        ImbalanceResult { total: self.total, current, best, median, keys }
    }
}

/// Bytes of a row with IPv4 addresses.
const V4_LEN: usize = 12;

/// The tuple of a row, source first.
fn tuple(row: &[u8]) -> Tuple {
    if let (V4_LEN, Some([a, b, c, d, e, f, g, h, i, j, k, l])) = (row.len(), row.first_chunk()) {
        let ports = [[*i, *j], [*k, *l]].map(u16::from_be_bytes);
        return Tuple::v4([*a, *b, *c, *d].into(), ports[0], [*e, *f, *g, *h].into(), ports[1]);
    }
    Tuple::from_bytes(row.first_chunk().unwrap_or(&[0; Tuple::LEN]))
}

impl Sketch for Imbalance {
    const KIND: SketchKind = SketchKind::Imbalance;

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        alike("function", self.function.to_string(), other.function.to_string())?;
        let card = |function: &Function| match function {
            Function::Rss(card) => card.iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => String::new(),
        };
        alike("key of the card", card(&self.function), card(&other.function))?;
        alike("number of queues", self.queues, other.queues)?;
        alike("number of candidates", self.candidates, other.candidates)?;
        alike("key", format!("{:016x}", self.check), format!("{:016x}", other.check))?;
        self.total = self.total.grown(other.total)?;
        for (load, more) in self.loads.iter_mut().zip(&other.loads) {
            load.add(*more);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        to.byte(self.function.number());
        if let Function::Rss(card) = &self.function {
            to.bytes(card);
        }
        to.word(self.check);
        to.number(self.queues as u64);
        to.number(self.candidates as u64);
        for load in &self.loads {
            to.count(load.packets);
            to.count(load.bytes);
        }
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let at = from.at();
        let function = match from.byte()? {
            0 => Function::Rss(*from.bytes(size_of::<CardKey>())?.first_chunk().unwrap_or(&SYMMETRIC_KEY)),
            1 => Function::SymmetricRss,
            2 => Function::Keyed,
            _ => return Err(ReadError::Field { field: "function", at }),
        };
        let (check, at) = (from.word()?, from.at());
        let queues = from.number("number of queues", function.most_queues() as u64)? as usize;
        let candidates = from.number("number of candidates", Self::MOST_CANDIDATES as u64)? as usize;
        let number = queues * (candidates + 1);
        // Each load takes two bytes at least.
        if number == 0 || number > Self::MOST_LOADS || number > from.left() / 2 {
            return Err(ReadError::Field { field: "number of queues or candidates", at });
        }
        let at = from.at();
        let mut loads = Vec::with_capacity(number);
        for _ in 0..number {
            loads.push(Load { packets: from.count("packets")?, bytes: from.count("bytes")? });
        }
        from.finish()?;
        // Each key spreads the same packets.
        let total = Load::sum(loads.get(..queues).unwrap_or_default());
        let differs = |loads: &[Load]| Load::sum(loads) != total;
        if total.packets > MOST || total.bytes > MOST || loads.chunks(queues).any(differs) {
            return Err(ReadError::Field { field: "total of the loads", at });
        }
        Ok(Self { function, queues, candidates, check, keys: None, loads, total })
    }
}

#[cfg(test)]
mod tests;
