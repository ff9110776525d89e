//! Forwarding threads that share nothing, without sockets: does the rate grow with their number?

mod clock;
mod ends;
mod names;
mod path;
mod post;
mod run;
mod set;
#[cfg(test)]
mod tests;
mod threads;
mod work;

pub(crate) use run::{MODEL, run};
