//! One file for each verb.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod dns;
pub(crate) mod flow;
mod inputs;
pub(crate) mod lab;
mod launch;
pub(crate) mod ndn;
mod number;
pub(crate) mod report;
pub(crate) mod schemes;
pub(crate) mod study;

/// Exit code after Ctrl-C, as shells define it: 128 + SIGINT.
pub(crate) const STOPPED: u8 = 130;
