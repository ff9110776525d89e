//! Believable records of parts of the studies, for tests.

use crate::spread::{BUSIEST, RSS};
use crate::{Cost, Floods, Flows, Tables, metric};
use hashlane_lab::definition::{Definition, Selection, subject};
use hashlane_lab::study::Study;
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;

/// The study file of a kind of study.
pub(super) fn study(study: &dyn Study) -> Definition {
    let file = study.files()[0];
    Definition::parse(file.text, file.slug).unwrap()
}

/// The studies of cost and spread, of floods, and of tables, with some of their schemes and workloads.
pub(super) fn definitions() -> [Definition; 3] {
    let selected = |kind: Flows, schemes: &dyn Fn(&str) -> bool, workloads: &dyn Fn(&str) -> bool| {
        let mut definition = study(&kind);
        let ids =
            |ids: &[String], of: &dyn Fn(&str) -> bool| ids.iter().filter(|id| of(id)).cloned().collect();
        let (schemes, workloads) = (ids(&definition.schemes, schemes), ids(&definition.workloads, workloads));
        definition.select(&Selection { schemes, workloads, repetitions: None }).unwrap();
        definition
    };
    let all = |_: &str| true;
    let hash = |id: &str| {
        let (hash, manner) = id.split_once('/').unwrap();
        ["base", "jhash2", "siphash", "siphash-1-3", "siphash-2-4"].contains(&hash)
            && ["single", "burst"].contains(&manner)
    };
    let flood = |id: &str| {
        let hashes = ["base", "jhash2", "hsiphash", "siphash", "flat", "crc32c"];
        id.starts_with("batched/siphash-1-3/burst@")
            || hashes.contains(&id.split('/').nth(1).unwrap()) && id.starts_with("chained/")
    };
    [
        selected(Cost, &hash, &all),
        selected(Floods, &flood, &|id| ["xor", "local", "crc32c"].contains(&id)),
        selected(Tables, &|id| crate::hashes::cpp(id).is_none(), &|id| {
            ["hit", "miss", "churn"].contains(&id.split('/').nth(1).unwrap())
        }),
    ]
}

/// Records as runs of all three studies could leave them.
pub(super) fn records() -> RecordSet {
    let mut set = RecordSet::new();
    let [hash, flood, table] = definitions();
    let mut add = Adder { set: &mut set, study: &hash.slug, model: "tuples" };
    add.cost(&hash, "random");
    add.model = "mca";
    add.mca();
    add.model = "spread";
    add.spread();
    (add.study, add.model) = (&flood.slug, "flood");
    for attack in &flood.workloads {
        add.flood(&flood, attack);
    }
    (add.study, add.model) = (&table.slug, "table");
    for workload in &table.workloads {
        add.table(&table, workload);
    }
    set
}

/// Records, each changed by `change`.
pub(super) fn changed(records: &RecordSet, mut change: impl FnMut(&mut Record)) -> RecordSet {
    let mut changed = RecordSet::new();
    for record in records.iter() {
        let mut record = record.clone();
        change(&mut record);
        changed.insert(record).unwrap();
    }
    changed
}

/// Records as runs on a capture could leave them.
pub(super) fn own_records() -> RecordSet {
    const LABEL: &str = "pcap:mine.pcap";
    let mut set = RecordSet::new();
    let definitions = definitions();
    let mut add = Adder { set: &mut set, study: "", model: "" };
    for definition in &definitions {
        (add.study, add.model) = (&definition.slug, "capture");
        add.exact(LABEL, "capture", metric::FLOWS, 3214.0);
        add.exact(LABEL, "capture", metric::PACKETS, 1_200_000.0);
        add.exact(LABEL, "capture", metric::COMPLETE, 1.0);
    }
    let [hash, flood, table] = &definitions;
    (add.study, add.model) = (&hash.slug, "tuples");
    add.cost(hash, LABEL);
    add.model = "spread";
    let workload = format!("spread/{LABEL}");
    add.exact(&workload, RSS, BUSIEST[0], 1.31);
    add.add(&workload, RSS, BUSIEST[1], "means", Interval::bounded(1.28, 1.1, 1.62));
    (add.study, add.model) = (&flood.slug, "flood");
    for attack in &flood.workloads {
        add.flood(flood, &format!("{LABEL}/{attack}"));
    }
    (add.study, add.model) = (&table.slug, "table");
    for workload in ["hit", "replay"] {
        add.table(table, &format!("{LABEL}/{workload}"));
    }
    set
}

struct Adder<'a> {
    set: &'a mut RecordSet,
    study: &'a str,
    model: &'a str,
}

impl Adder<'_> {
    fn add(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, i: Interval) {
        let columns = [self.study, self.model, workload, scheme, "sample", metric, unit];
        self.set.insert(Record::new(columns, [i.value, i.low, i.high], 20, 6)).unwrap();
    }

    fn exact(&mut self, workload: &str, scheme: &str, metric: &str, value: f64) {
        self.add(workload, scheme, metric, "count", Interval::exact(value));
    }

    fn cost(&mut self, study: &Definition, workload: &str) {
        for scheme in study.measured_schemes() {
            let (hash, way) = subject(scheme).split_once('/').unwrap();
            let single = match hash {
                "base" => 14.2,
                "jhash2" => 26.0,
                "siphash-1-3" => 27.0,
                _ => 49.0,
            };
            let cycles = if way == "burst" { single / 4.4 } else { single };
            self.add(workload, scheme, "cycles_throughput", "cycles", around(cycles));
            if way == "single" {
                self.add(workload, scheme, "cycles_latency", "cycles", around(cycles * 1.6));
            }
            if *scheme != study.reference {
                self.add(workload, scheme, metric::RATIO, &study.reference, around(cycles / 14.2));
                if way == "single" {
                    let ratio = around(cycles / 14.2);
                    self.add(workload, scheme, "ratio_latency", &study.reference, ratio);
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

    /// Times of hashes with names of four letters start at 22 ns, with seven at 25 ns. All grow from none to
    /// 65,536 hostile flows by 59,000 ns if they are hit; `flat` by a half.
    fn flood(&mut self, study: &Definition, attack: &str) {
        let ns = |hash: &str, flows: f64| {
            let hit = match attack.rsplit('/').next() {
                Some("xor") => hash == "base",
                Some("local") => matches!(hash, "base" | "jhash2" | "hsiphash" | "siphash"),
                _ => hash == "crc32c",
            };
            let start = 18.0 + hash.len() as f64;
            let grown = if hash == "flat" { start * 0.5 * (flows / 65_536.0) } else { 0.0 };
            (start + if hit { flows * 0.9 } else { grown }, hit)
        };
        let of = |scheme: &str| {
            let (table, flows) = subject(scheme).split_once('@').unwrap();
            let flows: f64 = flows.parse().unwrap();
            let (time, hit) = ns(table.split('/').nth(1).unwrap(), flows);
            (format!("{table}@0"), flows, time, hit)
        };
        let pairs = study.ratio_pairs();
        for (scheme, to) in &pairs {
            self.add(attack, scheme, metric::RATIO, to, around(of(scheme).2 / of(to).2));
        }
        for scheme in study.measured_schemes() {
            let (fewest, flows, time, hit) = of(scheme);
            self.add(attack, scheme, "ns", "ns", around(time));
            self.exact(attack, scheme, "compared", if hit { 1.02 + flows / 2.0 } else { 1.02 });
            self.exact(attack, scheme, "longest_chain", if hit { flows + 1.0 } else { 3.0 });
            if flows == 65_536.0 {
                if !pairs.contains(&(scheme, &fewest)) {
                    self.add(attack, scheme, metric::RATIO, &fewest, around(time / of(&fewest).2));
                }
                self.add(attack, scheme, metric::RATIO_ELSEWHERE, &fewest, around(1.0));
            }
        }
    }

    fn table(&mut self, study: &Definition, workload: &str) {
        let (size, operation) = workload.rsplit_once('/').unwrap();
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
        for (of, to) in study.ratio_pairs() {
            self.add(workload, of, metric::RATIO, to, around(ns(subject(of)) / ns(to)));
        }
        for scheme in &study.schemes {
            self.add(workload, scheme, "ns", "ns", around(ns(scheme)));
        }
    }
}

fn around(value: f64) -> Interval {
    Interval::bounded(value, value * 0.985, value * 1.015)
}
