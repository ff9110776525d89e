//! Long form of tests: more seeds, more rounds, larger inputs.

/// Tests if the long form is wanted: `HASHLANE_LONG=1`, which `cargo xtask nightly` sets.
pub fn is_wanted() -> bool {
    std::env::var("HASHLANE_LONG").is_ok_and(|value| value == "1")
}

/// `usual`, or `long` if the long form is wanted.
pub fn pick<T>(usual: T, long: T) -> T {
    if is_wanted() { long } else { usual }
}
