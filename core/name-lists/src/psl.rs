//! The public suffix list (<https://github.com/publicsuffix/list/wiki/Format>).

use crate::domains;
use crate::entry::{Entry, Line, Rule, words};
use hashlane_name_map::Target;

/// The entry of a line, which is read up to the first white space.
pub(crate) fn entries<'a>(line: &'a [u8], each: &mut (impl FnMut(Entry<'a>) + ?Sized)) -> Line {
    match words(line).next() {
        None => return Line::Blank,
        Some([b'/', b'/', ..]) => return Line::Comment,
        Some([b'!', name @ ..]) => each(Ok(Rule { target: Target::Subtree, exception: true, name })),
        Some(name) => each(domains::rule(name, Target::Subtree)),
    }
    Line::Entries
}

/// Tests if a line begins a part of the list, or names it, in a comment.
pub(crate) fn is_marker(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"// ===BEGIN") || line.starts_with(b"//") && line.ends_with(b"public_suffix_list.dat")
}

/// The name below which a line has a wildcard, and the name that a line has an exception directly below.
pub(crate) fn parts(line: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let line = line.trim_ascii();
    let name = line.strip_prefix(b"!").filter(|name| name.iter().all(|byte| !byte.is_ascii_whitespace()));
    let above = name.and_then(|name| name.splitn(2, |byte| *byte == b'.').nth(1));
    (line.strip_prefix(b"*."), above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;

    #[test]
    fn a_rule_has_a_wildcard_or_an_exception() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(" ");
        assert_eq!(read("co.uk"), "Subtree co.uk");
        assert_eq!(read("*.ck  // below"), "Below ck");
        assert_eq!(read("!www.ck"), "!Subtree www.ck");
        assert_eq!(read("*"), "all-names");
        let kind = |line: &str| shown(|each| entries(line.as_bytes(), each)).0;
        assert_eq!((kind("// com"), kind(" ")), (Line::Comment, Line::Blank));
    }
}
