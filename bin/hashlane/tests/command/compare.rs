//! Two builds compared. The builds are scripts that leave the same figures on every machine, and once the
//! command itself.
#![cfg(unix)]

use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, STUDY, holds};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HEADER: &str = "study,model,workload,scheme,probe,metric,unit,value,low,high,samples";

/// A record of the study of these tests.
fn record(scheme: &str, metric: &str, unit: &str, value: f64) -> String {
    format!("mine,names,3Bx2,{scheme},cycles,{metric},{unit},{value},{value},{value},6")
}

/// Records of a build in which the first scheme takes so many cycles.
fn records(cycles: f64) -> String {
    let lines = [
        HEADER.to_owned(),
        record("ndn/one-by-one/crc32c", "cycles_mean", "cycles", cycles),
        record("ndn/one-pass/crc32c", "cycles_mean", "cycles", 40.0),
        record("ndn/one-pass/crc32c", "cycles_stream", "cycles", 30.0),
        record("ndn/one-pass/crc32c", "octets", "octets", 60.0),
    ];
    lines.join("\n")
}

fn script(folder: &Folder, name: &str, text: &str) {
    let path = folder.write(name, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A build whose every launch leaves these records, after some commands.
fn build(folder: &Folder, name: &str, commands: &str, records: &str) {
    let text = format!("{commands}\nmkdir -p \"$6\" && cat > \"$6/records.csv\" <<END\n{records}\nEND");
    script(folder, name, &text);
}

/// A folder with two builds; B takes so many times the cycles of A; `temporary` is for launches.
fn folder(times: f64) -> Folder {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    fs::create_dir(folder.path("temporary")).unwrap();
    build(&folder, "before", "", &records(100.0));
    build(&folder, "after", "", &records(100.0 * times));
    folder
}

fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(&["compare", "--run", "./before", "./after", "mine.toml"]);
    command.args(arguments).env("TMPDIR", folder.path("temporary"));
    command
}

fn compare(folder: &Folder, arguments: &[&str]) -> Ran {
    let ran = Ran::of(command(folder, arguments));
    assert_eq!(fs::read_dir(folder.path("temporary")).unwrap().count(), 0, "{ran:#?}");
    ran
}

#[test]
fn calls_the_row_that_differs() {
    let ran = compare(&folder(1.5), &[]);
    holds(&ran.err, &["mine: 2 rows; a launch takes ", " rounds of A, B and A′ in "]);
    let out = ran.ok();
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    holds(
        &words,
        &[
            "ndn/one-by-one/crc32c 100 150 1.500 [1.500, 1.500] [1.000, 1.000] slower",
            "ndn/one-pass/crc32c 40.0 40.0 1.000 [1.000, 1.000] [1.000, 1.000] no difference ≥ 0.0 %",
            "Largest increases, B / A (1 of 1): 1.500 [1.500, 1.500] mine · 3Bx2 · ndn/one-by-one/crc32c",
            "mine: 2 rows in 40 rounds, ",
            "1 slower, 0 faster, 1 without a difference, 0 undecided. Geometric mean B / A 1.225; A′ / A \
             1.000.",
        ],
    );
    assert!(!out.contains("cycles_stream") && !out.contains("No verdict"), "{out}");
}

#[test]
fn metrics_and_schemes_can_be_chosen() {
    let folder = folder(0.5);
    let out = compare(&folder, &["--metric", "cycles_stream"]).ok();
    holds(&out, &["mine · 3Bx2 · cycles_stream", "mine: 1 row in 40 rounds"]);
    let message = compare(&folder, &["--metric", "octets"]).err;
    holds(&message, &["no time \"octets\" in study mine; its times are cycles_mean, cycles_stream"]);
    let message = compare(&folder, &["--scheme", "ndn/one-pas/crc32c"]).failed();
    holds(&message, &["\"ndn/one-pas/crc32c\" is not in the study", "did you mean \"ndn/one-pass/crc32c\"?"]);
    let message = compare(&folder, &["--workload", "9Bx9"]).failed();
    holds(&message, &["\"9Bx9\" is not in the study"]);
    // The builds read a study with the chosen schemes only.
    build(
        &folder,
        "before",
        "grep -q one-pass \"$3\" && ! grep -q one-by-one \"$3\" || exit 1",
        &records(100.0),
    );
    compare(&folder, &["--scheme", "ndn/one-pass/crc32c", "--repetitions", "3"]).ok();
}

#[test]
fn ci_fails_on_a_regression_beyond_the_threshold_only() {
    let slower = folder(1.05);
    let ran = compare(&slower, &["--ci"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let heading = "<!-- hashlane-compare -->\n### hashlane: 1 row is slower by 3 % or more\n";
    assert!(ran.out.starts_with(heading), "{}", ran.out);
    let out = compare(&slower, &["--ci", "--threshold", "10"]).ok();
    holds(&out, &["### hashlane: no regression of 10 % or more seen\n", "| 1.050 | 1.000 | slower |"]);
    let out = compare(&folder(1.0), &["--ci"]).ok();
    holds(&out, &["<!-- hashlane-compare -->\n", "no regression of 3 % or more seen", "All: 2 rows"]);
    let out = compare(&folder(0.5), &["--ci"]).ok();
    holds(&out, &["0 slower, 1 faster"]);
}

#[test]
fn too_few_rounds_are_undecided() {
    let folder = folder(2.0);
    build(&folder, "before", "sleep 0.3", &records(100.0));
    let ran = compare(&folder, &["--ci", "--time", "1"]);
    holds(
        &ran.err,
        &["mine: verdicts on so many rows need 7 rounds: --time ", "fewer rows with --scheme and --workload"],
    );
    holds(
        &ran.ok(),
        &["no regression of 3 % or more seen; 2 of 2 rows undecided", "undecided: needs 7 rounds"],
    );
}

/// Builds whose launches take 5 ms for each item of the study, and log them. Seconds of a comparison in so
/// many.
fn timed(rows: &[String], study: &str, time: &str) -> (Ran, Vec<u32>, Duration) {
    let folder = folder(1.0);
    folder.write("mine.toml", study);
    let items = "items=$(sed -n 's/^items = //p' \"$3\" | head -n 1)\necho $items >> launches\n\
                 sleep $(awk \"BEGIN { print $items * 0.005 }\")";
    for name in ["before", "after"] {
        build(&folder, name, items, &format!("{HEADER}\n{}", rows.join("\n")));
    }
    let begun = Instant::now();
    let ran = compare(&folder, &["--time", time]);
    let took = begun.elapsed();
    let launches = fs::read_to_string(folder.path("launches")).unwrap();
    (ran, launches.lines().map(|items| items.parse().unwrap()).collect(), took)
}

#[test]
fn launches_have_fewer_items_if_verdicts_need_the_time() {
    let rows = [record("ndn/one-by-one/crc32c", "cycles_mean", "cycles", 100.0)];
    // 300 items take 1.5 s: seven rounds of three launches would take half a minute.
    let (ran, items, took) = timed(&rows, STUDY, "16");
    holds(&ran.out, &["1 without a difference, 0 undecided"]);
    assert!(items.last().is_some_and(|items| (37..300).contains(items)), "{items:?}");
    // A round that has begun is ended, and a loaded machine starts processes slowly.
    assert!(took < Duration::from_secs(32), "{took:?}");
}

#[test]
fn only_the_headline_is_compared_if_there_is_no_time_for_all_rows() {
    let study = STUDY
        .replace("ndn/{one-by-one,one-pass}/crc32c", "{ndn,ccnx,offset}/{one-by-one,one-pass}/crc32c")
        + "[[criterion]]\nof = \"ndn/one-pass/crc32c\"\nto = \"ndn/one-by-one/crc32c\"\nworkload = \"3Bx2\"\n\
           at_most = 1.0\n";
    let scheme = |at: usize| record(&format!("scheme-{at}"), "cycles_mean", "cycles", 100.0);
    // Rows for 12 rounds, each of at least 0.6 s.
    let rows: Vec<String> = (0..60).map(scheme).collect();
    let (ran, _, took) = timed(&rows, &study, "5");
    holds(
        &ran.err,
        &["mine: no time for verdicts on all rows, so only on rows of its criteria and claims, 2 schemes \
             on 3Bx2; --all-rows compares all"],
    );
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn records_that_cannot_be_read_are_refused() {
    let folder = folder(1.0);
    build(&folder, "before", "", "rubbish");
    let message = compare(&folder, &[]).failed();
    holds(
        &message,
        &["a launch of ", "before left no records: ", "records.csv:1: the columns must be study,"],
    );
}

#[test]
fn runs_of_one_build_are_counted() {
    let folder = folder(1.0);
    for (name, cycles) in [("a", 100.0), ("b", 100.5), ("c", 103.0)] {
        fs::create_dir(folder.path(name)).unwrap();
        let (low, high) = (cycles - 1.0, cycles + 1.0);
        let row = format!("mine,names,3Bx2,ndn/walk,cycles,cycles_mean,cycles,{cycles},{low},{high},9,6");
        folder.write(&format!("{name}/records.csv"), format!("{HEADER},launches\n{row}\n"));
    }
    let out = folder.run(&["compare", "--same", "a", "b", "c"]).ok();
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    // Of the pairs, b holds a and a holds b; b and c do not touch by half a cycle, a and c by one.
    holds(&words, &["mine times 1 50.0 % 33.3 % 66.7 % 2.0 %"]);
    let message = folder.run(&["compare", "--same", "a", "nowhere"]).failed();
    holds(&message, &["nowhere has no records.csv"]);
    assert_eq!(folder.run(&["compare", "a", "b", "c"]).code, Some(2));
}

#[test]
fn exports_are_printed_or_written() {
    let folder = folder(1.5);
    let out = compare(&folder, &["--export", "bmf"]).ok();
    let bmf: serde_json::Value = serde_json::from_str(&out).unwrap();
    let ratio = &bmf["mine/3Bx2/ndn/one-by-one/crc32c"]["ratio-cycles-mean"];
    assert_eq!(ratio, &serde_json::json!({ "value": 1.5, "lower_value": 1.5, "upper_value": 1.5 }));
    let out = compare(&folder, &["--export", "json", "--out", "r.json"]).ok();
    holds(&out, &["slower"]);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.path("r.json")).unwrap()).unwrap();
    assert_eq!(json["studies"][0]["rows"][0]["verdict"], "slower");
    let ran = compare(&folder, &["--export", "json", "--out", "no/r.json"]);
    holds(&ran.err, &["cannot write no/r.json; name another file with --out"]);
    // Folders of records, too, without a verdict.
    for (name, cycles) in [("a", 100.0), ("b", 150.0)] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/records.csv"), records(cycles));
    }
    let out = folder.run(&["compare", "a", "b", "--export", "markdown"]).ok();
    holds(&out, &["separate runs, so there is no verdict", "| 1.500 | — | — |"]);
    let out = folder.run(&["compare", "a", "b", "--export", "criterion"]).ok();
    let first: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["median"]["estimate"], &first["change"]), (&150.0.into(), &serde_json::Value::Null));
}

#[test]
fn schemes_of_one_build_only_are_left_out_and_listed() {
    let folder = folder(1.0);
    let unknown = "if grep -q one-by-one \"$3\"; then\n\
                   echo 'hashlane: study mine: unknown scheme \"ndn/one-by-one/crc32c\": …' >&2; exit 1; fi";
    build(&folder, "before", unknown, &records(100.0).replace("ndn/one-by-one", "ndn/old"));
    let out = compare(&folder, &[]).ok();
    holds(
        &out,
        &[
            "Only in A: 1 of mine\n  mine · 3Bx2 · ndn/old/crc32c",
            "Only in B: 2 of mine\n  mine · 3Bx2 · ndn/one-by",
        ],
    );
    holds(&out, &["mine · every workload · ndn/one-by-one/crc32c"]);
}

#[test]
fn a_build_that_cannot_be_launched_says_why() {
    let folder = folder(1.0);
    script(&folder, "before", "echo 'error: unrecognized subcommand' >&2; exit 2");
    let message = compare(&folder, &[]).failed();
    holds(&message, &["before failed (exit status: 2): error: unrecognized subcommand", "--version"]);
    script(&folder, "before", "echo 'hashlane: study mine: no' >&2; exit 1");
    holds(&compare(&folder, &[]).failed(), &["before failed: study mine: no; choose what both builds know"]);
    script(&folder, "before", "exit 0");
    holds(&compare(&folder, &[]).failed(), &["before left no records: no message"]);
    folder.write("before", "no program");
    holds(&compare(&folder, &[]).failed(), &["cannot start ", "before: name a build of hashlane"]);
    fs::remove_file(folder.path("before")).unwrap();
    holds(&compare(&folder, &[]).failed(), &["no command ./before: name a build of hashlane"]);
    // With --ci, 1 is a regression.
    assert_eq!(compare(&folder, &["--ci"]).code, Some(2));
    fs::create_dir(folder.path("before")).unwrap();
    holds(&compare(&folder, &[]).failed(), &["./before is a folder: --run takes two commands"]);
    let message = folder.run(&["compare", "./after", "./after"]).failed();
    holds(&message, &["./after is a file: name a folder of records, or compare two builds with --run"]);
}

#[test]
fn ctrl_c_prints_the_rounds_until_then() {
    let folder = folder(1.5);
    // Two launches to try, eight rounds, and then one that does not end.
    let counted = "echo >> launches; [ $(wc -l < launches) -gt 27 ] && exec sleep 100";
    for name in ["before", "after"] {
        build(&folder, name, counted, &records(if name == "after" { 150.0 } else { 100.0 }));
    }
    let child = start(command(&folder, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let launches = || fs::read(folder.path("launches")).map_or(0, |launches| launches.len());
    wait_for("the launch that does not end", || launches() > 27);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ran = Ran::finish(child);
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    holds(&ran.err, &["stopped by Ctrl-C; the rounds until then follow"]);
    holds(&ran.out, &["mine: 2 rows in 8 rounds, ", "1 slower"]);
    assert_eq!(fs::read_dir(folder.path("temporary")).unwrap().count(), 0);
}

fn wait_for(event: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(15), "{event} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_command_launches_itself() {
    let folder = folder(1.0);
    let this = Path::new(env!("CARGO_BIN_EXE_hashlane"));
    for name in ["before", "after"] {
        fs::remove_file(folder.path(name)).unwrap();
        std::os::unix::fs::symlink(this, folder.path(name)).unwrap();
    }
    folder.write("names.txt", "/usr/bin/a\n/usr/bin/b/c\n");
    let out = compare(&folder, &["--time", "1", "--names", "names.txt", "--repetitions", "2"]).ok();
    holds(&out, &["mine · names:names.txt · cycles_mean", "ndn/one-pass/crc32c", "mine: 2 rows in "]);
    let message = compare(&folder, &["--pcap", "names.txt"]).failed();
    holds(&message, &["--pcap is for "]);
}

#[test]
fn folders_without_a_common_record_are_refused() {
    let folder = folder(1.0);
    for (name, study) in [("a", "mine"), ("b", "other")] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/records.csv"), records(1.0).replace("mine,", &format!("{study},")));
    }
    let message = folder.run(&["compare", "a", "b"]).failed();
    holds(
        &message,
        &["a and b have no record in common: a has mine, b has other; compare runs of the same study"],
    );
    folder.write("b/records.csv", HEADER);
    holds(
        &folder.run(&["compare", "a", "b"]).failed(),
        &["b has no records; compare runs of the same study"],
    );
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(HEADER.bytes().flat_map(|b| [b, 0])).collect();
    folder.write("b/records.csv", utf16);
    holds(&folder.run(&["compare", "a", "b"]).failed(), &["b/records.csv: UTF-16 text; save it as UTF-8"]);
    folder.write("b/records.csv", b"\x7fELF\x02\0\0\0");
    holds(&folder.run(&["compare", "a", "b"]).failed(), &["b/records.csv: a binary file, not records"]);
}

#[test]
fn options_of_runs_are_refused_for_folders() {
    let folder = folder(1.0);
    for arguments in [
        &["a", "b", "flow-hash"][..],
        &["a", "b", "--scheme", "x"],
        &["a", "b", "--ci"],
        &["a", "b", "--out", "x"],
        &["--run", "a", "b", "--threshold", "1"],
        &["--run", "a", "b", "--repetitions", "1"],
        &["--run", "--same", "a", "b"],
    ] {
        let ran = folder.run(&[&["compare"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:#?}");
    }
    let message = folder.run(&["compare", "a", "b", "--names", "x"]).failed();
    holds(&message, &["--names is for --run"]);
}
