//! Builds a Data packet, signs it with an Ed25519 key, and verifies it with a trusted certificate.
//!
//! Run: `cargo run -p hashlane-ndn --example signed_data`

use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_ndn::security::{Certificate, Signed, Signer, TrustAnchors};
use hashlane_ndn::wire::{Data, DataBuilder, KeyLocator, SignatureInfo};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // A real key is drawn at random and kept secret.
    let signer = Signer::ed25519(&[7; 32]);

    // The producer's certificate, signed with its own key and valid for the year 2026.
    let identity: OwnedName<Ndn> = parse_uri(b"/example/producer")?;
    let certificate = CertificateBuilder {
        identity: identity.view(),
        key: Component::generic(b"key-1"),
        version: 1,
        valid_from: 1_767_225_600,
        valid_until: 1_798_761_599,
    };
    let certificate = certificate.self_signed(&signer)?;
    let certificate = Certificate::parse(&certificate)?;
    println!("certificate {}", certificate.name());

    // The producer builds and signs Data.
    let name: OwnedName<Ndn> = parse_uri(b"/example/producer/hello")?;
    let builder = DataBuilder { freshness: Some(10_000), ..DataBuilder::new(name.view(), b"world") };
    let key_name = certificate.key_name();
    let locator = Some(KeyLocator::Name(key_name.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(signer.signature_type()) };
    let packet = signer.data(&builder, info);

    // A consumer that trusts the certificate parses and verifies the packet.
    let mut anchors = TrustAnchors::new();
    anchors.add(&certificate)?;
    let data = Data::parse(&packet)?;
    let now = 1_780_000_000;
    let by = anchors.verify(&Signed::data(&data), now)?;
    println!("Data {} of {} bytes, verified with {by}", data.name(), packet.len());

    // A packet with one changed byte is rejected.
    let mut forged = packet.clone();
    if let Some(at) = packet.windows(5).position(|bytes| bytes == b"world") {
        forged[at] ^= 1;
    }
    match anchors.verify(&Signed::data(&Data::parse(&forged)?), now) {
        Ok(_) => Err("a forged packet was verified".into()),
        Err(error) => {
            println!("forged Data: {error}");
            Ok(())
        }
    }
}
