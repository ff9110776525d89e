//! Names as rules have them: dotted text of ASCII.

use crate::reason::Reason;
use alloc::borrow::Cow;
use idna::AsciiDenyList;

/// Bytes of the longest name in letters beyond ASCII. Its ASCII form is not computed beyond.
pub const MAX_NAME: usize = 1024;

/// Converts a name with letters beyond ASCII: its labels become A-labels, by the rules of UTS 46. A name in
/// ASCII stays as it is. `None` if it is no internationalized name, or if it has more than [`MAX_NAME`]
/// bytes.
pub fn ascii_name(name: &[u8]) -> Option<Cow<'_, [u8]>> {
    if name.is_ascii() {
        return Some(Cow::Borrowed(name));
    }
    if name.len() > MAX_NAME {
        return None;
    }
    let ascii = idna::domain_to_ascii_cow(name, AsciiDenyList::EMPTY).ok()?;
    Some(Cow::Owned(ascii.into_owned().into_bytes()))
}

/// The ASCII form of a name to look up. Any characters are taken but white space and control characters, as
/// names of hosts are not the only ones, and those that an address of a page has around its name: `/`, `:`.
///
/// # Errors
/// The reason why it is no name. Labels and lengths are checked by the lookup.
pub fn query_name(name: &[u8]) -> Result<Cow<'_, [u8]>, Reason> {
    if name.iter().any(|byte| byte.is_ascii_control() || *byte == b' ') {
        return Err(Reason::Control);
    }
    if name.iter().any(|byte| b"/:".contains(byte)) {
        return Err(Reason::PageAddress);
    }
    let ascii = ascii_name(name).ok_or(if name.len() > MAX_NAME { Reason::TooLong } else { Reason::Idn })?;
    // White space beyond ASCII becomes a space.
    if ascii.contains(&b' ') { Err(Reason::Control) } else { Ok(ascii) }
}

/// The name of a rule in ASCII, with the characters that names of lists have.
pub(crate) fn rule_name(name: &[u8]) -> Result<Cow<'_, [u8]>, Reason> {
    let name = ascii_name(name).ok_or(if name.len() > MAX_NAME { Reason::TooLong } else { Reason::Idn })?;
    if !name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte)) {
        return Err(Reason::Character);
    }
    let last = name.strip_suffix(b".").unwrap_or(&name).rsplit(|byte| *byte == b'.').next();
    match last {
        Some(label) if !label.is_empty() && label.iter().all(u8::is_ascii_digit) => Err(Reason::Address),
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn letters_beyond_ascii_become_a_labels() {
        let ascii =
            |name: &str| ascii_name(name.as_bytes()).map(|name| String::from_utf8(name.into()).unwrap());
        assert_eq!(ascii("a.Example").as_deref(), Some("a.Example"));
        assert_eq!(ascii("www.Bücher.example.").as_deref(), Some("www.xn--bcher-kva.example."));
        assert_eq!(ascii("公司.cn").as_deref(), Some("xn--55qx5d.cn"));
        assert_eq!(ascii_name(b"a\xff.example"), None);
        assert_eq!(ascii_name("é".repeat(513).as_bytes()), None);
    }

    #[test]
    fn names_to_look_up_have_any_visible_characters() {
        assert_eq!(query_name(b"a*(b).example").as_deref(), Ok(&b"a*(b).example"[..]));
        for name in [&b"a\0b"[..], b"a b", b"a\tb", b"a\x7fb"] {
            assert_eq!(query_name(name), Err(Reason::Control));
        }
        assert_eq!(query_name(b"\xff"), Err(Reason::Idn));
        assert_eq!(query_name("a\u{a0}b.example".as_bytes()), Err(Reason::Control));
        assert_eq!(query_name(b"http://a.example"), Err(Reason::PageAddress));
        assert_eq!(query_name(b"a.example:443"), Err(Reason::PageAddress));
    }

    #[test]
    fn names_of_rules_have_few_characters() {
        for (name, reason) in [
            ("a/b", Reason::Character),
            ("a\0b", Reason::Character),
            ("*.a", Reason::Character),
            ("<html>", Reason::Character),
            ("192.0.2.1", Reason::Address),
            ("bücher..\u{fffd}", Reason::Idn),
        ] {
            assert_eq!(rule_name(name.as_bytes()), Err(reason), "{name}");
        }
        assert_eq!(rule_name(b"_dmarc.a-b.example").as_deref(), Ok(&b"_dmarc.a-b.example"[..]));
    }
}
