//! Floods of connections, with an innocent client.

use crate::support::{Running, ask_over, framed, query, summary};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

/// A connection from another loopback address.
fn connect_from(source: &str, to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&format!("{source}:0").parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
    socket.into()
}

#[test]
fn a_flood_of_one_address_takes_its_own_places() {
    let server = Running::start(|config| {
        config.tcp.connections = 40;
        config.tcp.connections_per_address = 1000;
        config.tcp.idle_timeout_ms = 600_000;
        config.tcp.message_timeout_ms = 600_000;
    });
    let mut innocent = connect_from("127.0.0.2", server.address);
    assert_eq!(summary(&ask_over(&mut innocent, &query(1, "www.example.com", 1)).unwrap()).0, 1);
    // Each flooding connection has a part of a query, which is never completed.
    let flood: Vec<TcpStream> = (0..400)
        .map(|_| {
            let mut stream = connect_from("127.0.0.3", server.address);
            let _ = stream.write_all(&framed(&query(1, "www.example.com", 1))[..20]);
            stream
        })
        .collect();
    server.wait("all were accepted", |handle| handle.stats().tcp.accepted == 401);
    assert_eq!(summary(&ask_over(&mut innocent, &query(2, "www.example.com", 1)).unwrap()).0, 2);
    let mut newcomer = connect_from("127.0.0.4", server.address);
    assert_eq!(summary(&ask_over(&mut newcomer, &query(3, "www.example.com", 1)).unwrap()).0, 3);
    assert_eq!(summary(&ask_over(&mut innocent, &query(4, "www.example.com", 1)).unwrap()).0, 4);
    assert_eq!(summary(&server.ask(&query(5, "www.example.com", 1))).0, 5);
    let stats = server.handle.stats();
    assert!(stats.connections <= 40, "{stats:#?}");
    assert_eq!(stats.tcp.closed_for_others, 402 - 40);
    drop(flood);
}

#[test]
fn an_address_has_no_more_than_its_connections() {
    let server = Running::start(|config| config.tcp.connections_per_address = 3);
    let mut streams: Vec<TcpStream> = (0..3).map(|_| connect_from("127.0.0.5", server.address)).collect();
    for stream in &mut streams {
        ask_over(stream, &query(1, "www.example.com", 1)).unwrap();
    }
    // The first one was active last, so that the second one gives way.
    ask_over(&mut streams[0], &query(1, "www.example.com", 1)).unwrap();
    let mut another = connect_from("127.0.0.5", server.address);
    assert!(ask_over(&mut another, &query(2, "www.example.com", 1)).is_some());
    assert!(ask_over(&mut streams[0], &query(3, "www.example.com", 1)).is_some());
    assert!(ask_over(&mut streams[1], &query(4, "www.example.com", 1)).is_none());
    assert!(ask_over(&mut streams[2], &query(5, "www.example.com", 1)).is_some());
}

#[test]
fn the_memory_of_all_queues_is_bounded() {
    let server = Running::start(|config| {
        config.tcp.memory = 1 << 20;
        config.tcp.message_timeout_ms = 600_000;
    });
    let mut innocent = connect_from("127.0.0.2", server.address);
    assert!(ask_over(&mut innocent, &query(1, "www.example.com", 1)).is_some());
    // The longest query without its end, from one address: 60 of them are 4 MB.
    let flood: Vec<TcpStream> = (0..60)
        .map(|_| {
            let mut stream = connect_from("127.0.0.3", server.address);
            let _ = stream.write_all(&framed(&[0; 65_535])[..60_000]);
            stream
        })
        .collect();
    server.wait("the largest holder gave way", |handle| handle.stats().tcp.closed_for_others >= 20);
    assert!(ask_over(&mut innocent, &query(2, "www.example.com", 1)).is_some());
    drop(flood);
}
