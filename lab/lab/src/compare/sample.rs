//! A comparison of two builds with every verdict, for tests.

use hashlane_records::compare::Comparison;
use hashlane_records::compare::launches::{self, Round};
use hashlane_records::{Record, RecordSet};

fn record(scheme: &str, value: f64) -> Record {
    let (probe, metric) = ("throughput", "cycles_throughput");
    Record::new(["flow-hash", "tuples", "random|x", scheme, probe, metric, "cycles"], [value; 3], 6, 6)
}

fn set(figures: &[(&str, f64)]) -> RecordSet {
    let mut set = RecordSet::new();
    for (scheme, value) in figures {
        set.insert(record(scheme, *value)).unwrap();
    }
    set
}

/// A scheme that takes half as much again, one that takes less, one without a difference, one too noisy, and
/// one that is new.
pub(super) fn comparison(rounds: usize) -> Comparison {
    let round = |at: usize| -> Round {
        let noise = 0.01 * [0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.3][at % 7];
        let noisy = if at.is_multiple_of(2) { 1.5 } else { 1.0 };
        let base = |noise: f64, noisy: f64| {
            [("jhash/single", 20.0 + noise), ("crc32c/single", 10.0), ("ahash/single", 8.0 - noise)]
                .into_iter()
                .chain([("xxh3/single", 5.0 * noisy)])
                .collect::<Vec<_>>()
        };
        let mut b = base(noise, noisy);
        b[0].1 *= 1.5;
        b[2].1 *= 0.96;
        b.push(("new/single", 1.0));
        [set(&base(-noise, 1.25)), set(&b), set(&base(noise / 2.0, 2.5 - noisy))]
    };
    launches::compare("flow-hash", &(0..rounds).map(round).collect::<Vec<_>>(), 12.0, 1, |_| true)
}
