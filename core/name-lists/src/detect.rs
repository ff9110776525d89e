//! Detection of a list's format by its first lines.

use crate::format::Format;
use crate::{adblock, dnsmasq, domains, hosts, psl, rpz, v2ray};
use alloc::collections::BTreeSet;

/// Lines with an entry that are looked at.
const LOOKED_AT: usize = 2000;

/// A test of a line.
type IsLikely = fn(&[u8]) -> bool;

/// Formats with the test of their lines, in order of precedence. A format beats plain domains with one line
/// for so many of theirs: its lists have bare names, too.
const FORMATS: [(Format, IsLikely, usize); 5] = [
    (Format::Rpz, rpz::is_likely, 20),
    (Format::Adblock, adblock::is_likely, 3),
    (Format::V2ray, v2ray::is_likely, 20),
    (Format::Dnsmasq, dnsmasq::is_likely, 20),
    (Format::Hosts, hosts::is_likely, 3),
];

/// Tests if a line is blank, or a comment in most formats.
fn is_skipped(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    match line {
        [] | [b';', ..] | [b'/', b'/', ..] => true,
        [b'!', rest @ ..] => rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric()),
        [b'#', ..] => !adblock::is_likely(line),
        _ => false,
    }
}

/// The format of a list with these first lines. `None` if lines look like no format; a list without entries
/// is one of domains.
pub(crate) fn detect<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Format> {
    let (mut votes, mut names, mut seen) = ([0_usize; FORMATS.len()], 0, 0);
    let mut wildcards = BTreeSet::new();
    for line in lines {
        if psl::is_marker(line) {
            return Some(Format::PublicSuffix);
        }
        if adblock::is_header(line) {
            return Some(Format::Adblock);
        }
        // An exception from a wildcard.
        let (wildcard, exception) = psl::parts(line);
        if exception.is_some_and(|name| wildcards.contains(name)) {
            return Some(Format::PublicSuffix);
        }
        wildcards.extend(wildcard);
        if is_skipped(line) {
            continue;
        }
        seen += 1;
        match FORMATS.iter().zip(&mut votes).find(|((_, is_likely, _), _)| is_likely(line)) {
            Some((_, votes)) => *votes += 1,
            None if domains::is_likely(line) => names += 1,
            None => {}
        }
        if seen == LOOKED_AT {
            break;
        }
    }
    let best = FORMATS.iter().zip(votes).rev().max_by_key(|(_, votes)| *votes);
    match best {
        Some(((format, _, names_a_line), votes)) if votes > 0 && votes * names_a_line >= names => {
            Some(*format)
        }
        _ => (names > 0 || seen == 0).then_some(Format::Domains),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn format(text: &str) -> Option<Format> {
        detect(text.lines().map(str::as_bytes))
    }

    #[test]
    fn a_list_shows_its_format_by_its_lines() {
        for (text, expected) in [
            ("# hosts\n127.0.0.1 localhost\n0.0.0.0 a.example", Format::Hosts),
            ("# list\na.example\n\n*.b.example # c", Format::Domains),
            ("*.a.example\n*.b.example", Format::Domains),
            ("bücher.example", Format::Domains),
            ("[Adblock Plus]\n! t\n/banner", Format::Adblock),
            ("! Title: t\n||a.example^", Format::Adblock),
            ("a.example##.ad\nb.example", Format::Adblock),
            ("# t\na.example\nfull:b.example\nc.example @ads", Format::V2ray),
            ("$TTL 60\na.example CNAME .", Format::Rpz),
            ("@ IN SOA a. b. 1 2 3 4 5", Format::Rpz),
            ("a.example 60 IN CNAME .", Format::Rpz),
            ("// ===BEGIN ICANN DOMAINS===\ncom", Format::PublicSuffix),
            ("", Format::Domains),
            ("# squid\n.a.example\n.b.example", Format::Domains),
            ("port=53\naddress=/a.example/#", Format::Dnsmasq),
            ("server=/a.example/\nlocal=/b.example/", Format::Dnsmasq),
            ("a.example##.ad\n||b.example^\nc.example", Format::Adblock),
            ("# a\n! b\n// c\n; d", Format::Domains),
        ] {
            assert_eq!(format(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_stray_line_does_not_turn_a_list() {
        let mut text = String::from("0.0.0.0 a.example\n");
        text.push_str(&"b.example\n".repeat(50));
        assert_eq!(format(&text), Some(Format::Domains));
        text.push_str(&"0.0.0.0 c.example\n".repeat(50));
        assert_eq!(format(&text), Some(Format::Hosts));
    }

    #[test]
    fn a_title_decides_whatever_comes_after_it() {
        let text = ["[Adblock Plus 2.0]\n", &"ad-1.example\n".repeat(3000)].concat();
        assert_eq!(format(&text), Some(Format::Adblock));
        let text = ["||a.example^\n", &"b.example\n".repeat(12)].concat();
        assert_eq!(format(&text), Some(Format::Domains));
    }

    #[test]
    fn the_list_of_public_suffixes_is_known_without_its_comments() {
        assert_eq!(format("com\nck\n*.ck\n!www.ck\nco.uk"), Some(Format::PublicSuffix));
        assert_eq!(format("a.example\n!www.a.example"), Some(Format::Domains));
    }

    #[test]
    fn other_texts_have_no_format() {
        assert_eq!(format("<html>\n<body>a b</body>"), None);
        assert_eq!(format("{\"a\": 1}"), None);
    }
}
