//! Suffix rules: which rule is the longest that a name has as a suffix, in every scheme behind one trait.
//!
//! A rule covers its name and all names below it. Names come in dotted text, as lists and programs have them;
//! each scheme folds upper case itself, within its time.

#[cfg(feature = "peers")]
mod automaton;
mod compact;
#[cfg(feature = "peers")]
mod fst;
mod maps;
mod ours;
#[cfg(feature = "peers")]
mod qp_trie;
mod text;

use super::table::Build;

/// All schemes. Other projects' crates take the feature `peers`.
pub(crate) const SCHEMES: &[(&str, Build)] = &[
    ("hashlane/burst", |rules, key| Some(Box::new(ours::Ours::new(rules, key, true)?))),
    ("hashlane/single", |rules, key| Some(Box::new(ours::Ours::new(rules, key, false)?))),
    ("std/single", |rules, _| Some(Box::new(maps::Map::new(rules, maps::std_hash())))),
    ("foldhash/single", |rules, key| Some(Box::new(maps::Map::new(rules, maps::foldhash(key))))),
    ("ahash/single", |rules, key| Some(Box::new(maps::Map::new(rules, maps::ahash(key))))),
    ("fxhash/single", |rules, _| Some(Box::new(maps::Map::new(rules, maps::FxHash::default())))),
    ("compact/single", |rules, key| Some(Box::new(compact::Compact::new(rules, key)))),
    #[cfg(feature = "peers")]
    ("fst/single", |rules, _| Some(Box::new(fst::Transducer::new(rules)?))),
    #[cfg(feature = "peers")]
    ("qp-trie/single", |rules, _| Some(Box::new(qp_trie::QpTrie::new(rules)))),
    #[cfg(feature = "peers")]
    ("aho-corasick/single", |rules, _| Some(Box::new(automaton::Automaton::new(rules)?))),
];

/// Schemes that a build without the feature `peers` lacks.
const OF_PEERS: [&str; 3] = ["fst/single", "qp-trie/single", "aho-corasick/single"];

/// `true` for a scheme that this build lacks.
pub(crate) fn is_missing(id: &str) -> bool {
    OF_PEERS.contains(&id) && SCHEMES.iter().all(|(known, _)| *known != id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup::strings::Strings;
    use crate::lookup::table::Answer;
    use hashlane_hash::scheme::Key;
    use proptest::prelude::*;

    /// Labels of the longest rule that covers a name, rule by rule.
    fn naive(rules: &[String], name: &str) -> usize {
        let name: Vec<String> = name.split('.').map(str::to_ascii_lowercase).collect();
        let rules = rules.iter().map(|rule| rule.split('.').map(str::to_owned).collect::<Vec<_>>());
        rules.filter(|rule| name.ends_with(rule)).map(|rule| rule.len()).max().unwrap_or(0)
    }

    fn name() -> impl Strategy<Value = String> {
        let label = prop_oneof![
            8 => prop::sample::select(vec!["a", "b", "ab", "com", "c", "m", "om"]).prop_map(String::from),
            1 => "[a-z]{1,20}",
        ];
        prop::collection::vec(label, 1..7).prop_map(|labels| labels.join("."))
    }

    fn strings(names: &[String]) -> Strings {
        names.iter().map(String::as_bytes).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_scheme_finds_the_longest_rule(
            rules in prop::collection::btree_set(name(), 0..40),
            names in prop::collection::vec(name(), 1..40),
        ) {
            let rules: Vec<String> = rules.into_iter().collect();
            let mut names: Vec<String> = names;
            names.extend(rules.iter().map(|rule| format!("www.{rule}")));
            names.extend(rules.iter().map(|rule| rule.to_ascii_uppercase()));
            for (id, build) in SCHEMES {
                let mut scheme = build(&strings(&rules), &Key::VECTOR).unwrap();
                for name in &names {
                    let mut expected = Answer::default();
                    expected.add_labels(naive(&rules, name));
                    let found = scheme.find(&strings(std::slice::from_ref(name)));
                    prop_assert_eq!(found, expected, "{}: {}", id, name);
                }
                let mut expected = Answer::default();
                names.iter().for_each(|name| expected.add_labels(naive(&rules, name)));
                prop_assert_eq!(scheme.find(&strings(&names)), expected, "{}", id);
            }
        }
    }

    #[test]
    fn names_of_any_length_and_bytes_are_looked_up() {
        let rules = strings(&["a.b".to_owned(), "b".to_owned()]);
        let deep = [b"x.".repeat(125).as_slice(), b"a.b"].concat();
        let names: Strings = [&deep[..], b"\xff\0.b", b"a.B", b"c"].into_iter().collect();
        for (id, build) in SCHEMES {
            let mut scheme = build(&rules, &Key::VECTOR).unwrap();
            assert_eq!(scheme.find(&names), Answer { names: 3, sum: 5 }, "{id}");
        }
    }

    #[test]
    fn memory_includes_the_text_of_the_rules() {
        let rules = super::super::hosts::rules(1000, 1);
        for (id, build) in SCHEMES {
            let memory = build(&rules, &Key::VECTOR).unwrap().memory();
            // fst shares text; compact has fingerprints in its place.
            let least =
                if ["fst/single", "compact/single"].contains(id) { 1000 } else { rules.bytes().len() };
            assert!(memory.is_none_or(|bytes| bytes > least), "{id}: {memory:?}");
        }
    }
}
