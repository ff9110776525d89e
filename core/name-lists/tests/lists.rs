//! Lists as callers read them: any bytes, in any pieces, and the list of public suffixes.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_name_lists::{Format, ListError, ListReader, MAX_LINE, Options, Reason, Report};
use hashlane_name_map::{BuildError, Builder, Key, Reversed, Rules, Target};
use proptest::prelude::*;

fn read(text: &[u8], pieces: usize, options: Options) -> (Result<Report, ListError>, Builder) {
    let mut builder = Builder::new(&Key::VECTOR);
    let mut reader = ListReader::new(3, options);
    for piece in text.chunks(pieces) {
        if let Err(error) = reader.push(piece, &mut builder) {
            return (Err(error), builder);
        }
    }
    let report = reader.finish(&mut builder);
    (report, builder)
}

fn rules(text: &str, options: Options) -> Rules {
    let (report, builder) = read(text.as_bytes(), 7, options);
    report.unwrap();
    builder.build().unwrap()
}

/// Tests if list 3 covers a name.
fn covers(rules: &Rules, name: &str) -> bool {
    let mut reversed = Reversed::new();
    reversed.set(name.as_bytes()).unwrap();
    rules.verdict(&reversed).lists() == 1 << 3
}

/// Lines that mean something to one format or another, and bytes that mean nothing.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "a.example",
        "*.b.example",
        "||",
        "@@||",
        "^",
        "$important",
        "0.0.0.0",
        "::1",
        "localhost",
        "domain:",
        "address=/",
        "local=/",
        "/#",
        "full:",
        "regexp:",
        " ",
        "\t",
        "\r",
        "\n",
        "\n",
        "\n",
        "#",
        "!",
        ";",
        "//",
        "$ORIGIN",
        "$TTL 60",
        "@",
        "SOA",
        "CNAME",
        ".",
        "*.",
        "rpz-passthru.",
        "rpz-ip",
        "(",
        ")",
        "xn--",
        "b\u{fc}cher",
        "公司",
        "\0",
        "/",
        "##",
        "[Adblock]",
        "// ===BEGIN",
        "192.0.2.1",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]);
    let part = prop_oneof![
        8 => words.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

fn options() -> impl Strategy<Value = Options> {
    let format = prop::option::weighted(0.8, prop::sample::select(Format::ALL.to_vec()));
    let plain = prop::sample::select(vec![Target::Exact, Target::Subtree]);
    (format, plain).prop_map(|(format, plain)| Options { format, plain })
}

proptest! {
    #[test]
    fn every_line_and_every_rule_is_counted(text in text(), options in options(), pieces in 1..100_usize) {
        let (report, builder) = read(&text, pieces, options);
        // The pieces change nothing.
        let (whole, _) = read(&text, text.len().max(1), options);
        prop_assert_eq!(&report, &whole);
        let Ok(Report { format, counts }) = report else { return Ok(()) };
        prop_assert!(options.format.is_none_or(|stated| stated == format));
        let lines = text.split(|byte| *byte == b'\n').count() - usize::from(text.is_empty() || text.ends_with(b"\n"));
        // Without its mark of byte order, a text can have no line.
        prop_assert!(counts.lines == lines as u64 || text == b"\xef\xbb\xbf");
        prop_assert_eq!(builder.len() as u64, counts.rules() + counts.exceptions);
        let entries = counts.rules() + counts.exceptions + counts.refused();
        prop_assert!(entries >= counts.entry_lines());
        let has_many = matches!(format, Format::Hosts | Format::Dnsmasq);
        prop_assert!(entries == counts.entry_lines() || has_many);
        for (reason, refused) in &counts.refused {
            prop_assert!(refused.count > 0 && (1..=counts.lines).contains(&refused.first_line), "{:?}", reason);
        }
    }
}

#[test]
fn rules_cover_what_their_format_says() {
    for (text, covered, not) in [
        ("0.0.0.0 a.example", &["a.example", "A.Example."][..], &["x.a.example", "example"][..]),
        (
            "a.example\n*.b.example",
            &["a.example", "x.b.example", "x.y.b.example"],
            &["x.a.example", "b.example"],
        ),
        ("||a.example^\n@@||x.a.example^", &["a.example", "y.a.example"], &["x.a.example", "y.x.a.example"]),
        ("full:a.example\nb.example", &["a.example", "b.example", "x.b.example"], &["x.a.example"]),
        ("@ SOA a b 1 2 3 4 5\na.example CNAME .", &["a.example"], &["x.a.example"]),
        (
            "// ===BEGIN\n*.ck\n!www.ck\ncom",
            &["com", "x.com", "x.ck", "y.x.ck"],
            &["ck", "www.ck", "a.www.ck"],
        ),
        ("bücher.example", &["xn--bcher-kva.example"], &["bcher.example"]),
        ("\u{feff}a.example\r\nb.example\r\n", &["a.example", "b.example"], &[]),
    ] {
        let rules = rules(text, Options::default());
        covered.iter().for_each(|name| assert!(covers(&rules, name), "{name} in {text:?}"));
        not.iter().for_each(|name| assert!(!covers(&rules, name), "{name} not in {text:?}"));
    }
    let rules = rules("a.example", Options { plain: Target::Subtree, ..Options::default() });
    assert!(covers(&rules, "x.a.example"));
}

#[test]
fn lists_that_cannot_be_read_say_why() {
    let error = |text: &[u8]| read(text, 4096, Options::default()).0.unwrap_err().to_string();
    assert!(error(&vec![b'a'; MAX_LINE + 1]).starts_with("line 1 is longer than 65536 bytes"));
    let long = [&b"a.example\n"[..], &vec![b'a'; 3 * MAX_LINE]].concat();
    assert!(error(&long).starts_with("line 2 is longer"));
    assert_eq!(error(b"\x1f\x8b\x08\0\0"), "compressed by gzip; decompress it first");
    assert_eq!(error(b"\x7fELF\x02\x01\0\0"), "not a text: zero byte at offset 6");
    assert!(error(b"{\"a\": [1]}").starts_with("unknown format"));
    let mut builder = Builder::new(&Key::VECTOR);
    let mut reader = ListReader::new(64, Options::default());
    reader.push(b"a.example\n", &mut builder).unwrap();
    assert_eq!(reader.finish(&mut builder), Err(ListError::Build(BuildError::List { list: 64 })));
}

#[test]
fn names_that_break_a_rule_are_refused() {
    let long = ["a."; 130].concat() + "example";
    let text = format!(
        "a..b\n..a\n{}.b\n{long}\na\0b\n*.\n198.51.100.7\nb\u{fc}\u{fffd}.b\nok.example",
        "a".repeat(64)
    );
    let options = Options { format: Some(Format::Domains), ..Options::default() };
    let (report, builder) = read(text.as_bytes(), 10, options);
    let refused = report.unwrap().counts.refused;
    let lines: Vec<_> =
        refused.iter().map(|(reason, refused)| (*reason, refused.count, refused.first_line)).collect();
    let expected = [
        (Reason::Address, 1, 7),
        (Reason::AllNames, 1, 6),
        (Reason::Character, 1, 5),
        (Reason::EmptyLabel, 2, 1),
        (Reason::LabelTooLong, 1, 3),
        (Reason::TooLong, 1, 4),
        (Reason::Idn, 1, 8),
    ];
    assert_eq!((lines, builder.len()), (expected.to_vec(), 1));
}

#[test]
fn the_list_of_public_suffixes_is_read_whole() {
    let path = "/usr/share/publicsuffix/public_suffix_list.dat";
    let Ok(text) = std::fs::read(path) else {
        let required = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        assert!(!required, "{path} is missing, and CI=true asks for it: apt-get install publicsuffix");
        eprintln!("skipped: {path} is missing; apt-get install publicsuffix");
        return;
    };
    let (report, builder) = read(&text, 10_000, Options::default());
    let Report { format, counts } = report.unwrap();
    assert_eq!((format, counts.refused()), (Format::PublicSuffix, 0));
    let lines =
        || text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"//"));
    assert_eq!(lines().count() as u64, counts.entry_lines());
    assert_eq!(lines().filter(|line| line.starts_with(b"!")).count() as u64, counts.exceptions);
    assert_eq!(lines().filter(|line| line.starts_with(b"*.")).count() as u64, counts.below);
    let rules = builder.build().unwrap();
    for name in ["com", "example.co.uk", "a.b.ck", "xn--55qx5d.cn", "www.kawasaki.jp"] {
        assert!(covers(&rules, name), "{name}");
    }
    for name in ["www.ck", "city.kawasaki.jp", "x.city.kawasaki.jp", "ck", "invalid-tld"] {
        assert!(!covers(&rules, name), "{name}");
    }
}

#[test]
fn in_a_policy_zone_the_closest_name_wins() {
    let zone = b"$ORIGIN rpz.test.\n@ SOA a. b. 1 2 3 4 5\n*.ads.example CNAME .\n\
        good.ads.example CNAME rpz-passthru.\n*.a.example CNAME .\nb.b2.a.example CNAME .\n\
        *.c.a.example CNAME rpz-passthru.\n*.d.c.a.example CNAME .\n";
    let mut builder = Builder::new(&Key::VECTOR);
    let mut reader = ListReader::new(3, Options::default());
    reader.push(zone, &mut builder).unwrap();
    let report = reader.finish(&mut builder).unwrap();
    assert_eq!((report.format, report.counts.rules(), builder.len()), (Format::Rpz, 4, 6));
    let rules = builder.build().unwrap();
    let mut name = Reversed::new();
    let mut matches = |text: &str| {
        name.set(text.as_bytes()).unwrap();
        rules.verdict(&name).lists() == 0b1000
    };
    for text in ["x.ads.example", "y.x.ads.example", "x.a.example", "b.b2.a.example", "x.d.c.a.example"] {
        assert!(matches(text), "{text}");
    }
    // As BIND 9.18 answers: a name that the zone has stops the wildcards above it, also one without records.
    for text in [
        "ads.example",
        "good.ads.example",
        "x.good.ads.example",
        "c.b2.a.example",
        "x.b.b2.a.example",
        "b2.a.example",
        "x.c.a.example",
        "c.a.example",
        "d.c.a.example",
        "example",
    ] {
        assert!(!matches(text), "{text}");
    }
}

#[test]
fn in_a_policy_zone_names_with_other_records_stop_the_wildcards_above_them() {
    let zone = "$ORIGIN rpz.test.\n@ SOA a. b. 1 2 3 4 5\n*.ads.example CNAME .\ncdn.ads.example A 192.0.2.1\n  \
        AAAA 2001:db8::1\nslow.ads.example CNAME rpz-tcp-only.\n*.in.garden.ads.example CNAME garden.example.\n\
        32.2.0.192.rpz-ip CNAME garden.example.\n";
    let rules = rules(zone, Options::default());
    assert_eq!(rules.len(), 1);
    for name in ["x.ads.example", "y.x.ads.example", "rpz-ip.ads.example"] {
        assert!(covers(&rules, name), "{name}");
    }
    for name in [
        "ads.example",
        "cdn.ads.example",
        "x.cdn.ads.example",
        "slow.ads.example",
        "garden.ads.example",
        "x.garden.ads.example",
        "in.garden.ads.example",
        "y.x.in.garden.ads.example",
    ] {
        assert!(!covers(&rules, name), "{name}");
    }
}
