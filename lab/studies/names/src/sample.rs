//! The study and believable records for tests.

use crate::{Names, metric};
use hashlane_lab::definition::{Definition, subject};
use hashlane_lab::report::scheme_id;
use hashlane_lab::study::Studies;
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;

/// The study file.
pub(crate) fn definition() -> Definition {
    Studies(&[&Names]).parse(include_str!("../name-encodings/study.toml"), "study.toml").unwrap()
}

/// Records as a run of `definition` could leave them, with the user's `own` workloads besides; equal for
/// equal arguments.
///
/// One ratio, `ccnx/burst/crc32c` to `ndn/burst/crc32c`, is always missing.
pub(crate) fn records(definition: &Definition, own: &[&str]) -> RecordSet {
    let mut set = RecordSet::new();
    let workloads = definition.workloads.iter().map(String::as_str).chain(own.iter().copied());
    for (w, workload) in workloads.enumerate() {
        let mut add = |scheme: &str, metric: &str, unit: &str, i: Interval| {
            let columns = [&definition.slug, &definition.model, workload, scheme, "tsc", metric, unit];
            set.insert(Record::new(columns, [i.value, i.low, i.high], 20, 6)).unwrap();
        };
        let size = 1.0 + 0.25 * w as f64;
        for (i, scheme) in definition.measured_schemes().iter().enumerate() {
            let mean = cycles(scheme) * size;
            let spread = 0.004 + 0.003 * (i % 5) as f64;
            add(scheme, metric::CYCLES_MEAN, "cycles", around(mean, spread));
            add(scheme, metric::CYCLES_MIN_MEAN, "cycles", around(mean * 0.91, spread / 2.0));
            let sd = mean * spread;
            add(scheme, metric::CYCLES_MEAN_SD, "cycles", Interval::exact(sd));
            add(scheme, metric::CYCLES_STREAM, "cycles", around(mean * 0.8, spread));
        }
        for (of, to) in definition.ratio_pairs() {
            if (of, to) != ("ccnx/burst/crc32c", "ndn/burst/crc32c") {
                let spread = 0.006 + 0.01 * (w % 3) as f64;
                add(of, metric::RATIO, to, around(cycles(of) / cycles(to), spread));
            }
        }
        for method in ["one-by-one/crc32c", "one-pass/crc32c", "burst/crc32c", "burst/siphash-2-4"] {
            let of = |encoding: &str| cycles(&format!("{encoding}/{method}"));
            let slowest = of("ndn").max(of("ccnx")) / of("offset").min(of("ndn"));
            add(method, metric::SLOWEST_TO_FASTEST, "ratio", around(slowest, 0.004));
        }
        for (encoding, bytes) in [("separated", 65.0), ("offset", 60.0), ("ccnx", 80.0), ("ndn", 70.0)] {
            add(encoding, metric::HASHED_BYTES, "bytes", Interval::exact(bytes));
            add(encoding, "octets", "octets", Interval::exact(bytes + 2.0));
            add(encoding, "components", "components", Interval::exact(5.0));
        }
        let limit = 7.0 * size;
        add("ndn", metric::CRC_WORDS_LIMIT, "cycles", Interval::exact(limit));
        if w == 0 {
            add(metric::EMPTY, metric::OVERHEAD_MEAN, "cycles", around(44.2, 0.01));
            add(metric::EMPTY, metric::OVERHEAD_MIN, "cycles", around(42.0, 0.0));
        }
    }
    set
}

fn around(value: f64, spread: f64) -> Interval {
    Interval::bounded(value, value * (1.0 - spread), value * (1.0 + spread))
}

/// Cycles a name of the smallest workload.
fn cycles(scheme: &str) -> f64 {
    let scheme = subject(scheme);
    let method = match scheme_id::tail(scheme) {
        "walk" => return 10.5,
        "walk/burst" => return 9.8,
        tail if tail.starts_with("all-in-one") => 120.0,
        tail if tail.starts_with("one-by-one/longest-first") => 205.0,
        tail if tail.starts_with("one-by-one/crc32c-masked") => 140.0,
        tail if tail.starts_with("one-by-one") => 251.0,
        tail if tail.starts_with("all-at-once/longest-first") => 240.0,
        tail if tail.starts_with("all-at-once") => 330.0,
        tail if tail.starts_with("one-pass") => 101.0,
        _ => 29.0,
    };
    let hash = match scheme_id::last(scheme) {
        "crc32c" | "crc32c-masked" => 1.0,
        "siphash-1-3" => 2.0,
        "siphash-2-4" => 2.8,
        _ => 1.5,
    };
    let encoding = match scheme_id::head(scheme) {
        "offset" | "separated" => 1.0,
        "ccnx" if method == 29.0 => 1.4,
        "ccnx" => 1.01,
        _ => 1.03,
    };
    method * hash * encoding
}
