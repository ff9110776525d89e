//! Properties of rules on domain names, of their lookup, and of rules as bytes.

use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_name_map::{Builder, Burst, Reversed, Rules, Target};

/// A rule as its text says, for a search of all rules one after the other.
struct Rule {
    list: u64,
    target: Target,
    exception: bool,
    labels: Vec<Vec<u8>>,
}

impl Rule {
    fn covers(&self, name: &[Vec<u8>]) -> bool {
        let Some(more) = name.len().checked_sub(self.labels.len()) else { return false };
        let reaches = match self.target {
            Target::Exact => more == 0,
            Target::Below => more > 0,
            Target::OneBelow => more == 1,
            _ => true,
        };
        reaches && name.ends_with(&self.labels)
    }
}

/// The labels of a name, or `None` for one that breaks a rule.
fn labels(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let text = text.strip_suffix(b".").unwrap_or(text);
    let labels: Vec<_> = text.split(|byte| *byte == b'.').map(<[u8]>::to_ascii_lowercase).collect();
    let fits = text.len() <= 253 && labels.iter().all(|label| (1..=63).contains(&label.len()));
    fits.then_some(labels)
}

/// Lines are rules or names: their first byte tells the list, the target, and if they are exceptions; from
/// 0x80 on, they are names to look up. All verdicts, of a name alone and in a burst, are those of a search of
/// all rules.
pub fn check_name_rules(bytes: &[u8]) {
    const TARGETS: [Target; 4] = [Target::Exact, Target::Below, Target::Subtree, Target::OneBelow];
    let (mut builder, mut rules, mut names) = (Builder::new(&Key::VECTOR), Vec::new(), Vec::new());
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((first, text)) = line.split_first() else { continue };
        let known = labels(text);
        if *first >= 0x80 {
            names.push((text, known));
            continue;
        }
        let (list, target, exception) = (first & 7, TARGETS[usize::from(first >> 3 & 3)], first & 0x40 > 0);
        let added = match exception {
            true => builder.except(list.into(), target, text),
            false => builder.block(list.into(), target, text),
        };
        assert_eq!(added.is_ok(), known.is_some());
        rules.extend(known.map(|labels| Rule { list: 1 << list, target, exception, labels }));
    }
    assert_eq!(builder.len(), rules.len());
    let table = builder.build().expect("few rules");
    let (mut alone, mut burst) = (Reversed::new(), Burst::new());
    for names in names.chunks(Burst::NAMES) {
        burst.clear();
        let mut expected = Vec::new();
        for (text, known) in names {
            assert_eq!(burst.push(text).is_ok(), known.is_some());
            assert_eq!(alone.set(text).is_ok(), known.is_some());
            let Some(name) = known else { continue };
            let lists = |exception| {
                let covering = rules.iter().filter(|rule| rule.exception == exception && rule.covers(name));
                covering.fold(0, |lists, rule| lists | rule.list)
            };
            let depth = rules.iter().filter(|rule| rule.covers(name)).map(|rule| rule.labels.len()).max();
            let verdict = table.verdict(&alone);
            let found = (verdict.lists(), verdict.excepted(), verdict.depth());
            assert_eq!(found, (lists(false) & !lists(true), lists(true), depth));
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
