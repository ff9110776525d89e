//! Rows of common widths: as words, eight in a vector, or one by one in code for the width.

use super::Rows;
use hashlane_hash::scheme::{BytesHash, BytesKernel};
use hashlane_hash::words::WordsHash;
use std::sync::Arc;

/// Rows that are copied to words at a time.
const STAGED: usize = 64;

macro_rules! widths {
    ($($width:literal)*) => {
        /// Widths of rows, in bytes, that SipHash, jhash and CRC32C take without a loop over their bytes.
        pub const WIDTHS: [usize; [$($width),*].len()] = [$($width),*];

        /// A hash of words of all these widths.
        pub(super) trait EveryWidth: $(WordsHash<{ usize::div_ceil($width, 8) }, $width> +)* {}

        impl<H: $(WordsHash<{ usize::div_ceil($width, 8) }, $width> +)*> EveryWidth for H {}

        /// The rows of `hash`.
        pub(super) fn of<H: EveryWidth + Send + Sync + 'static>(hash: H) -> Option<Arc<Rows>> {
            Some(Arc::new(move |bytes, width, out| match width {
                $($width => {
                    burst::<H, { usize::div_ceil($width, 8) }, $width>(&hash, bytes, out);
                    true
                })*
                _ => false,
            }))
        }

        /// Rows one after another: the branches on one width are predicted.
        pub(super) fn one_by_one<H: BytesHash + Send + Sync + 'static>(hash: H) -> Option<Arc<Rows>> {
            Some(Arc::new(move |bytes, width, out| {
                match width {
                    $($width => hash.run(EachOf::<$width>(bytes, out)),)*
                    _ => return false,
                }
                true
            }))
        }
    };
}

// An IPv4 address, a number, an IPv4 tuple, an IPv6 address or a key of 128 bits, a digest, a tuple, and
// multiples of a word.
widths!(4 8 12 16 20 24 32 36 40 48 64);

/// Rows of a width that the compiler knows.
struct EachOf<'a, const LEN: usize>(&'a [u8], &'a mut [u64]);

impl<const LEN: usize> BytesKernel for EachOf<'_, LEN> {
    type Output = ();

    #[inline(always)]
    fn run<H: BytesHash>(self, hash: &H) {
        for (place, row) in self.1.iter_mut().zip(self.0.as_chunks::<LEN>().0) {
            *place = hash.hash(row);
        }
    }
}

/// Hashes rows of `LEN` bytes.
fn burst<H: WordsHash<N, LEN>, const N: usize, const LEN: usize>(hash: &H, bytes: &[u8], out: &mut [u64]) {
    let mut words = [[0; N]; STAGED];
    for (rows, out) in bytes.as_chunks::<LEN>().0.chunks(STAGED).zip(out.chunks_mut(STAGED)) {
        for (row, words) in rows.iter().zip(&mut words) {
            let (whole, rest) = row.as_chunks::<8>();
            for (word, bytes) in words.iter_mut().zip(whole) {
                *word = u64::from_ne_bytes(*bytes);
            }
            // A word that has no rest stays, as the hash does not read beyond its length.
            if let (Some(last), Some(rest)) = (words.get_mut(LEN / 8), rest.first_chunk::<4>()) {
                let [a, b, c, d] = *rest;
                *last = u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]);
            }
        }
        hash.hash_burst(words.get(..rows.len()).unwrap_or_default(), out);
    }
}
