//! Population of name prefixes by depth.

mod memory;
mod result;

pub use memory::{FIB_ENTRY, Memory, PIT_ENTRY, fib, pit};
pub use result::{Depth, PrefixesResult};

use crate::distinct::precision;
use crate::error::{Error, ReadError, alike, within};
use crate::keyed::Keyed;
use crate::keys::Keys;
use crate::registers::{LEAST_PRECISION, Registers, standard_error};
use crate::sketch::Sketch;
use crate::wire::{Reader, SketchKind, Writer, grown};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::MAX_COMPONENTS;
use hashlane_name::error::ParseError;
use hashlane_name::prefix::{BurstHashes, OnePass};
use hashlane_name::walk::{Encoding, Walk};

/// Names that are hashed at a time.
const BURST: usize = 256;

/// Number of distinct prefixes of names by depth, and the memory that tables of them take.
///
/// A prefix of depth d is the first d components. Each depth counts as [`Distinct`](crate::Distinct) does,
/// over SipHash-1-3, which hashes all prefixes of eight names at a time; a last set counts whole names. Takes
/// at most 2^precision bytes for each depth that a name has, and one more, in memory and written; the
/// estimates have a standard error of at most 0.761 / √(2^precision). Names that break a rule of the encoding
/// are counted and ignored.
///
/// Offset names do not bind their components: `/ab/c` and `/a/bc` have one hash, and count once at depth 2
/// (see [`hashlane_name::prefix`]).
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_sketch::{Keys, Prefixes};
///
/// // /a/x, /a/y and /b, as NDN names.
/// let names = b"\x07\x06\x08\x01a\x08\x01x\x07\x06\x08\x01a\x08\x01y\x07\x03\x08\x01b";
/// let mut prefixes = Prefixes::new("ndn", 12, &Key::new([7; 16]))?;
/// prefixes.update(&Keys::offsets32(&[0, 8, 16, 21], names)?)?;
/// let result = prefixes.result();
/// assert_eq!((result.names, result.invalid), (3, 0));
/// let distinct: Vec<f64> = result.depths.iter().map(|depth| depth.distinct.round()).collect();
/// assert_eq!(distinct, [2.0, 2.0]);
/// println!("a FIB of all first components: {} bytes", result.fib(1..=1).bytes);
/// # Ok::<(), hashlane_sketch::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prefixes {
    encoding: Choice,
    hash: Keyed,
    precision: u8,
    /// Whole names.
    names: Population,
    invalid: u64,
    /// From depth 1 to the depth of the longest name.
    depths: Vec<Population>,
}

/// Names or prefixes of one depth.
#[derive(Clone, Debug)]
struct Population {
    /// Number of them, repeated ones included.
    number: u64,
    /// Bytes of all of them.
    bytes: u64,
    registers: Registers,
}

impl Population {
    fn new(precision: u8) -> Self {
        Self { number: 0, bytes: 0, registers: Registers::new(precision) }
    }

    fn add(&mut self, bytes: usize, hash: u64) {
        self.number += 1;
        self.bytes += bytes as u64;
        self.registers.add(hash);
    }

    /// Checks that so many more names of so many bytes fit.
    fn check_room(&self, number: u64, bytes: u64) -> Result<(), Error> {
        grown(self.number, number).and(grown(self.bytes, bytes)).map(drop)
    }

    fn merge(&mut self, other: &Self) {
        self.number += other.number;
        self.bytes += other.bytes;
        self.registers.merge(&other.registers);
    }

    fn mean_len(&self) -> f64 {
        if self.number == 0 { 0.0 } else { self.bytes as f64 / self.number as f64 }
    }

    fn write(&self, to: &mut Writer) {
        to.count(self.number);
        to.count(self.bytes);
        self.registers.write(to);
    }

    fn read(from: &mut Reader<'_>, precision: u8) -> Result<Self, ReadError> {
        let (number, bytes) = (from.count("number of names")?, from.count("bytes of names")?);
        Ok(Self { number, bytes, registers: Registers::read(from, precision)? })
    }
}

impl Prefixes {
    /// Largest precision: 64 KiB for each depth, 16 MiB for names of 255 components.
    pub const MOST_PRECISION: u8 = 16;

    /// No names of this encoding (`offset`, `ccnx` or `ndn`), with 2^`precision` registers for each depth;
    /// valid: 4 to 16.
    ///
    /// # Errors
    /// There is no such encoding, or the precision is out of range.
    pub fn new(encoding: &str, precision: u8, key: &Key) -> Result<Self, Error> {
        let (least, most) = (LEAST_PRECISION.into(), Self::MOST_PRECISION.into());
        within("precision", precision.into(), least, most)?;
        let unknown = || Error::UnknownEncoding { id: encoding.chars().take(64).collect() };
        Ok(Self {
            encoding: Choice::of(encoding).ok_or_else(unknown)?,
            hash: Keyed::new(SipHash13::INFO.id, key)?,
            precision,
            names: Population::new(precision),
            invalid: 0,
            depths: Vec::new(),
        })
    }

    /// Gives a sketch that was read from bytes its key, so that it can be updated.
    ///
    /// # Errors
    /// The sketch was made with another key.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        self.hash.resume(key)?;
        Ok(self)
    }

    /// Id of the encoding.
    pub fn encoding(&self) -> &'static str {
        self.encoding.id()
    }

    /// Number of registers of each depth, as a power of two.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Checks that the sketch can take so many more names, of so many bytes together.
    ///
    /// # Errors
    /// A total would pass 2⁶³ − 1.
    pub fn check_room(&self, names: u64, bytes: u64) -> Result<(), Error> {
        grown(self.invalid, names)?;
        self.names.check_room(names, bytes)?;
        self.depths.iter().try_for_each(|depth| depth.check_room(names, bytes))
    }

    /// Takes the names of a batch, each one whole encoded name.
    ///
    /// # Errors
    /// The sketch has no key, or a total could pass 2⁶³ − 1. The sketch then stays as it was.
    pub fn update(&mut self, names: &Keys<'_>) -> Result<(), Error> {
        let hash = SipHash13::new(self.hash.key()?);
        self.check_room(names.len() as u64, names.bytes() as u64)?;
        self.encoding.update(self, names, hash);
        Ok(())
    }

    fn update_as<E: Encoding>(&mut self, names: &Keys<'_>, hash: SipHash13) {
        let mut pass = Box::new(OnePass::<E, _>::new(hash));
        let mut hashes = BurstHashes::new();
        for names in names.chunks(BURST) {
            pass.burst(names.iter(), &mut hashes);
            for (name, hashes) in names.iter().zip(hashes.iter()) {
                if hashes.and_then(|hashes| self.add::<E>(name, hashes)).is_err() {
                    self.invalid += 1;
                }
            }
        }
    }

    /// Takes a name with the hashes of its prefixes.
    fn add<E: Encoding>(&mut self, name: &[u8], hashes: &[u64]) -> Result<(), ParseError> {
        while self.depths.len() < hashes.len() {
            self.depths.push(Population::new(self.precision));
        }
        let mut walk = E::walk(name)?;
        self.names.add(walk.bytes().len(), hashes.last().copied().unwrap_or(0));
        for (depth, hash) in self.depths.iter_mut().zip(hashes) {
            let end = walk.next_end()?;
            depth.add(end.unwrap_or_default(), *hash);
        }
        Ok(())
    }

    /// The statistics.
    pub fn result(&self) -> PrefixesResult {
        let depth = |(depth, population): (usize, &Population)| Depth {
            depth,
            names: population.number,
            distinct: population.registers.estimate(),
            mean_len: population.mean_len(),
        };
        PrefixesResult {
            names: self.names.number,
            invalid: self.invalid,
            distinct_names: self.names.registers.estimate(),
            mean_name_len: self.names.mean_len(),
            standard_error: standard_error(self.precision),
            depths: (1..).zip(&self.depths).map(depth).collect(),
        }
    }
}

impl Sketch for Prefixes {
    const KIND: SketchKind = SketchKind::Prefixes;

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        alike("encoding", self.encoding.id(), other.encoding.id())?;
        self.hash.alike(&other.hash)?;
        alike("precision", self.precision, other.precision)?;
        let invalid = grown(self.invalid, other.invalid)?;
        self.names.check_room(other.names.number, other.names.bytes)?;
        let mut depths = self.depths.iter().zip(&other.depths);
        depths.try_for_each(|(ours, theirs)| ours.check_room(theirs.number, theirs.bytes))?;
        self.invalid = invalid;
        self.names.merge(&other.names);
        while self.depths.len() < other.depths.len() {
            self.depths.push(Population::new(self.precision));
        }
        for (ours, theirs) in self.depths.iter_mut().zip(&other.depths) {
            ours.merge(theirs);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        to.string(self.encoding.id().as_bytes());
        self.hash.write(&mut to);
        to.byte(self.precision);
        to.count(self.invalid);
        self.names.write(&mut to);
        to.byte(self.depths.len() as u8);
        self.depths.iter().for_each(|depth| depth.write(&mut to));
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let at = from.at();
        let id = str::from_utf8(from.string("encoding", 16)?).ok();
        let encoding = id.and_then(Choice::of).ok_or(ReadError::Field { field: "encoding", at })?;
        let hash = Keyed::read_as(&mut from, SipHash13::INFO.id)?;
        let precision = precision(&mut from, Self::MOST_PRECISION)?;
        let invalid = from.count("number of invalid names")?;
        let names = Population::read(&mut from, precision)?;
        const { assert!(MAX_COMPONENTS <= u8::MAX as usize) };
        let depths = from.byte()?;
        let depths = (0..depths).map(|_| Population::read(&mut from, precision)).collect::<Result<_, _>>()?;
        from.finish()?;
        Ok(Self { encoding, hash, precision, names, invalid, depths })
    }
}

macro_rules! choice {
    ($($id:ident: $encoding:ty),* $(,)?) => {
        /// An encoding, chosen by its id.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(non_camel_case_types, reason = "the variants are the ids of the encodings")]
        enum Choice { $($id),* }

        impl Choice {
            fn of(id: &str) -> Option<Self> {
                $(if id == <$encoding as Encoding>::ID {
                    return Some(Self::$id);
                })*
                None
            }

            fn id(self) -> &'static str {
                match self { $(Self::$id => <$encoding as Encoding>::ID),* }
            }

            fn update(self, prefixes: &mut Prefixes, names: &Keys<'_>, hash: SipHash13) {
                match self { $(Self::$id => prefixes.update_as::<$encoding>(names, hash)),* }
            }
        }
    };
}
hashlane_name::for_each_encoding!(choice);

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::build::OwnedName;
    use hashlane_name::ccnx::Ccnx;
    use hashlane_name::layout::Layout;
    use hashlane_name::ndn::Ndn;
    use hashlane_name::offset::Offset;
    use hashlane_name::uri::parse_uri;

    /// 10,000 names /p/q/r with 10, 100 and 1,000 distinct prefixes of 1, 2 and 3 components; and one of one
    /// component alone.
    fn populated<E: Layout>() -> PrefixesResult {
        let mut sketch = Prefixes::new(E::ID, 14, &Key::VECTOR).unwrap();
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for number in 0..10_000 {
            let [p, q, r] = [10, 100, 1000].map(|modulus| number % modulus);
            let name: OwnedName<E> = parse_uri(format!("ndn:/{p}/{q}/{r}").as_bytes()).unwrap();
            bytes.extend_from_slice(name.as_bytes());
            offsets.push(bytes.len() as i64);
        }
        let name: OwnedName<E> = parse_uri(b"ndn:/alone").unwrap();
        bytes.extend_from_slice(name.as_bytes());
        offsets.push(bytes.len() as i64);
        bytes.push(0xff);
        offsets.push(bytes.len() as i64);
        sketch.update(&Keys::offsets64(&offsets, &bytes).unwrap()).unwrap();
        sketch.result()
    }

    fn counts<E: Layout>() {
        let result = populated::<E>();
        assert_eq!((result.names, result.invalid), (10_001, 1), "{}", E::ID);
        for (depth, (names, distinct)) in
            result.depths.iter().zip([(10_001, 11.0), (10_000, 100.0), (10_000, 1000.0)])
        {
            assert_eq!(depth.names, names, "{}: {depth:?}", E::ID);
            assert!((depth.distinct - distinct).abs() <= 0.04 * distinct, "{}: {depth:?}", E::ID);
        }
        assert_eq!(result.depths.len(), 3);
        assert!((result.distinct_names - 1001.0).abs() < 40.0, "{result:?}");
    }

    #[test]
    fn counts_distinct_prefixes_by_depth_in_every_encoding() {
        counts::<Ndn>();
        counts::<Ccnx>();
        counts::<Offset>();
    }

    #[test]
    fn lengths_are_those_of_the_components() {
        let result = populated::<Ndn>();
        // Type, length and one digit; for the one name, five letters.
        let mean = (3.0 * 10_000.0 + 7.0) / 10_001.0;
        assert!((result.depths[0].mean_len - mean).abs() < 1e-9);
        assert!(result.depths[2].mean_len > result.depths[1].mean_len);
        let (all, longest) = (result.fib(1..=3), result.fib(3..=3));
        assert!(all.entries > longest.entries && all.bytes >= longest.bytes && longest.bytes > 0);
        assert_eq!(result.fib(4..=9).entries, 0);
        assert!(result.pit().bytes > 1000 * PIT_ENTRY);
    }

    #[test]
    fn an_unknown_encoding_is_named() {
        let error = Prefixes::new("dns", 12, &Key::VECTOR).unwrap_err();
        assert_eq!(error, Error::UnknownEncoding { id: "dns".into() });
    }
}
