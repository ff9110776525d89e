//! `hashlane audit`.

use crate::support::{Folder, holds};
use std::process::{Command, Output};

fn audit(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_hashlane"))
        .current_dir(folder.path("."))
        .args([&["audit", "--seed", "7"], arguments].concat())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn exit_codes_tell_a_flood_from_none_and_from_an_error() {
    let folder = Folder::new();
    let (code, out, _) = audit(&folder, &["--scheme", "siphash-1-3", "--keys", "36"]);
    assert_eq!(code, Some(0), "{out}");
    holds(&out, &["siphash-1-3: no attack known to this audit", "No connection is opened."]);
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
    let scheme = &document["schemes"][0];
    assert_eq!((&document["seed"], &scheme["verdict"]), (&7.into(), &"floodable".into()));
    assert_eq!(scheme["epsilon"]["kind"], "broken");
    let linear =
        scheme["attacks"].as_array().unwrap().iter().find(|attack| attack["id"] == "linear").unwrap();
    assert_eq!(linear["flood"]["entries_compared"], 32.5);
    folder.write("table.toml", "kind = \"chained\"\nbuckets = 0\n");
    let (code, _, error) = audit(&folder, &["--table", "table.toml"]);
    assert_eq!(code, Some(2));
    holds(&error, &["table.toml states no table: `buckets` must be from 1 to"]);
}

#[test]
#[cfg(target_os = "linux")]
fn functions_and_tables_of_shared_objects_are_audited() {
    let folder = Folder::new();
    let crate_of_audit = concat!(env!("CARGO_MANIFEST_DIR"), "/../audit");
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
    holds(&out, &["hash_flow: floodable if the seed leaks (truncation-known): 1,024 keys"]);
    let (code, out, error) = of_function("./weak.so");
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["hash_flow: floodable (truncation-unkeyed): 1,024 keys", "ignores its seed"]);
    let of_table = |file| audit(&folder, &["--table", file, "--timeout", "60"]);
    let (code, out, error) = of_table("./good.so");
    assert_eq!(code, Some(0), "{out}{error}");
    holds(&out, &["no attack known to this audit"]);
    let (code, out, error) = of_table("./weak.so");
    assert_eq!(code, Some(1), "{out}{error}");
    holds(&out, &["floodable (truncation-unkeyed for fnv-1a): 1,024 keys"]);
    let (code, _, error) = of_table("./none.so");
    assert_eq!(code, Some(2), "{error}");
}
