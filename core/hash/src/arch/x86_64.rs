//! x86-64: SSE4.2's CRC32C, AVX2 and AVX-512 lanes.
#![allow(unsafe_code, reason = "intrinsics; each use says why it is sound")]

use super::crc::{CrcKernel, CrcStep};
use super::lanes::{LaneKernel, Lanes, WIDTH};
use super::stage::{STRIDE, Stage};
use core::arch::x86_64::*;

/// True if the CPU and the operating system have a feature. Detected at run time; without an operating
/// system, the target features of the build decide. Always false in a build with `--cfg hashlane_portable`,
/// which measures the kernels of CPUs without these features.
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(not(target_os = "none"))]
        {
            !cfg!(hashlane_portable) && std::is_x86_feature_detected!($feature)
        }
        #[cfg(target_os = "none")]
        {
            cfg!(target_feature = $feature)
        }
    }};
}

macro_rules! crc_token {
    (
        $(#[$doc:meta])*
        $name:ident, $features:literal, $detect:expr, { $($stage:item)? } $(, $($more:item)+)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            pub(crate) fn detect() -> Option<Self> {
                $detect.then_some(Self(()))
            }

            #[inline(always)]
            pub(crate) fn run<K: CrcKernel>(self, kernel: K) -> K::Output {
                #[target_feature(enable = $features)]
                fn compiled<K: CrcKernel>(token: $name, kernel: K) -> K::Output {
                    kernel.run(token)
                }
                // SAFETY: the token exists only where `detect` found the features.
                unsafe { compiled(self, kernel) }
            }
        }

        impl Stage for $name {
            $($stage)?
        }

        impl CrcStep for $name {
            #[inline(always)]
            fn u64(self, crc: u64, word: u64) -> u64 {
                // SAFETY: the token exists only where `detect` found SSE4.2.
                unsafe { _mm_crc32_u64(crc, word) }
            }
            #[inline(always)]
            fn u32(self, crc: u64, word: u32) -> u64 {
                // SAFETY: as above.
                u64::from(unsafe { _mm_crc32_u32(crc as u32, word) })
            }
            #[inline(always)]
            fn u16(self, crc: u64, word: u16) -> u64 {
                // SAFETY: as above.
                u64::from(unsafe { _mm_crc32_u16(crc as u32, word) })
            }
            #[inline(always)]
            fn u8(self, crc: u64, word: u8) -> u64 {
                // SAFETY: as above.
                u64::from(unsafe { _mm_crc32_u8(crc as u32, word) })
            }
            $($($more)+)?
        }
    };
}

crc_token!(
    /// SSE4.2 alone (Nehalem to Ivy Bridge).
    Sse42,
    "sse4.2",
    has!("sse4.2"),
    {}
);
crc_token!(
    /// SSE4.2 with BMI2, whose variable shifts cost one µop in place of three (since Haswell and Zen).
    Sse42Bmi2,
    "sse4.2,bmi1,bmi2",
    has!("sse4.2") && has!("bmi1") && has!("bmi2"),
    {}
);

crc_token!(
    /// AVX-512 and carry-less multiplication in 512 bits (since Ice Lake and Zen 4), which takes eight
    /// last words at once.
    Clmul512,
    "sse4.2,bmi1,bmi2,avx512f,avx512bw,vpclmulqdq",
    Avx512::detect().is_some() && has!("sse4.2") && has!("vpclmulqdq"),
    {
        #[inline(always)]
        fn stage(self, place: &mut [u8; STRIDE], bytes: &[u8]) {
            Avx512(()).stage(place, bytes);
        }
    },
    const IN_STEP: bool = true;
    /// Uses a masked load, without a branch.
    #[inline(always)]
    fn block_before(self, key: &[u8], after: usize, block: &mut [u64; WIDTH]) {
        let end = key.len().saturating_sub(after);
        // SAFETY: the token exists only where `detect` found AVX-512 and BMI2. The mask admits only bytes
        // that stand before `end` in `key`; the others are neither read nor can they fault.
        unsafe {
            let mask = !_bzhi_u64(u64::MAX, 64_u32.saturating_sub(end.min(64) as u32));
            let from = key.as_ptr().wrapping_add(end).wrapping_sub(64);
            Avx512(()).store(_mm512_maskz_loadu_epi8(mask, from.cast()), block);
        }
    }
    #[inline(always)]
    fn eight_ends<const LEN: usize, const WORDS: usize>(
        self,
        bytes: &[u8; LEN],
        registers: &[u64; WORDS],
        ends: &[u16; WIDTH],
        out: &mut [u64; WIDTH],
    ) {
        const { assert!(LEN.is_power_of_two() && LEN == 8 * WORDS) };
        let lanes = Avx512(());
        let end = lanes.widen(ends);
        let register = lanes.gather(registers, lanes.shr::<3>(end));
        let word = lanes.gather_words(bytes, lanes.and(end, lanes.splat(!7)));
        // SAFETY: the token exists only where `detect` found AVX-512 and VPCLMULQDQ; these touch registers
        // alone.
        unsafe {
            let bits = _mm512_and_si512(_mm512_slli_epi64::<3>(end), _mm512_set1_epi64(56));
            // A shift by 64, for an end between words, leaves nothing, as it should.
            let top = _mm512_sllv_epi64(
                _mm512_xor_si512(register, word),
                _mm512_sub_epi64(_mm512_set1_epi64(64), bits),
            );
            let crc = crc_of_eight_words(top);
            lanes.store(_mm512_xor_si512(crc, _mm512_srlv_epi64(register, bits)), out);
        }
    }
);

/// CRC of each of eight words in an empty register: the remainder of word · t³² by the polynomial P, by
/// Barrett's reduction. A register's bit i is the coefficient of t⁶³⁻ⁱ, so the low half of a product has its
/// high coefficients.
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn crc_of_eight_words(words: __m512i) -> __m512i {
    /// ⌊t⁹⁶ / P⌋ = t⁶⁴ + μ: μ reflected and moved up one place, as a product of two reflected words is one
    /// place low, and in the place that falls free the t⁶⁴.
    const QUOTIENT: i64 = 0x4869_ec38_dea7_13f1;
    /// P without its leading term, reflected.
    const POLYNOMIAL: i64 = 0x82f6_3b78_0000_0000_u64 as i64;
    let quotient = _mm512_set1_epi64(QUOTIENT);
    let polynomial = _mm512_set1_epi64(POLYNOMIAL);
    // The multiplication takes one word of each 128 bits: first the even ones, then the odd ones.
    let even = _mm512_clmulepi64_epi128::<0x00>(words, quotient);
    let odd = _mm512_clmulepi64_epi128::<0x01>(words, quotient);
    let even = _mm512_clmulepi64_epi128::<0x00>(even, polynomial);
    let odd = _mm512_clmulepi64_epi128::<0x00>(odd, polynomial);
    // The remainder's 32 coefficients start 31 bits above the middle.
    _mm512_srli_epi64::<31>(_mm512_unpackhi_epi64(even, odd))
}

/// Rotates each lane of 32 bits to the left: two shifts by counts in registers, which the compiler folds to
/// constants.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn rotl_32(a: __m256i, by: u32) -> __m256i {
    // SAFETY: register operations.
    unsafe {
        let (left, right) = (_mm_cvtsi32_si128(by as i32), _mm_cvtsi32_si128(32 - by as i32));
        _mm256_or_si256(_mm256_sll_epi32(a, left), _mm256_srl_epi32(a, right))
    }
}

/// Eight lanes of 32 bits in one 256-bit register, beside either form of the lanes of 64.
macro_rules! lanes_of_32 {
    () => {
        type V32 = __m256i;

        #[inline(always)]
        fn splat_32(self, x: u32) -> __m256i {
            // SAFETY: register operation.
            unsafe { _mm256_set1_epi32(x as i32) }
        }
        #[inline(always)]
        fn add_32(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: register operation.
            unsafe { _mm256_add_epi32(a, b) }
        }
        #[inline(always)]
        fn sub_32(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: register operation.
            unsafe { _mm256_sub_epi32(a, b) }
        }
        #[inline(always)]
        fn xor_32(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: register operation.
            unsafe { _mm256_xor_si256(a, b) }
        }
        #[inline(always)]
        fn rotl_32<const N: u32>(self, a: __m256i) -> __m256i {
            // SAFETY: register operations.
            unsafe { rotl_32(a, N) }
        }
    };
}

/// Eight lanes in one 512-bit register.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        let vectors = has!("avx512f") && has!("avx512bw") && has!("avx512vl");
        (vectors && has!("bmi1") && has!("bmi2")).then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<K: LaneKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
        fn compiled<K: LaneKernel>(token: Avx512, kernel: K) -> K::Output {
            kernel.run(token)
        }
        // SAFETY: the token exists only where `detect` found the features.
        unsafe { compiled(self, kernel) }
    }
}

impl Stage for Avx512 {
    /// Uses masked loads, without a branch up to 128 bytes.
    #[inline(always)]
    fn stage(self, place: &mut [u8; STRIDE], bytes: &[u8]) {
        let masks = &MASKS[bytes.len().min(128)];
        // SAFETY: the masks select as many bytes as there are in `bytes`, from the first and from the 65th
        // on.
        unsafe {
            self.copy_64(place, bytes, 0, masks[0]);
            self.copy_64(place, bytes, 64, masks[1]);
        }
        let mut at = 128;
        while at < bytes.len() {
            // SAFETY: the mask selects as many bytes as there are from `at` on.
            unsafe { self.copy_64(place, bytes, at, MASKS[(bytes.len() - at).min(64)][0]) };
            at += 64;
        }
    }
}

/// Masks of the first 64 bytes and of the next 64, for each length up to 128.
static MASKS: [[u64; 2]; 129] = {
    let mut masks = [[0; 2]; 129];
    let mut len = 0;
    while len <= 128 {
        let bits = if len == 128 { u128::MAX } else { (1 << len) - 1 };
        masks[len] = [bits as u64, (bits >> 64) as u64];
        len += 1;
    }
    masks
};

impl Avx512 {
    /// Copies 64 bytes from `bytes[at..]` to `place[at..]`; a byte whose bit in `mask` is not set is not read
    /// and becomes zero.
    ///
    /// # Safety
    /// No bit of `mask` may be set for a byte beyond the end of `bytes`.
    #[inline(always)]
    unsafe fn copy_64(self, place: &mut [u8; STRIDE], bytes: &[u8], at: usize, mask: u64) {
        let Some(place) = place.get_mut(at..at + 64) else { return };
        debug_assert!(bytes.len().saturating_sub(at) >= 64 - mask.leading_zeros() as usize);
        let from = bytes.as_ptr().wrapping_add(at);
        // SAFETY: the token exists only where `detect` found AVX-512 with BW. What `mask` admits stands in
        // `bytes`, as the caller sees to; the others are neither read nor can they fault. `place` has 64.
        unsafe { _mm512_storeu_epi8(place.as_mut_ptr().cast(), _mm512_maskz_loadu_epi8(mask, from.cast())) }
    }
}

// In the impls below: SAFETY of the register operations: the token exists only where `detect` found the
// features. SAFETY of the memory operations: the references span eight `u64`, and the unaligned forms are
// used.
impl Avx512 {
    /// Lane i is `table[index[i] % LEN]`; LEN is a power of two.
    #[inline(always)]
    fn gather<const LEN: usize>(self, table: &[u64; LEN], index: __m512i) -> __m512i {
        const { assert!(LEN.is_power_of_two()) };
        let index = self.and(index, self.splat(LEN as u64 - 1));
        // SAFETY: every index is below LEN after the mask, so each lane reads inside `table`.
        unsafe { _mm512_i64gather_epi64::<8>(index, table.as_ptr().cast()) }
    }

    /// Four pairs of words side by side.
    #[inline(always)]
    fn four(self, [a, b, c, d]: [&[u64; 2]; 4]) -> __m512i {
        // SAFETY: two `u64` are 128 bits, read by the unaligned form; the rest are register operations.
        unsafe {
            let rows = _mm512_castsi128_si512(_mm_loadu_si128(a.as_ptr().cast()));
            let rows = _mm512_inserti32x4::<1>(rows, _mm_loadu_si128(b.as_ptr().cast()));
            let rows = _mm512_inserti32x4::<2>(rows, _mm_loadu_si128(c.as_ptr().cast()));
            _mm512_inserti32x4::<3>(rows, _mm_loadu_si128(d.as_ptr().cast()))
        }
    }
}

impl Lanes for Avx512 {
    type V = __m512i;
    lanes_of_32!();
    const PAIRS: bool = true;
    const BLOCKS: bool = true;
    const ROWS: bool = true;

    #[inline(always)]
    fn load_block<const ROW: usize, const LEN: usize>(self, rows: &[u8; LEN], at: usize) -> [__m512i; WIDTH] {
        const { assert!(LEN == ROW * WIDTH && ROW.is_multiple_of(64) && ROW.is_power_of_two()) };
        let blocks = rows.as_chunks::<64>().0;
        let block = at / 8 % (ROW / 64);
        // SAFETY: a block is 512 bits, read by the unaligned form.
        let row = |i: usize| unsafe { _mm512_loadu_epi64(blocks[ROW / 64 * i + block].as_ptr().cast()) };
        // SAFETY: the token exists only where `detect` found AVX-512.
        unsafe { columns_of_rows([row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)]) }
    }

    #[inline(always)]
    fn columns_of<'k>(self, key: impl Fn(usize) -> &'k [u8], at: usize) -> [__m512i; WIDTH] {
        let [a, b, c, d] =
            [self.block(key(0), at), self.block(key(1), at), self.block(key(2), at), self.block(key(3), at)];
        let [e, f, g, h] =
            [self.block(key(4), at), self.block(key(5), at), self.block(key(6), at), self.block(key(7), at)];
        // SAFETY: the token exists only where `detect` found AVX-512.
        unsafe { columns_of_rows([a, b, c, d, e, f, g, h]) }
    }
    #[inline(always)]
    fn columns_of_short<'k>(self, key: impl Fn(usize) -> &'k [u8]) -> [__m512i; 2] {
        let [a, b, c, d] = [self.pair(key(0)), self.pair(key(1)), self.pair(key(2)), self.pair(key(3))];
        let [e, f, g, h] = [self.pair(key(4)), self.pair(key(5)), self.pair(key(6)), self.pair(key(7))];
        // SAFETY: the token exists only where `detect` found AVX-512.
        unsafe { words_of_rows([a, b, c, d, e, f, g, h]) }
    }
    #[inline(always)]
    fn prefetch(self, bytes: &[u8]) {
        for line in bytes.chunks(64) {
            // SAFETY: a prefetch neither reads nor faults, wherever it points.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
        }
    }
    #[inline(always)]
    fn if_equal(self, a: __m512i, b: __m512i, yes: __m512i, no: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_mask_mov_epi64(no, _mm512_cmpeq_epi64_mask(a, b), yes) }
    }
    #[inline(always)]
    fn if_at_least(self, a: __m512i, b: __m512i, yes: __m512i, no: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_mask_mov_epi64(no, _mm512_cmpge_epi64_mask(a, b), yes) }
    }

    #[inline(always)]
    fn load(self, from: &[u64; WIDTH]) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_epi64(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, v: __m512i, to: &mut [u64; WIDTH]) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_epi64(to.as_mut_ptr().cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(x as i64) }
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn rotl<const N: i32>(self, a: __m512i) -> __m512i {
        // Rotations have one port; exchanging the halves of each lane has the other.
        // SAFETY: see above.
        unsafe { if N == 32 { _mm512_shuffle_epi32::<0b10_11_00_01>(a) } else { _mm512_rol_epi64::<N>(a) } }
    }
    #[inline(always)]
    fn shl(self, a: __m512i, by: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_sllv_epi64(a, by) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srli_epi64::<N>(a) }
    }
    #[inline(always)]
    fn halves(self, a: __m512i) -> [__m256i; 2] {
        // SAFETY: see above.
        unsafe { [_mm512_cvtepi64_epi32(a), _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(a))] }
    }
    #[inline(always)]
    fn widen_32(self, a: __m256i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_cvtepu32_epi64(a) }
    }
    #[inline(always)]
    fn widen(self, from: &[u16; WIDTH]) -> __m512i {
        // SAFETY: see above; eight `u16` are 128 bits.
        unsafe { _mm512_cvtepu16_epi64(_mm_loadu_si128(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn gather_words<const LEN: usize>(self, table: &[u8; LEN], at: __m512i) -> __m512i {
        const { assert!(LEN.is_power_of_two() && LEN >= 8) };
        let at = self.and(at, self.splat(LEN as u64 - 8));
        // SAFETY: after the mask each offset is a multiple of 8 below LEN, so eight bytes stand there.
        unsafe { _mm512_i64gather_epi64::<1>(at, table.as_ptr().cast()) }
    }
    /// Loads and inserts: five gathers take longer, several times so with the mitigation of their data leak.
    #[inline(always)]
    fn columns<const N: usize>(self, keys: &[[u64; N]; WIDTH]) -> [__m512i; N] {
        let mut columns = [self.splat(0); N];
        let [a, b, c, d, e, f, g, h] = keys.each_ref().map(|key| key.as_chunks::<2>().0);
        for (w, columns) in columns.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let even = self.four([&a[w], &c[w], &e[w], &g[w]]);
            let odd = self.four([&b[w], &d[w], &f[w], &h[w]]);
            // SAFETY: register operations.
            unsafe {
                columns[0] = _mm512_unpacklo_epi64(even, odd);
                columns[1] = _mm512_unpackhi_epi64(even, odd);
            }
        }
        if !N.is_multiple_of(2) {
            let [a, b, c, d, e, f, g, h] = keys.each_ref().map(|key| key[N - 1] as i64);
            // SAFETY: register operation.
            columns[N - 1] = unsafe { _mm512_set_epi64(h, g, f, e, d, c, b, a) };
        }
        columns
    }
    /// Loads and shuffles: four gathers take several times as long.
    #[inline(always)]
    fn gather_rows<const LEN: usize>(self, table: &[[u64; 4]; LEN], index: __m512i) -> [__m512i; 4] {
        const { assert!(LEN.is_power_of_two()) };
        let mut at = [0; WIDTH];
        self.store(index, &mut at);
        let row = |i: usize| &table[at[i] as usize & (LEN - 1)];
        // Rows i and i + 4 side by side.
        // SAFETY: a row is 256 bits, read by the unaligned form; the rest are register operations.
        let two = |i: usize| unsafe {
            let [low, high] = [row(i), row(i + 4)].map(|row| _mm256_loadu_si256(row.as_ptr().cast()));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        };
        let (a, b, c, d) = (two(0), two(1), two(2), two(3));
        // SAFETY: register operations.
        unsafe {
            let (low, high) =
                (_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
            // Words 0 and 2, then words 1 and 3, of a and b, and of c and d.
            let even = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
            let odd = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
            [
                _mm512_permutex2var_epi64(even.0, low, even.1),
                _mm512_permutex2var_epi64(odd.0, low, odd.1),
                _mm512_permutex2var_epi64(even.0, high, even.1),
                _mm512_permutex2var_epi64(odd.0, high, odd.1),
            ]
        }
    }
    #[inline(always)]
    fn store_rows(self, [v0, v1, v2, v3]: [__m512i; 4], to: &mut [[u64; 4]; WIDTH]) {
        // SAFETY: register operations, and stores of 256 bits to rows of 256 bits by the unaligned form.
        unsafe {
            let (low, high) =
                (_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15));
            // Words 0 and 1, then 2 and 3, of the even lanes, and of the odd ones.
            let even = (_mm512_unpacklo_epi64(v0, v1), _mm512_unpacklo_epi64(v2, v3));
            let odd = (_mm512_unpackhi_epi64(v0, v1), _mm512_unpackhi_epi64(v2, v3));
            let pairs = [
                (0, _mm512_permutex2var_epi64(even.0, low, even.1)),
                (4, _mm512_permutex2var_epi64(even.0, high, even.1)),
                (1, _mm512_permutex2var_epi64(odd.0, low, odd.1)),
                (5, _mm512_permutex2var_epi64(odd.0, high, odd.1)),
            ];
            for (i, rows) in pairs {
                _mm256_storeu_si256(to[i].as_mut_ptr().cast(), _mm512_castsi512_si256(rows));
                _mm256_storeu_si256(to[i + 2].as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(rows));
            }
        }
    }
}

/// Eight rows of eight words as eight columns.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn columns_of_rows([a, b, c, d, e, f, g, h]: [__m512i; WIDTH]) -> [__m512i; WIDTH] {
    // SAFETY: register operations.
    unsafe {
        // Words 0 2 4 6, then 1 3 5 7, of two rows each.
        let (ab, cd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
        let (ef, gh) = (_mm512_unpacklo_epi64(e, f), _mm512_unpacklo_epi64(g, h));
        let [w0, w2, w4, w6] = quarters(ab, cd, ef, gh);
        let (ab, cd) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
        let (ef, gh) = (_mm512_unpackhi_epi64(e, f), _mm512_unpackhi_epi64(g, h));
        let [w1, w3, w5, w7] = quarters(ab, cd, ef, gh);
        [w0, w1, w2, w3, w4, w5, w6, w7]
    }
}

impl Avx512 {
    /// 64 bytes of `key` from byte `at` on, with zeros beyond its end.
    #[inline(always)]
    fn block(self, key: &[u8], at: usize) -> __m512i {
        // Not beyond the key's end: a load that admits nothing is slow where no memory is.
        let rest = key.get(at.min(key.len())..).unwrap_or_default();
        // SAFETY: the token exists only where `detect` found AVX-512 and BMI2. The mask admits only bytes
        // that stand in `rest`; the others are neither read nor can they fault.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, rest.len().min(64) as u32);
            _mm512_maskz_loadu_epi8(mask, rest.as_ptr().cast())
        }
    }

    /// The first 16 bytes of `key`, with zeros beyond its end.
    #[inline(always)]
    fn pair(self, key: &[u8]) -> __m128i {
        // SAFETY: the token exists only where `detect` found AVX-512 and BMI2. The mask admits only bytes
        // that stand in `key`; the others are neither read nor can they fault.
        unsafe {
            let mask = _bzhi_u32(u32::MAX, key.len().min(16) as u32) as u16;
            _mm_maskz_loadu_epi8(mask, key.as_ptr().cast())
        }
    }
}

/// Lane i of vector w is word w of row i.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn words_of_rows([a, b, c, d, e, f, g, h]: [__m128i; WIDTH]) -> [__m512i; 2] {
    // SAFETY: register operations.
    unsafe {
        let join = |ab, cd, ef, gh| {
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(ab), cd);
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(ef), gh);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        };
        [
            join(
                _mm_unpacklo_epi64(a, b),
                _mm_unpacklo_epi64(c, d),
                _mm_unpacklo_epi64(e, f),
                _mm_unpacklo_epi64(g, h),
            ),
            join(
                _mm_unpackhi_epi64(a, b),
                _mm_unpackhi_epi64(c, d),
                _mm_unpackhi_epi64(e, f),
                _mm_unpackhi_epi64(g, h),
            ),
        ]
    }
}

/// The first 128 bits of each of four registers, then the second, the third, the fourth.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn quarters(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> [__m512i; 4] {
    // SAFETY: register operations.
    unsafe {
        // Quarters 0 and 2, then 1 and 3, of two registers.
        let (even, odd) =
            (_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b));
        let (even_2, odd_2) =
            (_mm512_shuffle_i64x2::<0b10_00_10_00>(c, d), _mm512_shuffle_i64x2::<0b11_01_11_01>(c, d));
        [
            _mm512_shuffle_i64x2::<0b10_00_10_00>(even, even_2),
            _mm512_shuffle_i64x2::<0b10_00_10_00>(odd, odd_2),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(even, even_2),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(odd, odd_2),
        ]
    }
}

/// Eight lanes in two 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        (has!("avx2") && has!("bmi1") && has!("bmi2")).then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<K: LaneKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn compiled<K: LaneKernel>(token: Avx2, kernel: K) -> K::Output {
            kernel.run(token)
        }
        // SAFETY: the token exists only where `detect` found the features.
        unsafe { compiled(self, kernel) }
    }
}

/// A pair of 256-bit registers, lanes 0–3 and 4–7.
type Pair = [__m256i; 2];

impl Stage for Avx2 {}

impl Lanes for Avx2 {
    type V = Pair;
    lanes_of_32!();

    #[inline(always)]
    fn load(self, from: &[u64; WIDTH]) -> Pair {
        // SAFETY: see `impl Lanes for Avx512`; the second half starts 4 of 8 lanes in.
        unsafe { [_mm256_loadu_si256(from.as_ptr().cast()), _mm256_loadu_si256(from.as_ptr().add(4).cast())] }
    }
    #[inline(always)]
    fn store(self, v: Pair, to: &mut [u64; WIDTH]) {
        // SAFETY: as in `load`.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), v[0]);
            _mm256_storeu_si256(to.as_mut_ptr().add(4).cast(), v[1]);
        }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> Pair {
        // SAFETY: register operation.
        [unsafe { _mm256_set1_epi64x(x as i64) }; 2]
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: register operation.
        unsafe { [_mm256_add_epi64(a[0], b[0]), _mm256_add_epi64(a[1], b[1])] }
    }
    #[inline(always)]
    fn xor(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: register operation.
        unsafe { [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])] }
    }
    #[inline(always)]
    fn and(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: register operation.
        unsafe { [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])] }
    }
    #[inline(always)]
    fn rotl<const N: i32>(self, a: Pair) -> Pair {
        // AVX2 has no rotate: two shifts by counts in registers, which the compiler folds to constants.
        // SAFETY: register operation.
        let rotate = |x| unsafe {
            _mm256_or_si256(
                _mm256_sll_epi64(x, _mm_cvtsi32_si128(N)),
                _mm256_srl_epi64(x, _mm_cvtsi32_si128(64 - N)),
            )
        };
        [rotate(a[0]), rotate(a[1])]
    }
    #[inline(always)]
    fn shl(self, a: Pair, by: Pair) -> Pair {
        // SAFETY: register operation.
        unsafe { [_mm256_sllv_epi64(a[0], by[0]), _mm256_sllv_epi64(a[1], by[1])] }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: Pair) -> Pair {
        // The shift by an immediate takes a signed one; this is the same instruction.
        // SAFETY: register operation.
        a.map(|a| unsafe { _mm256_srl_epi64(a, _mm_cvtsi32_si128(N as i32)) })
    }
    #[inline(always)]
    fn halves(self, [a, b]: Pair) -> [__m256i; 2] {
        // SAFETY: register operations. The shuffle takes halves of two lanes each of a and b in turn; the
        // permutation puts them in order.
        unsafe {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
            let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
            [_mm256_permute4x64_epi64::<0b11_01_10_00>(low), _mm256_permute4x64_epi64::<0b11_01_10_00>(high)]
        }
    }
    #[inline(always)]
    fn widen_32(self, a: __m256i) -> Pair {
        // SAFETY: register operations.
        unsafe {
            [
                _mm256_cvtepu32_epi64(_mm256_castsi256_si128(a)),
                _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(a)),
            ]
        }
    }
    #[inline(always)]
    fn widen(self, from: &[u16; WIDTH]) -> Pair {
        // SAFETY: eight `u16` are 128 bits, read by the unaligned form; the rest are register operations.
        unsafe {
            let all = _mm_loadu_si128(from.as_ptr().cast());
            [_mm256_cvtepu16_epi64(all), _mm256_cvtepu16_epi64(_mm_srli_si128::<8>(all))]
        }
    }
    #[inline(always)]
    fn gather_words<const LEN: usize>(self, table: &[u8; LEN], at: Pair) -> Pair {
        const { assert!(LEN.is_power_of_two() && LEN >= 8) };
        let at = self.and(at, self.splat(LEN as u64 - 8));
        let table = table.as_ptr().cast();
        // SAFETY: after the mask each offset is a multiple of 8 below LEN, so eight bytes stand there.
        unsafe { [_mm256_i64gather_epi64::<1>(table, at[0]), _mm256_i64gather_epi64::<1>(table, at[1])] }
    }
    #[inline(always)]
    fn if_equal(self, a: Pair, b: Pair, yes: Pair, no: Pair) -> Pair {
        // SAFETY: register operations.
        let half = |i: usize| unsafe { _mm256_blendv_epi8(no[i], yes[i], _mm256_cmpeq_epi64(a[i], b[i])) };
        [half(0), half(1)]
    }
    #[inline(always)]
    fn if_at_least(self, a: Pair, b: Pair, yes: Pair, no: Pair) -> Pair {
        // SAFETY: register operations.
        let half = |i: usize| unsafe { _mm256_blendv_epi8(yes[i], no[i], _mm256_cmpgt_epi64(b[i], a[i])) };
        [half(0), half(1)]
    }
    /// Loads and inserts: on CPUs with AVX2 alone a gather is no faster, and slow with the mitigation of
    /// its data leak.
    #[inline(always)]
    fn columns<const N: usize>(self, keys: &[[u64; N]; WIDTH]) -> [Pair; N] {
        let mut columns = [self.splat(0); N];
        for (half, keys) in keys.as_chunks::<4>().0.iter().enumerate() {
            let [a, b, c, d] = keys.each_ref().map(|key| key.as_chunks::<2>().0);
            let two = |low: &[u64; 2], high: &[u64; 2]| {
                // SAFETY: two `u64` are 128 bits, read by the unaligned form; the rest is a register
                // operation.
                unsafe {
                    let [low, high] = [low, high].map(|words| _mm_loadu_si128(words.as_ptr().cast()));
                    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
                }
            };
            for (w, columns) in columns.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let (even, odd) = (two(&a[w], &c[w]), two(&b[w], &d[w]));
                // SAFETY: register operations.
                unsafe {
                    columns[0][half] = _mm256_unpacklo_epi64(even, odd);
                    columns[1][half] = _mm256_unpackhi_epi64(even, odd);
                }
            }
            if !N.is_multiple_of(2) {
                let [a, b, c, d] = keys.each_ref().map(|key| key[N - 1] as i64);
                // SAFETY: register operation.
                columns[N - 1][half] = unsafe { _mm256_set_epi64x(d, c, b, a) };
            }
        }
        columns
    }
    /// Loads and shuffles: four gathers take several times as long.
    #[inline(always)]
    fn gather_rows<const LEN: usize>(self, table: &[[u64; 4]; LEN], index: Pair) -> [Pair; 4] {
        const { assert!(LEN.is_power_of_two()) };
        let mut at = [0; WIDTH];
        self.store(index, &mut at);
        // SAFETY: a row is 256 bits, read by the unaligned form.
        let row = |i: usize| unsafe { _mm256_loadu_si256(table[at[i] as usize & (LEN - 1)].as_ptr().cast()) };
        // Written out: an array's `map` may stay a call, and vectors would then go through memory.
        let [a, b, c, d] = transposed([row(0), row(1), row(2), row(3)]);
        let [e, f, g, h] = transposed([row(4), row(5), row(6), row(7)]);
        [[a, e], [b, f], [c, g], [d, h]]
    }
    #[inline(always)]
    fn store_rows(self, rows: [Pair; 4], to: &mut [[u64; 4]; WIDTH]) {
        let [[a, e], [b, f], [c, g], [d, h]] = rows;
        let halves = [transposed([a, b, c, d]), transposed([e, f, g, h])];
        for (row, to) in halves.as_flattened().iter().zip(to) {
            // SAFETY: a row is 256 bits, written by the unaligned form.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), *row) }
        }
    }
}

/// Four rows of four words as four columns.
#[inline(always)]
fn transposed([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: register operations.
    unsafe {
        let even = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
        let odd = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(even.0, even.1),
            _mm256_permute2x128_si256::<0x20>(odd.0, odd.1),
            _mm256_permute2x128_si256::<0x31>(even.0, even.1),
            _mm256_permute2x128_si256::<0x31>(odd.0, odd.1),
        ]
    }
}
