//! Eight lanes of 64 or 32 bits: AVX-512, AVX2, or plain arrays.

use super::stage::Stage;
use crate::load::le64_short;

/// Number of lanes in a vector, on every CPU.
pub(crate) const WIDTH: usize = 8;

/// Arithmetic on [`WIDTH`] lanes of 64 bits at once.
pub(crate) trait Lanes: Stage {
    /// The vector.
    type V: Copy;

    /// A vector of [`WIDTH`] lanes of 32 bits.
    type V32: Copy;

    /// True if the registers hold two groups of lanes at once, so that one works while the other waits.
    const PAIRS: bool = false;

    fn load(self, from: &[u64; WIDTH]) -> Self::V;
    fn store(self, v: Self::V, to: &mut [u64; WIDTH]);
    fn splat(self, x: u64) -> Self::V;
    /// Sum modulo 2⁶⁴.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn rotl<const N: i32>(self, a: Self::V) -> Self::V;
    /// Each lane shifted left by its own count, which must be below 64.
    fn shl(self, a: Self::V, by: Self::V) -> Self::V;
    fn shr<const N: u32>(self, a: Self::V) -> Self::V;
    /// The low half of each lane, and the high half.
    fn halves(self, a: Self::V) -> [Self::V32; 2];
    /// Each lane from 32 bits.
    fn widen_32(self, a: Self::V32) -> Self::V;
    fn splat_32(self, x: u32) -> Self::V32;
    /// Sum modulo 2³².
    fn add_32(self, a: Self::V32, b: Self::V32) -> Self::V32;
    /// Difference modulo 2³².
    fn sub_32(self, a: Self::V32, b: Self::V32) -> Self::V32;
    fn xor_32(self, a: Self::V32, b: Self::V32) -> Self::V32;
    fn rotl_32<const N: u32>(self, a: Self::V32) -> Self::V32;
    /// Each lane from 16 bits.
    fn widen(self, from: &[u16; WIDTH]) -> Self::V;
    /// Lane i is the word at byte `at[i] % LEN` of `table`, little-endian; every `at[i]` is a multiple of 8,
    /// and LEN a power of two.
    fn gather_words<const LEN: usize>(self, table: &[u8; LEN], at: Self::V) -> Self::V;
    /// Lane i of vector w is the little-endian word w of key i.
    #[inline(always)]
    fn columns<const N: usize>(self, keys: &[[u64; N]; WIDTH]) -> [Self::V; N] {
        let mut columns = [self.splat(0); N];
        for (at, column) in columns.iter_mut().enumerate() {
            *column = self.load(&core::array::from_fn(|i| u64::from_le(keys[i][at])));
        }
        columns
    }
    /// True if [`load_block`](Self::load_block) takes fewer than eight gathers.
    const BLOCKS: bool = false;
    /// Lane i of vector w is the little-endian word `at + w` of row i. A row has `ROW` bytes; words beyond it
    /// are unspecified.
    #[inline(always)]
    fn load_block<const ROW: usize, const LEN: usize>(self, rows: &[u8; LEN], at: usize) -> [Self::V; WIDTH] {
        core::array::from_fn(|w| {
            let words = core::array::from_fn(|i| (ROW * i + 8 * (at + w)) as u64);
            self.gather_words(rows, self.load(&words))
        })
    }
    /// True if [`columns_of`](Self::columns_of) is so fast that eight keys of several lengths take less time
    /// in lanes than one after the other.
    const ROWS: bool = false;
    /// Lane i of vector w is the little-endian word at byte `at + 8 * w` of `key(i)`, with zeros beyond the
    /// key's end.
    ///
    /// A function gives the keys: an array of slices would be copied in vectors before the stores of its
    /// parts have ended.
    #[inline(always)]
    fn columns_of<'k>(self, key: impl Fn(usize) -> &'k [u8], at: usize) -> [Self::V; WIDTH] {
        let mut words = [[0; WIDTH]; WIDTH];
        for (i, words) in words.iter_mut().enumerate() {
            *words = words_from(key(i), at);
        }
        self.columns(&words)
    }
    /// The first two vectors of [`columns_of`](Self::columns_of) at byte 0, for keys of at most 16 bytes.
    #[inline(always)]
    fn columns_of_short<'k>(self, key: impl Fn(usize) -> &'k [u8]) -> [Self::V; 2] {
        let [w0, w1, ..] = self.columns_of(key, 0);
        [w0, w1]
    }
    /// Asks the CPU to bring `bytes` into its caches; a hint, which [`ROWS`](Self::ROWS) has a use for.
    #[inline(always)]
    fn prefetch(self, _: &[u8]) {}
    /// Lane i is `yes[i]` where `a[i]` equals `b[i]`, otherwise `no[i]`.
    fn if_equal(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Lane i is `yes[i]` where `a[i]` is at least `b[i]`, both below 2⁶³, otherwise `no[i]`.
    fn if_at_least(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Lane i of vector w is word w of `table[index[i] % LEN]`; LEN is a power of two.
    fn gather_rows<const LEN: usize>(self, table: &[[u64; 4]; LEN], index: Self::V) -> [Self::V; 4];
    /// Word w of `to[i]` becomes lane i of vector w.
    fn store_rows(self, rows: [Self::V; 4], to: &mut [[u64; 4]; WIDTH]);
}

/// Work that is generic over the lanes. `run` must be `#[inline(always)]`.
pub(crate) trait LaneKernel {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Arrays, which the compiler spreads over the registers of the target.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

#[inline(always)]
fn zip<T: Copy>(a: [T; WIDTH], b: [T; WIDTH], f: impl Fn(T, T) -> T) -> [T; WIDTH] {
    core::array::from_fn(|i| f(a[i], b[i]))
}

/// Eight words of `key` from byte `at` on, with zeros beyond its end.
#[inline(always)]
fn words_from(key: &[u8], at: usize) -> [u64; WIDTH] {
    let rest = key.get(at..).unwrap_or_default();
    let (whole, end) = rest.as_chunks();
    let mut words = [0; WIDTH];
    words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    if let Some(word) = words.get_mut(whole.len()) {
        *word = le64_short(end);
    }
    words
}

impl Stage for Portable {}

impl Lanes for Portable {
    type V = [u64; WIDTH];
    type V32 = [u32; WIDTH];

    #[inline(always)]
    fn load(self, from: &[u64; WIDTH]) -> Self::V {
        *from
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [u64; WIDTH]) {
        *to = v;
    }
    #[inline(always)]
    fn splat(self, x: u64) -> Self::V {
        [x; WIDTH]
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, u64::wrapping_add)
    }
    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| x ^ y)
    }
    #[inline(always)]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| x & y)
    }
    #[inline(always)]
    fn rotl<const N: i32>(self, a: Self::V) -> Self::V {
        a.map(|x| x.rotate_left(N as u32))
    }
    #[inline(always)]
    fn shl(self, a: Self::V, by: Self::V) -> Self::V {
        zip(a, by, |x, n| x.wrapping_shl(n as u32))
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: Self::V) -> Self::V {
        a.map(|x| x >> N)
    }
    #[inline(always)]
    fn halves(self, a: Self::V) -> [Self::V32; 2] {
        [a.map(|x| x as u32), a.map(|x| (x >> 32) as u32)]
    }
    #[inline(always)]
    fn widen_32(self, a: Self::V32) -> Self::V {
        a.map(u64::from)
    }
    #[inline(always)]
    fn splat_32(self, x: u32) -> Self::V32 {
        [x; WIDTH]
    }
    #[inline(always)]
    fn add_32(self, a: Self::V32, b: Self::V32) -> Self::V32 {
        zip(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub_32(self, a: Self::V32, b: Self::V32) -> Self::V32 {
        zip(a, b, u32::wrapping_sub)
    }
    #[inline(always)]
    fn xor_32(self, a: Self::V32, b: Self::V32) -> Self::V32 {
        zip(a, b, |x, y| x ^ y)
    }
    #[inline(always)]
    fn rotl_32<const N: u32>(self, a: Self::V32) -> Self::V32 {
        a.map(|x| x.rotate_left(N))
    }
    #[inline(always)]
    fn widen(self, from: &[u16; WIDTH]) -> Self::V {
        from.map(u64::from)
    }
    #[inline(always)]
    fn gather_words<const LEN: usize>(self, table: &[u8; LEN], at: Self::V) -> Self::V {
        const { assert!(LEN.is_power_of_two()) };
        at.map(|at| u64::from_le_bytes(table.as_chunks().0[at as usize % LEN / 8]))
    }
    #[inline(always)]
    fn if_equal(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        core::array::from_fn(|i| if a[i] == b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn if_at_least(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        core::array::from_fn(|i| if a[i] >= b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn gather_rows<const LEN: usize>(self, table: &[[u64; 4]; LEN], index: Self::V) -> [Self::V; 4] {
        const { assert!(LEN.is_power_of_two()) };
        let rows = index.map(|i| table[i as usize & (LEN - 1)]);
        core::array::from_fn(|word| rows.map(|row| row[word]))
    }
    #[inline(always)]
    fn store_rows(self, rows: [Self::V; 4], to: &mut [[u64; 4]; WIDTH]) {
        for (i, to) in to.iter_mut().enumerate() {
            *to = rows.map(|row| row[i]);
        }
    }
}
