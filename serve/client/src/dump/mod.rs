//! NDN packets of captured frames, a line for each: what `hashlane ndn dump` prints.
//!
//! - [`Dissector`]: frames in, lines out.
//! - [`Streams`]: packets of captured TCP connections, whose segments it reorders.

mod dissect;
mod packet;
mod stream;

pub use dissect::{Dissector, Wanted};
pub use stream::{Found, Streams};
