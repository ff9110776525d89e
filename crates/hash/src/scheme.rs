//! What a hash scheme says of itself, and the small traits that the tables and the lab build on.

/// A secret 128-bit key.
///
/// A program draws its keys at random when it starts (`Key::random`, with the feature `getrandom`) and keeps them
/// secret. Without the key, a remote party who chooses the bytes cannot choose the bucket.
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

    /// The two halves, bytes 0–7 and 8–15, each read in little-endian order (`k0`, `k1` of the SipHash paper §2.1).
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

/// How much of the [`Key`] reaches the hash, and in which manner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keying {
    /// No key: equal bytes hash alike everywhere, so anyone can compute collisions beforehand.
    None,
    /// A seed of so many bits is mixed in, without a claim that it stops an attacker.
    Seed(u32),
    /// A secret key of so many bits; without it, collisions are claimed to be no easier to find than by chance.
    Secret(u32),
}

/// What a scheme states of itself; a test recomputes [`check`](Self::check) for every registered scheme.
#[derive(Clone, Copy, Debug)]
pub struct SchemeInfo {
    /// The id in study files and records, for example `siphash-2-4`.
    pub id: &'static str,
    /// Where it is defined: RFC, paper, kernel file, crate.
    pub source: &'static str,
    /// Bits of the result that carry information (32 or 64); the rest of the `u64` is zero.
    pub width: u32,
    /// What of the key reaches the result.
    pub keying: Keying,
    /// Under [`Key::VECTOR`], the hash of the nine bytes `123456789`, or, of a scheme that takes nothing but one kind of key,
    /// of that kind's check input.
    pub check: u64,
    /// Where it may be used, in a sentence.
    pub safe: &'static str,
}

/// The bytes whose hash is [`SchemeInfo::check`].
pub const CHECK_INPUT: &[u8] = b"123456789";

/// A hash function as it is registered: it states what it is, and is made from a 128-bit key.
///
/// An unkeyed scheme takes the key and ignores it; its [`SchemeInfo`] says so.
pub trait Scheme: BytesHash {
    /// What the scheme states of itself.
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
    /// A loop that hashes many times goes through here once, outside the loop: the choice of instructions is then
    /// made once, and the hash is inlined into the loop.
    #[inline(always)]
    fn run<K: BytesKernel>(&self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A piece of work that is generic over the hash it uses. See [`BytesHash::run`].
///
/// Implementations mark `run` as `#[inline(always)]`, so that it is compiled for the instructions of its caller.
pub trait BytesKernel {
    /// What the work results in.
    type Output;

    /// Does the work with `hash`.
    fn run<H: BytesHash>(self, hash: &H) -> Self::Output;
}

/// A hash whose running state is extended component by component, so that every prefix of a name costs one
/// extension and one finish.
pub trait PrefixHash: BytesHash {
    /// The running state; a copy of it is what "intermediate hashes kept" means.
    type State: Clone;

    /// The state of the empty prefix.
    fn start(&self) -> Self::State;

    /// Takes one component's bytes into the state.
    fn extend(&self, state: &mut Self::State, bytes: &[u8]);

    /// Takes `bytes[from..to]` into the state, as [`extend`](Self::extend) does; a range outside `bytes` is cut to it.
    ///
    /// A scheme may read whole words beyond `to`, as long as they stand in `bytes`; they do not reach the result.
    #[inline(always)]
    fn extend_within(&self, state: &mut Self::State, bytes: &[u8], from: usize, to: usize) {
        let to = to.min(bytes.len());
        self.extend(state, &bytes[from.min(to)..to]);
    }

    /// The hash of what the state has taken in; the state may be extended further.
    fn finish(&self, state: &Self::State) -> u64;

    /// Runs `kernel` with this hash, compiled for the instructions that the CPU has; see [`BytesHash::run`].
    #[inline(always)]
    fn run_prefix<K: PrefixKernel>(&self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A piece of work that is generic over the prefix hash it uses. See [`PrefixHash::run_prefix`].
pub trait PrefixKernel {
    /// What the work results in.
    type Output;

    /// Does the work with `hash`.
    fn run<H: PrefixHash>(self, hash: &H) -> Self::Output;
}

/// A [`PrefixHash`] that does not see where one `extend` ended and the next began: extending by `a`, then by `b`,
/// finishes as `hash(a ‖ b)`. The one-pass forms need this, as they take words across component boundaries.
pub trait Concatenative: PrefixHash {}
