//! Names in every encoding, as text, and of the DNS.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod dns;
mod encodings;
mod prefix;
mod properties;
mod support;
mod uri;
