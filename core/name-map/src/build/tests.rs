//! Tables that have no room for their rules.

use super::*;

#[test]
fn a_table_without_room_for_all_rules_is_an_error() {
    let mut builder = Builder::new(&Key::VECTOR);
    for number in 0..100 {
        builder.block(0, Target::Exact, std::format!("host{number}.example").as_bytes()).unwrap();
    }
    let whole = builder.clone().build().unwrap();
    assert_eq!(whole.len(), 100);
    let bytes = whole.table.groups.0.len() as u32;
    assert_eq!(builder.clone().build_within(bytes).unwrap().len(), 100);
    for most in [0, 100, bytes / 2] {
        assert_eq!(builder.clone().build_within(most).unwrap_err(), BuildError::TooLarge);
    }
}
