//! Transfers over TLS (XoT, RFC 9103), to secondaries and from primaries.

use crate::support::{Running, ask_over, framed, read_message, zone};
use crate::tls::{Authority, NAME};
use hashlane_dns::wire::{Message, Rcode};
use hashlane_name::dns::text;
use hashlane_nameserver::Handle;
use hashlane_nameserver::config::{TsigKey, ZoneFile};
use hashlane_transfer::incoming::{Incoming, Progress, Query};
use hashlane_transfer::notify::{soa_query, transfer_query};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

fn key() -> TsigKey {
    let text = "[[key]]\nname = \"transfer.example\"\nalgorithm = \"hmac-sha256\"\n\
                secret = \"c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0\"\n";
    hashlane_nameserver::Config::parse(text).unwrap().key.remove(0)
}

/// A server that gives its zone to this host over TLS alone.
fn primary(authority: &Authority) -> Running {
    Running::start(|config| {
        authority.configure(config);
        config.key = vec![key()];
        config.zone[0].allow_transfer = ["127.0.0.1 tls", "127.0.0.0/8 tls key transfer.example"]
            .map(|rule| rule.parse().unwrap())
            .to_vec();
        // The part of a handshake that is taken for the begin of a long query.
        config.tcp.message_timeout_ms = 1500;
    })
}

/// A server that answers all bytes with bytes that are not of TLS.
fn answers_in_clear() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(40) {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        }
    });
    address
}

/// A server that gets `example.com` over TLS from a server that should have this name.
fn secondary(primary: SocketAddr, name: &str, roots: &Path, folder: &Path) -> Running {
    Running::start(|config| {
        config.transfer.folder = folder.to_owned();
        config.tls.roots = roots.to_owned();
        config.zone = vec![ZoneFile {
            name: "example.com".into(),
            primaries: vec![format!("{primary} tls {name}").parse().unwrap()],
            ..ZoneFile::default()
        }];
    })
}

/// Serial number in service.
fn serial(handle: &Handle) -> Option<u32> {
    handle.status().zones[0].serial
}

/// Error of the last question to the primary.
fn error(handle: &Handle) -> Option<String> {
    handle.status().zones[0].transfer.as_ref()?.error.clone()
}

/// Puts a version in service.
fn change(primary: &Running, text: &str) {
    std::fs::write(primary.file("example.com.zone"), text).unwrap();
    primary.handle.reload(Some("example.com")).unwrap();
}

/// The response code, or the outcome of a transfer and the number of its records.
fn transfer(stream: &mut (impl Read + Write), query: Query) -> Result<(Progress, usize), Rcode> {
    let apex = text::parse(b"example.com").unwrap();
    stream.write_all(&framed(&transfer_query(apex.view(), 7, query))).unwrap();
    let mut incoming = Incoming::new(apex.view(), 7, query, 1 << 30);
    let mut records = 0;
    loop {
        let message = read_message(stream).expect("a response");
        let rcode = Message::parse(&message).unwrap().header().flags.rcode();
        if rcode != Rcode::NO_ERROR {
            return Err(rcode);
        }
        let progress = incoming.message(&message, &mut |_| {
            records += 1;
            Ok(())
        });
        match progress.unwrap() {
            Progress::More => {}
            progress => return Ok((progress, records)),
        }
    }
}

/// A server with a certificate for [`NAME`], which does not say that it speaks DNS.
fn speaks_no_dns(authority: &Authority) -> SocketAddr {
    let (pem, key) = authority.issue("silent", NAME, 4000);
    let certificates = CertificateDer::pem_file_iter(pem).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let builder = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let config = Arc::new(builder.with_no_client_auth().with_single_cert(certificates, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(40) {
            let Ok(mut stream) = stream else { return };
            let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
            while session.is_handshaking() && session.complete_io(&mut stream).is_ok() {}
        }
    });
    address
}

#[test]
fn access_over_tls_alone_needs_tls_and_the_protocol_of_dns() {
    let authority = Authority::new();
    let primary = primary(&authority);
    let mut client = authority.connect(&primary).unwrap();
    assert!(matches!(transfer(&mut client, Query::Whole), Ok((Progress::Whole(7), _))));
    change(&primary, &(zone(8) + "new IN A 192.0.2.8\n"));
    change(&primary, &(zone(9) + "new IN A 192.0.2.9\n"));
    assert!(matches!(transfer(&mut client, Query::Since(8)), Ok((Progress::Deltas(_), _))));
    assert_eq!(transfer(&mut primary.tcp(), Query::Whole), Err(Rcode::REFUSED));
    let mut silent = authority.connect_silent(&primary).unwrap();
    assert_eq!(transfer(&mut silent, Query::Whole), Err(Rcode::REFUSED), "no ALPN");
    let soa = soa_query(text::parse(b"example.com").unwrap().view(), 3);
    let response = ask_over(&mut silent, &soa).unwrap();
    assert_eq!(Message::parse(&response).unwrap().header().flags.rcode(), Rcode::NO_ERROR, "but queries");

    // Without ALPN, no rule permits a transfer; with it, one without `tls` does, as over TCP.
    primary.next.lock().unwrap().zone[0].allow_transfer = vec!["127.0.0.1".parse().unwrap()];
    primary.handle.reload(None).unwrap();
    assert_eq!(transfer(&mut silent, Query::Whole), Err(Rcode::REFUSED));
    assert!(
        transfer(&mut client, Query::Whole).is_ok() && transfer(&mut primary.tcp(), Query::Whole).is_ok()
    );
}

#[test]
fn a_large_zone_comes_whole_over_tls_and_queries_beside_it_are_answered() {
    let authority = Authority::new();
    let primary = primary(&authority);
    let many: String =
        (0..30_000).map(|number| format!("host{number} IN TXT \"text of host {number}\"\n")).collect();
    change(&primary, &(zone(8) + &many));
    let soa = soa_query(text::parse(b"example.com").unwrap().view(), 3);
    let mut client = authority.connect(&primary).unwrap();
    client.write_all(&framed(&soa)).unwrap();
    let (progress, records) = {
        read_message(&mut client).unwrap();
        transfer(&mut client, Query::Whole).unwrap()
    };
    assert_eq!(progress, Progress::Whole(8));
    assert!(records > 30_000, "{records}");
    assert!(ask_over(&mut client, &soa).is_some(), "the connection goes on");
}

#[test]
fn a_secondary_follows_a_primary_over_tls() {
    let authority = Authority::new();
    let primary = primary(&authority);
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.tls[0], NAME, &authority.roots(), folder.path());
    secondary.wait("the whole zone", |handle| serial(handle) == Some(7));
    change(&primary, &(zone(8) + "new IN A 192.0.2.8\n"));
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("the difference", |handle| serial(handle) == Some(8));
    // With a key, and without the rule for those that have none.
    primary.next.lock().unwrap().zone[0].allow_transfer.remove(0);
    primary.handle.reload(None).unwrap();
    change(&primary, &zone(9));
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("a refusal", |handle| error(handle).is_some_and(|error| error.contains("REFUSED")));
    {
        let mut next = secondary.next.lock().unwrap();
        next.key = vec![key()];
        let peer = format!("{} tls {NAME} key transfer.example", primary.tls[0]);
        next.zone[0].primaries = vec![peer.parse().unwrap()];
    }
    secondary.handle.reload(None).unwrap();
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("the signed transfer", |handle| serial(handle) == Some(9));
    let tcp = primary.handle.stats().tcp;
    assert_eq!((tcp.transfers, tcp.accepted), (3, tcp.handshakes));
}

#[test]
fn a_primary_that_cannot_prove_its_name_changes_nothing() {
    let authority = Authority::new();
    let primary = primary(&authority);
    let folder = tempfile::tempdir().unwrap();
    drop({
        let secondary = secondary(primary.tls[0], NAME, &authority.roots(), folder.path());
        secondary.wait("the first version", |handle| serial(handle) == Some(7));
        secondary
    });
    change(&primary, &zone(8));
    let expect = |address: SocketAddr, name: &str, roots: &Path, words: &str| {
        let secondary = secondary(address, name, roots, folder.path());
        secondary.wait(words, |handle| error(handle).is_some());
        let error = error(&secondary.handle).unwrap();
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(serial(&secondary.handle), Some(7), "{words}");
    };
    let (other, namesake) = (Authority::named("other issuer"), Authority::new());
    expect(primary.tls[0], NAME, &other.roots(), "unknown issuer; add the issuer's certificate to");
    expect(primary.tls[0], NAME, &namesake.roots(), "not signed by the issuer in `tls.roots`");
    expect(primary.tls[0], "ns2.example", &authority.roots(), "not valid for name \"ns2.example\"");
    expect(primary.address, NAME, &authority.roots(), "does it speak TLS at this port?");
    expect(answers_in_clear(), NAME, &authority.roots(), "does not speak TLS at this port; name its port");

    let other_protocol = speaks_no_dns(&authority);
    expect(other_protocol, NAME, &authority.roots(), "does not take the ALPN \"dot\"");
    let expired = Running::start(|config| {
        authority.configure(config);
        (config.tls.certificate, config.tls.key) = authority.issue("expired", NAME, 2002);
    });
    expect(expired.tls[0], NAME, &authority.roots(), "certificate expired");
    let refuses = Running::start(|config| authority.configure(config));
    change(&refuses, &zone(8));
    expect(refuses.tls[0], NAME, &authority.roots(), "REFUSED");
}

#[test]
fn a_certificate_may_be_its_own_root() {
    let authority = Authority::new();
    let params = rcgen::CertificateParams::new([NAME.to_owned()]).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let (pem, key_pem) = (authority.file("own.pem"), authority.file("own.key"));
    std::fs::write(&pem, params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(&key_pem, key.serialize_pem()).unwrap();
    let primary = Running::start(|config| {
        authority.configure(config);
        (config.tls.certificate, config.tls.key) = (pem.clone(), key_pem);
        config.zone[0].allow_transfer = vec!["127.0.0.1 tls".parse().unwrap()];
    });
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.tls[0], NAME, &pem, folder.path());
    secondary.wait("the whole zone", |handle| serial(handle) == Some(7));
}

#[test]
fn a_reload_with_wrong_roots_is_refused() {
    let authority = Authority::new();
    let primary = primary(&authority);
    let folder = tempfile::tempdir().unwrap();
    let secondary = secondary(primary.tls[0], NAME, &authority.roots(), folder.path());
    secondary.wait("the whole zone", |handle| serial(handle) == Some(7));
    std::fs::write(authority.roots(), "no PEM").unwrap();
    let refused = secondary.handle.reload(None).unwrap_err().to_string();
    assert!(refused.starts_with("`tls.roots` ") && refused.contains("has no certificate"), "{refused}");
    change(&primary, &zone(8));
    secondary.handle.refresh("example.com", false).unwrap();
    secondary.wait("the next version by the old roots", |handle| serial(handle) == Some(8));
}
