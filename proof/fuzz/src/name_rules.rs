//! Properties of rules on domain names, of their lookup, and of rules as bytes.

use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_name_map::{Builder, Burst, Reversed, Rules, Target};

/// A rule as its text says, for a search of all rules one after the other.
struct Rule {
    list: usize,
    /// `None` for a name without a rule.
    target: Option<Target>,
    exception: bool,
    labels: Vec<Vec<u8>>,
}

/// Lists, and the first of those of which the closest name wins.
const LISTS: usize = 8;
const CLOSEST: usize = 6;

impl Rule {
    fn covers(&self, name: &[Vec<u8>]) -> bool {
        let Some(more) = name.len().checked_sub(self.labels.len()) else { return false };
        let reaches = match self.target {
            None => false,
            Some(Target::Exact) => more == 0,
            Some(Target::Below) => more > 0,
            Some(Target::OneBelow) => more == 1,
            Some(_) => true,
        };
        reaches && name.ends_with(&self.labels)
    }
}

/// Tests if a list has a rule that covers the name, and an exception that does: of the closest name alone, if
/// that wins.
fn decide(rules: &[Rule], list: usize, name: &[Vec<u8>]) -> (bool, bool) {
    let own = || rules.iter().filter(|rule| rule.list == list);
    let has = |labels: &usize| own().any(|rule| rule.labels.ends_with(&name[name.len() - labels..]));
    let closest = (1..=name.len()).rev().find(has).filter(|_| list >= CLOSEST);
    let decides = |rule: &Rule| closest.is_none_or(|closest| rule.labels.len() == closest);
    let any = |exception| own().any(|rule| rule.exception == exception && decides(rule) && rule.covers(name));
    (any(false), any(true))
}

/// The labels of a name, or `None` for one that breaks a rule.
fn labels(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let text = text.strip_suffix(b".").unwrap_or(text);
    let labels: Vec<_> = text.split(|byte| *byte == b'.').map(<[u8]>::to_ascii_lowercase).collect();
    let fits = text.len() <= 253 && labels.iter().all(|label| (1..=63).contains(&label.len()));
    fits.then_some(labels)
}

/// Lines are rules or names: their first byte tells the list, the target, and if they are exceptions, or
/// names without rules; from 0x80 on, they are names to look up. All verdicts, of a name alone and in a
/// burst, are those of a search of all rules.
pub fn check_name_rules(bytes: &[u8]) {
    const TARGETS: [Target; 4] = [Target::Exact, Target::Below, Target::Subtree, Target::OneBelow];
    let (mut builder, mut rules, mut names) = (Builder::new(&Key::VECTOR), Vec::new(), Vec::new());
    (CLOSEST..LISTS).for_each(|list| builder.closest_wins(list).expect("a list below 64"));
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((first, text)) = line.split_first() else { continue };
        let known = labels(text);
        if *first >= 0x80 {
            names.push((text, known));
            continue;
        }
        let (list, target) = (usize::from(*first) % LISTS, TARGETS[usize::from(first >> 3 & 3)]);
        let (exception, is_bare) = (first & 0x40 > 0, first & 0x20 > 0);
        let added = match (is_bare, exception) {
            (true, _) => builder.add_name(list, text),
            (false, true) => builder.except(list, target, text),
            (false, false) => builder.block(list, target, text),
        };
        assert_eq!(added.is_ok(), known.is_some());
        let target = (!is_bare).then_some(target);
        rules.extend(known.map(|labels| Rule { list, target, exception, labels }));
    }
    assert_eq!(builder.len(), rules.iter().filter(|rule| rule.target.is_some()).count());
    let table = builder.build().expect("few rules");
    let (mut alone, mut burst) = (Reversed::new(), Burst::new());
    for names in names.chunks(Burst::NAMES) {
        burst.clear();
        let mut expected = Vec::new();
        for (text, known) in names {
            assert_eq!(burst.push(text).is_ok(), known.is_some());
            assert_eq!(alone.set(text).is_ok(), known.is_some());
            let Some(name) = known else { continue };
            let (mut lists, mut excepted) = (0, 0);
            for list in 0..LISTS {
                let (matches, excepts) = decide(&rules, list, name);
                lists |= u64::from(matches && !excepts) << list;
                excepted |= u64::from(excepts && list < CLOSEST) << list;
            }
            let depth = rules.iter().filter(|rule| rule.covers(name)).map(|rule| rule.labels.len()).max();
            let verdict = table.verdict(&alone);
            let found = (verdict.lists(), verdict.excepted(), verdict.depth());
            assert_eq!(found, (lists, excepted, depth));
            expected.push(verdict);
        }
        assert_eq!(table.verdicts(&mut burst), expected);
    }
}

/// The bytes, with a checksum that is right, are rules or are refused; names are looked up in them.
pub fn check_name_image(bytes: &[u8]) {
    let crc = Crc32c::new(&Key::VECTOR).hash(bytes) as u32;
    let sealed = [bytes, &crc.to_ne_bytes()].concat();
    let Ok((rules, about)) = Rules::from_bytes(&sealed) else { return };
    let mut burst = Burst::new();
    let mut name = Reversed::new();
    for text in [&b"com"[..], b"example.com", b"a.example.com", b"a.b.c.d.e.f.g.h.example.net"] {
        if name.set(text).is_ok() && burst.push(text).is_ok() {
            let _any = rules.verdict(&name);
        }
    }
    let _any = rules.verdicts(&mut burst);
    assert_eq!(rules.to_bytes(about), sealed);
}
