//! One file for each verb.

pub(crate) mod compare;
pub(crate) mod dns;
mod inputs;
pub(crate) mod lab;
pub(crate) mod ndn;
mod number;
pub(crate) mod report;
pub(crate) mod schemes;
pub(crate) mod study;
