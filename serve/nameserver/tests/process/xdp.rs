//! Queries past the kernel's network stack, on a cable between two network namespaces.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use crate::support::{
    PATIENCE, Running, ask_over, exchange, framed, query, read_message, summary, with_options,
};
use hashlane_nameserver::config::{Config, Io};
use hashlane_nameserver::status::InterfaceState;
use hashlane_nameserver::{Handle, Server};
use hashlane_rig::namespace;
use std::fmt::Write as _;
use std::fs::File;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};

const ADDRESSES: [&str; 2] = ["10.9.0.2", "fd09::2"];

/// The ends of the cable, with their addresses.
const FAR: (&str, &[&str]) = ("far", &["10.9.0.2/24", "fd09::2/64"]);
const NEAR: (&str, &[&str]) = ("near", &["10.9.0.1/24", "fd09::1/64"]);

/// A configuration with XDP on `far`.
fn by_xdp(config: &mut Config) {
    config.server.listen = ADDRESSES.map(|ip| SocketAddr::new(ip.parse().unwrap(), 5300)).to_vec();
    config.server.user = "root".into();
    config.server.workers = 1;
    config.server.io = Io::Xdp;
    config.server.interfaces = vec!["far".into()];
}

/// Runs a test in the namespace of the server's end `far`; `near`, the client's, is in the other one.
fn with_cable(test: fn(&File)) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let prepare = move || {
        let client = namespace::create_cable(FAR, NEAR)?;
        sender.send(client).map_err(std::io::Error::other)
    };
    namespace::with(prepare, move || test(&receiver.recv().unwrap()));
}

/// A server as of [`by_xdp`], with more changes.
fn start(change: impl FnOnce(&mut Config)) -> Running {
    Running::start(|config| {
        by_xdp(config);
        change(config);
    })
}

/// A UDP socket in the client's namespace that is connected to one of the addresses.
fn client(namespace: &File, server: &str) -> UdpSocket {
    let server: IpAddr = server.parse().unwrap();
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = namespace::within(namespace, || UdpSocket::bind(any).unwrap());
    socket.connect((server, 5300)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Datagrams that sockets of this namespace have received.
fn by_sockets() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("Udp: "));
    let names = lines.next().unwrap().split(' ').collect::<Vec<_>>();
    let at = names.iter().position(|name| *name == "InDatagrams").unwrap();
    let ipv4: u64 = lines.next().unwrap().split(' ').nth(at).unwrap().parse().unwrap();
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp6").unwrap();
    let ipv6 = text.lines().find_map(|line| line.strip_prefix("Udp6InDatagrams")).unwrap();
    ipv4 + ipv6.trim().parse::<u64>().unwrap()
}

#[test]
fn queries_are_answered_and_counted_without_the_sockets() {
    with_cable(|namespace| {
        let server = start(|_| {});
        for address in ADDRESSES {
            let client = client(namespace, address);
            for (id, name, expected) in [
                (1, "www.example.com", (0, false, 1)),
                (2, "no.example.com", (3, false, 0)),
                (3, "a", (5, false, 0)),
            ] {
                let (got, rcode, truncated, answers) = summary(&exchange(&client, &query(id, name, 1)));
                assert_eq!((got, (rcode, truncated, answers)), (id, expected));
            }
            // Neither of these has a response; the next query has.
            client.send(b"short").unwrap();
            client.send(&exchange(&client, &query(4, "www.example.com", 1))).unwrap();
            assert_eq!(summary(&exchange(&client, &query(5, "www.example.com", 1))).0, 5);
            // NOTIFY from a stranger.
            let mut notify = query(6, "example.com", 6);
            notify[2] = 0x20;
            assert_eq!(exchange(&client, &notify)[..2], [0, 6]);
        }
        server.wait("all were counted", |handle| handle.stats().udp.received == 16);
        let stats = server.handle.stats().udp;
        assert_eq!((stats.ignored, stats.rcodes["NXDOMAIN"], stats.malformed), (4, 2, 0));
        server.wait("all were sent", |handle| handle.stats().udp.sent == 12);
        assert_eq!(by_sockets(), 0);
        assert!(server.stop().is_ok());
        // The next server gets the interface.
        let next = start(|_| {});
        assert_eq!(summary(&exchange(&client(namespace, ADDRESSES[0]), &query(7, "a", 1))).0, 7);
        assert!(next.stop().is_ok());
    });
}

#[test]
fn tcp_and_fragments_are_answered_by_sockets() {
    with_cable(|namespace| {
        let server = start(|_| {});
        for address in ADDRESSES {
            let address: IpAddr = address.parse().unwrap();
            let connect = || TcpStream::connect((address, 5300)).unwrap();
            let mut stream = namespace::within(namespace, connect);
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let response = ask_over(&mut stream, &query(1, "www.example.com", 1)).unwrap();
            assert_eq!(summary(&response), (1, 0, false, 1));
            // An option that fills three frames.
            let client = client(namespace, &address.to_string());
            let padding = [&[0, 12, 0x0f, 0xa0][..], &[0; 4000]].concat();
            let long = with_options(query(2, "www.example.com", 1), &padding);
            assert_eq!(summary(&exchange(&client, &long)), (2, 0, false, 1));
        }
        assert_eq!(by_sockets(), 2);
        server.wait("all were counted", |handle| handle.stats().tcp.received == 2);
    });
}

#[test]
fn a_response_beyond_the_mtu_is_truncated_and_complete_over_tcp() {
    with_cable(|namespace| {
        namespace::ip("link set far mtu 1300").unwrap();
        let server = start(|config| {
            config.server.max_udp = 4096;
            let mut zone = crate::support::zone(1);
            for (name, count) in [("fits", 5), ("long", 6)] {
                for number in 0..count {
                    let text = "x".repeat(200);
                    writeln!(zone, "{name} IN TXT \"{number}{text}\"").unwrap();
                }
            }
            std::fs::write(&config.zone[0].file, zone).unwrap();
        });
        // EDNS with a size of 4,096 bytes.
        let ask = |name| [&query(1, name, 16)[..], &[0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]].concat();
        let ask = |name| {
            let mut query = ask(name);
            query[11] = 1;
            query
        };
        for address in ADDRESSES {
            let client = client(namespace, address);
            let fits = exchange(&client, &ask("fits.example.com"));
            assert_eq!(summary(&fits), (1, 0, false, 5));
            let long = exchange(&client, &ask("long.example.com"));
            assert_eq!(summary(&long), (1, 0, true, 0));
            assert!(fits.len() > 1000 && long.len() < 100);
            let connect = || TcpStream::connect((address.parse::<IpAddr>().unwrap(), 5300)).unwrap();
            let mut stream = namespace::within(namespace, connect);
            assert_eq!(summary(&ask_over(&mut stream, &ask("long.example.com")).unwrap()), (1, 0, false, 6));
        }
        server.wait("all were counted", |handle| handle.stats().udp.truncated == 2);
        assert_eq!(by_sockets(), 0);
    });
}

#[test]
fn a_flood_is_limited_as_over_sockets() {
    with_cable(|namespace| {
        let server = start(|config| config.rate_limit.responses_per_second = 20);
        let client = client(namespace, ADDRESSES[0]);
        for _ in 0..400 {
            client.send(&query(1, "www.example.com", 1)).unwrap();
        }
        server.wait("all were counted", |handle| handle.stats().udp.received == 400);
        let stats = server.handle.stats().udp;
        assert!(stats.limited_dropped >= 100 && stats.limited_truncated >= 100, "{stats:#?}");
        assert_eq!(stats.sent + stats.limited_dropped, 400);
    });
}

#[test]
fn pipelined_clients_get_each_their_own_response() {
    with_cable(|namespace| {
        let server = start(|config| config.rate_limit.responses_per_second = 0);
        let clients: Vec<_> = (0..40).map(|number| client(namespace, ADDRESSES[number % 2])).collect();
        for round in 0..20_u16 {
            for (number, client) in (0..).zip(&clients) {
                client.send(&query(round * 40 + number, "www.example.com", 1)).unwrap();
            }
            for (number, client) in (0..).zip(&clients) {
                let mut response = [0; 512];
                let length = client.recv(&mut response).unwrap();
                assert_eq!(summary(&response[..length]), (round * 40 + number, 0, false, 1));
            }
        }
        server.wait("all were sent", |handle| handle.stats().udp.sent == 800);
        assert_eq!(by_sockets(), 0);
    });
}

#[test]
fn sockets_take_over_from_an_interface_that_was_removed() {
    with_cable(|namespace| {
        let server = start(|_| {});
        let ask = |id| {
            for address in ADDRESSES {
                let response = exchange(&client(namespace, address), &query(id, "www.example.com", 1));
                assert_eq!(summary(&response), (id, 0, false, 1));
            }
        };
        let state = |handle: &Handle| {
            let [interface] = &handle.status().interfaces[..] else { panic!("one interface") };
            assert_eq!((&*interface.name, interface.queues), ("far", 1));
            (interface.state, interface.outages)
        };
        ask(1);
        assert_eq!(state(&server.handle), (InterfaceState::Up, 0));
        // IPv6 addresses go when an interface goes down.
        namespace::ip("link set far down").unwrap();
        server.wait("it is down", |handle| state(handle) == (InterfaceState::Down, 1));
        namespace::ip("link set far up").unwrap();
        namespace::ip("addr add fd09::2/64 dev far nodad").unwrap();
        server.wait("it is up", |handle| state(handle) == (InterfaceState::Up, 1));
        ask(2);
        assert_eq!(by_sockets(), 0);
        namespace::ip("link del far").unwrap();
        server.wait("it was removed", |handle| state(handle) == (InterfaceState::Removed, 2));
        namespace::connect(FAR, NEAR, namespace).unwrap();
        ask(3);
        assert_eq!((by_sockets(), state(&server.handle)), (2, (InterfaceState::Removed, 2)));
        let beats = server.handle.beats();
        server.wait("all threads turn", |handle| {
            handle.beats().iter().zip(&beats).all(|(now, before)| now > before)
        });
        assert!(server.stop().is_ok());
    });
}

#[test]
fn an_interface_that_cannot_be_had_is_refused_or_left_to_sockets() {
    // Without the rights, the reason is another one.
    let mut config = Config::default();
    config.server.listen = vec!["127.0.0.1:0".parse().unwrap()];
    config.server.io = Io::Xdp;
    config.server.interfaces = vec!["nothing0".into()];
    config.control.path = "".into();
    let server = Running::start(|config| {
        config.server.interfaces = vec!["nothing0".into()];
    });
    assert_eq!(summary(&server.ask(&query(1, "www.example.com", 1))), (1, 0, false, 1));
    config.zone = server.next.lock().unwrap().zone.clone();
    let again = config.clone();
    let error = Server::start(&config, Box::new(move || Ok(again.clone()))).err().unwrap().to_string();
    assert!(error.starts_with("XDP on nothing0: no such interface; this host has lo"), "{error}");
    assert!(error.ends_with("or use sockets, by --io sockets or auto"), "{error}");
    assert_eq!(Server::check(&config).unwrap_err().to_string(), error);
    config.server.io = Io::Auto;
    assert!(Server::check(&config).is_ok());
    let mut stream = server.tcp();
    std::io::Write::write_all(&mut stream, &framed(&query(2, "www.example.com", 1))).unwrap();
    assert_eq!(summary(&read_message(&mut stream).unwrap()).0, 2);
}
