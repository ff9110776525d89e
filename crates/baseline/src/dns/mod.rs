//! What the compression of names in messages is held against.

mod dumb;

pub use dumb::Dumb;
