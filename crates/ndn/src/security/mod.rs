//! Signatures of packets: who made them, and whether we trust those.
//!
//! - [`Signer`] and [`Verifier`]: the private and the public half of a key.
//! - [`Signed`]: what a signature covers, of Data, of an Interest of format 0.3, and of a command in the form before it.
//! - [`Certificate`]: Data that binds a public key to a name for a time; [`SafeBag`]: one together with its encrypted private key.
//! - [`TrustAnchors`]: certificates that are trusted, and by which rule of theirs a packet is refused.
//!
//! Sources: NDN Packet Format 0.3, Signature, Signed Interest and Certificate; ndn-cxx specifications, SafeBag.

pub mod certificate;
pub mod error;
pub mod file;
pub mod safe_bag;
pub mod sign;
pub mod signed;
#[cfg(test)]
mod tests;
pub mod time;
pub mod trust;
pub mod verify;

pub use certificate::Certificate;
pub use error::{CertificateError, KeyError, Refusal, SafeBagError};
pub use file::certificate_bytes;
pub use safe_bag::SafeBag;
pub use sign::Signer;
pub use signed::Signed;
pub use trust::TrustAnchors;
pub use verify::Verifier;
