//! Options of dnsmasq that answer for names: `address=`, `local=`, `server=` (dnsmasq(8)).

use crate::entry::{Entry, Line, Rule, without_entry};
use crate::reason::Reason;
use hashlane_name_map::Target;

/// Options that name domains between slashes, and a word that tells what they are.
const OPTIONS: [(&[u8], Action); 3] =
    [(b"address=/", Action::Address), (b"local=/", Action::Server), (b"server=/", Action::Server)];

/// Addresses that block: no address, the unspecified ones, and this host's.
const BLOCKING: [&[u8]; 6] = [b"", b"#", b"0.0.0.0", b"::", b"127.0.0.1", b"::1"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The answer has the address that follows the domains.
    Address,
    /// The server that follows the domains answers; without one, dnsmasq does, from its own data.
    Server,
}

/// The entries of a line: one for each domain. They cover the domain and all names below it.
pub(crate) fn entries<'a>(line: &'a [u8], each: &mut (impl FnMut(Entry<'a>) + ?Sized)) -> Line {
    let text = without_comment(line).trim_ascii();
    if text.is_empty() {
        return without_entry(line);
    }
    let parts = OPTIONS.iter().find_map(|(option, action)| Some((text.strip_prefix(*option)?, *action)));
    let parts = parts.map(|(rest, action)| (memchr::memrchr(b'/', rest).map(|at| rest.split_at(at)), action));
    match parts {
        Some((Some((domains, end)), action)) => {
            let end = end.get(1..).unwrap_or_default();
            domains.split(|byte| *byte == b'/').for_each(|name| each(entry(name, action, end)));
        }
        // No slash ends the domains.
        Some((None, _)) => each(Err(Reason::NoName)),
        None => each(Err(Reason::UnknownKind)),
    }
    Line::Entries
}

fn entry<'a>(name: &'a [u8], action: Action, end: &[u8]) -> Entry<'a> {
    match action {
        Action::Server if !end.is_empty() => return Err(Reason::Resolver),
        Action::Address if !BLOCKING.contains(&end) => return Err(Reason::OtherAddress),
        _ => {}
    }
    match name {
        b"#" => Err(Reason::AllNames),
        [b'*', ..] => Err(Reason::Pattern),
        // A dot before the domain has no meaning.
        [b'.', name @ ..] | name => Ok(Rule::block(Target::Subtree, name)),
    }
}

/// The line before a `#` that begins it or follows white space.
fn without_comment(line: &[u8]) -> &[u8] {
    let begins = |at: &usize| match at.checked_sub(1) {
        None => true,
        Some(before) => line.get(before).is_some_and(u8::is_ascii_whitespace),
    };
    let at = memchr::memchr_iter(b'#', line).find(begins).unwrap_or(line.len());
    line.get(..at).unwrap_or(line)
}

/// Tests if a line has an option with domains.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    OPTIONS.iter().any(|(option, _)| line.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;
    use std::vec;

    #[test]
    fn domains_without_an_answer_are_rules() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(", ");
        for (line, entry) in [
            ("address=/a.example/0.0.0.0", "Subtree a.example"),
            ("address=/a.example/::\r", "Subtree a.example"),
            ("address=/a.example/# # why", "Subtree a.example"),
            ("address=/a.example/", "Subtree a.example"),
            ("address=/a.example/b.example/127.0.0.1", "Subtree a.example, Subtree b.example"),
            ("  local=/.a.example/", "Subtree a.example"),
            ("server=/a.example/", "Subtree a.example"),
        ] {
            assert_eq!(read(line), entry, "{line}");
        }
    }

    #[test]
    fn other_options_have_their_reasons() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each)).1.join(", ");
        for (line, reason) in [
            ("address=/a.example/192.0.2.1", "other-address"),
            ("server=/a.example/192.0.2.53", "resolver"),
            ("server=/a.example/#", "resolver"),
            ("address=/#/0.0.0.0", "all-names"),
            ("address=/*ads.example/0.0.0.0", "pattern"),
            ("address=/a.example", "no-name"),
            ("server=192.0.2.53", "unknown-kind"),
            ("bogus-nxdomain=192.0.2.1", "unknown-kind"),
        ] {
            assert_eq!(read(line), reason, "{line}");
        }
        for (line, kind) in [("# a", Line::Comment), (" \t", Line::Blank), ("", Line::Blank)] {
            assert_eq!(shown(|each| entries(line.as_bytes(), each)), (kind, vec![]), "{line}");
        }
    }
}
