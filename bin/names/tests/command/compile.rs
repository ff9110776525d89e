//! `hashlane names compile`: lists as one file.

use crate::names::folder;
use hashlane_rig::command::{Folder, Ran, holds};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

const LISTS: [&str; 7] = ["hosts", "domains", "adblock", "v2ray", "rpz", "psl", "dnsmasq"];

const NAMES: &str = "ads.example\nx.ads.example\ngood.ads.example\nx.good.ads.example\nbad.good.ads.example\n\
    x.wild.example\nfull.example\nx.com\nwww.ck\ny.x.ck\nnone.example\nb\u{fc}cher.example\n";

/// The lists of every format, compiled, and names.
fn compiled() -> Folder {
    let folder = folder();
    folder.write("names", NAMES);
    let ran = folder.run(&[&["names", "compile", "-o", "rules"], &LISTS[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    holds(
        &ran.err,
        &["psl: psl, 1 subtree, 1 below, 1 exception\n", " names with rules in ", " kB in rules\n"],
    );
    folder
}

fn matched(folder: &Folder, arguments: &[&str]) -> Ran {
    folder.run(&[&["names", "match", "--names", "names"], arguments].concat())
}

#[test]
fn compiled_rules_match_as_their_lists_do() {
    let folder = compiled();
    for options in [&["--all"][..], &[], &["--invert"], &["--count"], &["--json"]] {
        let of_lists = matched(&folder, &[&LISTS[..], options].concat());
        let of_file = matched(&folder, &[&["rules"], options].concat());
        assert_eq!((of_lists.code, &of_lists.out), (of_file.code, &of_file.out), "{options:?}");
        assert!(of_lists.out.lines().count() > 0);
    }
    let ran = matched(&folder, &["rules"]);
    holds(
        &ran.err,
        &["adblock: adblock, compiled, 1 rule, 1 exception; 2 entries left out\n", "12 names in "],
    );
    let shown = folder.run(&["names", "check", "rules", "--json"]).ok();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["lists"][4]["list"], "rpz");
    // From a pipe, too.
    let mut command = folder.command(&["names", "match", "-", "--names", "names", "-q"]);
    command.stdin(File::open(folder.path("rules")).unwrap());
    assert_eq!(Ran::of(command).out, ran.out);
}

#[test]
fn the_file_is_replaced_and_belongs_to_its_owner() {
    let folder = compiled();
    let before = fs::read(folder.path("rules")).unwrap();
    assert_eq!(fs::metadata(folder.path("rules")).unwrap().permissions().mode() & 0o777, 0o600);
    // A list that cannot be read leaves the file as it is, and nothing beside it.
    let files = || fs::read_dir(folder.path("")).unwrap().count();
    let count = files();
    assert_eq!(folder.run(&["names", "compile", "hosts", "absent", "-o", "rules"]).code, Some(2));
    assert_eq!((fs::read(folder.path("rules")).unwrap(), files()), (before, count));
    let ran = folder.run(&["names", "compile", "hosts", "-o", "rules", "-q"]);
    assert_eq!((ran.code, ran.err.as_str(), files()), (Some(0), "", count));
    let ran = matched(&folder, &["rules", "-q"]);
    assert_eq!(ran.out, "ads.example\thosts\tads.example\texact\n");
}

/// Bytes of the description of the lists, by the last number of the header.
fn about(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes[104..112].try_into().unwrap())
}

#[test]
fn files_that_were_cut_or_changed_are_refused() {
    let folder = compiled();
    let bytes = fs::read(folder.path("rules")).unwrap();
    let refused = |bytes: &[u8]| {
        folder.write("bad", bytes);
        let ran = matched(&folder, &["bad"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{ran:?}");
        ran.err
    };
    for len in [8, 100, 255, 256, 700, bytes.len() - 1] {
        let said = refused(&bytes[..len]);
        assert!(said.starts_with("hashlane: bad: compiled rules of "), "{len}: {said}");
    }
    holds(&refused(&[&bytes[..], b"x"].concat()), &["bad: compiled rules of "]);
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    holds(&refused(&changed), &["bad: compiled rules with a wrong checksum; the file was changed"]);
    let mut other = bytes.clone();
    other[8] = 200;
    holds(&refused(&other), &["bad: rules compiled by another version"]);
    let sparse = File::create(folder.path("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    // It has a TiB, and says so.
    let mut start = bytes[..256].to_vec();
    start[104..112].copy_from_slice(&((1_u64 << 40) - (bytes.len() as u64) + about(&bytes)).to_ne_bytes());
    (&sparse).write_all(&start).unwrap();
    holds(
        &matched(&folder, &["sparse"]).err,
        &["sparse: compiled rules of 1099511627776 bytes; they have 16 GiB"],
    );
    // It states 2^60 names: it is refused by its length before it takes memory.
    let mut huge = bytes;
    huge[71] = 0x10;
    holds(&refused(&huge), &["hashlane: bad: compiled rules "]);
}

#[test]
fn compiled_rules_stand_alone() {
    let folder = compiled();
    holds(
        &matched(&folder, &["rules", "hosts"]).err,
        &["rules has compiled rules, which stand alone; compile all"],
    );
    holds(&matched(&folder, &["hosts", "rules"]).err, &["rules has compiled rules, which stand alone"]);
    for option in [["--plain", "subtree"], ["--format", "hosts"]] {
        let ran = matched(&folder, &[&["rules"], &option[..]].concat());
        assert_eq!(ran.code, Some(2));
        holds(&ran.err, &["--format and --plain belong to `names compile`"]);
    }
    let ran = folder.run(&["names", "compile", "hosts", "-o", "./hosts"]);
    assert_eq!(ran.code, Some(2));
    holds(&ran.err, &["--output hosts is a list; name another file"]);
    let ran = folder.run(&["names", "compile", "hosts", "-o", "absent/rules"]);
    holds(&ran.err, &["hashlane: cannot write absent/rules: No such file or directory"]);
}

#[test]
fn folders_and_pipes_are_not_replaced() {
    use std::os::unix::fs::{FileTypeExt as _, symlink};
    let folder = Folder::new();
    folder.write("ads", "||ads.example^\n");
    std::fs::create_dir(folder.path("folder")).unwrap();
    nix::unistd::mkfifo(&folder.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (output, word) in
        [("/dev/null", "device"), ("pipe", "pipe"), ("folder", "folder"), ("-", "standard output")]
    {
        let ran = folder.run(&["names", "compile", "ads", "--output", output]);
        assert_eq!(ran.code, Some(2), "{output}");
        holds(&ran.err, &[word, "name a file"]);
    }
    let kind = std::fs::metadata(folder.path("pipe")).unwrap().file_type();
    assert!(kind.is_fifo());
    // The file behind a link is replaced, not the link.
    folder.write("old", "old");
    symlink("old", folder.path("link")).unwrap();
    folder.run(&["names", "compile", "ads", "--output", "link"]).ok();
    assert!(folder.path("link").is_symlink());
    assert!(std::fs::read(folder.path("old")).unwrap().starts_with(b"hl-names"));
}

#[test]
fn lists_that_are_mostly_left_out_or_empty_are_told_of() {
    let folder = Folder::new();
    folder.write("filters", "a.example\n||b.example/x\n||c.example/x\n/d\n");
    folder.write("empty", "# nothing\n");
    let ran = folder.run(&["names", "match", "filters", "empty", "--names", "empty", "--quiet"]);
    holds(&ran.err, &["warning: filters: ", "state it: --format", "warning: empty: no rules"]);
}
