//! Lookups against a search of all rules, one after the other.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_name_map::{Builder, Burst, Key, MAX_LISTS, Match, Reversed, Rules, Target};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Rule {
    list: usize,
    target: Target,
    exception: bool,
    name: Vec<String>,
}

impl Rule {
    fn covers(&self, name: &[String]) -> bool {
        let Some(more) = name.len().checked_sub(self.name.len()) else { return false };
        name.ends_with(&self.name)
            && match self.target {
                Target::Exact => more == 0,
                Target::Below => more > 0,
                Target::OneBelow => more == 1,
                _ => true,
            }
    }
}

/// Few labels, so that names share suffixes; of several lengths, in both cases.
fn name() -> impl Strategy<Value = Vec<String>> {
    let label = prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "B", "com", "ab", "example"]).prop_map(String::from),
        1 => "[a-z]{1,63}",
    ];
    prop::collection::vec(label, 1..9)
}

/// Names along one long name, and names that branch off it: many share suffixes of every length.
fn branch() -> impl Strategy<Value = Vec<String>> {
    let leaf = prop::option::of(prop::sample::select(vec!["p", "q", "r.s", "t"]));
    (prop_oneof![1..20_usize, 1..8_usize], leaf).prop_map(|(depth, leaf)| {
        let spine = (1..=depth).rev().map(|label| format!("{}", label % 7));
        leaf.iter().flat_map(|leaf| leaf.split('.')).map(String::from).chain(spine).collect()
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    rule_for(name())
}

fn rule_for(name: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Rule> {
    let target = prop::sample::select(vec![Target::Exact, Target::Below, Target::Subtree, Target::OneBelow]);
    (0..MAX_LISTS, target, prop::bool::weighted(0.2), name).prop_map(|(list, target, exception, name)| Rule {
        list,
        target,
        exception,
        name,
    })
}

fn fits(name: &[String]) -> bool {
    name.join(".").len() <= 253
}

/// A name of a list without a rule.
type Bare = (usize, Vec<String>);

fn build(rules: &[Rule], bare: &[Bare]) -> Rules {
    let mut builder = Builder::new(&Key::VECTOR);
    (0..MAX_LISTS)
        .filter(|list| CLOSEST_WINS >> list & 1 == 1)
        .for_each(|list| builder.closest_wins(list).unwrap());
    for Rule { list, target, exception, name } in rules {
        let text = name.join(".");
        let added = match exception {
            false => builder.block(*list, *target, text.as_bytes()),
            true => builder.except(*list, *target, text.as_bytes()),
        };
        assert_eq!(added.is_ok(), fits(name));
    }
    for (list, name) in bare {
        assert_eq!(builder.add_name(*list, name.join(".").as_bytes()).is_ok(), fits(name));
    }
    builder.build().unwrap()
}

fn lower(name: &[String]) -> Vec<String> {
    name.iter().map(|label| label.to_ascii_lowercase()).collect()
}

/// Lists in which the closest name wins.
const CLOSEST_WINS: u64 = 0x5555_5555_5555_5555;

/// The lists that match a name with these rules and names, one after the other.
fn matching(name: &[String], rules: &[Rule], bare: &[Bare]) -> u64 {
    let matches = |list: usize| {
        let own = || rules.iter().filter(|rule| rule.list == list);
        let own_bare = || bare.iter().filter(|(other, _)| *other == list);
        let covers = |exception, depth: usize| {
            own().any(|rule| rule.exception == exception && rule.name.len() == depth && rule.covers(name))
        };
        let any = |exception| (1..=name.len()).any(|depth| covers(exception, depth));
        if CLOSEST_WINS >> list & 1 == 0 {
            return any(false) && !any(true);
        }
        let names = || own().map(|rule| &rule.name).chain(own_bare().map(|(_, name)| name));
        let has = |depth: &usize| names().any(|other| other.ends_with(&name[name.len() - depth..]));
        let closest = (1..=name.len()).rev().find(has).unwrap_or(0);
        covers(false, closest) && !covers(true, closest)
    };
    (0..MAX_LISTS).filter(|list| matches(*list)).fold(0, |lists, list| lists | 1 << list)
}

/// Compares the rules that were passed on with all rules that cover the name.
fn check_matches(matches: &[Match], covering: &[&Rule], lists: u64) -> Result<(), TestCaseError> {
    prop_assert!(matches.is_sorted_by(|a, b| a.depth >= b.depth));
    for list in 0..MAX_LISTS {
        let found: Vec<_> = matches.iter().filter(|found| found.list == list).collect();
        let rules = covering.iter().filter(|rule| rule.list == list && !rule.exception);
        let mut depths: Vec<_> = rules.clone().map(|rule| rule.name.len()).collect();
        depths.sort_unstable_by(|a, b| b.cmp(a));
        depths.dedup();
        match (lists >> list & 1, CLOSEST_WINS >> list & 1) {
            (0, _) => depths.clear(),
            (_, 1) => depths.truncate(1),
            _ => {}
        }
        prop_assert!(found.iter().map(|found| found.depth).eq(depths));
        for found in found {
            let named = rules.clone().any(|r| r.name.len() == found.depth && r.target == found.target);
            prop_assert!(found.target == Target::Subtree || named);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_lookup_finds_every_rule_that_covers_the_name(
        rules in prop::collection::vec(rule(), 0..120),
        bare in prop::collection::vec((0..MAX_LISTS, name()), 0..20),
        names in prop::collection::vec(name(), 1..80),
    ) {
        check(rules, bare, names)?;
    }

    #[test]
    fn a_lookup_finds_every_rule_along_a_long_name(
        rules in prop::collection::vec(rule_for(branch()), 0..200),
        bare in prop::collection::vec((0..MAX_LISTS, branch()), 0..20),
        names in prop::collection::vec(branch(), 1..20),
    ) {
        check(rules, bare, names)?;
    }
}

proptest! {
    /// Two lists, so that each has many rules; of the first, the closest name wins.
    #[test]
    fn a_lookup_finds_the_rules_of_the_closest_name(
        rules in prop::collection::vec(rule_for(prop_oneof![branch(), name()]), 0..60),
        bare in prop::collection::vec((0..2_usize, prop_oneof![branch(), name()]), 0..20),
        names in prop::collection::vec(prop_oneof![branch(), name()], 1..60),
    ) {
        check(rules.into_iter().map(|rule| Rule { list: rule.list % 2, ..rule }).collect(), bare, names)?;
    }
}

/// Compares all lookups of names with a search of all rules.
fn check(rules: Vec<Rule>, bare: Vec<Bare>, names: Vec<Vec<String>>) -> Result<(), TestCaseError> {
    let table = build(&rules, &bare);
    let bytes = table.to_bytes(b"about");
    let (table, about) = Rules::from_bytes(&bytes).unwrap();
    prop_assert_eq!(about, b"about");
    let mut burst = Burst::new();
    let names: Vec<_> = names.into_iter().filter(|name| fits(name)).collect();
    let rules: Vec<_> = rules
        .into_iter()
        .filter(|rule| fits(&rule.name))
        .map(|rule| Rule { name: lower(&rule.name), ..rule })
        .collect();
    let bare: Vec<_> = bare.into_iter().filter(|(_, name)| fits(name)).collect();
    let bare: Vec<_> = bare.into_iter().map(|(list, name)| (list, lower(&name))).collect();
    for names in names.chunks(Burst::NAMES) {
        burst.clear();
        names.iter().for_each(|name| burst.push(name.join(".").as_bytes()).unwrap());
        let together = table.verdicts(&mut burst).to_vec();
        prop_assert_eq!(together.len(), names.len());
        for (at, (name, together)) in names.iter().zip(together).enumerate() {
            let mut alone = Reversed::new();
            alone.set(name.join(".").as_bytes()).unwrap();
            let alone = table.verdict(&alone);
            prop_assert_eq!(alone, together);
            let name = lower(name);
            let covering: Vec<_> = rules.iter().filter(|rule| rule.covers(&name)).collect();
            let excepted =
                covering.iter().filter(|rule| rule.exception).fold(0, |lists, rule| lists | 1 << rule.list);
            prop_assert_eq!(alone.excepted(), excepted & !CLOSEST_WINS);
            prop_assert_eq!(alone.lists(), matching(&name, &rules, &bare));
            let longest = covering.iter().map(|rule| rule.name.len()).max();
            prop_assert_eq!(alone.depth(), longest);
            let excepts = covering.iter().any(|rule| rule.exception && Some(rule.name.len()) == longest);
            prop_assert_eq!(alone.is_exception(), excepts);
            let mut matches = Vec::new();
            table.matches_in(&burst, at, |found| matches.push(found));
            check_matches(&matches, &covering, alone.lists())?;
        }
    }
    Ok(())
}

#[test]
fn a_table_of_many_rules_has_all_of_them_and_takes_little() {
    let mut builder = Builder::new(&Key::VECTOR);
    let text = |number: u32| format!("host{number}.example{}.com", number % 1000);
    for number in 0..50_000 {
        builder.block(0, Target::Exact, text(number).as_bytes()).unwrap();
        builder.block(1, Target::Exact, text(number / 2).as_bytes()).unwrap();
    }
    assert_eq!(builder.len(), 100_000);
    let rules = builder.build().unwrap();
    assert_eq!(rules.len(), 50_000);
    let mut name = Reversed::new();
    let mut bytes = 0;
    for number in 0..60_000 {
        name.set(text(number).as_bytes()).unwrap();
        bytes += name.bytes().len();
        let lists = u64::from(number < 50_000) | u64::from(number < 25_000) << 1;
        assert_eq!(rules.verdict(&name).lists(), lists, "{number}");
        name.set(format!("x.{}", text(number)).as_bytes()).unwrap();
        assert_eq!(rules.verdict(&name).depth(), None);
    }
    // Names, and 14 bytes more.
    assert!(rules.memory() < bytes * 5 / 6 + 50_000 * 14, "{}", rules.memory());
}

#[test]
fn a_name_without_a_rule_stops_those_above_it_where_the_closest_wins() {
    let mut builder = Builder::new(&Key::VECTOR);
    builder.closest_wins(0).unwrap();
    for list in 0..2 {
        builder.block(list, Target::Below, b"ads.example").unwrap();
        builder.block(list, Target::Exact, b"d.c.b.ads.example").unwrap();
        builder.add_name(list, b"c.b.ads.example").unwrap();
        // A name with a rule has it, whatever else is there.
        builder.add_name(list, b"d.c.b.ads.example").unwrap();
    }
    assert!(builder.add_name(64, b"a").is_err() && builder.add_name(0, b"a..b").is_err());
    assert_eq!(builder.len(), 4);
    let rules = builder.build().unwrap();
    assert_eq!(rules.len(), 2);
    let mut name = Reversed::new();
    for (text, lists) in [
        ("ads.example", 0),
        ("x.ads.example", 0b11),
        ("y.x.ads.example", 0b11),
        ("b.ads.example", 0b10),
        ("x.b.ads.example", 0b10),
        ("c.b.ads.example", 0b10),
        ("x.c.b.ads.example", 0b10),
        ("d.c.b.ads.example", 0b11),
        ("x.d.c.b.ads.example", 0b10),
    ] {
        name.set(text.as_bytes()).unwrap();
        assert_eq!(rules.verdict(&name).lists(), lists, "{text}");
    }
}

#[test]
fn a_table_without_rules_matches_nothing() {
    let rules = Builder::new(&Key::VECTOR).build().unwrap();
    let mut name = Reversed::new();
    assert_eq!((rules.verdict(&name).depth(), rules.is_empty()), (None, true));
    name.set(b"a.b.c").unwrap();
    assert_eq!(rules.verdict(&name).depth(), None);
    let mut burst = Burst::new();
    assert!(rules.verdicts(&mut burst).is_empty());
    (0..40).for_each(|_| burst.push(b"a.b").unwrap());
    assert_eq!(rules.verdicts(&mut burst).len(), Burst::NAMES);
    assert!(burst.push(b"a..b").is_ok(), "a full burst drops names");
}
