//! The figures that the sources of the studies print: q2ven/inet6_ehashfn in its README (base commit 1671bcfd76fd of
//! net-next), and BIND 10's ticket 1603 in its comment 4; what was measured elsewhere of forwarders of NDN; and the slides of 2017
//! on a PIT by digest.

/// What one table of the section "llvm-mca" says of one core.
pub(super) struct Simulated {
    /// The core, as llvm-mca calls it.
    pub(super) cpu: &'static str,
    /// One column for each scheme: its figures in the order of [`ROWS`].
    pub(super) columns: [(&'static str, [f64; 7]); 4],
}

/// The rows of the tables: the metric of our records, and the source's word for it.
pub(super) const ROWS: [(&str, &str); 7] = [
    ("iterations", "Iterations"),
    ("instructions", "Instructions"),
    ("total_cycles", "Total Cycles"),
    ("total_uops", "Total uOps"),
    ("dispatch_width", "Dispatch Width"),
    ("uops_per_cycle", "uOps Per Cycle"),
    ("ipc", "IPC"),
];

/// The two tables.
pub(super) const SIMULATED: [Simulated; 2] = [
    Simulated {
        cpu: "skylake",
        columns: [
            ("base", [1.0, 104.0, 155.0, 132.0, 6.0, 0.85, 0.67]),
            ("jhash2", [1.0, 137.0, 171.0, 166.0, 6.0, 0.97, 0.80]),
            ("hsiphash", [1.0, 166.0, 168.0, 192.0, 6.0, 1.14, 0.99]),
            ("siphash", [1.0, 222.0, 191.0, 248.0, 6.0, 1.30, 1.16]),
        ],
    },
    Simulated {
        cpu: "nehalem",
        columns: [
            ("base", [1.0, 104.0, 173.0, 130.0, 4.0, 0.75, 0.60]),
            ("jhash2", [1.0, 137.0, 182.0, 170.0, 4.0, 0.93, 0.75]),
            ("hsiphash", [1.0, 166.0, 190.0, 215.0, 4.0, 1.13, 0.87]),
            ("siphash", [1.0, 222.0, 218.0, 295.0, 4.0, 1.35, 1.02]),
        ],
    },
];

/// The schemes of the section "super_netperf", and for each size of a message the throughput of each.
pub(super) const SUPER_NETPERF: ([&str; 4], [(u32, [f64; 4]); 7]) = (
    ["base", "jhash2", "hsiphash", "siphash"],
    [
        (64, [20_735.80, 20_419.96, 20_335.60, 20_404.08]),
        (128, [40_450.40, 40_167.66, 39_957.32, 40_222.06]),
        (256, [73_740.84, 74_219.26, 73_625.76, 74_081.52]),
        (512, [142_075.60, 142_461.80, 141_237.00, 141_789.60]),
        (1024, [254_391.00, 253_553.20, 252_751.00, 253_718.00]),
        (2048, [421_221.20, 421_175.60, 420_142.80, 418_189.20]),
        (4096, [599_158.20, 597_958.20, 594_472.20, 598_591.00]),
    ],
);

/// The counts of the ten bins in the section "Hash Variance".
pub(super) const BINS: [(&str, [f64; 10]); 4] = [
    ("base", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1_048_576.0, 0.0]),
    (
        "jhash2",
        [
            105_133.0, 104_608.0, 104_990.0, 105_347.0, 104_384.0, 105_046.0, 105_246.0, 104_105.0,
            104_707.0, 104_924.0,
        ],
    ),
    (
        "hsiphash",
        [
            105_120.0, 104_649.0, 104_640.0, 104_860.0, 104_571.0, 104_951.0, 104_890.0, 105_153.0,
            104_869.0, 104_787.0,
        ],
    ),
    (
        "siphash",
        [
            104_866.0, 104_806.0, 104_664.0, 104_865.0, 105_197.0, 105_204.0, 104_779.0, 104_611.0,
            104_796.0, 104_687.0,
        ],
    ),
];

/// What the ticket says of one kind of response.
pub(super) struct Rendered {
    /// The kind, as our workload is called.
    pub(super) workload: &'static str,
    /// Names per second (the ticket's "ips") of each renderer, on its author's laptop of 2012.
    pub(super) schemes: [(&'static str, f64); 3],
}

/// The ticket's benchmark.
pub(super) const NAMES_PER_SECOND: [Rendered; 3] = [
    Rendered {
        workload: "positive",
        schemes: [("old", 400_335.90), ("dumb", 24_902_317.69), ("new", 3_102_797.91)],
    },
    Rendered {
        workload: "nxdomain",
        schemes: [("old", 589_533.13), ("dumb", 25_089_380.92), ("new", 1_835_460.17)],
    },
    Rendered {
        workload: "servfail",
        schemes: [("old", 1_457_131.20), ("dumb", 23_380_874.44), ("new", 1_221_180.15)],
    },
];

/// The published bins of a scheme.
pub(super) fn bins(scheme: &str) -> Option<&'static [f64; 10]> {
    BINS.iter().find(|(name, _)| *name == scheme).map(|(_, bins)| bins)
}

/// CPU time of forwarders per exchange, in microseconds, measured elsewhere on a machine of this kind (two virtual processors with AVX-512,
/// November 2026): NFD fe044ce3, ndnd v1.5.3, ndn-rs cc28c6e6. Rows are workloads, columns those of [`FORWARDERS`].
pub(super) const CPU_US: [(&str, [Option<f64>; 4]); 6] = [
    ("unix/4", [Some(49.5), Some(34.1), Some(19.0), Some(7.1)]),
    ("unix/11", [Some(63.3), Some(48.4), Some(23.7), Some(8.0)]),
    ("udp/4", [Some(65.1), Some(43.0), Some(20.9), None]),
    ("udp/11", [Some(80.4), Some(70.3), Some(24.7), None]),
    ("unix/11/third-distinct", [Some(68.9), None, Some(35.8), Some(8.5)]),
    ("unix/11/pending-200k", [Some(64.5), None, Some(23.2), Some(30.9)]),
];

/// Whose figures [`CPU_US`] are. NFD sets a timer of no length for each Data, which such a virtual machine makes dear: hence twice.
pub(super) const FORWARDERS: [&str; 4] = ["NFD", "NFD less timers", "ndnd", "ndn-rs"];

/// Shares of NFD's CPU time by class, in per cent, over Unix faces; the classes overlap in memory allocation. Columns: 4 components, 11, and 11
/// of which the third is distinct.
pub(super) const NFD_SHARES: [(&str, [f64; 3]); 5] = [
    ("decode", [4.2, 3.7, 4.5]),
    ("store", [18.0, 29.0, 18.0]),
    ("name tree", [3.6, 6.5, 20.0]),
    ("calls", [13.0, 10.0, 8.0]),
    ("timers", [42.0, 32.0, 30.0]),
];

/// The shapes of names that the columns of [`NFD_SHARES`] are of.
pub(super) const NFD_SHAPES: [&str; 3] = ["4", "11", "11/third-distinct"];

/// The table of the slides "Interest digest indexed PIT" (Shi, Pi, Zhao, Fan, 2017): components of names, index, the router's CPU usage in per cent from
/// and to, mean round-trip time in milliseconds.
pub(super) const PIT_NETWORK: [(usize, &str, [f64; 2], f64); 4] = [
    (4, "baseline", [93.0, 96.0], 3.83),
    (4, "digest", [91.0, 94.0], 2.44),
    (11, "baseline", [95.0, 98.0], 13.19),
    (11, "digest", [95.0, 97.0], 13.12),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_every_tuple_of_the_source_is_in_a_bin() {
        for (scheme, bins) in BINS {
            // What is printed of jhash2 and the keyed hashes lacks 86 to 101 of the 1,048,576 tuples.
            let missing = 1_048_576.0 - bins.iter().sum::<f64>();
            assert!((0.0..=101.0).contains(&missing), "{scheme}: {missing}");
        }
    }

    #[test]
    fn the_sources_rates_follow_from_its_counts() {
        for table in SIMULATED {
            for (scheme, [_, instructions, cycles, uops, _, uops_rate, ipc]) in table.columns {
                assert!((uops / cycles - uops_rate).abs() < 0.0051, "{scheme}");
                assert!((instructions / cycles - ipc).abs() < 0.0051, "{scheme}");
            }
        }
    }
}
