//! Hash functions and tables in shared objects, compiled for each test.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod examples;
mod hash;
mod hostile;
mod integers;
mod mixed;
mod seeds;
mod support;
mod table;

/// The process of a library: `support::launcher` starts this test alone.
#[test]
#[ignore = "other tests start it in a separate process"]
fn child() {
    hashlane_audit::library::child_main()
}

/// A process that is killed while its library runs: `hostile` starts this test alone.
#[test]
#[ignore = "another test starts it in a separate process"]
fn parent() {
    hostile::wait_in_library();
}
