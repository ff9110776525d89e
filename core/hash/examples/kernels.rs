//! Times the hashes of columns of short keys on this CPU: nanoseconds a key, the least of 30 rounds.
//!
//! The second command has the kernels of a CPU without SSE4.2, AVX2 and AVX-512:
//!
//! ```sh
//! cargo run --release -p hashlane-hash --example kernels
//! RUSTFLAGS="--cfg hashlane_portable" cargo run --release -p hashlane-hash --example kernels \
//!     --target-dir target/portable
//! ```

use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::ragged::RaggedHash;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use std::hint::black_box;
use std::time::Instant;

/// Keys of a column: more than the first-level cache holds hashes of, fewer than the second.
const KEYS: usize = 8192;

/// Nanoseconds a key.
fn time<H: Scheme + RaggedHash>(key: &Key, bytes: usize) -> f64 {
    let hash = H::new(key);
    let column: Vec<u8> = (0..KEYS * bytes).map(|place| (place * 31 % 251) as u8).collect();
    let keys: Vec<&[u8]> = column.chunks_exact(bytes).collect();
    let mut out = vec![0; KEYS];
    let rounds = (0..30).map(|_| {
        let start = Instant::now();
        hash.hash_ragged(black_box(keys.as_slice()), &mut out);
        black_box(&mut out);
        start.elapsed().as_secs_f64() * 1e9 / KEYS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), getrandom::Error> {
    let key = Key::random()?;
    println!("ns a key      12 bytes  50 bytes");
    for (id, time) in [
        (Crc32c::INFO.id, time::<Crc32c> as fn(&Key, usize) -> f64),
        (SipHash13::INFO.id, time::<SipHash13>),
        (SipHash24::INFO.id, time::<SipHash24>),
    ] {
        println!("{id:12}  {:8.1}  {:8.1}", time(&key, 12), time(&key, 50));
    }
    Ok(())
}
