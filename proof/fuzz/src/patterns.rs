//! Properties of patterns of names.

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::pattern::{Expansion, NamePattern};

/// The first line is a pattern, the second one an expansion, and the others are names. What a pattern matches
/// it also matches without its anchors; groups keep consecutive components; a pattern reads as it was
/// written.
pub fn check_pattern(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else { return };
    let mut lines = text.lines();
    let (pattern, expansion) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let Ok(pattern) = NamePattern::parse(pattern) else { return };
    assert_eq!(NamePattern::parse(pattern.as_str()).as_ref(), Ok(&pattern));
    let loose = pattern.as_str().strip_prefix('^').unwrap_or(pattern.as_str());
    let loose = NamePattern::parse(loose.strip_suffix('$').unwrap_or(loose)).ok();
    let expansion = Expansion::parse(expansion, pattern.groups()).ok();
    for uri in lines.take(4) {
        let Ok(name) = parse_uri::<Ndn>(uri.as_bytes()) else { continue };
        let found = pattern.find(name.view());
        assert_eq!(found.is_some(), pattern.is_match(name.view()));
        let Some(found) = found else { continue };
        assert!(loose.as_ref().is_none_or(|loose| loose.is_match(name.view())));
        assert_eq!(found.group(0), name);
        for number in 1..=pattern.groups() {
            check_part(&found.group(number), &name);
        }
        if let Some(Ok(expanded)) = expansion.as_ref().map(|expansion| expansion.expand(&found)) {
            assert!(expanded.view().len() <= 255);
        }
    }
}

/// A group has consecutive components of the name.
fn check_part(part: &OwnedName<Ndn>, name: &OwnedName<Ndn>) {
    let part: Vec<_> = part.view().components().collect();
    let name: Vec<_> = name.view().components().collect();
    assert!(part.is_empty() || name.windows(part.len()).any(|window| window == part));
}
