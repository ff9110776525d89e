//! Studies of flows, small ones, over generated tuples and over a capture.

use hashlane_rig::command::{Folder, holds};

const HASHES: &str = r#"
slug = "hashes"
model = "tuples"
metric = "cycles_throughput"
per = "tuple"
title = "t"
question = "q"
source = "s"
workloads = ["random"]
schemes = ["{base,jhash}/single", "siphash-1-3/{single,burst,burst-256}"]
reference = "base/single"
size = { quick = { items = 512, repetitions = 3 }, full = { items = 512, repetitions = 3 } }
mca = { schemes = ["base", "siphash"] }
[spread]
sets = ["seed", "spray-local"]
schemes = ["base", "siphash-1-3"]
tuples = { quick = 1000, full = 1000 }
"#;

const TABLES: &str = r#"
slug = "tables"
model = "table"
metric = "ns"
per = "find"
title = "t"
question = "q"
source = "s"
workloads = ["1Ki/hit", "1Ki/miss", "1Ki/churn"]
schemes = ["{swiss,batched,chained}/siphash-1-3/burst", "hashbrown/ahash/single"]
reference = "hashbrown/ahash/single"
size = { quick = { items = 1024, repetitions = 3 }, full = { items = 1024, repetitions = 3 } }
"#;

const FLOODS: &str = r#"
slug = "floods"
model = "flood"
metric = "ns"
per = "find"
title = "t"
question = "q"
source = "s"
workloads = ["local", "xor"]
schemes = ["{chained/siphash,swiss/siphash-1-3}/single@{0,1024}"]
reference = "chained/siphash/single@0"
size = { quick = { items = 1, repetitions = 3 }, full = { items = 1, repetitions = 3 } }
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("hashes.toml", HASHES);
    folder.write("tables.toml", TABLES);
    folder.write("floods.toml", FLOODS);
    folder.write("ipv4.pcap", include_bytes!("../../../../vectors/captures/ipv4.pcap"));
    folder
}

#[test]
fn hashes_tables_and_floods_are_recorded_and_drawn() {
    let folder = folder();
    let ran = folder
        .run(&["study", "run", "hashes.toml", "tables.toml", "floods.toml", "--out", "r", "--verbose"])
        .ok();
    holds(&ran, &["Spread over the buckets", "spread/spray-local collapses 1 of 2 schemes: base."]);
    // The chain of the hash that leaves the local address out holds every hostile flow.
    let records = std::fs::read_to_string(folder.path("r/records.csv")).unwrap();
    let record = |start: &str| {
        let found = records.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start}")).to_owned()
    };
    let compared = record("floods,flood,local,chained/siphash/single@1024,count,compared,entries,");
    let mean: f64 = compared.split(',').nth(7).unwrap().parse().unwrap();
    assert!(mean > 1024.0, "{compared}");
    let ours = record("floods,flood,local,swiss/siphash-1-3/single@1024,count,compared,entries,");
    assert!(ours.split(',').nth(7).unwrap().parse::<f64>().unwrap() < 1.5, "{ours}");
    record("floods,flood,xor,swiss/siphash-1-3/single@1024,rounds,ratio,chained/siphash/single@0,");
    record("hashes,tuples,random,siphash-1-3/burst,throughput,cycles_throughput,cycles,");
    record("hashes,tuples,random,jhash/single,latency,ratio_latency,base/single,");
    record("hashes,spread,spread/seed,base,spread,bin_8,keys,");
    for kind in ["hit", "miss", "churn"] {
        record(&format!("tables,table,1Ki/{kind},batched/siphash-1-3/burst,rounds,ns,ns,"));
    }
    let page = std::fs::read_to_string(folder.path("r/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Under flood"));
}

#[test]
fn a_capture_takes_the_place_of_generated_tuples() {
    let folder = folder();
    let all =
        ["study", "run", "hashes.toml", "tables.toml", "floods.toml", "--pcap", "ipv4.pcap", "--out", "r"];
    let ran = folder.run(&all);
    holds(&ran.err, &["ipv4.pcap: 8 tuples from 24 packets; 4 skipped: 4 without ports"]);
    ran.ok();
    let records = std::fs::read_to_string(folder.path("r/records.csv")).unwrap();
    holds(&records, &["hashes,spread,spread/pcap:ipv4.pcap,base,", "tables,table,pcap:ipv4.pcap/hit,swiss/"]);
    assert!(!records.contains("1Ki/hit") && !records.contains("spread/seed"));
}

#[test]
fn a_capture_that_is_none_is_refused_before_anything_is_measured() {
    let folder = folder();
    let refused = folder.run(&["study", "run", "tables.toml", "--pcap", "tables.toml"]).failed();
    holds(&refused, &["tables.toml: not a pcap or pcapng file", "tcpdump -w"]);
    let missing = folder.run(&["study", "run", "tables.toml", "--pcap", "none.pcap"]).failed();
    holds(&missing, &["cannot read none.pcap"]);
    let of_no_use = folder.run(&["study", "run", "name-encodings", "--pcap", "ipv4.pcap"]).failed();
    holds(&of_no_use, &["--pcap is for flow-hash, flow-flood, flow-table, dns-render"]);
}

#[test]
fn what_is_unknown_lists_what_there_is() {
    let folder = folder();
    for (file, text, from, to, says) in [
        ("a.toml", HASHES, "jhash}", "jash}", "unknown scheme \"jash/single\": a scheme is <hash>/single"),
        ("b.toml", HASHES, "\"seed\"", "\"sed\"", "spray-local-64"),
        ("c.toml", TABLES, "chained}", "chain}", "shapes: chained, swiss, batched, hashbrown"),
        ("d.toml", TABLES, "1Ki/miss", "1Ki/mis", "a workload is <flows>/<operation>"),
        ("e.toml", FLOODS, "\"xor\"", "\"xro\"", "toeplitz-span"),
        ("f.toml", FLOODS, "@{0,1024}", "@{0,99999999}", "the number of hostile flows, 0 to 65536"),
    ] {
        folder.write(file, text.replace(from, to));
        holds(&folder.run(&["study", "run", file]).failed(), &[says]);
    }
}
