//! The report of the study file on few records, its criteria and claims.

use super::MODEL;
use crate::{PIT, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::report::Block;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::Sample;

/// Records of the study.
struct Records(Sample);

impl Records {
    fn new() -> Self {
        Self(Sample::new(Studies(&[&PIT]), include_str!("../../pit-index/study.toml"), 0.0))
    }

    fn add(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, bounds: [f64; 3]) {
        let model = match workload.split('/').next() {
            Some("paced" | "busy" | "load") => "pit-load",
            Some("parts") => "pit-parts",
            Some("digest") => "pit-digest",
            _ => MODEL,
        };
        self.0.add([model, workload, scheme, metric, unit], bounds);
    }

    fn ratio(&mut self, workload: &str, of: &str, bounds: [f64; 3]) {
        self.add(workload, of, metric::RATIO, "name", bounds);
    }

    /// A figure with bounds 0.01 away.
    fn near(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, value: f64) {
        self.add(workload, scheme, metric, unit, [value, value - 0.01, value + 0.01]);
    }

    fn sentence(&self) -> Result<String, Doubt> {
        self.0.sentence()
    }
}

/// A paced load with these differences, digest and control.
fn paced(workload: &str, digest: [f64; 3], again: [f64; 3]) -> Records {
    let mut all = Records::new();
    all.add(workload, "name", metric::CPU_PERCENT, "%", [30.0, 29.0, 31.0]);
    for (id, more) in [("digest", digest), ("name-again", again)] {
        all.add(workload, id, metric::MORE, "name", more);
    }
    all.ratio(workload, "name-again", [1.0, 0.99, 1.01]);
    all
}

fn no_saving() -> Records {
    paced("paced/udp/11", [0.1, -0.2, 0.3], [0.0, -0.3, 0.3])
}

#[test]
fn a_saving_lies_beyond_zero_and_beyond_the_control() {
    let of = |digest, again| paced("paced/udp/11", digest, again).sentence().unwrap();
    assert_eq!(
        of([0.3, 0.2, 0.35], [0.4, -0.01, 0.6]),
        "No saving seen: +0.3 [+0.2, +0.3] points of CPU; A/A +0.4 [+0.0, +0.6]."
    );
    assert!(of([-2.0, -2.5, -1.5], [0.1, -0.5, 0.5]).starts_with("Yes: −2.0 [−2.5, −1.5] points"));
    // The control moved as far.
    assert!(of([-2.0, -2.5, -1.5], [-1.0, -2.0, 0.5]).starts_with("No saving seen"));
    assert!(of([2.0, 1.5, 2.5], [0.1, -0.5, 0.5]).starts_with("No, it costs: +2.0"));
}

#[test]
fn the_token_is_judged_on_the_lookup_and_on_the_whole() {
    let mut all = no_saving();
    all.ratio("match/64Ki/11", "token", [0.41, 0.39, 0.43]);
    let text = all.sentence().unwrap();
    assert!(text.ends_with("A/A +0.0 [−0.3, +0.3]. A token saves 59 % [57, 61] of the lookup."), "{text}");
    all.ratio("load/udp/11", "token", [0.98, 0.93, 1.03]);
    let text = all.sentence().unwrap();
    assert!(text.ends_with("of the lookup; of the whole, no saving was seen."), "{text}");
    // The first of both loads has less besides the table.
    all.ratio("load/unix/11", "token", [0.8, 0.78, 0.82]);
    let text = all.sentence().unwrap();
    assert!(text.ends_with("of the lookup and 20 % [18, 22] of the whole.") && text.len() < 200, "{text}");
}

#[test]
fn a_difference_within_the_noise_is_no_saving() {
    let mut all = no_saving();
    all.ratio("match/64Ki/11", "token", [0.91, 0.87, 1.2]);
    assert!(all.sentence().unwrap().ends_with(" Of a token, no saving was seen."));
    all.ratio("load/udp/11", "token", [0.8, 0.78, 0.82]);
    let text = all.sentence().unwrap();
    assert!(text.ends_with("saves 20 % [18, 22] of the whole; of the lookup, no saving was seen."), "{text}");
}

#[test]
fn the_round_trip_at_nine_tenths_of_a_core_is_stated_beside_its_control() {
    let mut all = no_saving();
    all.add("busy/udp/11", "name", metric::CPU_PERCENT, "%", [93.2, 92.0, 94.0]);
    all.ratio("busy/udp/11", "name-again", [1.0, 0.99, 1.01]);
    all.add("busy/udp/11", "digest", metric::RATIO_RTT, "name", [1.1, 1.05, 1.2]);
    assert!(all.sentence().unwrap().ends_with("+0.3]."), "not without the control");
    all.add("busy/udp/11", "name-again", metric::RATIO_RTT, "name", [1.0, 0.95, 1.04]);
    let statement = all.0.answer().sentence.unwrap();
    let stated = "At 93 % of a core, round trips take 1.10 × [1.05, 1.20]; A/A 1.00 × [0.95, 1.04].";
    assert!(statement.text.ends_with(stated), "{}", statement.text);
    assert!(statement.figures.is_empty(), "the bounds are in the sentence");
}

#[test]
fn the_lookup_alone_answers_without_a_load() {
    let mut all = Records::new();
    all.ratio("match/64Ki/11", "token", [0.41, 0.39, 0.43]);
    assert_eq!(all.sentence().unwrap(), "A token saves 59 % [57, 61] of the lookup.");
}

#[test]
fn doubts_withhold_the_sentence() {
    assert!(matches!(Records::new().sentence(), Err(Doubt::NotMeasured { .. })));
    let wide = paced("paced/udp/11", [0.0, -14.0, 14.0], [0.0, -0.3, 0.3]);
    assert!(matches!(wide.sentence(), Err(Doubt::Wide { .. })));
    let mut queued = no_saving();
    queued.add("paced/udp/11", "digest", metric::CARRIED, "share", [0.5, 0.5, 0.5]);
    assert!(matches!(queued.sentence(), Err(Doubt::NotCarried { .. })));
}

#[test]
fn the_control_is_the_first_row_of_the_chart() {
    let Some(Block::Forest(forest)) = no_saving().0.answer().chart else { panic!("no forest") };
    let labels: Vec<&str> = forest.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["A/A (name again)", "digest"]);
    assert_eq!(
        (forest.caption.as_str(), forest.rows[1].figure.as_str()),
        ("paced/udp/11", "+0.1 [−0.2, +0.3]")
    );
}

#[test]
fn what_differs_from_the_source_is_a_surprise() {
    let mut all = paced("paced/udp/4", [-2.1, -2.5, -1.7], [0.0, -0.3, 0.3]);
    assert_eq!(all.0.answer().surprises, [""; 0]);
    all.ratio("match/64Ki/11", "digest", [1.4, 1.3, 1.5]);
    assert_eq!(all.0.answer().surprises, ["A lookup by digest takes 1.40 × [1.30, 1.50] one by name."]);
    let all = paced("paced/udp/4", [0.1, -0.2, 0.3], [0.0, -0.3, 0.3]);
    let saving = "With 4 components the source saw −2.0 points by digest, this machine +0.1 [−0.2, +0.3].";
    assert_eq!(all.0.answer().surprises, [saving]);
}

#[test]
fn prints_the_source_s_table_beside_ours() {
    assert!(Records::new().0.section().is_none());
    let mut all = Records::new();
    for (scheme, percent, rtt) in [("name", 12.0, 0.1), ("digest", 11.5, 0.09)] {
        all.near("paced/udp/4", scheme, metric::CPU_PERCENT, "%", percent);
        all.near("paced/udp/4", scheme, metric::RTT_MS, "ms", rtt);
        all.near("load/unix/11", scheme, metric::CPU_US, "us", percent / 10.0);
    }
    all.near("paced/udp/4", "digest", metric::MORE, "name", -0.5);
    all.near("load/unix/11", "digest", metric::RATIO, "name", 0.96);
    let section = all.0.section().unwrap();
    let network = section.table("the source's network");
    assert_eq!(
        network.rows[1][..5],
        ["paced/udp/4", "digest", "11.50 [11.49, 11.51]", "-0.50 [-0.51, -0.49]", "0.090 [0.080, 0.100]"]
    );
    assert_eq!(network.rows[3][..6], ["source/4 *", "digest", "91 to 94", "-2.0", "2.44", "0.637"]);
    let full = section.table("full load");
    assert_eq!(full.rows[0][1..], ["1.20 [1.19, 1.21]", "1.15 [1.14, 1.16]; 0.960 [0.950, 0.970]"]);
    let points = "paced/udp/4: digest: -0.50 [-0.51, -0.49] points of CPU more than name.";
    assert_eq!(section.findings, [points]);
}

#[test]
fn says_if_nine_tenths_of_a_core_were_not_reached() {
    let findings = |percent: f64| {
        let mut all = Records::new();
        all.near("busy/udp/4", "name", metric::CPU_PERCENT, "%", percent);
        all.near("busy/udp/4", "name", metric::RTT_MS, "ms", 0.25);
        all.near("busy/udp/4", "name", metric::RATE, "1/s", 96_000.0);
        let section = all.0.section().unwrap();
        assert_eq!(section.table("the source's load on the router").rows[0][..2], ["busy/udp/4", "name"]);
        section.findings.join(" ")
    };
    let reached = findings(93.0);
    assert!(
        reached.contains("name took 93.0 % of a core [") && reached.contains("96,000 answered"),
        "{reached}"
    );
    assert!(!reached.contains("not reached"), "{reached}");
    let missed = findings(71.0);
    assert!(missed.contains("90 % was not reached"), "{missed}");
}

#[test]
fn sets_the_cost_of_a_digest_beside_what_it_saves() {
    let mut all = Records::new();
    for (scheme, ns) in [("name", 480.0), ("digest", 460.0)] {
        all.near("match/1Mi/11", scheme, metric::NS, "ns", ns);
        all.near("data/1Mi/11", scheme, metric::NS, "ns", 1.25 * ns);
        all.near("load/unix/11", scheme, metric::CPU_US, "us", 1.2);
        for (part, ns) in [
            ("decode", 200.0),
            ("prefetch", 40.0),
            ("pit", 150.0),
            ("fib", 50.0),
            ("store", 100.0),
            ("whole", 600.0),
        ] {
            all.near(&format!("parts/11/{part}"), scheme, metric::NS, "ns", ns);
        }
    }
    all.near("digest/11", "sha1", metric::NS, "ns", 130.0);
    let section = all.0.section().unwrap();
    let digests = section.table("cost of a digest");
    assert_eq!(digests.columns, ["", "components 11"]);
    assert_eq!(
        digests.rows,
        [
            ["an Interest's digest by sha1", "130"],
            ["saved in the PIT's part, for Data, 1Mi entries", "20.0"],
            ["saved in all stages, for Data, 1Mi entries", "25.0"],
        ]
    );
    let parts = section.table("where the time");
    assert_eq!(parts.rows[1][..3], ["11", "marks and prefetches", "40.0 (3.3 %)"]);
    assert_eq!(parts.rows[5][1..3], ["rest of forwarding (subtracted)", "60.0 (5.0 %)"]);
    assert_eq!(parts.rows[6][1..3], ["system calls, faces (subtracted)", "600 (50.0 %)"]);
}

#[test]
fn the_study_of_one_table_has_the_criteria_of_the_whole() {
    let of_match = |text: &str| {
        let criteria = Sample::new(Studies(&[&PIT]), text, 0.0).definition.criteria.into_iter();
        criteria.filter(|criterion| criterion.workload == "match/1Mi/11").collect::<Vec<_>>()
    };
    let criteria = of_match(include_str!("../../pit-index/match.toml"));
    assert_eq!((criteria.len(), &criteria), (2, &of_match(include_str!("../../pit-index/study.toml"))));
}
