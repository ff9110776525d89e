//! Tables of shared objects, and the seed that they get.

use crate::support::{LIMIT, Object, example, launcher};
use hashlane_audit::key_sets::Choices;
use hashlane_audit::library::Table;
use hashlane_audit::own_table::{Report, audit};
use hashlane_audit::registered::subjects;

/// The example in C, after `before`.
fn report(before: &str) -> Report {
    let object = Object::of(&format!("{before}\n#include \"{}\"\n", example("c/flow_table.c").display()));
    let mut table = Table::load(launcher(), &object.path(), LIMIT).unwrap();
    let choices = Choices { length: Some(20), count: 256, seed: 5 };
    audit(&mut table, &mut subjects(), choices, &mut |_, _| {})
}

/// The seed of every table is this constant.
const FIXED: &str = "#include \"hashlane_audit.h\"
    static void *fixed(void *to, const void *from, size_t n) { return memset(to, 7, n); }
    #define memcpy(to, from, n) ((n) == 16 ? fixed(to, from, n) : (memcpy)(to, from, n))";

#[test]
fn a_table_that_ignores_its_seed_is_faulty_though_no_keys_flood_it() {
    let fixed = report(FIXED);
    assert!(fixed.ignores_seed && !fixed.is_floodable(), "{fixed}");
    assert_eq!(fixed.word(), "faulty");
    assert!(fixed.to_string().starts_with("faulty: ignores its seed: "), "{fixed}");
    let keyed = report("");
    assert!(!keyed.ignores_seed && keyed.word() == "no attack known", "{keyed}");
}

#[test]
fn a_flooded_table_that_ignores_its_seed_is_floodable() {
    let weak = report("#define WEAK");
    assert!(weak.ignores_seed && weak.word() == "floodable", "{weak}");
    assert!(weak.to_string().ends_with("; ignores its seed"), "{weak}");
}

#[test]
fn counts_that_tell_nothing_are_no_finding() {
    // It compares one entry in each lookup, whatever its seed.
    let one = "#define hashlane_audit_compared inner";
    let two = "uint64_t hashlane_audit_compared(void *t) { return 8 * hashlane_audit_len(t); }";
    let object = |after: &str| {
        Object::of(&format!(
            "{FIXED}\n{one}\n#include \"{}\"\n#undef hashlane_audit_compared\n{after}",
            example("c/flow_table.c").display()
        ))
    };
    for after in ["", two] {
        let object = object(after);
        let mut table = Table::load(launcher(), &object.path(), LIMIT).unwrap();
        let choices = Choices { length: Some(20), count: 64, seed: 5 };
        let report = audit(&mut table, &mut subjects(), choices, &mut |_, _| {});
        assert!(!report.ignores_seed && report.fault.is_none(), "{report}");
    }
}
