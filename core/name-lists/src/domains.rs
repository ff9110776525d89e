//! Plain domains, one a line.

use crate::adblock::is_cosmetic;
use crate::entry::{Entry, Line, Rule, words};
use crate::reason::Reason;
use hashlane_name_map::Target;

/// Tests if a line, or a word after a name, begins a comment.
fn is_comment(text: &[u8]) -> bool {
    matches!(text, [b'#' | b';' | b'!', ..] | [b'/', b'/', ..])
}

/// The entry of a line. A plain name has the target `plain`.
pub(crate) fn entries<'a>(
    line: &'a [u8],
    plain: Target,
    each: &mut (impl FnMut(Entry<'a>) + ?Sized),
) -> Line {
    let mut words = words(line);
    match words.next() {
        None => return Line::Blank,
        Some(word) if is_comment(word) => return Line::Comment,
        Some(word) => {
            if is_cosmetic(word) {
                each(Err(Reason::Cosmetic));
                return Line::Entries;
            }
            let name = word.split(|byte| *byte == b'#').next().unwrap_or(word);
            let rest = words.next().filter(|rest| name.len() == word.len() && !is_comment(rest));
            each(match rest {
                Some(_) => Err(Reason::ExtraWords),
                None => match name {
                    [b'.', name @ ..] if !name.contains(&b'/') => Ok(Rule::block(Target::Subtree, name)),
                    name => rule(name, plain),
                },
            });
        }
    }
    Line::Entries
}

/// A name, or a name with a wildcard before it.
pub(crate) fn rule(name: &[u8], plain: Target) -> Entry<'_> {
    match name {
        b"*" | b"*." => Err(Reason::AllNames),
        name if memchr::memchr(b'/', name).is_some() => Err(Reason::Path),
        [b'*', b'.', name @ ..] => Ok(Rule::block(Target::Below, name)),
        name => Ok(Rule::block(plain, name)),
    }
}

/// Tests if a line looks like a domain.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let mut words = words(line);
    let name = words.next().unwrap_or_default();
    let name = name.strip_prefix(b"*.").or(name.strip_prefix(b".")).unwrap_or(name);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_.".contains(byte);
    let ends = words.next().is_none_or(is_comment);
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| !b"-.".contains(byte));
    ends && is_edge(name.first()) && name.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;
    use std::vec;

    #[test]
    fn a_line_is_a_name_or_a_wildcard() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), Target::Exact, each)).1.join(" ");
        assert_eq!(read("a.example"), "Exact a.example");
        assert_eq!(read("  a.example. # why\r"), "Exact a.example.");
        assert_eq!(read("a.example#why"), "Exact a.example");
        assert_eq!(read("*.a.example"), "Below a.example");
        assert_eq!(read(".a.example"), "Subtree a.example");
        assert_eq!(read(".a.example/malware.exe"), "path");
        assert_eq!(read("*"), "all-names");
        assert_eq!(read("a.example b.example"), "extra-words");
        assert_eq!(read("a.example/malware.exe"), "path");
        assert_eq!(read("a.example###ad"), "cosmetic");
        let subtree = shown(|each| entries(b"a.example", Target::Subtree, each)).1;
        assert_eq!(subtree, ["Subtree a.example"]);
    }

    #[test]
    fn comments_have_several_signs() {
        for line in ["# a", "#a", "; a", "! a", "// a", "  # a"] {
            let read = shown(|each| entries(line.as_bytes(), Target::Exact, each));
            assert_eq!(read, (Line::Comment, vec![]), "{line}");
        }
        assert_eq!(shown(|each| entries(b" \t", Target::Exact, each)).0, Line::Blank);
    }
}
