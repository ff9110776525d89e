//! Transfers of zones: from primaries, to secondaries, and the messages about them.
//!
//! - [`peers`]: who may do what, with the keys of the configuration.
//! - [`special`]: NOTIFY, AXFR, IXFR and signed queries, which the stages of ordinary queries leave;
//!   [`asked`]: the transfers that queries ask for.
//! - [`refresh`]: the thread that knows when a zone is due, its [`event`]s, and [`fetch`], which gets it over a
//!   [`connection`], a [`stream`] with or without TLS; [`ending`]: its end.
//! - [`pool`]: connections to primaries that wait for the next zone.
//! - [`history`]: the differences that secondaries get.
//! - [`notifier`]: the thread that tells secondaries of changes; [`receipt`]: their answers, for reports.
//! - [`inbox`]: NOTIFY from primaries on its way to the refresh.
//! - [`kept`]: the file of a received zone.
//! - [`seldom`]: lines of the log that anyone can cause.
//! - [`counts`]: outcomes of transfers and of NOTIFY.

mod asked;
mod connection;
pub(crate) mod counts;
mod ending;
pub(crate) mod event;
pub(crate) mod fetch;
pub(crate) mod history;
mod inbox;
pub(crate) mod kept;
pub(crate) mod notifier;
pub(crate) mod peers;
pub(crate) mod pool;
mod random;
pub(crate) mod receipt;
mod received;
pub(crate) mod refresh;
mod seldom;
pub(crate) mod special;
mod stream;
mod watched;
