//! Lists of V2Ray and Xray: `domain:`, `full:`, and kinds that are no rules on names.

use crate::entry::{Entry, Line, Rule, words};
use crate::reason::Reason;
use hashlane_name_map::Target;
use memchr::memmem;

/// Kinds of rules before the colon.
const KINDS: [&[u8]; 5] = [b"domain:", b"full:", b"keyword:", b"regexp:", b"include:"];

/// The entry of a line.
pub(crate) fn entries<'a>(line: &'a [u8], each: &mut (impl FnMut(Entry<'a>) + ?Sized)) -> Line {
    let mut words = words(line);
    let Some(word) = words.next() else { return Line::Blank };
    if word.starts_with(b"#") {
        return Line::Comment;
    }
    // A regular expression may have spaces.
    let is_regex = word.starts_with(b"regexp:");
    // Attributes, such as @ads, and groups, such as &ads, tell who uses the rule.
    let is_attribute = |word: &[u8]| matches!(word, [b'@' | b'&', ..]);
    let mut rest = words.take_while(|word| !word.starts_with(b"#"));
    let has_extra = rest.any(|word| !is_attribute(word));
    each(if has_extra && !is_regex { Err(Reason::ExtraWords) } else { rule(word) });
    Line::Entries
}

fn rule(word: &[u8]) -> Entry<'_> {
    // Lists as plain text have the attributes after a second colon: domain:name:@ads.
    let word = memmem::find(word, b":@").and_then(|at| word.get(..at)).unwrap_or(word);
    let Some(colon) = memchr::memchr(b':', word) else { return Ok(Rule::block(Target::Subtree, word)) };
    let (kind, name) = word.split_at(colon);
    let name = name.get(1..).unwrap_or_default();
    match kind {
        b"domain" => Ok(Rule::block(Target::Subtree, name)),
        b"full" => Ok(Rule::block(Target::Exact, name)),
        b"keyword" => Err(Reason::Keyword),
        b"regexp" => Err(Reason::Regex),
        b"include" => Err(Reason::Include),
        _ => Err(Reason::UnknownKind),
    }
}

/// Tests if a line has a kind of rule.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    KINDS.iter().any(|kind| line.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;

    #[test]
    fn a_kind_tells_the_target() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(" ");
        for (line, entry) in [
            ("domain:a.example", "Subtree a.example"),
            ("full:a.example @ads @!cn # why", "Exact a.example"),
            ("domain:a.example:@ads,@cn", "Subtree a.example"),
            ("a.example &group", "Subtree a.example"),
            ("keyword:track", "keyword"),
            (r"regexp:^ads[0-9]+\.example$ # x y", "regex"),
            ("regexp:a b", "regex"),
            ("include:other-list", "include"),
            ("geosite:cn", "unknown-kind"),
            ("domain:a.example b.example", "extra-words"),
        ] {
            assert_eq!(read(line), entry, "{line}");
        }
        let kind = |line: &str| shown(|each| entries(line.as_bytes(), each)).0;
        assert_eq!((kind("# a"), kind("")), (Line::Comment, Line::Blank));
    }
}
