//! Rates of the counter and the core, and the counter's step, measured in each run.

use super::counter;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Result of one calibration.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Counts of the counter in a nanosecond (GHz).
    pub counter_ghz: f64,
    /// Core cycles per nanosecond (GHz), estimated by a chain of multiplications.
    pub core_ghz: f64,
    /// Counts by which the counter advances at a time, 1 or more: no difference of two readings is finer.
    pub step: u64,
}

impl Rates {
    /// Core cycles in one count of the counter.
    pub fn core_cycles_a_count(&self) -> f64 {
        self.core_ghz / self.counter_ghz
    }
}

/// Measures both rates and the step, for about a twentieth of a second.
///
/// The core's clock is taken from a chain of dependent 64-bit multiplications, which take 3 cycles each on
/// the x86-64 and AArch64 cores of the last decade; a chain of additions will not do, as the compiler and
/// newer cores fold it away. The fastest of several short runs counts, since interruptions only ever slow a
/// run down.
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
    Rates { counter_ghz, core_ghz, step: calibrated_step() }
}

/// Measures the step, from four bursts of readings: the largest of their steps, since a thread that moves to
/// another processor within a burst may see a smaller one.
fn calibrated_step() -> u64 {
    let burst = || {
        step((0..1024).map(|reading| {
            // Work of several lengths, so that the differences share no factor but the counter's.
            (0..reading % 16).for_each(|i| _ = black_box(i));
            counter::start()
        }))
    };
    (0..4).map(|_| burst()).fold(1, u64::max)
}

/// Step of a counter, from successive reads: the greatest common divisor of their differences; 1 if they are
/// equal.
///
/// Some counters advance by more than 1 at a time: the time-stamp counter of recent AMD processors, fed by a
/// clock of 100 MHz, by as many counts as its rate has multiples of that.
fn step(readings: impl Iterator<Item = u64>) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut last = None;
    let differences = readings.filter_map(|now| last.replace(now).map(|before| now.wrapping_sub(before)));
    differences.fold(0, gcd).max(1)
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
    use super::*;

    #[test]
    fn finds_rates_that_a_computer_may_have() {
        let rates = calibrate();
        assert!(rates.counter_ghz > 0.001 && rates.counter_ghz < 10.0, "{rates:?}");
        assert!(rates.core_ghz > 0.01 && rates.core_ghz < 10.0, "{rates:?}");
        assert!(rates.step >= 1, "{rates:?}");
    }

    #[test]
    fn finds_the_step_of_a_counter_from_its_readings() {
        // Differences of 52, 78 and 3,328 counts were read on an AMD EPYC whose counter runs at 2.6 GHz.
        assert_eq!(step([1_000, 1_052, 1_130, 4_458].into_iter()), 26);
        assert_eq!(step([7, 7, 9, 12].into_iter()), 1);
        assert_eq!(step([u64::MAX - 3, 0, 8].into_iter()), 4, "the counter may wrap");
        assert_eq!([step([].into_iter()), step([5].into_iter()), step([5, 5].into_iter())], [1; 3]);
    }
}
