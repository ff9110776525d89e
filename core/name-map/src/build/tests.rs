//! Tables of rules that would take much memory.

use super::*;
use std::format;
use std::string::String;

#[test]
fn a_table_without_room_for_all_rules_is_an_error() {
    let mut builder = Builder::new(&Key::VECTOR);
    for number in 0..100 {
        builder.block(0, Target::Exact, format!("host{number}.example").as_bytes()).unwrap();
    }
    let whole = builder.clone().build().unwrap();
    assert_eq!(whole.len(), 100);
    let bytes = whole.table.groups.0.len() as u32;
    assert_eq!(builder.clone().build_within(bytes).unwrap().len(), 100);
    for most in [0, 100, bytes / 2] {
        assert_eq!(builder.clone().build_within(most).unwrap_err(), BuildError::TooLarge);
    }
}

#[test]
fn deep_names_of_a_list_whose_closest_wins_take_little() {
    let mut builder = Builder::new(&Key::VECTOR);
    builder.closest_wins(0).unwrap();
    builder.block(0, Target::Below, b"a").unwrap();
    // 126 labels, of which all but the last eleven are below no other name.
    let name = |number: usize| {
        let labels = (0..125).map(|label| if number >> (label % 10) & 1 == 0 { "x." } else { "y." });
        format!("{}a", labels.collect::<String>())
    };
    for number in 0..1000 {
        builder.block(0, Target::Exact, name(number).as_bytes()).unwrap();
    }
    let rules = builder.build().unwrap();
    assert_eq!(rules.len(), 1001);
    assert!(rules.memory() < 1_000_000, "{}", rules.memory());
    let mut reversed = Reversed::new();
    for (text, lists) in [(name(7), 1), (name(7)[2..].into(), 0), (format!("z.{}", &name(7)[40..]), 0)] {
        reversed.set(text.as_bytes()).unwrap();
        assert_eq!(rules.verdict(&reversed).lists(), lists, "{text}");
    }
    reversed.set(b"y.z.a").unwrap();
    assert_eq!(rules.verdict(&reversed).lists(), 1);
}
