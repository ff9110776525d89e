//! Small studies of flows, and believable records for tests.

use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::record::{Record, RecordSet};
use hashlane_lab::stats::Interval;

const HASH: &str = r#"
slug = "flow-hash"
model = "tuples"
title = "A sample of hashes"
question = "What does each hash cost, and how does it spread?"
source = "q2ven/inet6_ehashfn"
metric = "cycles_throughput"
per = "tuple"
workloads = ["random"]
schemes = ["{base,jhash2,siphash-2-4}/{single,burst}"]
reference = "jhash2/single"
[size]
quick = { items = 1024, repetitions = 10 }
full = { items = 4096, repetitions = 20 }
[[target]]
of = "siphash-2-4/burst"
to = "jhash2/single"
workload = "random"
at_most = 0.5
"#;

const FLOOD: &str = r#"
slug = "flow-flood"
model = "flood"
title = "A sample of floods"
question = "What can an attacker do to an innocent flow?"
source = "q2ven/inet6_ehashfn"
metric = "ns"
per = "find"
workloads = ["xor", "local", "crc32c"]
schemes = ["{base,jhash2,siphash,crc32c,siphash-1-3}@{0,16,256,4096,65536}"]
reference = "siphash-1-3@0"
[size]
quick = { items = 1024, repetitions = 10 }
full = { items = 4096, repetitions = 20 }
[[target]]
of = "siphash-1-3@65536"
to = "siphash-1-3@0"
workload = "local"
at_most = 1.1
"#;

const TABLE: &str = r#"
slug = "flow-table"
model = "table"
title = "A sample of tables"
question = "What does a lookup cost as the table grows?"
source = "q2ven/inet6_ehashfn"
metric = "ns"
per = "find"
workloads = ["1Ki/hit", "1Ki/miss", "64Ki/hit", "64Ki/miss", "1Mi/hit", "1Mi/miss", "16Mi/hit", "16Mi/miss", "64Ki/churn"]
schemes = ["hashbrown/{ahash,foldhash,rapidhash,siphash-1-3}/single", "chained/siphash-1-3/{single,burst}", "batched/siphash-1-3/{single,burst}", "batched/{siphash-2-4,aes}/burst"]
reference = "hashbrown/siphash-1-3/single"
[size]
quick = { items = 1024, repetitions = 10 }
full = { items = 4096, repetitions = 20 }
[[target]]
of = "batched/siphash-1-3/burst"
to = "hashbrown/siphash-1-3/single"
workload = "1Mi/hit"
at_most = 0.28
"#;

/// The studies of cost and spread, of floods, and of tables.
pub(super) fn definitions() -> [Definition; 3] {
    // The published figures are those of the real study.
    let study = include_str!("../flow-hash/study.toml");
    let published = study.find("[[published]]").and_then(|at| study.get(at..)).unwrap();
    let hash = format!("{HASH}\n{published}");
    [hash.as_str(), FLOOD, TABLE].map(|text| Definition::parse(text, "sample").unwrap())
}

/// Records as runs of all three studies could leave them.
pub(super) fn records() -> RecordSet {
    let mut set = RecordSet::new();
    let [hash, flood, table] = definitions();
    let mut add = Adder { set: &mut set, study: &hash.slug, model: "tuples" };
    add.cost(&hash);
    add.model = "mca";
    add.mca();
    add.model = "spread";
    add.spread();
    (add.study, add.model) = (&flood.slug, "flood");
    add.flood(&flood);
    (add.study, add.model) = (&table.slug, "table");
    add.table(&table);
    set
}

struct Adder<'a> {
    set: &'a mut RecordSet,
    study: &'a str,
    model: &'a str,
}

impl Adder<'_> {
    fn add(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, i: Interval) {
        let record = Record {
            study: self.study.to_owned(),
            model: self.model.to_owned(),
            workload: workload.to_owned(),
            scheme: scheme.to_owned(),
            probe: "sample".to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            value: i.value,
            low: i.low,
            high: i.high,
            samples: 20,
        };
        self.set.insert(record).unwrap();
    }

    fn exact(&mut self, workload: &str, scheme: &str, metric: &str, value: f64) {
        self.add(workload, scheme, metric, "count", Interval::exact(value));
    }

    fn cost(&mut self, study: &Definition) {
        for scheme in &study.schemes {
            let (hash, way) = scheme.split_once('/').unwrap();
            let single = match hash {
                "base" => 14.2,
                "jhash2" => 26.0,
                _ => 49.0,
            };
            let cycles = if way == "burst" { single / 4.4 } else { single };
            self.add("random", scheme, "cycles_throughput", "cycles", around(cycles));
            if way == "single" {
                self.add("random", scheme, "cycles_latency", "cycles", around(cycles * 1.6));
            }
            if *scheme != study.reference {
                self.add("random", scheme, metric::RATIO, &study.reference, around(cycles / 26.0));
                if way == "single" {
                    let ratio = around(cycles / 26.0);
                    self.add("random", scheme, "ratio_latency", &study.reference, ratio);
                }
            }
        }
    }

    fn mca(&mut self) {
        for (cpu, width, slower) in [("skylake", 6.0, 1.0), ("nehalem", 4.0, 1.2), ("znver4", 6.0, 0.8)] {
            for (cold, reading) in [(100.0, "/cold-call"), (0.0, "")] {
                for (scheme, instructions, cycles) in [
                    ("base", 104.0, 60.0),
                    ("v1", 112.0, 63.0),
                    ("jhash2", 137.0, 74.0),
                    ("siphash", 222.0, 90.0),
                ] {
                    let workload = format!("mca/{cpu}{reading}");
                    let cycles: f64 = cycles * slower + cold;
                    let uops = instructions + 26.0;
                    let rounded = |rate: f64| (rate * 100.0).round() / 100.0;
                    for (metric, value) in [
                        ("instructions", instructions),
                        ("total_cycles", cycles.round()),
                        ("total_uops", uops),
                        ("dispatch_width", width),
                        ("uops_per_cycle", rounded(uops / cycles)),
                        ("ipc", rounded(instructions / cycles)),
                    ] {
                        self.exact(&workload, scheme, metric, value);
                    }
                }
            }
        }
    }

    fn spread(&mut self) {
        let keys = 1_048_576.0;
        for set in ["spread/seed", "spread/sequential"] {
            for scheme in ["base", "jhash2", "siphash", "crc32c"] {
                let collapsed = (set, scheme) == ("spread/seed", "base");
                let (longest, chi, collisions) = match scheme {
                    _ if collapsed => (keys, 1_048_575.5, keys - 1.0),
                    "crc32c" => (41.0, 1.21, 990_112.0),
                    _ => (37.0, 0.9981, 983_041.0),
                };
                self.exact(set, scheme, "keys", keys);
                self.exact(set, scheme, "buckets", if set == "spread/seed" { 65_535.0 } else { 65_536.0 });
                self.exact(set, scheme, "longest_chain", longest);
                let chance = Interval::bounded(36.0, 33.0, 40.0);
                self.add(set, scheme, "longest_chain_expected", "count", chance);
                self.exact(set, scheme, "chi_squared", chi);
                let chance = Interval::bounded(1.0, 0.9819, 1.0183);
                self.add(set, scheme, "chi_squared_expected", "count", chance);
                self.exact(set, scheme, "collisions", collisions);
                let chance = Interval::bounded(983_040.2, 983_040.0, 983_041.0);
                self.add(set, scheme, "collisions_expected", "count", chance);
                if set == "spread/seed" {
                    for bin in 0..10_i32 {
                        let even = 104_857.6 + f64::from((bin * 7 + scheme.len() as i32 * 5) % 13 - 6) * 73.0;
                        let in_one = if bin == 3 { keys } else { 0.0 };
                        let count = if collapsed { in_one } else { even.round() };
                        self.exact(set, scheme, &format!("bin_{bin}"), count);
                    }
                }
            }
        }
    }

    fn flood(&mut self, study: &Definition) {
        for attack in &study.workloads {
            for scheme in &study.schemes {
                let (hash, flows) = scheme.split_once('@').unwrap();
                let flows: f64 = flows.parse().unwrap();
                let hit = match attack.as_str() {
                    "xor" => hash == "base",
                    "local" => matches!(hash, "base" | "jhash2" | "siphash"),
                    _ => hash == "crc32c",
                };
                let longest = if hit { flows + 1.0 } else { 3.0 };
                let compared = if hit { 1.02 + flows / 2.0 } else { 1.02 };
                let ns = 18.0 + hash.len() as f64 + if hit { flows * 0.9 } else { 0.0 };
                self.add(attack, scheme, "ns", "ns", around(ns));
                self.exact(attack, scheme, "compared", compared);
                self.exact(attack, scheme, "longest_chain", longest);
                if *scheme != study.reference {
                    self.add(attack, scheme, metric::RATIO, &study.reference, around(ns / 29.0));
                }
            }
        }
    }

    fn table(&mut self, study: &Definition) {
        for workload in &study.workloads {
            let (size, operation) = workload.split_once('/').unwrap();
            let misses = match size {
                "1Ki" => 0.0,
                "64Ki" => 14.0,
                "1Mi" => 70.0,
                _ => 105.0,
            };
            let ns = |scheme: &str| {
                let hash = if scheme.contains("siphash") { 21.0 } else { 6.0 };
                let chained = if scheme.starts_with("chained") { 1.8 } else { 1.0 };
                let burst = if scheme.ends_with("burst") { 0.3 } else { 1.0 };
                let more = if operation == "churn" { 3.0 } else { 1.0 };
                (hash + 5.0 + misses * chained + scheme.len() as f64 / 9.0) * burst * more
            };
            for scheme in &study.schemes {
                self.add(workload, scheme, "ns", "ns", around(ns(scheme)));
                if *scheme != study.reference {
                    let ratio = around(ns(scheme) / ns(&study.reference));
                    self.add(workload, scheme, metric::RATIO, &study.reference, ratio);
                }
            }
        }
    }
}

fn around(value: f64) -> Interval {
    Interval::bounded(value, value * 0.985, value * 1.015)
}
