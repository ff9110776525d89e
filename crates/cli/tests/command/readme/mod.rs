//! The README's examples and commands, run, and held against the README.

mod flows;
mod names;
mod ndn;

const README: &str = include_str!("../../../../../README.md");

/// The blocks of code in a language, in their order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_readme_shows_these_very_examples() {
    let examples = blocks(README, "rust");
    assert_eq!(examples.len(), 2);
    assert!(include_str!("names.rs").contains(examples[0]), "{}", examples[0]);
    assert!(include_str!("flows.rs").contains(examples[1]), "{}", examples[1]);
}
