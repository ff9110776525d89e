//! The report of the study file on few records, and its criteria.

use crate::{FORWARDERS, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::report::{Bar, Block};
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::Sample;

const STUDIES: Studies = Studies(&[&FORWARDERS]);
const PARTS: &str = "forwarder-parts";
const MEMORY: &str = "forwarder-memory";

/// Records of the study.
struct Records(Sample);

impl Records {
    fn new() -> Self {
        Self(Sample::new(STUDIES, include_str!("../../ndn-forwarder/study.toml"), 0.05))
    }

    /// A figure of a load, with bounds 5 % away.
    fn load(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, value: f64) {
        self.0.add(["forwarder", workload, scheme, metric, unit], [value, value * 0.95, value * 1.05]);
    }

    fn exact(&mut self, at: [&str; 5], value: f64) {
        self.0.add(at, [value; 3]);
    }

    /// Parts of our forwarder for names of 4 components, in nanoseconds.
    fn parts(&mut self, parts: &[(&str, f64)]) {
        for (part, ns) in parts {
            self.exact([PARTS, "4", part, metric::NS, "ns"], *ns);
        }
    }
}

fn both_lengths() -> Records {
    let mut all = Records::new();
    for (workload, us) in [("unix/4", 0.85), ("unix/11", 0.99)] {
        all.load(workload, "ours", metric::CPU_US, "us", us);
        all.load(workload, "ours-again", metric::RATIO, "ours", 1.0);
    }
    all
}

#[test]
fn states_the_cost_of_both_lengths_and_of_peers() {
    let mut all = both_lengths();
    let start = "0.85 µs of CPU with 4 components, 0.99 with 11, under full load over Unix sockets";
    assert_eq!(all.0.sentence().unwrap(), format!("{start}; ndnd and nfd not installed."));
    all.load("unix/4", "ndnd", metric::RATIO, "ours", 20.0);
    all.exact(["forwarder", "udp/4", "nfd", metric::FAILED, "forwarders"], 1.0);
    assert_eq!(all.0.sentence().unwrap(), format!("{start}; ndnd takes 20.0 ×; nfd failed."));
}

#[test]
fn doubts_withhold_the_sentence() {
    assert!(matches!(Records::new().0.sentence(), Err(Doubt::NotMeasured { .. })));
    let mut all = Records::new();
    all.load("unix/4", "ours", metric::CPU_US, "us", 0.85);
    all.load("unix/4", "ours-again", metric::RATIO, "ours", 1.2);
    assert!(matches!(all.0.sentence(), Err(Doubt::Control { .. })));
    let mut all = Records::new();
    all.0.add(["forwarder", "unix/4", "ours", metric::CPU_US, "us"], [0.85, 0.5, 0.9]);
    assert!(matches!(all.0.sentence(), Err(Doubt::Wide { .. })));
    let mut all = Records::new();
    all.load("udp/4/paced-16k", "ours", metric::CPU_US, "us", 20.0);
    assert!(all.0.sentence().unwrap().starts_with("20.0 µs of CPU on udp/4/paced-16k; ndnd and nfd not"));
    all.exact(["forwarder", "udp/4/paced-16k", "ours", metric::CARRIED, "share"], 0.5);
    assert!(matches!(all.0.sentence(), Err(Doubt::NotCarried { .. })));
}

#[test]
fn the_chart_stacks_the_parts_of_ours() {
    let segments = |all: &Records| -> Vec<(String, f64)> {
        let Some(Block::Bars(chart)) = all.0.answer().chart else { panic!("no chart") };
        let Bar { segments, .. } = chart.plots[0].groups[0].bars[0].clone();
        segments.into_iter().map(|(name, us)| (name, (us * 1000.0).round())).collect()
    };
    let parts = [("decode", 80.0), ("prefetch", 50.0), ("store", 40.0), ("pit", 70.0), ("fib", 100.0)];
    let mut all = both_lengths();
    all.parts(&parts);
    assert!(segments(&all).is_empty());
    let mut more_than_the_process = both_lengths();
    more_than_the_process.parts(&parts);
    more_than_the_process.parts(&[("whole", 900.0)]);
    assert!(segments(&more_than_the_process).is_empty());
    all.parts(&[("whole", 400.0)]);
    let expected =
        [("decode", 80.0), ("store", 40.0), ("PIT", 70.0), ("FIB", 100.0), ("rest", 110.0), ("I/O", 450.0)];
    assert_eq!(segments(&all), expected.map(|(name, ns)| (name.to_owned(), ns)));
}

#[test]
fn the_cost_of_datagrams_is_a_surprise_if_it_is_most_of_ours() {
    let mut all = both_lengths();
    assert_eq!(all.0.answer().surprises, [""; 0]);
    all.load("udp/4", "relay", metric::RATIO, "ours", 0.9);
    assert!(all.0.answer().surprises[0].ends_with("takes 0.90 × ours."));
}

fn several_loads() -> Records {
    let mut all = Records::new();
    for (workload, scheme, us) in [
        ("unix/4", "ours", 1.25),
        ("unix/4", "ndnd", 20.0),
        ("unix/11", "ours", 5.02),
        ("udp/4", "ours", 6.5),
        ("udp/4", "relay", 2.0),
    ] {
        all.load(workload, scheme, metric::CPU_US, "us", us);
    }
    all.load("unix/4", "ndnd", metric::RATIO, "ours", 16.0);
    all.load("udp/4", "ours", metric::MORE, "relay", 4.5);
    all
}

#[test]
fn compares_ours_with_others_and_with_its_criteria() {
    assert!(Records::new().0.section().is_none());
    let mut all = several_loads();
    let section = all.0.section().unwrap();
    assert_eq!(section.table("CPU microseconds").rows[0][1], "1.25 [1.19, 1.31]");
    let elsewhere = section.table("ours, and published");
    assert_eq!(elsewhere.rows[0], ["unix/4", "1.25", "49.5", "34.1", "19.0", "7.1"]);
    assert_eq!(elsewhere.rows[2], ["udp/4", "6.50", "65.1", "43.0", "20.9", "—"]);
    let ours = "unix/4: ours takes 1.25 [1.19, 1.31] µs of CPU for an exchange";
    assert_eq!(section.findings[0], format!("{ours}; ndnd 16.0 [15.2, 16.8] times as much."));
    assert_eq!(all.0.decided(), [Reached::Met, Reached::Undecided, Reached::Missed]);
    // The control is explained where it is measured.
    assert!(!section.note.contains("ours-again"));
    all.load("unix/4", "ours-again", metric::CPU_US, "us", 1.25);
    assert!(
        all.0
            .section()
            .unwrap()
            .note
            .ends_with("`ours-again` is an A/A control: any difference from `ours` is noise.")
    );
}

#[test]
fn subtracted_parts_add_up_to_the_process() {
    let mut all = several_loads();
    all.parts(&[("whole", 700.0), ("decode", 250.0), ("prefetch", 30.0), ("store", 200.0)]);
    all.parts(&[("pit", 120.0), ("fib", 50.0), ("decode-1", 400.0), ("decode-16", 250.0)]);
    for (metric, bytes) in
        [(metric::OCTETS, 420.0), (metric::OCTETS_ACCOUNTED, 400.0), (metric::OCTETS_PACKET, 130.0)]
    {
        all.exact([MEMORY, "100k", "pit", metric, "octets"], bytes);
    }
    let section = all.0.section().unwrap();
    let parts = section.table("where the time");
    let ns: Vec<f64> = parts.rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!(ns, [250.0, 30.0, 200.0, 120.0, 50.0, 50.0, 550.0, 1250.0]);
    assert_eq!(ns[..7].iter().sum::<f64>(), ns[7]);
    assert_eq!(parts.rows[2][2..], ["16.0", "18.0"]);
    assert_eq!(section.table("decoding, and").rows, [["4", "400", "250", "—", "—", "—"]]);
    assert_eq!(section.table("bytes of memory").rows, [["pit, 100k entries", "420", "290", "400"]]);
}

#[test]
fn the_study_of_large_tables_has_the_criterion_of_the_whole_one() {
    let large = STUDIES.parse(include_str!("../../ndn-forwarder/large.toml"), "large.toml").unwrap();
    let whole = Records::new().0.definition;
    assert_eq!(large.criteria.len(), 1);
    assert!(whole.criteria.contains(&large.criteria[0]));
    assert_eq!(whole.schemes_on(&large.workloads[0]), large.schemes);
}
