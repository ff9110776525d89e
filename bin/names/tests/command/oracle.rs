//! All output lines against a search of all rules, one after the other.

use hashlane_rig::command::Folder;
use std::fmt::Write as _;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// A name of at least this many labels out of a few, so that names share suffixes.
    fn name(&mut self, least: usize) -> String {
        let labels = ["a", "b", "c", "example", "www", "x1"];
        let count = least + self.below(4);
        (0..count).map(|_| labels[self.below(labels.len())]).collect::<Vec<_>>().join(".")
    }
}

/// Covers the name itself, names below it, or both.
#[derive(Clone, Copy, PartialEq)]
struct Reach {
    itself: bool,
    below: bool,
}

const EXACT: Reach = Reach { itself: true, below: false };
const BELOW: Reach = Reach { itself: false, below: true };
const SUBTREE: Reach = Reach { itself: true, below: true };

/// A name, its reach, and if it is an exception.
type Rule = (String, Reach, bool);

/// A list as its file has it: three formats.
fn list(kind: usize, numbers: &mut Numbers) -> (String, Vec<Rule>) {
    let mut text = ["# domains\n", "! filters\n", "$TTL 60\n@ SOA a. b. 1 2 3 4 5\n"][kind].to_owned();
    let mut rules = Vec::new();
    for _ in 0..100 {
        let (name, choice) = (numbers.name(2), numbers.below(5));
        let _ = match (kind, choice) {
            (0, 0 | 1) => writeln!(text, "*.{name}"),
            (0, _) => writeln!(text, "{name}"),
            (1, 0) => writeln!(text, "@@||{name}^"),
            (1, _) => writeln!(text, "||{name}^"),
            (_, 0) => writeln!(text, "{name} CNAME rpz-passthru."),
            (_, 1) => writeln!(text, "*.{name} CNAME rpz-passthru."),
            (_, 2) => writeln!(text, "*.{name} 60 IN CNAME ."),
            (..) => writeln!(text, "{name} CNAME ."),
        };
        rules.push(match (kind, choice) {
            (0, 0 | 1) | (2, 2) => (name, BELOW, false),
            (1, _) => (name, SUBTREE, choice == 0),
            (2, 1) => (name, BELOW, true),
            _ => (name, EXACT, kind == 2 && choice == 0),
        });
    }
    (text, rules)
}

/// The rules of a list that match a name: their name and target, the longest first.
/// With `closest_wins`, the longest name that the list has, for a rule or above one, decides.
fn matching(name: &str, rules: &[Rule], closest_wins: bool) -> Vec<(String, &'static str)> {
    let suffixes = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
    let mut found = Vec::new();
    for suffix in std::iter::once(name).chain(suffixes) {
        let own = |exception| rules.iter().filter(move |rule| rule.0 == suffix && rule.2 == exception);
        let covers = |reach: Reach| if suffix == name { reach.itself } else { reach.below };
        let excepted = own(true).any(|rule| covers(rule.1));
        if excepted {
            return Vec::new();
        }
        if own(false).any(|rule| covers(rule.1)) {
            let itself = own(false).any(|rule| rule.1.itself);
            let below = own(false).any(|rule| rule.1.below);
            let target = if itself && below {
                "subtree"
            } else if itself {
                "exact"
            } else {
                "below"
            };
            found.push((suffix.to_owned(), target));
        }
        let is_above = |rule: &Rule| {
            rule.0.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if closest_wins && rules.iter().any(is_above) {
            break;
        }
    }
    found
}

#[test]
fn every_line_is_that_of_a_search_of_all_rules() {
    let (mut numbers, folder) = (Numbers(1), Folder::new());
    let lists: Vec<_> = (0..3).map(|kind| list(kind, &mut numbers)).collect();
    let files = ["domains", "filters", "zone"];
    files.iter().zip(&lists).for_each(|(file, (text, _))| drop(folder.write(file, text)));
    let names: Vec<String> = (0..5_000).map(|_| numbers.name(1)).collect();
    folder.write("names", names.join("\n"));

    let (mut all, mut longest, mut inverted) = (String::new(), String::new(), String::new());
    for name in &names {
        let mut lines = Vec::new();
        for (number, (file, (_, rules))) in files.iter().zip(&lists).enumerate() {
            for (rule, target) in matching(name, rules, number == 2) {
                lines.push((rule.len(), format!("{name}\t{file}\t{rule}\t{target}\n")));
            }
        }
        // Of rules of one name, the first list's comes first.
        lines.sort_by_key(|(len, _)| std::cmp::Reverse(*len));
        all.extend(lines.iter().map(|(_, line)| line.as_str()));
        match lines.first() {
            Some((_, line)) => longest += line,
            None => inverted += &format!("{name}\n"),
        }
    }
    let counts = [&all, &longest, &inverted].map(|text| text.lines().count());
    assert!(counts[0] > counts[1] && counts[1] > 1_000 && counts[2] > 1_000, "{counts:?}");
    for (option, expected) in [("--all", all), ("--quiet", longest), ("--invert", inverted)] {
        let arguments = [&["names", "match"], &files[..], &["--names", "names", option]].concat();
        let shown = folder.run(&arguments).ok();
        assert!(shown == expected, "{option}");
    }
}
