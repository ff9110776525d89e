//! One file for each verb.

pub(crate) mod audit;
pub(crate) mod compare;
mod inputs;
pub(crate) mod lab;
pub(crate) mod report;
pub(crate) mod schemes;
pub(crate) mod study;
