//! The README's examples, compiled, run, and held against the README.

mod flows;
mod names;

#[test]
fn the_readme_shows_these_very_examples() {
    let readme = include_str!("../../../../README.md");
    let examples: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    assert!(include_str!("names.rs").contains(examples[0]), "{}", examples[0]);
    assert!(include_str!("flows.rs").contains(examples[1]), "{}", examples[1]);
}
