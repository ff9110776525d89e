//! Frames built by hand, by another crate, and at random.

mod build;
mod hostile;
mod links;
mod tunnels;
mod upper;
