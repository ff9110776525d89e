//! Zones that some clients may query, and others may not.

use crate::support::{PATIENCE, Running, exchange, query, summary, with_options};
use hashlane_name::dns::text;
use hashlane_nameserver::config::{TsigKey, ZoneFile};
use hashlane_transfer::tsig::Key;
use std::net::UdpSocket;
use std::time::{SystemTime, UNIX_EPOCH};

const SECRET: &str = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0";

/// A client at an address of this host.
fn client(server: &Running, address: &str) -> UdpSocket {
    let socket = UdpSocket::bind((address, 0)).unwrap();
    socket.connect(server.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn a_zone_answers_the_clients_that_it_allows() {
    let server = Running::start(|config| {
        let (name, algorithm) = ("clients.example".to_owned(), "hmac-sha256".to_owned());
        config.key = vec![TsigKey { name, algorithm, secret: SECRET.into(), ..TsigKey::default() }];
        let file = config.zone[0].file.with_file_name("open.zone");
        std::fs::write(&file, "@ 60 IN SOA a b 1 2 3 4 5\n@ 60 IN NS a\nw 60 IN CNAME www.example.com.\n")
            .unwrap();
        config.zone.push(ZoneFile::new("open.example", file));
        config.zone[0].allow_query =
            ["127.0.0.2", "key clients.example"].map(|rule| rule.parse().unwrap()).into();
        config.zone[0].allow_transfer = vec!["127.0.0.3".parse().unwrap()];
    });
    let www = query(7, "www.example.com", 1);
    let ask = |address: &str, message: &[u8]| exchange(&client(&server, address), message);
    assert_eq!(summary(&ask("127.0.0.2", &www)), (7, 0, false, 1));
    // A secondary asks for the SOA record before a transfer.
    assert_eq!(summary(&ask("127.0.0.3", &query(7, "example.com", 6))), (7, 0, false, 1));
    assert_eq!(summary(&ask("127.0.0.1", &www)), (7, 5, false, 0));
    assert_eq!(summary(&ask("127.0.0.1", &query(7, "no.example.com", 1))), (7, 5, false, 0), "no NXDOMAIN");
    let refused = ask("127.0.0.1", &with_options(www.clone(), &[]));
    assert!(refused.ends_with(&[0, 15, 0, 2, 0, 18]), "extended error 18: {refused:?}");
    assert_eq!(summary(&refused), (7, 5, false, 0));
    // By TCP, too, and by a key from any address.
    assert_eq!(summary(&crate::support::ask_over(&mut server.tcp(), &www).unwrap()).1, 5);
    let name = text::parse(b"clients.example").unwrap();
    let mut signed = www.clone();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let key = Key::new(name.view(), "hmac-sha256", SECRET).unwrap();
    let mut verifier = key.sign(&mut signed, now);
    let mut response = ask("127.0.0.1", &signed);
    verifier.check(&mut response, now).unwrap();
    assert_eq!(summary(&response), (7, 0, false, 1));
    // Other zones are for all, and lead nobody into this one.
    assert_eq!(summary(&ask("127.0.0.1", &query(7, "w.open.example", 1))), (7, 0, false, 1));
    server.next.lock().unwrap().zone[0].allow_query.clear();
    server.handle.reload(None).unwrap();
    assert_eq!(summary(&ask("127.0.0.1", &www)), (7, 0, false, 1));
    assert_eq!(summary(&ask("127.0.0.1", &query(7, "w.open.example", 1))), (7, 0, false, 2));
}
