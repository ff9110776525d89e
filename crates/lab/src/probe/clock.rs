//! How fast the counter and the core run, found in each run.

use super::counter;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rates found by one calibration.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Counts of the counter in a nanosecond (GHz).
    pub counter_ghz: f64,
    /// Cycles of the core in a nanosecond (GHz), as far as a chain of multiplications tells.
    pub core_ghz: f64,
}

impl Rates {
    /// Core cycles in one count of the counter.
    pub fn core_cycles_a_count(&self) -> f64 {
        self.core_ghz / self.counter_ghz
    }
}

/// Measures both rates, for about a twentieth of a second.
///
/// The core's clock is taken from a chain of dependent 64-bit multiplications, each of which takes 3 cycles on the
/// x86-64 and AArch64 cores of the last decade; a chain of additions will not do, as the compiler and newer cores fold
/// it away. The fastest of several short runs counts, since interruptions only ever slow a run down.
pub fn calibrate() -> Rates {
    let wall = Instant::now();
    let first = counter::start();
    let mut fastest = Duration::MAX;
    while wall.elapsed() < Duration::from_millis(50) {
        let run = Instant::now();
        black_box(chain(black_box(0x9e37_79b9_7f4a_7c15)));
        fastest = fastest.min(run.elapsed());
    }
    let counts = counter::stop().wrapping_sub(first);
    let counter_ghz = counts as f64 / wall.elapsed().as_nanos() as f64;
    let core_ghz = f64::from(CHAIN * MULTIPLY_LATENCY) / fastest.as_nanos().max(1) as f64;
    Rates { counter_ghz, core_ghz }
}

const CHAIN: u32 = 100_000;
const MULTIPLY_LATENCY: u32 = 3;

/// Squares, each of the one before: a chain by a constant would be folded into its powers.
#[inline(never)]
fn chain(mut x: u64) -> u64 {
    for _ in 0..CHAIN {
        x = x.wrapping_mul(x);
    }
    x
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_rates_that_a_computer_may_have() {
        let rates = super::calibrate();
        assert!(rates.counter_ghz > 0.001 && rates.counter_ghz < 10.0, "{rates:?}");
        assert!(rates.core_ghz > 0.01 && rates.core_ghz < 10.0, "{rates:?}");
    }
}
