//! The registered hashes, several keys at once where they can.

use crate::error::value;
use bytemuck::try_cast_slice;
use hashlane_hash::jhash::Jhash;
use hashlane_hash::prefix::{EveryKernel, EveryPrefix, Group};
use hashlane_hash::scheme::{BytesHash, BytesKernel, Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_hash::words::WordsHash;
use hashlane_lab::nearest::suggestion;
use pyo3::PyResult;

/// A hash of bytes under a key.
pub(crate) trait Hasher: Send {
    /// Writes the hash of each of `keys` to its place in `out`, which is as long.
    fn keys(&mut self, keys: &[&[u8]], out: &mut [u64]);

    /// Writes the hashes of keys of `width` bytes, one after the other in `keys`, to `out`. Returns false,
    /// and writes nothing, if there is no faster way than [`keys`](Self::keys).
    fn fixed(&self, keys: &[u8], width: usize, out: &mut [u64]) -> bool;
}

/// A registered hash of bytes.
pub(crate) struct Registered {
    pub(crate) info: SchemeInfo,
    new: fn(&Key) -> Box<dyn Hasher>,
}

impl Registered {
    /// The hash under the 16 bytes `key`.
    ///
    /// # Errors
    /// `ValueError` for a keyed scheme without a key, an unkeyed one with a key, and a key of another length.
    pub(crate) fn keyed(&self, key: Option<&[u8]>) -> PyResult<Box<dyn Hasher>> {
        Ok((self.new)(&checked_key(&self.info, self.info.id, key)?))
    }
}

/// The key of a scheme.
///
/// # Errors
/// As [`Registered::keyed`].
pub(crate) fn checked_key(info: &SchemeInfo, id: &str, key: Option<&[u8]>) -> PyResult<Key> {
    match (info.keying, key) {
        (Keying::None, None) => Ok(Key::VECTOR),
        (Keying::None, Some(_)) => {
            Err(value(format!("{id} takes no key: anyone can compute its hashes; omit key")))
        }
        (_, None) => Err(value(format!(
            "{id} needs a key of 16 bytes: pass key=hashlane.random_key(), and keep it to get the same hashes again"
        ))),
        (_, Some(key)) => {
            let bytes = key.try_into().map_err(|_| {
                value(format!("the key has {} bytes, expected 16: pass hashlane.random_key()", key.len()))
            })?;
            Ok(Key::new(bytes))
        }
    }
}

/// All registered hashes of bytes.
pub(crate) fn schemes() -> Vec<Registered> {
    macro_rules! own {
        (every_prefix: $($every:ty),*; $($group:ident: $($hash:ty),*;)*) => {
            vec![
                $(Registered { info: <$every>::INFO, new: |key| Box::new(Grouped::<$every>::new(key)) },)*
                $($(one::<$hash>()),*),*
            ]
        };
    }
    macro_rules! others {
        ($($group:ident: $($hash:ty),*;)*) => { vec![$($(one::<$hash>()),*),*] };
    }
    let mut all = hashlane_hash::for_each_hash!(own);
    all.extend(hashlane_peers::for_each_hash!(others));
    all.extend(hashlane_peers::for_each_audited_hash!(others));
    all
}

fn one<H: Scheme + Send + 'static>() -> Registered {
    Registered {
        info: H::INFO,
        new: |key| Box::new(OneByOne { hash: H::new(key), words: Wide::of(&H::INFO, key) }),
    }
}

/// The scheme `id`.
///
/// # Errors
/// `ValueError` for an unknown id, with the nearest one.
pub(crate) fn scheme(id: &str) -> PyResult<Registered> {
    let mut all = schemes();
    match all.iter().position(|scheme| scheme.info.id == id) {
        Some(place) => Ok(all.swap_remove(place)),
        None => Err(unknown(
            "scheme",
            id,
            all.iter().map(|scheme| scheme.info.id),
            "hashlane.schemes() lists them",
        )),
    }
}

/// A `ValueError` for an unknown id, with the nearest one.
pub(crate) fn unknown<'a>(
    what: &str,
    id: &str,
    known: impl Iterator<Item = &'a str>,
    next: &str,
) -> pyo3::PyErr {
    value(format!("unknown {what} {id:?}{}; {next}", suggestion(id, known)))
}

/// A hash of one key after the other.
struct OneByOne<H> {
    hash: H,
    words: Option<Wide>,
}

impl<H: BytesHash + Send> Hasher for OneByOne<H> {
    fn keys(&mut self, keys: &[&[u8]], out: &mut [u64]) {
        self.hash.run(Each { keys, out });
    }

    fn fixed(&self, keys: &[u8], width: usize, out: &mut [u64]) -> bool {
        self.words.as_ref().is_some_and(|words| words.hash(keys, width, out))
    }
}

struct Each<'a> {
    keys: &'a [&'a [u8]],
    out: &'a mut [u64],
}

impl BytesKernel for Each<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: BytesHash>(self, hash: &H) {
        for (key, out) in self.keys.iter().zip(self.out) {
            *out = hash.hash(key);
        }
    }
}

/// A hash that takes keys of any lengths in groups of eight.
struct Grouped<H> {
    hash: H,
    group: Box<Group>,
    words: Option<Wide>,
}

impl<H: EveryPrefix + Scheme> Grouped<H> {
    fn new(key: &Key) -> Self {
        Self { hash: H::new(key), group: Box::default(), words: Wide::of(&H::INFO, key) }
    }
}

impl<H: EveryPrefix + Send> Hasher for Grouped<H> {
    fn keys(&mut self, keys: &[&[u8]], out: &mut [u64]) {
        self.hash.run_every(Staged { group: &mut self.group, keys, out });
    }

    fn fixed(&self, keys: &[u8], width: usize, out: &mut [u64]) -> bool {
        self.words.as_ref().is_some_and(|words| words.hash(keys, width, out))
    }
}

/// Longest key that is hashed in a group: a longer one keeps the lanes of the others waiting.
const LONGEST: usize = 256;

struct Staged<'a> {
    group: &'a mut Group,
    keys: &'a [&'a [u8]],
    out: &'a mut [u64],
}

impl EveryKernel for Staged<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let (mut places, mut hashes) = ([0; Group::NAMES], [0; Group::NAMES]);
        self.group.clear();
        let mut flush = |group: &mut Group, places: &[usize; Group::NAMES], out: &mut [u64]| {
            hash.every_prefix(group, &mut hashes);
            for (place, hash) in places.iter().zip(&hashes).take(group.names()) {
                if let Some(out) = out.get_mut(*place) {
                    *out = *hash;
                }
            }
            group.clear();
        };
        for (number, key) in self.keys.iter().enumerate() {
            let name = self.group.names();
            let staged = if key.len() > LONGEST { None } else { self.group.push(hash, key) };
            if let Some(mut prefixes) = staged {
                prefixes.push(key.len());
                let _ = prefixes.add();
                if let Some(place) = places.get_mut(name) {
                    *place = number;
                }
                if self.group.is_full() {
                    flush(self.group, &places, self.out);
                }
            } else if let Some(out) = self.out.get_mut(number) {
                *out = hash.hash(key);
            }
        }
        if self.group.names() > 0 {
            flush(self.group, &places, self.out);
        }
    }
}

/// Hashes of keys of one width, in vector registers.
enum Wide {
    Sip13(SipHash13),
    Sip24(SipHash24),
    Jhash(Jhash),
}

impl Wide {
    fn of(info: &SchemeInfo, key: &Key) -> Option<Self> {
        match info.id {
            id if id == SipHash13::INFO.id => Some(Self::Sip13(SipHash13::new(key))),
            id if id == SipHash24::INFO.id => Some(Self::Sip24(SipHash24::new(key))),
            id if id == Jhash::INFO.id => Some(Self::Jhash(Jhash::new(key))),
            _ => None,
        }
    }

    fn hash(&self, keys: &[u8], width: usize, out: &mut [u64]) -> bool {
        match self {
            Self::Sip13(hash) => widths(hash, keys, width, out),
            Self::Sip24(hash) => widths(hash, keys, width, out),
            Self::Jhash(hash) => widths(hash, keys, width, out),
        }
    }
}

/// Widths of integers, addresses, tuples and digests.
fn widths<H>(hash: &H, keys: &[u8], width: usize, out: &mut [u64]) -> bool
where
    H: WordsHash<1, 4>
        + WordsHash<1, 8>
        + WordsHash<2, 12>
        + WordsHash<2, 16>
        + WordsHash<4, 32>
        + WordsHash<5, 36>
        + WordsHash<5, 40>,
{
    match width {
        4 => padded::<1, 4>(hash, keys, out),
        8 => whole::<1, 8>(hash, keys, out),
        12 => padded::<2, 12>(hash, keys, out),
        16 => whole::<2, 16>(hash, keys, out),
        32 => whole::<4, 32>(hash, keys, out),
        36 => padded::<5, 36>(hash, keys, out),
        40 => whole::<5, 40>(hash, keys, out),
        _ => return false,
    }
    true
}

/// Keys of whole words, where they are if they are aligned.
fn whole<const N: usize, const LEN: usize>(hash: &impl WordsHash<N, LEN>, keys: &[u8], out: &mut [u64]) {
    match try_cast_slice::<u8, [u64; N]>(keys) {
        Ok(keys) => hash.hash_burst(keys, out),
        Err(_) => padded::<N, LEN>(hash, keys, out),
    }
}

/// Keys that are copied to words, many at a time.
fn padded<const N: usize, const LEN: usize>(hash: &impl WordsHash<N, LEN>, keys: &[u8], out: &mut [u64]) {
    const KEYS: usize = 64;
    let mut words = [[0_u64; N]; KEYS];
    for (keys, out) in keys.chunks(KEYS * LEN).zip(out.chunks_mut(KEYS)) {
        for (key, words) in keys.chunks_exact(LEN).zip(&mut words) {
            for (bytes, word) in key.chunks(8).zip(words) {
                let mut eight = [0; 8];
                eight.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                *word = u64::from_ne_bytes(eight);
            }
        }
        hash.hash_burst(words.get(..out.len()).unwrap_or(&words), out);
    }
}
