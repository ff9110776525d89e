//! Keys that are trusted with commands.

use super::*;
use hashlane_name::component::Component;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Scope};
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_ndn::wire::{Interest, KeyLocator, SignatureInfo, SignatureType};

const SECRET: [u8; 32] = [7; 32];

/// A certificate that is valid in these seconds.
fn certificate(valid_from: u64, valid_until: u64) -> Vec<u8> {
    let identity: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/op").expect("a name");
    let key = Component::generic(b"1");
    CertificateBuilder { identity: identity.view(), key, version: 1, valid_from, valid_until }
        .self_signed(&Signer::ed25519(&SECRET))
        .expect("a certificate")
}

/// A configuration with a trust anchor.
fn with_anchor(file: &Path) -> Config {
    let mut config = Config::default();
    config.management.trust_anchors.push(file.into());
    config
}

#[test]
fn certificates_are_valid_from_their_first_to_their_last_second() {
    let bytes = certificate(1_000_000, 2_000_000);
    let certificate = Certificate::parse(&bytes).expect("a certificate");
    let check = |now| check_validity(&certificate, now);
    assert_eq!((check(1_000_000), check(2_000_000)), (Ok(()), Ok(())));
    let early = check(999_999).expect_err("not valid yet");
    assert!(
        early.contains("is valid from 19700112T134640 UTC") && early.contains("set the clock"),
        "{early}"
    );
    let late = check(2_000_001).expect_err("expired");
    assert!(late.ends_with("expired at 19700124T033320 UTC: configure a valid one"), "{late}");
}

#[test]
fn a_command_is_trusted_while_the_certificate_is_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("anchor");
    std::fs::write(&file, certificate(1_000_000, 2_000_000)).expect("a file");
    let verify = verifier(&with_anchor(&file), 1_500_000).expect("a valid anchor");
    let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };
    let (parameters, signature_nonce) = (ControlParameters::default(), [1; 8]);
    let time = 2_000_000_999;
    let builder =
        CommandBuilder { target, parameters: &parameters, nonce: 1, lifetime: 4000, signature_nonce, time };
    let key: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/op/KEY/1").expect("a name");
    let locator = Some(KeyLocator::Name(key.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
    let signer = Signer::ed25519(&SECRET);
    let packet = builder.build_signed(info, |pieces| signer.sign(&pieces)).expect("a short name");
    let interest = Interest::parse(&packet).expect("an Interest");
    let command = Command::parse(&interest).expect("a command");
    let verify = |unix| verify(&command, &[], Now { monotonic: 1, unix }).map_err(|distrust| distrust.why);
    assert_eq!(verify(time), Ok(key.as_bytes().into()), "the last second of the certificate");
    let expired = Err("the certificate expired at 2000000 seconds since 1970".to_owned());
    assert_eq!(verify(time + 1), expired);
}

#[test]
fn an_anchor_that_has_expired_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("anchor");
    let open = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("a file");
        verifier(&with_anchor(&file), 1_000_001).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(open(&certificate(0, 1_000_001)), Ok(()));
    let error = open(&certificate(0, 1_000_000)).expect_err("expired");
    assert!(
        error.starts_with(&format!("trust anchor {}: the certificate /op/KEY", file.display())),
        "{error}"
    );
}

/// A command, signed by the key of this number, which its KeyLocator names.
fn signed((scope, module, verb): (Scope, &[u8], &[u8]), key: &str, number: u8) -> Vec<u8> {
    let parameters = ControlParameters::default();
    let target = Target { scope, module, verb };
    let (signature_nonce, time) = ([1; 8], 1_500_000_000);
    let builder =
        CommandBuilder { target, parameters: &parameters, nonce: 1, lifetime: 4000, signature_nonce, time };
    let (key, signer) = (name(key), signer(number));
    let locator = Some(KeyLocator::Name(key.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
    builder.build_signed(info, |pieces| signer.sign(&pieces)).expect("a short name")
}

fn name(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
}

fn signer(number: u8) -> Signer {
    Signer::ed25519(&[number; 32])
}

/// A certificate of `identity`, valid at the time of the commands.
fn of(identity: &str, number: u8) -> Vec<u8> {
    let identity = name(identity);
    let (key, version) = (Component::generic(b"1"), 1);
    let builder = CertificateBuilder {
        identity: identity.view(),
        key,
        version,
        valid_from: 1_000_000,
        valid_until: 2_000_000,
    };
    builder.self_signed(&signer(number)).expect("a certificate")
}

/// The outcome of a command at this monotonic time: the key, or the reason for not trusting it.
fn outcome(verify: &Verify, packet: &[u8], monotonic: u64) -> Result<String, String> {
    let interest = Interest::parse(packet).expect("an Interest");
    let command = Command::parse(&interest).expect("a command");
    let key =
        verify(&command, &[], Now { monotonic, unix: 1_500_000_000 }).map_err(|distrust| distrust.why)?;
    Ok(hashlane_name::view::Name::<Ndn>::parse(&key).expect("a name").to_string())
}

const LOCALHOP: (Scope, &[u8], &[u8]) = (Scope::Localhop, b"rib", b"register");
const LOCALHOST: (Scope, &[u8], &[u8]) = (Scope::Localhost, b"rib", b"register");

#[test]
fn keys_sign_the_commands_of_their_modules_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |file: &str| folder.path().join(file).display().to_string();
    std::fs::write(path("all"), of("/all", 1)).expect("a file");
    std::fs::write(path("some"), of("/some", 2)).expect("a file");
    let text = format!(
        "[management]\ntrust_anchors = [{:?}]\n[[management.authorize]]\ncertificate = {:?}\nmodules = \
         [\"faces\", \"cs\"]\n",
        path("all"),
        path("some")
    );
    let verify = verifier(&Config::parse(&text).expect("a configuration"), 1_500_000).expect("files");
    let check = |module: &[u8], key: &str, number| {
        outcome(&*verify, &signed((Scope::Localhost, module, b"x"), key, number), 1)
    };
    for module in [&b"faces"[..], b"cs", b"fib", b"strategy-choice", b"rib"] {
        assert_eq!(check(module, "/all/KEY/1", 1), Ok("/all/KEY/1".into()));
        let expected = match module {
            b"faces" | b"cs" => Ok("/some/KEY/1".to_owned()),
            _ => Err("no trusted certificate for the key that signed".to_owned()),
        };
        assert_eq!(check(module, "/some/KEY/1", 2), expected);
    }
    assert_eq!(check(b"cs", "/some/KEY/1", 1), Err("wrong signature".into()));
}

#[test]
fn rules_hold_for_registrations_of_their_scope() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("root"), of("/net", 1)).expect("a file");
    let text = format!(
        "management.localhop = true\n[[trust.localhop.anchors]]\nfolder = {:?}\n[[trust.localhop.rules]]\nid = \
         \"commands\"\nfor = \"interest\"\nfilters = [{{ regex = '^<localhop><nfd><rib><register><>{{1,3}}$' }}]\n\
         checkers = [{{ type = \"customized\", signature = \"ed25519\", key = {{ regex = '^<net><KEY><>{{1,3}}$' }} }}]\n",
        folder.path()
    );
    let verify = verifier(&Config::parse(&text).expect("a configuration"), 1_500_000).expect("files");
    let check = |target, key: &str, number| outcome(&*verify, &signed(target, key, number), 1);
    assert_eq!(check(LOCALHOP, "/net/KEY/1", 1), Ok("/net/KEY/1".into()));
    assert_eq!(check(LOCALHOP, "/net/KEY/1", 2), Err("wrong signature (key /net/KEY/1)".into()));
    let other = check(LOCALHOP, "/other/KEY/1", 1).expect_err("another identity");
    assert!(other.starts_with("the rule \"commands\" does not let the key /other/KEY/1 sign"), "{other}");
    let unregister = (Scope::Localhop, &b"rib"[..], &b"unregister"[..]);
    let none = check(unregister, "/net/KEY/1", 1).expect_err("no rule");
    assert!(none.starts_with("no rule is for the name /localhop/nfd/rib/unregister/"), "{none}");
    assert_eq!(check(LOCALHOST, "/net/KEY/1", 1), Err("no trust anchor is configured".into()));
}

#[test]
fn a_folder_of_anchors_is_read_again_after_its_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join("anchors").join(name);
    std::fs::create_dir(folder.path().join("anchors")).expect("a folder");
    std::fs::write(file("none"), "no certificate").expect("a file");
    std::fs::create_dir(file("folder")).expect("a folder");
    let text = format!(
        "management.localhop = true\n[[trust.localhop.anchors]]\nfolder = {:?}\nrefresh_s = 60\n\
         [[trust.localhop.rules]]\nid = \"all\"\nfor = \"interest\"\n\
         checkers = [{{ type = \"hierarchical\", signature = \"ed25519\" }}, {{ type = \"customized\", signature = \
         \"ed25519\", key = {{ regex = '<KEY><>$' }} }}]\n",
        folder.path().join("anchors")
    );
    let verify = verifier(&Config::parse(&text).expect("a configuration"), 1_500_000).expect("files");
    let check = |monotonic| outcome(&*verify, &signed(LOCALHOP, "/net/KEY/1", 1), monotonic).map(drop);
    let missing = Err("no certificate of the key /net/KEY/1".to_owned());
    assert_eq!(check(5_000), missing);
    std::fs::write(file("root"), of("/net", 1)).expect("a file");
    assert_eq!((check(64_999), check(65_000)), (missing.clone(), Ok(())));
    std::fs::remove_file(file("root")).expect("a file");
    assert_eq!((check(124_999), check(125_000)), (Ok(()), missing.clone()));
    // A folder that is gone is trusted no longer, and again once it is back.
    std::fs::write(file("root"), of("/net", 1)).expect("a file");
    assert_eq!(check(185_000), Ok(()));
    std::fs::rename(folder.path().join("anchors"), folder.path().join("away")).expect("a folder");
    assert_eq!(check(245_000), missing);
    std::fs::rename(folder.path().join("away"), folder.path().join("anchors")).expect("a folder");
    assert_eq!(check(305_000), Ok(()));
}

#[test]
fn files_of_rules_are_checked_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |file: &str| folder.path().join(file);
    std::fs::write(path("expired"), certificate(0, 1_000)).expect("a file");
    std::fs::write(path("text"), "no certificate").expect("a file");
    std::fs::create_dir(path("folder")).expect("a folder");
    let error = |anchor: &str| {
        let text = format!(
            "management.localhop = true\n[[trust.localhop.anchors]]\n{anchor}\n[[trust.localhop.rules]]\nid = \"r\"\n\
             for = \"interest\"\ncheckers = [{{ type = \"hierarchical\" }}]\n"
        );
        let config = Config::parse(&text).expect("a configuration");
        verifier(&config, 1_500_000).map(drop).map_err(|error| error.to_string())
    };
    let file = |key: &str, file: &str| error(&format!("{key} = {:?}", path(file)));
    assert_eq!(file("folder", "folder"), Ok(()));
    for (outcome, expected) in [
        (file("file", "missing"), "missing: No such file"),
        (file("folder", "missing"), "missing: No such file"),
        (file("file", "text"), "text: not a certificate: neither a Data packet nor Base64"),
        (file("file", "expired"), "expired: the certificate /op/KEY/1/self/v=1 expired at"),
        (error("base64 = \"BgMHAQA=\""), "trust anchor in base64: not a certificate"),
    ] {
        let error = outcome.expect_err(expected);
        assert!(error.starts_with("trust anchor ") && error.contains(expected), "{error}");
    }
}

#[test]
fn announcements_are_trusted_by_anchors_or_by_their_own_rules() {
    use hashlane_ndn::mgmt::{AnnouncementBuilder, PrefixAnnouncement};

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("anchor");
    std::fs::write(&file, of("/op", 7)).expect("a file");
    let rules = format!(
        "[[trust.prefix_announcement.anchors]]\nfile = {file:?}\n[[trust.prefix_announcement.rules]]\nid = \"own\"\n\
         for = \"data\"\n[[trust.prefix_announcement.rules.checkers]]\ntype = \"hierarchical\"\n\
         signature = \"ed25519\"\n"
    );
    let on = "[rib]\nprefix_announcements = \"trusted\"\n";
    let outcome = |text: &str, prefix: &str, number: u8| {
        let config = Config::parse(text).expect("a configuration");
        let verify = verifier(&config, 1_500_000).expect("valid files");
        let prefix = name(prefix);
        let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration: 1000, validity: None };
        let key = name("/op/KEY/1");
        let locator = Some(KeyLocator::Name(key.view()));
        let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
        let packet = builder.build_signed(&signer(number), info).expect("a short name");
        let announcement = PrefixAnnouncement::parse(&packet).expect("an announcement");
        let target = Target { scope: Scope::Localhop, module: b"rib", verb: b"announce" };
        let now = Now { monotonic: 1, unix: 1_500_000_000 };
        let verified = verify(&announcement.command(target), &[], now);
        verified.map(drop).map_err(|distrust| distrust.why)
    };
    assert_eq!(outcome(&format!("{on}{rules}"), "/op/app", 7), Ok(()));
    for (prefix, number) in [("/other/app", 7), ("/op/app", 8)] {
        assert!(outcome(&format!("{on}{rules}"), prefix, number).is_err(), "{prefix} {number}");
    }
    // Without rules, a key of management.trust_anchors alone.
    assert_eq!(outcome(on, "/op/app", 7), Err("no trust anchor is configured".into()));
    let anchors = format!("{on}[management]\ntrust_anchors = [{file:?}]\n");
    assert_eq!(outcome(&anchors, "/other/app", 7), Ok(()));
    let any = format!("{on}[trust.prefix_announcement]\nany = true\n");
    assert_eq!(outcome(&any, "/any", 9), Ok(()));
    let error = Config::parse(&rules).expect_err("no effect").to_string();
    assert!(error.contains("set rib.prefix_announcements"), "{error}");
}
