//! Keys, the description of a hash scheme, and the traits that tables and studies build on.

/// A secret 128-bit key.
///
/// A program draws its keys at random when it starts (`Key::random`, with the feature `getrandom`) and keeps
/// them secret. Without the key, a remote party who chooses the bytes cannot choose the bucket.
///
/// ```
/// use hashlane_hash::scheme::{BytesHash, Key, Scheme};
/// use hashlane_hash::siphash::SipHash13;
///
/// let hash = SipHash13::new(&Key::random()?);
/// assert_eq!(hash.hash(b"one key"), hash.hash(b"one key"));
/// # Ok::<(), getrandom::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

impl Key {
    /// The public key 00 01 … 0f of published vectors and check values. Never for live traffic.
    pub const VECTOR: Self = Self([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    /// A key from 16 random bytes.
    #[inline]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A key from the operating system's random number generator.
    ///
    /// # Errors
    /// The operating system provides no random numbers.
    #[cfg(feature = "getrandom")]
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The key as 16 bytes.
    #[inline]
    pub const fn to_bytes(&self) -> [u8; 16] {
        self.0
    }

    /// The two halves, bytes 0–7 and 8–15, each read in little-endian order (`k0`, `k1` of the SipHash paper
    /// §2.1).
    #[inline]
    pub const fn halves(&self) -> (u64, u64) {
        let k = u128::from_le_bytes(self.0);
        (k as u64, (k >> 64) as u64)
    }
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The part of the [`Key`] that reaches the hash, and the claim made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keying {
    /// No key: equal bytes hash alike everywhere, so anyone can compute collisions beforehand.
    None,
    /// Mixes in a seed of this many bits, without a claim against attackers.
    Seed(u32),
    /// Uses a secret key of this many bits; without it, finding a collision is claimed to be no easier than
    /// by chance.
    Secret(u32),
}

/// Facts about a scheme. A test recomputes [`check`](Self::check) for every registered scheme.
#[derive(Clone, Copy, Debug)]
pub struct SchemeInfo {
    /// The id in study files and records, for example `siphash-2-4`.
    pub id: &'static str,
    /// The definition: RFC, paper, kernel file, crate.
    pub source: &'static str,
    /// Bits of the result that carry information (32 or 64); the rest of the `u64` is zero.
    pub width: u32,
    /// The part of the key that reaches the result.
    pub keying: Keying,
    /// The hash of the check input under [`Key::VECTOR`]: the nine bytes `123456789`, or, for a hash of one kind
    /// of key alone, the check input of that kind.
    pub check: u64,
    /// Safe uses, in one sentence.
    pub safe: &'static str,
}

/// The input of [`SchemeInfo::check`].
pub const CHECK_INPUT: &[u8] = b"123456789";

/// A registered hash function: it has a [`SchemeInfo`] and is made from a 128-bit key.
///
/// An unkeyed scheme ignores the key; its [`SchemeInfo`] says so.
pub trait Scheme: BytesHash {
    /// Facts about the scheme.
    const INFO: SchemeInfo;

    /// The scheme under `key`.
    fn new(key: &Key) -> Self;
}

/// A hash of bytes.
pub trait BytesHash: Clone {
    /// The hash of `bytes`; results narrower than 64 bits are zero-extended.
    fn hash(&self, bytes: &[u8]) -> u64;

    /// Runs `kernel` with this hash, compiled for the instructions that the CPU has.
    ///
    /// A loop that hashes many times goes through here once, outside the loop: the choice of instructions is
    /// then made once, and the hash is inlined into the loop.
    #[inline(always)]
    fn run<K: BytesKernel>(&self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A piece of work that is generic over the hash it uses. See [`BytesHash::run`].
///
/// Implementations mark `run` as `#[inline(always)]`, so that it is compiled for the instructions of its
/// caller.
pub trait BytesKernel {
    /// The result of the work.
    type Output;

    /// Does the work with `hash`.
    fn run<H: BytesHash>(self, hash: &H) -> Self::Output;
}

/// A hash with a running state that is extended component by component, so that every prefix of a name costs
/// one extension and one finish.
pub trait PrefixHash: BytesHash {
    /// The running state. Copies of it are "intermediate hashes".
    type State: Clone;

    /// The state of the empty prefix.
    fn start(&self) -> Self::State;

    /// Takes one component's bytes into the state.
    fn extend(&self, state: &mut Self::State, bytes: &[u8]);

    /// Takes `bytes[from..to]` into the state, as [`extend`](Self::extend) does; a range outside `bytes` is
    /// cut to it.
    ///
    /// A scheme may read whole words of `bytes` beyond `to`; they do not reach the result.
    #[inline(always)]
    fn extend_within(&self, state: &mut Self::State, bytes: &[u8], from: usize, to: usize) {
        let to = to.min(bytes.len());
        self.extend(state, &bytes[from.min(to)..to]);
    }

    /// The hash of all bytes taken so far; the state may be extended further.
    fn finish(&self, state: &Self::State) -> u64;

    /// Runs `kernel` with this hash, compiled for the instructions that the CPU has; see [`BytesHash::run`].
    #[inline(always)]
    fn run_prefix<K: PrefixKernel>(&self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A piece of work that is generic over the prefix hash it uses. See [`PrefixHash::run_prefix`].
pub trait PrefixKernel {
    /// The result of the work.
    type Output;

    /// Does the work with `hash`.
    fn run<H: PrefixHash>(self, hash: &H) -> Self::Output;
}

/// A [`PrefixHash`] that ignores the boundaries of `extend`: extending by `a`, then by `b`, finishes as
/// `hash(a ‖ b)`. The one-pass forms need this, as they take words across component boundaries.
pub trait Concatenative: PrefixHash {}
