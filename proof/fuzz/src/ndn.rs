//! Properties of the parsers of NDN packets, management, certificates and safe bags, for any bytes.

use ::hashlane_ndn::mgmt::dataset::{
    ChannelStatus, CsInfo, FaceEventNotification, FaceQueryFilter, FaceStatus, FibEntry, ForwarderStatus,
    RibEntry, StrategyChoice,
};
use ::hashlane_ndn::mgmt::trace::TraceReport;
use ::hashlane_ndn::mgmt::{
    AnnouncementBuilder, Command, ControlParameters, ControlResponse, FaceUri, PrefixAnnouncement, Record,
};
use ::hashlane_ndn::security::certificate::Certificate;
use ::hashlane_ndn::security::{SafeBag, Signed, Signer, TrustAnchors, time};
use ::hashlane_ndn::wire::lp::{Acks, LpHeader};
use ::hashlane_ndn::wire::{
    Data, DataBuilder, Interest, InterestBuilder, LpPacket, SignatureInfo, SignatureType,
};

/// Bytes that parse as a link packet give a header that is written and read back unchanged, and a fragment. A
/// fragment that parses as an Interest or as Data is rebuilt from its parts, and parses to the same parts.
pub fn check_packet(octets: &[u8]) {
    let Ok(packet) = LpPacket::parse(octets) else { return };
    check_header(&packet);
    if let Ok(interest) = Interest::parse(packet.fragment) {
        check_interest(&interest);
    }
    if let Ok(data) = Data::parse(packet.fragment) {
        check_data(&data);
    }
}

fn check_header(packet: &LpPacket<'_>) {
    // Each Ack takes 12 bytes.
    assert!(packet.header.acks().count() <= 8192);
    // Acks are not written.
    let header = LpHeader { acks: Acks::default(), ..packet.header };
    let frame = header.wrapped(packet.fragment.len());
    let again = [frame.as_bytes(), packet.fragment].concat();
    let read = LpPacket::parse(&again).expect("a packet that was built");
    assert_eq!(read, LpPacket { header, fragment: packet.fragment });
}

fn check_interest(interest: &Interest<'_>) {
    assert_eq!(interest.name().len(), interest.name_len());
    assert_eq!(interest.nonce_at().map(|at| interest.as_bytes()[at].len()), interest.nonce().map(|_| 4));
    assert_eq!(interest.hop_limit_at().map(|at| interest.as_bytes()[at]), interest.hop_limit());
    assert_eq!(interest.signature_info().is_some(), interest.signature_value().is_some());
    let builder = InterestBuilder {
        can_be_prefix: interest.can_be_prefix(),
        must_be_fresh: interest.must_be_fresh(),
        hints: interest.hints().collect(),
        nonce: interest.nonce(),
        lifetime: interest.lifetime(),
        hop_limit: interest.hop_limit(),
        ..InterestBuilder::new(interest.name())
    };
    assert_eq!(
        builder.hints.iter().map(|hint| hint.as_bytes().len()).sum::<usize>(),
        interest.forwarding_hint().len()
    );
    if let Ok(command) = Signed::command(interest.name()) {
        assert!(interest.name_bytes().len() > command.pieces[0].len() + command.value.len());
    }
    let right = interest.has_valid_parameters_digest();
    if interest.parameters().is_some() {
        let signed = Signed::interest(interest);
        assert!(right || signed.is_err());
        assert_eq!(signed.is_ok(), right && interest.signed_portion().is_some());
        return;
    }
    let octets = builder.build();
    let read = Interest::parse(&octets).expect("an Interest that was built");
    assert!(octets.len() <= interest.as_bytes().len());
    assert_eq!((read.name(), read.can_be_prefix()), (interest.name(), interest.can_be_prefix()));
    assert_eq!(
        (read.must_be_fresh(), read.forwarding_hint()),
        (interest.must_be_fresh(), interest.forwarding_hint())
    );
    assert_eq!(
        (read.nonce(), read.lifetime(), read.hop_limit()),
        (interest.nonce(), interest.lifetime(), interest.hop_limit())
    );
}

fn check_data(data: &Data<'_>) {
    assert_eq!(data.name().len(), data.name_len());
    let builder = DataBuilder {
        content_type: data.content_type(),
        freshness: data.freshness(),
        final_block: data.final_block(),
        ..DataBuilder::new(data.name(), data.content())
    };
    let mut info = Vec::new();
    data.signature_info().write(&mut info);
    let octets = builder.build_signed(&info, |_| data.signature_value().to_vec());
    let read = Data::parse(&octets).expect("Data that was built");
    assert_eq!((read.name(), read.content()), (data.name(), data.content()));
    assert_eq!((read.content_type(), read.freshness()), (data.content_type(), data.freshness()));
    assert_eq!((read.final_block(), read.signature_value()), (data.final_block(), data.signature_value()));
    let (again, before) = (read.signature_info(), data.signature_info());
    assert_eq!((again.signature_type, again.key_locator), (before.signature_type, before.key_locator));
    assert_eq!((again.nonce, again.time, again.seq_num), (before.nonce, before.time, before.seq_num));
    let signed = Signed::data(data);
    assert!(data.as_bytes().len() > signed.pieces[0].len() + signed.value.len());
}

/// Bytes that parse as a certificate, alone or in a safe bag, name its key, contain times that are written as
/// they were read, and are trusted only for packets that this key signed.
pub fn check_certificate(octets: &[u8]) {
    if let Ok(bag) = SafeBag::parse(octets) {
        assert!(octets.len() > bag.encrypted_key().len());
        check_certificate(bag.certificate().data().as_bytes());
    }
    let Ok(certificate) = Certificate::parse(octets) else { return };
    let (name, key_name) = (certificate.name(), certificate.key_name());
    assert_eq!(certificate.identity().view().len() + 4, name.len());
    assert!(certificate.is_located_by(name) && certificate.is_located_by(key_name.view()));
    assert!(!certificate.is_located_by(certificate.identity().view()));
    for time in [certificate.valid_from(), certificate.valid_until()] {
        assert_eq!(time::parse(&time::text(time)), Some(time));
    }
    assert!(!certificate.is_valid_at(certificate.valid_until() + 1));
    let Ok(key) = certificate.public_key() else { return };
    let mut anchors = TrustAnchors::new();
    anchors.add(&certificate).expect("a key that was read");
    let signed = Signed::data(certificate.data());
    // Most signatures are broken, and verified once only: that takes most of the time.
    if let Ok(trusted) = anchors.verify(&signed, certificate.valid_from()) {
        assert_eq!((trusted, key.verify(&signed)), (name, Ok(())));
    }
}

/// Parses the bytes as an Interest with a command, as each record of management, and as a face URI. A value
/// that is written and read again is the same.
pub fn check_management(bytes: &[u8]) {
    if let Ok(interest) = Interest::parse(bytes)
        && let Ok(command) = Command::parse(&interest)
    {
        let written = command.parameters.to_bytes();
        assert_eq!(ControlParameters::parse(&written), Ok(command.parameters));
        assert!(!command.signature.covered[0].is_empty());
    }
    check_record::<ControlParameters>(bytes);
    check_record::<ControlResponse>(bytes);
    check_record::<ForwarderStatus>(bytes);
    check_record::<FaceStatus>(bytes);
    check_record::<ChannelStatus>(bytes);
    check_record::<FaceQueryFilter>(bytes);
    check_record::<FaceEventNotification>(bytes);
    check_record::<FibEntry>(bytes);
    check_record::<RibEntry>(bytes);
    check_record::<StrategyChoice>(bytes);
    check_record::<CsInfo>(bytes);
    check_record::<TraceReport>(bytes);
    if let Ok(uri) = std::str::from_utf8(bytes).unwrap_or_default().parse::<FaceUri>() {
        assert_eq!(uri.to_string().parse(), Ok(uri.clone()));
        let canonical = uri.canonical();
        assert!(canonical.is_err() || canonical.is_ok_and(|canonical| canonical.is_canonical()));
    }
}

fn check_record<R: Record + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    if let Ok(record) = R::parse(bytes) {
        assert_eq!(R::parse(&record.to_bytes()).as_ref(), Ok(&record));
    }
    let _ = R::parse_all(bytes);
}

/// Bytes that parse as a prefix announcement give one that is built from its parts, and parses to the same
/// parts. A route lives for no longer than the announcement.
pub fn check_announcement(octets: &[u8]) {
    let Ok(announcement) = PrefixAnnouncement::parse(octets) else { return };
    let (prefix, expiration, validity) =
        (announcement.prefix(), announcement.expiration(), announcement.validity());
    assert_eq!(prefix.view().len() + 3, announcement.data().name_len());
    let times = validity.map_or([0, u64::MAX / 2, u64::MAX], |(from, until)| [from, until, until + 1]);
    for now in times.map(|seconds| seconds.saturating_mul(1000)) {
        let lifetime = announcement.lifetime(now);
        assert!(lifetime.is_none_or(|lifetime| lifetime <= expiration));
        if let (Some((_, until)), Some(lifetime)) = (validity, lifetime) {
            assert!(now + lifetime <= (until + 1) * 1000, "a route outlives the announcement");
        }
    }
    let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration, validity };
    let info = SignatureInfo::of(SignatureType::HMAC_WITH_SHA256);
    let Ok(again) = builder.build_signed(&Signer::hmac(b"key"), info) else { return };
    let again = PrefixAnnouncement::parse(&again).expect("an announcement that was built");
    assert_eq!((again.prefix(), again.expiration(), again.validity()), (prefix, expiration, validity));
}
