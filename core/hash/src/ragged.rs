//! Keys of any lengths, many at once: text, names, addresses of strings.
//!
//! SipHash: eight keys fill the lanes of a vector. All lanes take as many rounds as the longest key needs; a
//! lane whose key has ended keeps its state. Groups in which this would cost more than it saves are hashed
//! one by one. [CRC32C](crate::crc32c) needs no lanes.

use crate::arch::lanes::{LaneKernel, Lanes, WIDTH};
use crate::scheme::BytesHash;
use crate::siphash::{SipHash, Vector, Words};

/// A hash of many keys of any lengths.
pub trait RaggedHash {
    /// Writes the hash of each of `keys` to its place in `out`. Keys beyond the length of `out` are ignored,
    /// and places beyond the number of keys unchanged.
    fn hash_ragged<K: Keys + ?Sized>(&self, keys: &K, out: &mut [u64]);
}

/// Keys in memory.
pub trait Keys {
    /// Number of keys.
    fn count(&self) -> usize;

    /// The key at `place`. Empty from [`count`](Self::count) on.
    fn key(&self, place: usize) -> &[u8];

    /// Eight keys in a row.
    type Eight<'a>: Eight
    where
        Self: 'a;

    /// The eight keys from `first` on; `None` if there are fewer.
    fn eight(&self, first: usize) -> Option<Self::Eight<'_>>;

    /// Passes the bytes of `count` keys from `first` on to `each`, in as few slices as the keys lie in. Keys
    /// may be left out: it is for prefetching.
    fn each_part(&self, first: usize, count: usize, each: impl FnMut(&[u8]));

    /// The bytes of `G` keys from `first` on, one after the other, with `before` bytes of other keys in front
    /// of them; and the bytes of each in `lengths`. `None` if the keys lie elsewhere.
    ///
    /// A length above `i32::MAX` stands for offsets out of order, under which no length is right.
    fn joined<const G: usize>(&self, first: usize, before: usize, lengths: &mut [u64; G]) -> Option<&[u8]>;
}

/// Eight keys in a row.
pub trait Eight {
    /// Bytes of each key.
    fn lengths(&self) -> [u64; WIDTH];

    /// The key at `place`, below 8.
    fn key(&self, place: usize) -> &[u8];
}

impl Keys for [&[u8]] {
    type Eight<'a>
        = &'a [&'a [u8]; WIDTH]
    where
        Self: 'a;

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        self.get(place).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn eight(&self, first: usize) -> Option<&[&[u8]; WIDTH]> {
        self.get(first..)?.first_chunk()
    }

    #[inline(always)]
    fn each_part(&self, first: usize, count: usize, each: impl FnMut(&[u8])) {
        self.get(first..first + count).unwrap_or_default().iter().copied().for_each(each);
    }

    #[inline(always)]
    fn joined<const G: usize>(&self, _: usize, _: usize, _: &mut [u64; G]) -> Option<&[u8]> {
        None
    }
}

impl Eight for &[&[u8]; WIDTH] {
    #[inline(always)]
    fn lengths(&self) -> [u64; WIDTH] {
        let mut lengths = [0; WIDTH];
        for (length, key) in lengths.iter_mut().zip(*self) {
            *length = key.len() as u64;
        }
        lengths
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        self[place % WIDTH]
    }
}

/// Keys one after the other, as in a column of Arrow.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a, O> {
    /// The bytes of all keys.
    pub bytes: &'a [u8],
    /// The first byte of each key, and the end of the last one. A key whose offsets are not in `bytes`, or
    /// not in order, is taken as empty.
    pub offsets: &'a [O],
}

/// A type of offsets.
pub trait Offset: Copy + Ord {
    /// The offset. A negative number gives one beyond every slice.
    fn to_usize(self) -> usize;

    /// Bytes from `from`, which is neither negative nor larger, to this offset.
    fn since(self, from: Self) -> u64;
}

impl Offset for i32 {
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn since(self, from: Self) -> u64 {
        u64::from(self.wrapping_sub(from).cast_unsigned())
    }
}

impl Offset for i64 {
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn since(self, from: Self) -> u64 {
        self.wrapping_sub(from).cast_unsigned()
    }
}

impl<O: Offset> Keys for Joined<'_, O> {
    type Eight<'a>
        = JoinedEight<'a, O>
    where
        Self: 'a;

    #[inline(always)]
    fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        match self.offsets.get(place..).and_then(<[O]>::first_chunk) {
            Some([from, to]) => self.bytes.get(from.to_usize()..to.to_usize()).unwrap_or_default(),
            None => &[],
        }
    }

    /// `None` also if the offsets are not in order or not in the bytes.
    #[inline(always)]
    fn eight(&self, first: usize) -> Option<JoinedEight<'_, O>> {
        let offsets: &[O; WIDTH + 1] = self.offsets.get(first..)?.first_chunk()?;
        let mut ordered = true;
        for i in 0..WIDTH {
            ordered &= offsets[i] <= offsets[i + 1];
        }
        let is_place = |offset: O| offset.to_usize() <= self.bytes.len();
        (ordered && is_place(offsets[0]) && is_place(offsets[WIDTH]))
            .then_some(JoinedEight { bytes: self.bytes, offsets })
    }

    #[inline(always)]
    fn each_part(&self, first: usize, count: usize, mut each: impl FnMut(&[u8])) {
        if let (Some(from), Some(to)) = (self.offsets.get(first), self.offsets.get(first + count)) {
            each(self.bytes.get(from.to_usize()..to.to_usize()).unwrap_or_default());
        }
    }

    #[inline(always)]
    fn joined<const G: usize>(&self, first: usize, before: usize, lengths: &mut [u64; G]) -> Option<&[u8]> {
        let offsets = self.offsets.get(first..first + G + 1)?;
        for (length, (from, to)) in lengths.iter_mut().zip(offsets.iter().zip(&offsets[1..])) {
            *length = to.since(*from);
        }
        self.bytes.get(offsets[0].to_usize().checked_sub(before)?..offsets[G].to_usize())
    }
}

/// Eight keys of [`Joined`].
#[derive(Clone, Copy, Debug)]
pub struct JoinedEight<'a, O> {
    bytes: &'a [u8],
    /// In order, and in the bytes.
    offsets: &'a [O; WIDTH + 1],
}

impl<O: Offset> Eight for JoinedEight<'_, O> {
    #[inline(always)]
    fn lengths(&self) -> [u64; WIDTH] {
        let mut lengths = [0; WIDTH];
        for (i, length) in lengths.iter_mut().enumerate() {
            *length = self.offsets[i + 1].since(self.offsets[i]);
        }
        lengths
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        let place = place % WIDTH;
        match self.bytes.get(self.offsets[place].to_usize()..self.offsets[place + 1].to_usize()) {
            Some(key) => key,
            None => no_key(),
        }
    }
}

/// The empty key in place of offsets outside the bytes. A call, so that the compiler takes a branch, which it
/// need not wait for.
#[cold]
#[inline(never)]
const fn no_key() -> &'static [u8] {
    &[]
}

impl<const C: usize, const D: usize> RaggedHash for SipHash<C, D> {
    #[inline]
    fn hash_ragged<K: Keys + ?Sized>(&self, keys: &K, out: &mut [u64]) {
        self.unit.run(Ragged { hash: self, keys, out });
    }
}

/// Hashes the keys from `first` on.
#[inline(always)]
pub(crate) fn one_by_one<K: Keys + ?Sized>(hash: &impl BytesHash, keys: &K, first: usize, out: &mut [u64]) {
    for (place, out) in (first..keys.count()).zip(out) {
        *out = hash.hash(keys.key(place));
    }
}

/// Keys between those that are hashed and those whose memory is prefetched. The rounds fill the CPU's window,
/// so that it comes late to the loads of the next keys: from memory, a key took 10 ns without, and takes 4.5.
const AHEAD: usize = 64;

/// Bytes of a key, or of keys in a row, that are prefetched: the CPU sees that longer ones go on.
const PREFETCHED: usize = 1024;

/// Bytes of the longest key whose last word is the second.
const SHORT: u64 = 15;

struct Ragged<'a, K: ?Sized, const C: usize, const D: usize> {
    hash: &'a SipHash<C, D>,
    keys: &'a K,
    out: &'a mut [u64],
}

impl<K: Keys + ?Sized, const C: usize, const D: usize> LaneKernel for Ragged<'_, K, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        if L::ROWS {
            self.in_lanes(lanes);
        } else {
            one_by_one(self.hash, self.keys, 0, self.out);
        }
    }
}

impl<K: Keys + ?Sized, const C: usize, const D: usize> Ragged<'_, K, C, D> {
    #[inline(always)]
    fn in_lanes<L: Lanes>(self, lanes: L) {
        let Self { hash, keys, out } = self;
        let room = out.len().min(keys.count());
        let out = out.get_mut(..room).unwrap_or_default();
        let mut first = 0;
        let (pairs, rest) = out.as_chunks_mut::<{ 2 * WIDTH }>();
        for pair in pairs {
            // Two vectors in step: the CPU works on one while the other waits.
            let (groups, _) = pair.as_chunks_mut::<WIDTH>();
            if let Ok(groups) = <&mut [_; 2]>::try_from(groups) {
                group::<L, K, C, D, 2>(lanes, hash, keys, first, groups);
            }
            first += 2 * WIDTH;
        }
        let (groups, rest) = rest.as_chunks_mut::<WIDTH>();
        for out in groups {
            group::<L, K, C, D, 1>(lanes, hash, keys, first, core::array::from_mut(out));
            first += WIDTH;
        }
        one_by_one(hash, keys, first, rest);
    }
}

/// Hashes the keys from `first` on, `WIDTH` in each of `G` vectors.
#[inline(always)]
fn group<L: Lanes, K: Keys + ?Sized, const C: usize, const D: usize, const G: usize>(
    lanes: L,
    hash: &SipHash<C, D>,
    keys: &K,
    first: usize,
    out: &mut [[u64; WIDTH]; G],
) {
    keys.each_part(first + AHEAD, WIDTH * G, |bytes| {
        lanes.prefetch(bytes.get(..PREFETCHED).unwrap_or(bytes))
    });
    // Whole words of each key, and its length in the place that it has in the last word.
    let (mut whole, mut last) = ([lanes.splat(0); G], [lanes.splat(0); G]);
    let (mut longest, mut bytes) = (0, 0);
    for g in 0..G {
        let Some(eight) = keys.eight(first + WIDTH * g) else {
            return one_by_one(hash, keys, first, out.as_flattened_mut());
        };
        let lengths = eight.lengths();
        longest = lengths.into_iter().fold(longest, u64::max);
        bytes += lengths.into_iter().sum::<u64>();
        let lengths = lanes.load(&lengths);
        whole[g] = lanes.shr::<3>(lengths);
        last[g] = lanes.shl(lengths, lanes.splat(56));
    }
    // One long key among short ones: a word takes the vectors about twice as long as one key.
    if longest > 64 && bytes < 2 * longest {
        return one_by_one(hash, keys, first, out.as_flattened_mut());
    }
    let rows = Rows { keys, first, whole, last, longest: longest as usize };
    let mut states = [Words::splat(lanes, hash.initial); G];
    if longest <= SHORT {
        rows.compress_short::<L, C>(lanes, &mut states);
    } else {
        // The first block apart: most keys end in it, and need no test where it begins.
        rows.compress::<L, C>(lanes, &mut states, 0);
        for from in (WIDTH..=rows.longest / 8).step_by(WIDTH) {
            rows.compress::<L, C>(lanes, &mut states, from);
        }
    }
    for g in 0..G {
        let hashes = states[g].end::<D>(Vector(lanes, lanes.splat(0xff)));
        lanes.store(hashes.1, &mut out[g]);
    }
}

/// The state after the word number `at` of each key; lanes whose key has ended before it keep theirs.
#[inline(always)]
fn take<L: Lanes, const C: usize>(
    lanes: L,
    state: Words<Vector<L>>,
    word: L::V,
    whole: L::V,
    at: L::V,
) -> Words<Vector<L>> {
    let mut next = state;
    next.compress::<C>(Vector(lanes, word));
    let (Words([n0, n1, n2, n3]), Words([v0, v1, v2, v3])) = (next, state);
    let v0 = lanes.if_at_least(whole, at, n0.1, v0.1);
    let v1 = lanes.if_at_least(whole, at, n1.1, v1.1);
    let v2 = lanes.if_at_least(whole, at, n2.1, v2.1);
    let v3 = lanes.if_at_least(whole, at, n3.1, v3.1);
    Words([Vector(lanes, v0), Vector(lanes, v1), Vector(lanes, v2), Vector(lanes, v3)])
}

/// Keys in the lanes of `G` vectors.
struct Rows<'a, K: ?Sized, V, const G: usize> {
    keys: &'a K,
    /// Place of the first key.
    first: usize,
    /// Whole words of each key.
    whole: [V; G],
    /// Length of each key, in the place that it has in the last word.
    last: [V; G],
    /// Bytes of the longest key.
    longest: usize,
}

impl<K: Keys + ?Sized, V: Copy, const G: usize> Rows<'_, K, V, G> {
    /// Takes all words of keys of at most [`SHORT`] bytes: they fill one or two.
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "iterators over arrays of vectors may go through memory")]
    fn compress_short<L: Lanes<V = V>, const C: usize>(&self, lanes: L, states: &mut [Words<Vector<L>>; G]) {
        let Self { keys, first, whole, last, .. } = self;
        let (zero, one) = (lanes.splat(0), lanes.splat(1));
        let mut words = [[zero; 2]; G];
        for g in 0..G {
            if let Some(eight) = keys.eight(first + WIDTH * g) {
                words[g] = lanes.columns_of_short(|i| eight.key(i));
            }
        }
        for g in 0..G {
            let word = lanes.if_equal(whole[g], zero, lanes.xor(words[g][0], last[g]), words[g][0]);
            states[g].compress::<C>(Vector(lanes, word));
        }
        if self.longest < 8 {
            return;
        }
        for g in 0..G {
            states[g] = take::<L, C>(lanes, states[g], lanes.xor(words[g][1], last[g]), whole[g], one);
        }
    }

    /// Takes the eight words of each key from word `from` on, up to its last one.
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "iterators over arrays of vectors may go through memory")]
    fn compress<L: Lanes<V = V>, const C: usize>(
        &self,
        lanes: L,
        states: &mut [Words<Vector<L>>; G],
        from: usize,
    ) {
        let Self { keys, first, longest, .. } = self;
        let mut columns = [[lanes.splat(0); WIDTH]; G];
        // The last word has no bytes of a key if the longest ends with a word.
        let loaded = if from == 0 || 8 * from < *longest { G } else { 0 };
        for g in 0..loaded {
            if let Some(eight) = keys.eight(first + WIDTH * g) {
                columns[g] = lanes.columns_of(|i| eight.key(i), 8 * from);
            }
        }
        let mut word = |w: usize| self.word::<L, C>(lanes, states, &columns, from, w);
        // Written out: places of vectors that are known keep them in registers.
        let _ = word(0) && word(1) && word(2) && word(3) && word(4) && word(5) && word(6) && word(7);
    }

    /// Takes word `from + w` of each key that has it. Returns false if no key has.
    #[inline(always)]
    fn word<L: Lanes<V = V>, const C: usize>(
        &self,
        lanes: L,
        states: &mut [Words<Vector<L>>; G],
        columns: &[[V; WIDTH]; G],
        from: usize,
        w: usize,
    ) -> bool {
        let Self { whole, last, longest, .. } = self;
        if from + w > longest / 8 {
            return false;
        }
        let at = lanes.splat((from + w) as u64);
        for g in 0..G {
            let word = columns[g][w];
            let word = lanes.if_equal(whole[g], at, lanes.xor(word, last[g]), word);
            states[g] = take::<L, C>(lanes, states[g], word, whole[g], at);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::unit::LaneUnit;
    use crate::scheme::{Key, Scheme};
    use crate::siphash::{SipHash13, SipHash24};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The kernel in lanes of every kind, also where one key at a time is faster.
    struct InLanes<'a, K: ?Sized, const C: usize, const D: usize>(Ragged<'a, K, C, D>);

    impl<K: Keys + ?Sized, const C: usize, const D: usize> LaneKernel for InLanes<'_, K, C, D> {
        type Output = ();

        fn run<L: Lanes>(self, lanes: L) {
            self.0.in_lanes(lanes);
        }
    }

    /// Hashes `keys` as slices and joined with both kinds of offsets, against one at a time.
    fn agrees<const C: usize, const D: usize>(hash: &SipHash<C, D>, keys: &[Vec<u8>], room: usize) {
        let mut expected = std::vec![7; room];
        for (out, key) in expected.iter_mut().zip(keys) {
            *out = hash.hash(key);
        }
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut out = std::vec![7; room];
        hash.hash_ragged(slices.as_slice(), &mut out);
        assert_eq!(out, expected);
        out.fill(7);
        hash.unit.run(InLanes(Ragged { hash, keys: slices.as_slice(), out: &mut out }));
        assert_eq!(out, expected);
        let bytes = keys.concat();
        let mut wide = std::vec![0_i64];
        keys.iter().for_each(|key| wide.push(wide[wide.len() - 1] + key.len() as i64));
        let narrow: Vec<i32> = wide.iter().map(|offset| *offset as i32).collect();
        out.fill(7);
        hash.hash_ragged(&Joined { bytes: &bytes, offsets: &wide }, &mut out);
        assert_eq!(out, expected);
        out.fill(7);
        hash.hash_ragged(&Joined { bytes: &bytes, offsets: &narrow }, &mut out);
        assert_eq!(out, expected);
    }

    proptest! {
        #[test]
        fn hashes_keys_of_any_lengths_as_one_at_a_time(
            key: [u8; 16],
            keys in vec(prop_oneof![vec(any::<u8>(), 0..70), vec(any::<u8>(), 0..600)], 0..70),
            room in 0..80usize,
        ) {
            let key = Key::new(key);
            for unit in LaneUnit::all() {
                agrees(&SipHash24 { unit, ..SipHash24::new(&key) }, &keys, room);
                agrees(&SipHash13 { unit, ..SipHash13::new(&key) }, &keys, room);
            }
        }
    }

    #[test]
    fn hashes_each_length_beside_each_other() {
        for unit in LaneUnit::all() {
            let hash = SipHash13 { unit, ..SipHash13::new(&Key::VECTOR) };
            for len in 0..200 {
                let keys: Vec<Vec<u8>> =
                    (0..16).map(|i| std::vec![i; (len + usize::from(i)) % 200]).collect();
                agrees(&hash, &keys, 16);
            }
        }
    }

    #[test]
    fn takes_keys_with_wrong_offsets_as_empty() {
        let hash = SipHash13::new(&Key::VECTOR);
        let keys = Joined { bytes: b"abc", offsets: &[0_i32, 3, 1, 4, -1, i32::MIN, 3, 2, 2, 2] };
        let mut out = [0; 9];
        hash.hash_ragged(&keys, &mut out);
        let mut expected = [hash.hash(b""); 9];
        expected[0] = hash.hash(b"abc");
        assert_eq!(out, expected);
        assert_eq!(Joined::<i32> { bytes: b"", offsets: &[] }.count(), 0);
    }
}
