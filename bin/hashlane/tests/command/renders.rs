//! Studies of renderers, small ones, over generated messages, a zone file and a capture.

use hashlane_rig::command::{Folder, holds};

const RENDERS: &str = r#"
slug = "renders"
model = "render"
metric = "ns"
per = "message"
title = "t"
question = "q"
source = "s"
workloads = ["nxdomain", "response/a1"]
schemes = ["old", "new", "dumb", "ours", "simple-dns"]
reference = "ours"
size = { quick = { items = 1, repetitions = 3 }, full = { items = 1, repetitions = 3 } }
[[octets]]
workload = "nxdomain"
schemes = ["old", "new", "ours"]
octets = 43
"#;

const ZONE: &str = "\
$ORIGIN example.com.
$TTL 300
@    SOA ns hostmaster 1 2 3 4 5
@    NS  ns
ns   A   192.0.2.1
www  A   192.0.2.2
";

fn record(records: &str, start: &str) -> f64 {
    let found = records.lines().find(|line| line.starts_with(start));
    found.unwrap_or_else(|| panic!("no {start}")).split(',').nth(7).unwrap().parse().unwrap()
}

#[test]
fn renderers_are_timed_their_octets_counted_and_drawn() {
    let folder = Folder::new();
    folder.write("renders.toml", RENDERS);
    let ran = folder.run(&["study", "run", "renders.toml", "--out", "r"]).ok();
    holds(&ran, &["millions of names per second", "bytes per message", "simple-dns was not measured"]);
    let records = std::fs::read_to_string(folder.path("r/records.csv")).unwrap();
    for (scheme, octets) in [("old", 43.0), ("new", 43.0), ("ours", 43.0), ("dumb", 76.0)] {
        let start = format!("renders,render,nxdomain,{scheme},count,octets,octets,");
        assert_eq!(record(&records, &start), octets);
        assert!(record(&records, &format!("renders,render,nxdomain,{scheme},rounds,ns,ns,")) > 0.0);
    }
    assert!(record(&records, "renders,render,response/a1,old,rounds,ratio,ours,") > 0.0);
    let page = std::fs::read_to_string(folder.path("r/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Rendering messages"));
}

#[test]
fn messages_of_another_size_are_not_believed() {
    let folder = Folder::new();
    folder.write("renders.toml", RENDERS.replace("octets = 43", "octets = 42"));
    let failed = folder.run(&["study", "run", "renders.toml"]).failed();
    holds(&failed, &["nxdomain differs from the study's expectation", "old renders 43 bytes, expected 42"]);
    folder.write("unknown.toml", RENDERS.replace("\"dumb\"", "\"dump\""));
    let failed = folder.run(&["study", "run", "unknown.toml"]).failed();
    holds(
        &failed,
        &["unknown scheme \"dump\": a renderer is one of old, new, dumb, ours, benign, new/prime-buckets"],
    );
    folder.write("workload.toml", RENDERS.replace("response/a1", "response/a2"));
    holds(&folder.run(&["study", "run", "workload.toml"]).failed(), &["hostile/known-key"]);
}

#[test]
fn a_zone_file_or_a_capture_takes_the_place_of_generated_messages() {
    let folder = Folder::new();
    folder.write("renders.toml", RENDERS);
    folder.write("a.zone", ZONE);
    let ran = folder.run(&["study", "run", "renders.toml", "--zone", "a.zone", "--out", "r"]);
    holds(&ran.err, &["a.zone: 4 records in 1 message"]);
    ran.ok();
    let records = std::fs::read_to_string(folder.path("r/records.csv")).unwrap();
    assert_eq!(record(&records, "renders,render,zone:a.zone,ours,count,names,names,"), 1.0 + 4.0 + 3.0);
    assert!(!records.contains("nxdomain"));

    folder.run(&["dns", "render", "a.zone", "--output", "pcap", "--out", "a.pcap"]).ok();
    let ran = folder.run(&["study", "run", "renders.toml", "--pcap", "a.pcap", "--out", "p"]);
    holds(&ran.err, &["a.pcap: 1 messages from 1 packets"]);
    ran.ok();
    let records = std::fs::read_to_string(folder.path("p/records.csv")).unwrap();
    assert!(record(&records, "renders,render,pcap:a.pcap,ours,rounds,ns,ns,") > 0.0);
}

#[test]
fn what_is_of_no_use_is_refused_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("a.zone", ZONE);
    folder.write("bare", "www A 192.0.2.1\n");
    folder.write("none.pcap", include_bytes!("../../../../vectors/captures/ipv4.pcap"));
    let refused = |arguments: &[&str]| folder.run(&[&["study", "run"], arguments].concat()).failed();
    holds(&refused(&["flow-hash", "--zone", "a.zone"]), &["--zone is for dns-render"]);
    holds(&refused(&["dns-render", "--zone", "b.zone"]), &["cannot read b.zone"]);
    holds(&refused(&["dns-render", "--zone", "bare"]), &["bare:1:1: ", "a line `$ORIGIN NAME` before it"]);
    holds(&refused(&["dns-render", "--pcap", "none.pcap"]), &["none.pcap has no DNS message"]);
    holds(&refused(&["dns-render", "--pcap", "a.zone"]), &["a.zone: not a pcap or pcapng file"]);
}
