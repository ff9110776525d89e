//! `hashlane audit`.

#[cfg(target_os = "linux")]
mod builds;
#[cfg(target_os = "linux")]
mod integers;
#[cfg(target_os = "linux")]
mod languages;
#[cfg(target_os = "linux")]
mod own_functions;
mod pictures;
#[cfg(target_os = "linux")]
mod privilege;
mod referee;
#[cfg(unix)]
mod search;

use hashlane_rig::command::{Folder, Ran, holds};
use std::process::Command;

fn audit(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Ran { code, out, err } = folder.run(&[&["audit", "--seed", "7"], arguments].concat());
    (code, out, err)
}

#[test]
fn exit_codes_tell_a_flood_from_none_and_from_an_error() {
    let folder = Folder::new();
    let (code, out, _) = audit(&folder, &["--scheme", "siphash-1-3", "--keys", "36"]);
    assert_eq!(code, Some(0), "{out}");
    holds(&out, &["siphash-1-3: no attack known to this audit", "No connection is opened."]);
    let chance = "identity: second key for a given one: nothing needed, 2^64 work (no better than";
    holds(&out, &["bias: none found at level 10^-6: of ", chance]);
    // The verdict is first, then attacks that work.
    assert!(out.lines().nth(2).is_some_and(|line| line.starts_with("siphash-1-3: ")), "{out}");
    assert!(!out.contains("erase-") && out.contains(" attacks do not apply to this function. "), "{out}");
    let (_, out, _) = audit(&folder, &["--scheme", "wyhash", "--count", "64"]);
    assert!(out.lines().nth(2).is_some_and(|line| line.starts_with("wyhash: floodable")), "{out}");
    assert!(out.contains("\nerase-wyhash (needs nothing): ") && !out.contains("polynomial-33"), "{out}");
    let (code, out, _) = audit(&folder, &["--scheme", "siphash-1-3", "--scheme", "wyhash"]);
    assert_eq!(code, Some(1), "{out}");
    holds(&out, &["wyhash: floodable (erase-wyhash): 4,096 keys → one bucket, 2,050 entries compared by"]);
    let (code, _, error) = audit(&folder, &["--scheme", "wyhsah"]);
    assert_eq!(code, Some(2));
    assert_eq!(error, "hashlane: unknown scheme \"wyhsah\"; did you mean \"wyhash\"?\n");
    let (code, _, error) = audit(&folder, &["--table", "chaned"]);
    assert_eq!(code, Some(2));
    holds(&error, &["unknown table \"chaned\"; did you mean \"chained\"?"]);
}

#[test]
fn errors_are_printed_as_json_where_json_is_asked_for() {
    let folder = Folder::new();
    folder.write("bad.toml", "kind = \"chained\"\nbuckets = 0\n");
    folder.write("empty", "");
    for (arguments, reason) in [
        (&["--scheme", "wyhsah"][..], "unknown scheme \"wyhsah\"; did you mean \"wyhash\"?"),
        (&["--table", "bad.toml"], "bad.toml states no table: `buckets` must be from 1 to"),
        (&["--table", "./none.so"], "cannot use the table ./none.so: "),
        (&["--names", "empty", "--function", "crc32c"], "no names in empty; write one name per line"),
        (&["--count", "3"], "invalid value '3' for '--count <N>'"),
        (&["--scheme"], "a value is required for '--scheme <ID>' but none was supplied"),
        (&["--write-keys", "none/keys"], "cannot write none/keys: "),
    ] {
        let (code, out, error) = audit(&folder, &[arguments, &["--json"]].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        holds(&error, &[reason]);
        let document: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["audited"], serde_json::json!([]), "{out}");
        holds(document["error"].as_str().unwrap(), &[reason]);
        let (code, out, _) = audit(&folder, arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""));
    }
    let (_, out, _) = audit(&folder, &["--scheme", "wyhash", "--count", "64", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&document["error"], &document["seed"]), (&serde_json::Value::Null, &7.into()));
    // Help is no error.
    let (code, out, _) = audit(&folder, &["--help", "--json"]);
    assert!(code == Some(0) && out.contains("Usage: "), "{out}");
}

#[test]
fn a_reader_that_closes_the_output_changes_no_exit_code() {
    let folder = Folder::new();
    for (scheme, code) in [("wyhash", 1), ("siphash-1-3", 0)] {
        for more in [&[][..], &["--json"]] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let status = Command::new(env!("CARGO_BIN_EXE_hashlane"))
                .current_dir(folder.path("."))
                .args([&["audit", "--seed", "7", "--count", "64", "--scheme", scheme], more].concat())
                .stdout(writer)
                .status();
            assert_eq!(status.unwrap().code(), Some(code), "{scheme} {more:?}");
        }
    }
}

#[test]
fn unhashed_words_and_keys_are_written() {
    let folder = Folder::new();
    let arguments = [
        "--scheme",
        "ehash/jhash2",
        "--table",
        "linux-ehash",
        "--write-keys",
        "keys.txt",
        "--page",
        "page.html",
        "--count",
        "256",
    ];
    let (code, out, error) = audit(&folder, &arguments);
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["ehash/jhash2: partial: bytes 0–11 of the key are not hashed; 256 keys → one bucket"]);
    let keys = std::fs::read_to_string(folder.path("keys.txt")).unwrap();
    let keys: Vec<&str> = keys.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(keys.len(), 256);
    assert!(keys.iter().all(|key| key.len() == 72 && key[24..] == keys[0][24..]), "{keys:?}");
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    holds(&page, &["<svg", "entries compared by a lookup", "hostile keys", "partial: bytes 0–11"]);
}

#[test]
fn a_table_in_a_file_is_audited_and_json_is_printed() {
    let folder = Folder::new();
    folder.write("table.toml", "kind = \"chained\"\nbuckets = 1009\ngrowth = \"none\"\nindex = \"modulo\"\n");
    let arguments = ["--table", "table.toml", "--scheme", "crc32c", "--count", "64", "--json"];
    let (code, out, _) = audit(&folder, &arguments);
    assert_eq!(code, Some(1));
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let scheme = &document["audited"][0];
    assert_eq!((&document["seed"], &scheme["verdict"]), (&7.into(), &"floodable".into()));
    assert_eq!(scheme["epsilon"]["kind"], "broken");
    let linear =
        scheme["attacks"].as_array().unwrap().iter().find(|attack| attack["id"] == "linear").unwrap();
    assert_eq!(linear["flood"]["entries_compared"], 32.5);
    assert_eq!((&scheme["bias"]["biased"], &scheme["bias"]["level"]), (&true.into(), &1e-6.into()));
    assert_eq!(scheme["bias"]["shares"].as_array().map(Vec::len), Some(13));
    let second = scheme["identity"]
        .as_array()
        .unwrap()
        .iter()
        .find(|claim| claim["goal"] == "second key for a given one" && claim["needs"] == "nothing");
    assert_eq!(second.map(|claim| &claim["log2_work"]), Some(&0.0.into()), "{out}");
    assert!(second.is_some_and(|claim| claim["pair"][0] != claim["pair"][1]), "{out}");
    folder.write("table.toml", "kind = \"chained\"\nbuckets = 0\n");
    let (code, _, error) = audit(&folder, &["--table", "table.toml"]);
    assert_eq!(code, Some(2));
    holds(&error, &["table.toml states no table: `buckets` must be from 1 to"]);
}

#[test]
#[cfg(target_os = "linux")]
fn functions_and_tables_of_shared_objects_are_audited() {
    let folder = Folder::new();
    let crate_of_audit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/audit");
    for (name, definitions) in [("good.so", &[][..]), ("weak.so", &["-DWEAK"])] {
        let built = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-I", &format!("{crate_of_audit}/include"), "-o"])
            .arg(folder.path(name))
            .args(definitions)
            .arg(format!("{crate_of_audit}/examples/c/flow_table.c"))
            .status()
            .unwrap();
        assert!(built.success());
    }
    let of_function = |file| {
        let signature = "u64(const u8* data, usize len, const u8* seed)";
        audit(
            &folder,
            &["--library", file, "--symbol", "hash_flow", "--signature", signature, "--timeout", "60"],
        )
    };
    let (code, out, error) = of_function("./good.so");
    assert_eq!(code, Some(0), "{out}{error}");
    holds(
        &out,
        &[
            "hash_flow: no flood without the seed is known to this audit; floodable if it leaks",
            "(truncation-known):",
            "1,024 keys",
        ],
    );
    let (code, out, error) = of_function("./weak.so");
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["hash_flow: floodable (fnv-64-lattice): ", "ignores its seed"]);
    let of_table = |file| audit(&folder, &["--table", file, "--timeout", "60", "--count", "1024"]);
    let (code, out, error) = of_table("./good.so");
    assert_eq!(code, Some(0), "{out}{error}");
    holds(&out, &["no attack known to this audit", "audit it with --library, too"]);
    let (code, out, error) = of_table("./weak.so");
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["floodable (truncation-unkeyed for fnv-1a): 1,024 keys"]);
    let (code, _, error) = of_table("./none.so");
    assert_eq!(code, Some(2), "{error}");
    // A scheme chooses no hash of the table, and would leave attacks out.
    let (code, out, error) = audit(&folder, &["--table", "./weak.so", "--scheme", "siphash-1-3"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
    holds(&error, &["./weak.so has its own hash: leave out --scheme"]);
}

/// Builds a library with the function `f`, and audits it.
#[cfg(target_os = "linux")]
fn of_c(text: &str, more: &[&str]) -> (Option<i32>, String, String, Folder) {
    let folder = Folder::new();
    let types = "#include <stddef.h>\n#include <stdint.h>\n#include <unistd.h>\n";
    folder.write("f.c", format!("{types}{text}"));
    let cc = ["-shared", "-fPIC", "-o"];
    let built = Command::new("cc").args(cc).args([folder.path("f.so"), folder.path("f.c")]).status();
    assert!(built.unwrap().success());
    let signature = "u64(const u8*, usize, u64 seed)";
    let options = ["--library", "./f.so", "--symbol", "f", "--signature", signature];
    let (code, out, error) = audit(&folder, &[&options, more].concat());
    (code, out, error, folder)
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_that_fail_have_a_verdict_and_no_picture() {
    let f = "uint64_t f(const uint8_t *d, size_t n, uint64_t s)";
    let (code, out, error, folder) =
        of_c(&format!("{f} {{ return *(char *)s; }}"), &["--picture", "p.svg", "--page", "p.html"]);
    assert_eq!((code, out.lines().count()), (Some(2), 3), "{out}");
    holds(&out, &["f: faulty: the function has ended its process: "]);
    holds(&error, &["p.svg is not written: no function gives hashes to draw"]);
    assert!(!folder.path("p.svg").exists());
    holds(&std::fs::read_to_string(folder.path("p.html")).unwrap(), &["No picture: "]);
    for (text, reason) in [
        ("__attribute__((constructor)) void g(void) { _exit(3); }", "f.so: loading it has ended its process"),
        ("__attribute__((constructor)) void g(void) { pause(); }", "loading it has not ended within 1 s"),
    ] {
        let (code, out, error, _) = of_c(text, &["--timeout", "1"]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        holds(&error, &[reason]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_constant_function_is_floodable_by_any_keys() {
    let f = "uint64_t f(const uint8_t *d, size_t n, uint64_t s) { return s; }";
    let (code, out, error, _) = of_c(f, &["--json", "--timeout", "60"]);
    assert_eq!(code, Some(1), "{out}{error}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let f = &document["audited"][0];
    assert_eq!((&f["verdict"], &f["random_keys"]["deepest_bucket"]), (&"floodable".into(), &4096.into()));
}

#[test]
fn a_table_of_one_bucket_is_said_to_be_a_list() {
    let folder = Folder::new();
    folder.write("table.toml", "kind = \"chained\"\nbuckets = 1\ngrowth = \"none\"\n");
    let (_, out, _) = audit(&folder, &["--table", "table.toml", "--scheme", "siphash-1-3", "--count", "64"]);
    holds(&out, &["one bucket, never growing: each lookup compares all keys, whatever the hash"]);
}

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/captures");

#[test]
fn flows_of_captures_are_spread_over_buckets_queues_and_paths() {
    let folder = Folder::new();
    for (file, summary) in [
        ("ipv4.pcap", "8 flows from 24 packets; 4 skipped: 4 without ports. Seed 7."),
        ("ipv6.pcap", "10 flows from 23 packets. Seed 7."),
        ("ipv6.pcapng", "10 flows from 23 packets. Seed 7."),
        ("cooked.pcap", "4 flows from 4 packets. Seed 7."),
    ] {
        for function in ["rss", "ecmp", "ehash", "siphash-2-4"] {
            let path = format!("{CAPTURES}/{file}");
            let arguments = ["--pcap", &path, "--function", function, "--try-keys", "9"];
            let (code, out, error) = audit(&folder, &arguments);
            assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
            let parts = ["6d5a repeated", "best of 9 random keys", "ECMP: ", "source port", "bits"];
            holds(&out, &[&[summary, &format!("Buckets: {function}, ")], &parts[..]].concat());
        }
    }
}

#[test]
fn the_spread_of_a_capture_is_printed_as_json() {
    let folder = Folder::new();
    let path = format!("{CAPTURES}/ipv4.pcap");
    let of = |more: &[&str]| {
        let arguments = [&["--pcap", &path, "--function", "rss", "--json"], more].concat();
        let (code, out, error) = audit(&folder, &arguments);
        assert_eq!(code, Some(0), "{error}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let document = of(&["--buckets", "5", "--queues", "1", "--paths", "3"]);
    let buckets = &document["buckets"];
    assert_eq!((&buckets["keys"], &buckets["buckets"]), (&8.into(), &5.into()));
    let rows = buckets["histogram"].as_array().unwrap();
    let sum = |of: fn(u64, u64) -> u64| -> u64 {
        rows.iter().map(|row| of(row["from"].as_u64().unwrap(), row["buckets"].as_u64().unwrap())).sum()
    };
    assert_eq!((sum(|_, buckets| buckets), sum(|depth, buckets| depth * buckets)), (5, 8));
    // One queue has all, under any key.
    let rss = &document["rss"];
    assert_eq!((&rss["published"]["packets"], &rss["random"]["best"]["flows"]), (&1.0.into(), &1.0.into()));
    assert_eq!(rss["random"]["key"].as_str().unwrap().len(), 80);
    assert_eq!((&document["ecmp"]["paths"], &document["ecmp"]["random"]["tried"]), (&3.into(), &256.into()));
    assert_eq!(document["entropy"][6]["field"], "protocol");
    // Four flows of TCP connections' clients, or of UDP: one bit.
    assert_eq!(document["entropy"][6]["bits"], 1.0);
    let rss = &of(&[])["rss"];
    assert_eq!((&rss["symmetric"]["symmetric_flows"], &rss["flows"]), (&8.into(), &8.into()));
    // The same again under the same seed.
    assert_eq!(of(&[]), of(&["--queues", "8", "--paths", "8", "--try-keys", "256", "--buckets", "8"]));
}

#[test]
fn tuples_and_names_are_spread() {
    let folder = Folder::new();
    let tuples: String = (0..512).map(|port| format!("192.0.2.7,192.0.2.1,{port},443,udp\n")).collect();
    folder.write("t.csv", format!("src,dst,sport,dport,proto\n{tuples}{tuples}"));
    let (code, out, _) = audit(&folder, &["--tuples", "t.csv", "--function", "ehash", "--queues", "4"]);
    assert_eq!(code, Some(0));
    holds(&out, &["t.csv: 512 flows from 1,024 packets", "512 keys in 512 buckets", "busiest of 4 queues"]);
    let port: Vec<&str> =
        out.lines().find(|line| line.contains("source port")).unwrap().split_whitespace().collect();
    assert_eq!(port, ["source", "port", "9.00", "512", "512"]);
    holds(&out, &["512 of 512 flows"]);
    let names: String = (0..64).map(|number| format!("/a/b/{number}\nndn:/a\n")).collect();
    folder.write("names.txt", &names);
    let (code, out, _) = audit(&folder, &["--names", "names.txt", "--function", "crc32c"]);
    assert_eq!(code, Some(0));
    holds(&out, &["names.txt: 65 distinct names from 128 lines", "65 keys in 128 buckets"]);
    let component: Vec<&str> =
        out.lines().find(|line| line.contains("component 3")).unwrap().split_whitespace().collect();
    assert_eq!(component, ["component", "3", "6.00", "64", "64"]);
    assert!(!out.contains("RSS"), "{out}");
}

#[test]
fn traffic_is_read_from_standard_input() {
    let folder = Folder::new();
    let tuples = "::1,::2,1,2\n::1,::2,3,4\n";
    let capture = std::fs::read(format!("{CAPTURES}/ipv4.pcap")).unwrap();
    for (option, function, input, part) in [
        ("--names", "crc32c", &b"/a\n/b\n/a\n"[..], "standard input: 2 distinct names from 3 lines"),
        ("--tuples", "rss", tuples.as_bytes(), "standard input: 2 flows from 2 packets"),
        ("--pcap", "rss", &capture, "standard input: 8 flows from 24 packets"),
    ] {
        folder.write("input", input);
        let mut command = folder.command(&["audit", option, "-", "--function", function]);
        let input = std::fs::File::open(folder.path("input")).unwrap();
        let ran = Ran::of(command.stdin(input));
        holds(&ran.ok(), &[part]);
        let ran = Ran::of(command.stdin(std::process::Stdio::null()));
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        holds(&ran.err, &["standard input"]);
    }
}

#[test]
fn traffic_of_no_use_is_an_error_with_its_reason() {
    let folder = Folder::new();
    folder.write("bad.csv", "src,dst,sport,dport\n::1,::2,1,2\n::1,::2,1,x\n");
    folder.write("bad.txt", "/a\n\nno name\n");
    folder.write("empty", "");
    let header = std::fs::read(format!("{CAPTURES}/ipv4.pcap")).unwrap();
    std::fs::write(folder.path("none.pcap"), &header[..24]).unwrap();
    let fragments = format!("{CAPTURES}/fragments.pcap");
    for (option, file, function, reason) in [
        ("--tuples", "bad.csv", "rss", "bad.csv: line 3: dport \"x\" is no port from 0 to 65,535"),
        ("--names", "bad.txt", "crc32c", "bad.txt: line 3: "),
        ("--names", "bad.txt", "ehash", "--function ehash hashes addresses and ports, not names"),
        ("--names", "empty", "crc32c", "no names in empty; write one name per line"),
        ("--tuples", "empty", "rss", "no flows in empty; write one in a line: src,dst,sport,dport[,proto]"),
        ("--pcap", "empty", "rss", "empty: not a pcap or pcapng file (the file is empty)"),
        ("--pcap", "none.pcap", "rss", "none.pcap is an empty capture: it has no packets"),
        ("--pcap", &fragments, "rss", "0 flows from 6 packets; 6 skipped: 6 fragments"),
        ("--pcap", "missing", "rss", "cannot read missing: "),
        ("--pcap", "empty", "rsss", "unknown function \"rsss\"; did you mean \"rss\"?"),
    ] {
        let (code, out, error) = audit(&folder, &[option, file, "--function", function]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
        holds(&error, &[reason]);
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    for arguments in [
        &["--pcap", "empty"][..],
        &["--function", "rss"],
        &["--queues", "4"],
        &["--pcap", "empty", "--names", "empty", "--function", "crc32c"],
        &["--pcap", "empty", "--function", "rss", "--scheme", "crc32c"],
        &["--pcap", "empty", "--function", "rss", "--table", "chained"],
        &["--pcap", "empty", "--function", "rss", "--write-keys", "keys"],
        &["--names", "empty", "--function", "crc32c", "--queues", "4"],
        &["--pcap", "empty", "--function", "rss", "--buckets", "0"],
    ] {
        let (code, _, error) = audit(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        holds(&error, &["error: "]);
    }
}
