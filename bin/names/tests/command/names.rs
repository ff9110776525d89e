//! `hashlane names match`: names in, and the rules that match them out.

use hashlane_rig::command::{Folder, Ran, holds};
use serde_json::{Value, json};
use std::fs::File;

/// Lists of every format, and names.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("hosts", "127.0.0.1 localhost\n0.0.0.0 ads.example tracker.example # two\n");
    folder.write("domains", "ads.example\n*.wild.example\nbücher.example\n");
    folder
        .write("adblock", "! t\n||ads.example^\n@@||good.ads.example^\n||b.example^$third-party\n/banner\n");
    folder.write("v2ray", "full:full.example\ndomain:ads.example @ads\nkeyword:track\n");
    folder.write(
        "rpz",
        "$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\n*.ads.example CNAME .\nads.example CNAME .\n\
         *.good.ads.example CNAME rpz-passthru.\nbad.good.ads.example CNAME .\n32.1.2.0.192.rpz-ip CNAME .\n",
    );
    folder.write("dots", ".ads.example\n.wild.example\n");
    folder.write(
        "dnsmasq",
        "# t\nport=53\naddress=/ads.example/b.example/0.0.0.0\nlocal=/c.example/\n\
         address=/d.example/192.0.2.1\nserver=/good.ads.example/#\n",
    );
    folder.write("psl", "// ===BEGIN ICANN DOMAINS===\ncom\n*.ck\n!www.ck\n");
    folder
}

/// Looks names up in lists; the output.
fn matched(folder: &Folder, names: &str, arguments: &[&str]) -> Ran {
    let names = folder.write("names", names);
    let mut command = folder.command(&[&["names", "match"], arguments].concat());
    command.stdin(File::open(names).unwrap());
    Ran::of(command)
}

#[test]
fn each_format_says_which_rule_covers_a_name() {
    let folder = folder();
    for (list, names, lines) in [
        ("hosts", "ads.example\nx.ads.example\nlocalhost\n", "ads.example\thosts\tads.example\texact\n"),
        (
            "domains",
            "ADS.Example.\nx.wild.example\nwild.example\nwww.b\u{fc}cher.example\nB\u{dc}CHER.example\n",
            "ADS.Example.\tdomains\tads.example\texact\n\
             x.wild.example\tdomains\twild.example\tbelow\n\
             B\u{dc}CHER.example\tdomains\txn--bcher-kva.example\texact\n",
        ),
        (
            "adblock",
            "x.ads.example\ngood.ads.example\nx.good.ads.example\nb.example\n",
            "x.ads.example\tadblock\tads.example\tsubtree\n",
        ),
        (
            "v2ray",
            "full.example\nx.full.example\nx.ads.example\ntrack.example",
            "full.example\tv2ray\tfull.example\texact\nx.ads.example\tv2ray\tads.example\tsubtree\n",
        ),
        (
            "rpz",
            "ads.example\nx.ads.example\nx.good.ads.example\nbad.good.ads.example\nexample\n",
            "ads.example\trpz\tads.example\tsubtree\nx.ads.example\trpz\tads.example\tsubtree\n\
             bad.good.ads.example\trpz\tbad.good.ads.example\texact\n",
        ),
        (
            "dots",
            "ads.example\nx.ads.example\n",
            "ads.example\tdots\tads.example\tsubtree\nx.ads.example\tdots\tads.example\tsubtree\n",
        ),
        (
            "dnsmasq",
            "x.ads.example\nb.example\nc.example\nd.example\n",
            "x.ads.example\tdnsmasq\tads.example\tsubtree\nb.example\tdnsmasq\tb.example\tsubtree\n\
             c.example\tdnsmasq\tc.example\tsubtree\n",
        ),
        (
            "psl",
            "com\nx.com\nck\ny.x.ck\nwww.ck\n",
            "com\tpsl\tcom\tsubtree\nx.com\tpsl\tcom\tsubtree\ny.x.ck\tpsl\tck\tbelow\n",
        ),
    ] {
        let ran = matched(&folder, names, &[list]);
        assert_eq!((ran.out.as_str(), ran.code), (lines, Some(0)), "{list}: {}", ran.err);
    }
}

#[test]
fn the_longest_rule_is_printed_or_all_of_them() {
    let folder = folder();
    folder.write("long", "||x.ads.example^\n");
    let names = "y.x.ads.example\nads.example\n";
    let shown = matched(&folder, names, &["hosts", "adblock", "long", "v2ray"]).ok();
    assert_eq!(
        shown,
        "y.x.ads.example\tlong\tx.ads.example\tsubtree\nads.example\thosts\tads.example\texact\n"
    );
    let shown = matched(&folder, names, &["hosts", "adblock", "long", "v2ray", "--all"]).ok();
    let expected = "y.x.ads.example\tlong\tx.ads.example\tsubtree\n\
                    y.x.ads.example\tadblock\tads.example\tsubtree\n\
                    y.x.ads.example\tv2ray\tads.example\tsubtree\n\
                    ads.example\thosts\tads.example\texact\n\
                    ads.example\tadblock\tads.example\tsubtree\n\
                    ads.example\tv2ray\tads.example\tsubtree\n";
    assert_eq!(shown, expected);
}

#[test]
fn an_exception_holds_for_its_own_list() {
    let folder = folder();
    let names = "good.ads.example\nx.good.ads.example\n";
    assert_eq!(matched(&folder, names, &["adblock"]).code, Some(1));
    // Another list matches the names all the same. The zone has a name below the first,
    // so that its wildcard above does not reach it.
    let shown = matched(&folder, names, &["adblock", "v2ray"]).ok();
    assert_eq!(shown.lines().filter(|line| line.contains("\tv2ray\tads.example\t")).count(), 2);
    let shown = matched(&folder, names, &["rpz", "v2ray"]).ok();
    assert_eq!(
        shown,
        "good.ads.example\tv2ray\tads.example\tsubtree\nx.good.ads.example\tv2ray\tads.example\tsubtree\n"
    );
}

#[test]
fn plain_domains_cover_their_subtree_if_asked() {
    let folder = folder();
    assert_eq!(matched(&folder, "x.ads.example\n", &["domains"]).code, Some(1));
    let shown = matched(&folder, "x.ads.example\n", &["domains", "--plain", "subtree"]).ok();
    assert_eq!(shown, "x.ads.example\tdomains\tads.example\tsubtree\n");
}

#[test]
fn a_format_may_be_stated() {
    let folder = folder();
    // As Adblock filters, plain domains are parts of addresses.
    let ran = matched(&folder, "ads.example\n", &["domains", "--format", "adblock"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    holds(
        &ran.err,
        &["domains: adblock, no rules; 3 entries left out", "not written ||name^: 3, first in line 1"],
    );
}

#[test]
fn names_without_a_rule_are_printed_or_counted() {
    let folder = folder();
    let names = "ads.example\n\na.example\n b.example \r\n";
    assert_eq!(matched(&folder, names, &["hosts", "--invert"]).ok(), "a.example\nb.example\n");
    assert_eq!(
        matched(&folder, names, &["hosts", "-v", "--json"]).ok().lines().next(),
        Some("{\"name\":\"a.example\"}")
    );
    assert_eq!(matched(&folder, names, &["hosts", "--count"]).ok(), "1\n");
    assert_eq!(matched(&folder, names, &["hosts", "-vc"]).ok(), "2\n");
}

#[test]
fn the_exit_code_says_if_a_name_was_printed() {
    let folder = folder();
    for (names, arguments, code) in [
        ("ads.example\n", &["hosts"][..], 0),
        ("a.example\n", &["hosts"], 1),
        ("", &["hosts"], 1),
        ("a.example\n", &["hosts", "-v"], 0),
        ("ads.example\n", &["hosts", "-v"], 1),
        ("a.example\n", &["hosts", "-c"], 1),
    ] {
        let ran = matched(&folder, names, arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn json_has_the_name_as_it_was_given() {
    let folder = folder();
    folder.write("a \"list\"", "a\\b.example\n0.0.0.0 ads.example\n");
    let ran = matched(&folder, "Ads.EXAMPLE.\nB\u{dc}CHER.example\n", &["a \"list\"", "domains", "--json"]);
    let lines: Vec<Value> = ran.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({ "name": "Ads.EXAMPLE.", "list": "a \"list\"", "rule": "ads.example", "target": "exact" }),
        json!({ "name": "B\u{dc}CHER.example", "list": "domains", "rule": "xn--bcher-kva.example",
            "target": "exact" }),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_summary_counts_entries_and_names_by_reason() {
    let folder = folder();
    let long = "a".repeat(64);
    let names = format!("ads.example\na..b\n{long}.example\na b\n.\n{}\na\0b\n", "a.".repeat(130));
    let ran = matched(&folder, &names, &["hosts", "adblock", "rpz"]);
    assert_eq!(ran.code, Some(0));
    holds(
        &ran.err,
        &[
            "hosts: hosts, 2 exact; 1 entry left out:\n  names of the host itself, such as localhost: 1, first in line 1",
            "adblock: adblock, 1 subtree, 1 exception; 2 entries left out:\n",
            "  filters with options ($…): 1, first in line 4\n  filters of paths: 1, first in line 5\n",
            "rpz: rpz, 2 exact, 1 below, 1 exception; 1 entry left out:\n",
            "4 names with rules in ",
            "1 name in ",
            "1 matched\n6 lines left out:\n",
            "  names with an empty label: 1, first in line 2\n",
            "  names with a label of more than 63 bytes: 1, first in line 3\n",
            "  names with white space or control characters: 2, first in line 4\n",
            "  names of more than 253 bytes: 1, first in line 6\n",
            "  lines without a name: 1, first in line 5\n",
        ],
    );
    let quiet = matched(&folder, &names, &["hosts", "-q"]);
    assert_eq!((quiet.err.as_str(), quiet.code), ("", Some(0)));
}

#[test]
fn the_list_of_public_suffixes_is_recognised() {
    let list = "/usr/share/publicsuffix/public_suffix_list.dat";
    if !std::path::Path::new(list).exists() {
        hashlane_rig::namespace::skip(
            "the package publicsuffix is not installed: apt-get install publicsuffix",
        );
        return;
    }
    let ran = matched(&folder(), "www.example.co.uk\nx.y.ck\nwww.ck\nno.such-tld\n", &[list]);
    let lines: Vec<_> = ran.out.lines().map(|line| line.replace(list, "LIST")).collect();
    assert_eq!(lines, ["www.example.co.uk\tLIST\tco.uk\tsubtree", "x.y.ck\tLIST\tck\tbelow"]);
    holds(&ran.err, &[": psl, ", " subtree, ", " below, ", " exceptions\n"]);
}
