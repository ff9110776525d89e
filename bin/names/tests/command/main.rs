//! `hashlane names` as users see it: output, summaries, exit codes, hostile input.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod check;
mod compile;
mod hostile;
mod names;
mod oracle;
mod reload;
mod streams;
