//! Adblock filters; `||name^` and `@@||name^` are rules on names.

use crate::entry::{Entry, Line, Rule, without_entry};
use crate::reason::Reason;
use hashlane_name_map::Target;
use memchr::memmem;

/// Signs between the domains of a cosmetic filter and its selector.
const COSMETIC: [&[u8]; 10] =
    [b"##", b"#@#", b"#?#", b"#@?#", b"#$#", b"#@$#", b"#$?#", b"#@$?#", b"#%#", b"#@%#"];

/// The entry of a line.
pub(crate) fn entries<'a>(line: &'a [u8], each: &mut (impl FnMut(Entry<'a>) + ?Sized)) -> Line {
    let text = line.trim_ascii();
    match text {
        [] | [b'!', ..] => return without_entry(text),
        [b'[', .., b']'] => return Line::Header,
        [b'#', ..] if !is_cosmetic(text) => return Line::Comment,
        _ => each(filter(text)),
    }
    Line::Entries
}

fn filter(text: &[u8]) -> Entry<'_> {
    if is_cosmetic(text) {
        return Err(Reason::Cosmetic);
    }
    let (exception, text) = text.strip_prefix(b"@@").map_or((false, text), |text| (true, text));
    let has = |byte| memchr::memchr(byte, text).is_some();
    if text.first() == Some(&b'/') && text.len() > 1 {
        let is_regex = text.ends_with(b"/") || memmem::find(text, b"/$").is_some();
        return Err(if is_regex { Reason::Regex } else { Reason::Path });
    }
    if has(b'$') {
        return Err(if text.ends_with(b"^$important") { Reason::Important } else { Reason::Modifier });
    }
    if has(b'/') {
        return Err(Reason::Path);
    }
    match text {
        [b'|', b'|', name @ .., b'^'] if !name.iter().any(|byte| b"*^|".contains(byte)) => {
            Ok(Rule { target: Target::Subtree, exception, name })
        }
        _ => Err(Reason::Pattern),
    }
}

/// Tests if a filter selects elements of pages.
pub(crate) fn is_cosmetic(text: &[u8]) -> bool {
    let selects = |at: usize| {
        let text = text.get(at..).unwrap_or_default();
        // `## Title` and `#####` are comments of people.
        let selector = |sign: &&[u8]| text.strip_prefix(*sign).and_then(<[u8]>::first).copied();
        let begins = |byte: u8| byte != b'#' && !byte.is_ascii_whitespace();
        COSMETIC.iter().any(|sign| selector(sign).is_some_and(begins))
    };
    memchr::memchr_iter(b'#', text).any(selects) || memmem::find(text, b"$$").is_some()
}

/// Tests if a line names the program that a list is for, as the first line does.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    [&b"[adblock"[..], b"[adguard", b"[ublock"]
        .iter()
        .any(|title| text.get(..title.len()).is_some_and(|start| start.eq_ignore_ascii_case(title)))
}

/// Tests if a line looks like a filter.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.starts_with(b"||") || text.starts_with(b"@@") || is_cosmetic(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;

    #[test]
    fn names_with_both_anchors_are_rules() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(" ");
        assert_eq!(read("||ads.example^"), "Subtree ads.example");
        assert_eq!(read("  @@||good.ads.example^\r"), "!Subtree good.ads.example");
    }

    #[test]
    fn other_filters_have_their_reasons() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(" ");
        for (line, reason) in [
            ("||ads.example^$third-party", "modifier"),
            ("@@||ads.example^$document", "modifier"),
            ("||ads.example^$dnstype=AAAA", "modifier"),
            ("||ads.example^$important", "important"),
            ("@@||ads.example^$important", "important"),
            ("||ads.example^$important,third-party", "modifier"),
            ("||ads.example", "pattern"),
            ("||*.ads.example^", "pattern"),
            ("||ads.example^*tracker^", "pattern"),
            ("ads.example", "pattern"),
            ("-banner-", "pattern"),
            ("|https://ads.example/", "path"),
            ("||ads.example/banner^", "path"),
            ("/banner/ads", "path"),
            ("/^ads[0-9]+\\./", "regex"),
            ("/ads[0-9]/$script", "regex"),
            ("@@/ads[0-9]/", "regex"),
            ("##.banner", "cosmetic"),
            ("example.com##.banner", "cosmetic"),
            ("example.com#@#.banner", "cosmetic"),
            ("example.com#%#window.x = 1", "cosmetic"),
            ("example.com$$script[x]", "cosmetic"),
        ] {
            assert_eq!(read(line), reason, "{line}");
        }
    }

    #[test]
    fn titles_and_comments_are_no_entries() {
        let kind = |line: &str| shown(|each| entries(line.as_bytes(), each)).0;
        assert_eq!(kind("[Adblock Plus 2.0]"), Line::Header);
        for line in ["! Title: a", "# a", "#", "## Title", "#####"] {
            assert_eq!(kind(line), Line::Comment, "{line}");
        }
        assert_eq!(kind("\t"), Line::Blank);
    }
}
