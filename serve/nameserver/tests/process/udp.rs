//! Queries in datagrams.

use crate::support::{Running, exchange, query, summary, with_options};
use hashlane_nameserver::config::Config;
use std::net::UdpSocket;

/// A configuration in which loopback addresses are limited, too.
fn limited(rate: u32) -> impl FnOnce(&mut Config) {
    move |config| {
        config.rate_limit.responses_per_second = rate;
        config.rate_limit.allow.clear();
        config.server.workers = 1;
    }
}

#[test]
fn names_of_the_zone_and_others_are_answered() {
    let server = Running::start(|_| {});
    assert_eq!(summary(&server.ask(&query(1, "www.example.com", 1))), (1, 0, false, 1));
    assert_eq!(summary(&server.ask(&query(2, "WWW.Example.COM", 1))), (2, 0, false, 1));
    assert_eq!(summary(&server.ask(&query(3, "no.example.com", 1))), (3, 3, false, 0));
    assert_eq!(summary(&server.ask(&query(4, "example.org", 1))), (4, 5, false, 0));
    assert_eq!(summary(&server.ask(&query(5, "a.b.wild.example.com", 16))), (5, 0, false, 1));
    let referral = server.ask(&query(6, "x.sub.example.com", 1));
    assert_eq!((summary(&referral), referral[9]), ((6, 0, false, 0), 1));
    assert_eq!(summary(&server.ask(&[&query(7, "example.com", 6)[..], b"more"].concat())), (7, 1, false, 0));

    // Neither of these has a response; the next datagram has.
    let client = server.udp();
    client.send(b"short").unwrap();
    client.send(&server.ask(&query(8, "www.example.com", 1))).unwrap();
    assert_eq!(summary(&exchange(&client, &query(9, "www.example.com", 1))).0, 9);
    server.wait("all were counted", |handle| handle.stats().udp.received == 11);
    let stats = server.handle.stats();
    assert_eq!((stats.udp.received, stats.udp.ignored, stats.udp.types["A"]), (11, 2, 7));
    assert_eq!((stats.udp.rcodes["NOERROR"], stats.udp.rcodes["REFUSED"]), (6, 1));
    assert_eq!(stats.zones["example.com"], 7);
}

#[test]
fn many_clients_get_each_their_own_response_with_and_without_pauses() {
    for pause_us in [0, 20, 1000] {
        let server = Running::start(|config| config.server.pause_us = pause_us);
        let clients: Vec<UdpSocket> = (0..50).map(|_| server.udp()).collect();
        for round in 0..20_u16 {
            for (number, client) in (0..).zip(&clients) {
                client.send(&query(round * 50 + number, "www.example.com", 1)).unwrap();
            }
            for (number, client) in (0..).zip(&clients) {
                let mut response = [0; 512];
                let length = client.recv(&mut response).unwrap();
                assert_eq!(summary(&response[..length]), (round * 50 + number, 0, false, 1));
            }
        }
        // A worker counts responses after it has sent them.
        server.wait("all were sent", |handle| handle.stats().udp.sent == 1000);
        assert!(server.stop().is_ok());
    }
}

#[test]
fn a_flood_is_limited_truncated_responses_say_so_and_a_cookie_exempts() {
    let server = Running::start(limited(20));
    // A cookie of the client, and with it the server's: option 10.
    let asks = |cookie: &[u8]| {
        let option = [&[0, 10, 0, cookie.len() as u8], cookie].concat();
        with_options(query(1, "www.example.com", 1), &option)
    };
    let first = server.ask(&asks(b"abcdefgh"));
    let at = first.windows(8).position(|bytes| bytes == b"abcdefgh").unwrap();
    let cookie = first[at..at + 24].to_vec();

    let client = server.udp();
    let (mut whole, mut truncated) = (0, 0);
    for _ in 0..400 {
        client.send(&asks(b"abcdefgh")).unwrap();
    }
    // The last one passes: it has another kind.
    client.send(&query(2, "example.org", 1)).unwrap();
    loop {
        let mut response = [0; 512];
        let length = client.recv(&mut response).unwrap();
        match summary(&response[..length]) {
            (2, ..) => break,
            (1, 0, false, 1) => whole += 1,
            (1, 0, true, 0) => {
                truncated += 1;
                // The question and the OPT record with the cookie stay.
                assert!(response[..length].windows(8).any(|bytes| bytes == b"abcdefgh"));
                assert_eq!((response[5], response[11]), (1, 1));
            }
            other => panic!("{other:?}"),
        }
    }
    // 20 at the start, and 20 in each second that the test takes.
    assert!(whole >= 19 && truncated >= 1 && whole + truncated < 400, "{whole} {truncated}");
    server.wait("all were counted", |handle| handle.stats().udp.limited_truncated == truncated);
    let stats = server.handle.stats().udp;
    assert!(stats.limited_dropped >= 1);

    let client = server.udp();
    for _ in 0..100 {
        assert_eq!(summary(&exchange(&client, &asks(&cookie))), (1, 0, false, 1));
    }
    server.wait("all were counted", |handle| handle.stats().udp.cookies == 100);
}

#[test]
fn random_names_share_the_limit_of_their_kind() {
    let server = Running::start(limited(10));
    let client = server.udp();
    for (at, below) in ["example.com", "sub.example.com", "wild.example.com"].into_iter().enumerate() {
        for number in 0..200 {
            client.send(&query(at as u16, &format!("{number}.{below}"), 16)).unwrap();
        }
        server.wait("all were received", |handle| handle.stats().udp.received == 200 * (at as u64 + 1));
        let stats = server.handle.stats().udp;
        assert!(stats.limited_dropped > 50 * (at as u64 + 1), "{below}: {stats:#?}");
    }
}
