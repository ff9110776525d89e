//! Patterns of NDN names.

use super::{Expansion, NamePattern, PatternError};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use std::string::{String, ToString};
use std::vec::Vec;

fn name(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
}

fn matches(pattern: &str, uri: &str) -> bool {
    NamePattern::parse(pattern).expect(pattern).is_match(name(uri).view())
}

/// The expansion of a name by a pattern.
fn expand(pattern: &str, template: &str, uri: &str) -> Option<String> {
    let pattern = NamePattern::parse(pattern).expect(pattern);
    let name = name(uri);
    let found = pattern.find(name.view())?;
    let template = Expansion::parse(template, pattern.groups()).expect(template);
    Some(template.expand(&found).expect("a short name").to_string())
}

#[test]
fn components_match_whole_and_anchors_hold() {
    for (pattern, yes, no) in [
        ("^<a><b>$", &["/a/b"][..], &["/", "/a", "/a/b/c", "/c/a/b"][..]),
        ("^<a>", &["/a", "/a/b"], &["/", "/b/a", "/ab"]),
        ("<a>$", &["/a", "/b/a", "/a/a"], &["/", "/a/b"]),
        ("<a>", &["/a", "/b/a/c"], &["/", "/b"]),
        ("", &["/", "/a/b"], &[]),
        ("^$", &["/"], &["/a"]),
        ("^<>$", &["/a", "/%00"], &["/", "/a/b"]),
        ("^<.*>$", &["/a", "/%00"], &["/"]),
        ("^<ab*c>$", &["/ac", "/abbc"], &["/dc", "/ab", "/xac"]),
        ("^<a|bc>$", &["/a", "/bc"], &["/b", "/ac"]),
        ("^<(?:a|b){2}[0-9]>$", &["/ab1", "/bb9"], &["/a1", "/abb"]),
        ("^<[^a]\\d\\.x>$", &["/b1.x"], &["/a1.x", "/b1yx"]),
        ("^<%C1.O.R.>$", &["/%C1.O.R."], &["/%C1.O.R"]),
        ("^<v=1>$", &["/v=1", "/54=%01"], &["/1"]),
        ("^[<a><b>]$", &["/a", "/b"], &["/c", "/", "/a/b"]),
        ("^[^<a><b>]$", &["/c", "/ab"], &["/a", "/b", "/"]),
        ("^[<a><b>]{2}$", &["/a/b", "/b/b"], &["/a", "/a/c"]),
        ("^[]$", &[], &["/a", "/"]),
    ] {
        for uri in yes {
            assert!(matches(pattern, uri), "{pattern} {uri}");
        }
        for uri in no {
            assert!(!matches(pattern, uri), "{pattern} {uri}");
        }
    }
}

#[test]
fn quantifiers_count_components_sets_and_groups() {
    let repeats = |quantifier: &str| -> Vec<usize> {
        let pattern = std::format!("^<A><B>{quantifier}<C>$");
        (0..7).filter(|count| matches(&pattern, &std::format!("/A{}/C", "/B".repeat(*count)))).collect()
    };
    assert_eq!(repeats("*"), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(repeats("+"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(repeats("?"), [0, 1]);
    assert_eq!(repeats("{2}"), [2]);
    assert_eq!(repeats("{4,}"), [4, 5, 6]);
    assert_eq!(repeats("{,2}"), [0, 1, 2]);
    assert_eq!(repeats("{2,4}"), [2, 3, 4]);
    assert_eq!(repeats("{0}"), [0]);
    assert!(matches("^(<a><b>){2}$", "/a/b/a/b") && !matches("^(<a><b>){2}$", "/a/b/a"));
    assert!(matches("^(<>*)*<x>$", "/a/b/x"), "a repetition of nothing ends");
}

#[test]
fn groups_keep_their_last_match_and_expand() {
    let cases = [
        ("^<A>(<>{2})<B>(<>)", "\\1\\2", "/A/C/D/B/E", Some("/C/D/E")),
        ("^([<A><B><C>]+)$", "\\1", "/C/A/B", Some("/C/A/B")),
        ("^([<A><B><C>])+$", "\\1", "/C/A/B", Some("/B")),
        ("^(<>*)<KEY><>{1,3}$", "\\1", "/ndn/edu/KEY/1/self/v=2", Some("/ndn/edu")),
        ("^(<>*)<KEY><>{1,3}$", "\\1<x>", "/KEY/1", Some("/x")),
        ("^(<>*)$", "\\0", "/a/b", Some("/a/b")),
        ("^(<>*)$", "", "/a/b", Some("/")),
        ("^(<a>)?<b>$", "\\1", "/b", Some("/")),
        ("^<b>$", "", "/a", None),
        // Quantifiers are greedy, and an earlier one takes more.
        ("^(<>*)(<>*)$", "\\1", "/a/b", Some("/a/b")),
        ("^(<>?)(<>+)$", "\\2", "/a/b", Some("/b")),
        // Without an anchor: at the start if possible, and else as late as possible.
        ("(<a>)(<>)", "\\2", "/a/1/a/2", Some("/1")),
        ("(<a>)(<>)", "\\2", "/x/a/1/a/2", Some("/2")),
    ];
    for (pattern, template, uri, expected) in cases {
        assert_eq!(expand(pattern, template, uri).as_deref(), expected, "{pattern} {template} {uri}");
    }
}

#[test]
fn says_which_rule_a_pattern_breaks() {
    let error = |text: &str| NamePattern::parse(text).expect_err(text).to_string();
    for (text, expected) in [
        ("a", "unexpected 'a' at offset 0"),
        ("^<a>^", "unexpected '^' at offset 4"),
        ("<a>$<b>", "unexpected '<' at offset 4"),
        ("<a", "no end of what begins at offset 1"),
        ("[<a>", "no end of what begins at offset 0"),
        ("[a]", "unexpected 'a' at offset 1"),
        ("(<a>", "no end of what begins at offset 0"),
        ("<a>)", "unexpected ')' at offset 3"),
        ("<a>{2", "no end of what begins at offset 3"),
        ("<a>{2,1}", "not a quantifier at offset 3: expected {n}, {n,}, {,n} or {m,n}"),
        ("<a>{}", "not a quantifier at offset 3: expected {n}, {n,}, {,n} or {m,n}"),
        ("<a>{-1}", "not a quantifier at offset 3: expected {n}, {n,}, {,n} or {m,n}"),
        ("<(a)>", "group within a component at offset 1: write (?:…), as only groups of components are kept"),
        ("<a<b>>", "unexpected '<' at offset 2"),
        ("<^a>", "unexpected '^' at offset 1"),
        ("<[b-a]>", "not a class of characters at offset 2"),
        ("<>{3000}", "pattern too long at offset 0, with its repetitions"),
        ("((<>{100}){100}){100}", "pattern too long at offset 0, with its repetitions"),
        ("<(?:(?:){60000}){60000}>", "pattern too long at offset 1, with its repetitions"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert_eq!(NamePattern::parse(&"(<a>)".repeat(17)), Err(PatternError::Groups));
    assert!(matches!(
        NamePattern::parse(&"(".repeat(17)),
        Err(PatternError::Groups | PatternError::TooDeep { .. })
    ));
    assert!(matches!(
        NamePattern::parse(&std::format!("<{}>", "(?:".repeat(100))),
        Err(PatternError::TooDeep { .. })
    ));
    assert!(matches!(NamePattern::parse(&"<a>".repeat(2000)), Err(PatternError::TooLong { .. })));
    for (text, expected) in [
        ("\\2", PatternError::NoGroup { number: 2 }),
        ("\\", PatternError::Expansion { at: 0 }),
        ("\\1x", PatternError::Expansion { at: 2 }),
        ("<a/b>", PatternError::Expansion { at: 0 }),
        ("<", PatternError::Expansion { at: 0 }),
    ] {
        assert_eq!(Expansion::parse(text, 1), Err(expected), "{text}");
    }
}

#[test]
fn hostile_names_take_linear_time() {
    // Backtracking takes more than 2^80 steps for this.
    let pattern = NamePattern::parse(&std::format!("^{}<b>$", "(<a>*)*".repeat(16))).expect("a pattern");
    let long = name(&"/a".repeat(200));
    assert!(!pattern.is_match(long.view()));
    let inner = NamePattern::parse("^<(?:a*)*(?:a*)*(?:a*)*b>$").expect("a pattern");
    assert!(!inner.is_match(name(&std::format!("/{}", "a".repeat(4000))).view()));
}
