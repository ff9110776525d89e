//! Signatures of packets, certificates, trust.
//!
//! - [`Signer`] and [`Verifier`]: private and public keys.
//! - [`Signed`]: the signature of a Data packet, of an Interest of format 0.3 or of a command of format 0.2,
//!   with the bytes that it covers.
//! - [`Certificate`]: Data that binds a public key to a name for a period; [`SafeBag`]: a certificate with
//!   its encrypted private key.
//! - [`TrustAnchors`]: trusted certificates, which verify packets.
//! - [`Policy`]: rules that say which keys may sign which packets, with chains of [`Certificates`].
//!
//! Sources: NDN Packet Format 0.3, Signature, Signed Interest and Certificate; ndn-cxx specifications,
//! SafeBag.

pub mod certificate;
pub mod certificates;
mod curve;
pub mod error;
pub mod file;
pub mod policy;
pub mod safe_bag;
pub mod sign;
pub mod signed;
#[cfg(test)]
mod tests;
pub mod time;
pub mod trust;
pub mod verify;

pub use certificate::Certificate;
pub use certificates::Certificates;
pub use error::{CertificateError, KeyError, Refusal, SafeBagError};
pub use file::{certificate_bytes, safe_bag_bytes};
pub use policy::Policy;
pub use safe_bag::SafeBag;
pub use sign::Signer;
pub use signed::Signed;
pub use trust::TrustAnchors;
pub use verify::Verifier;
