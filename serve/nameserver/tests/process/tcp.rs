//! Queries over connections.

use crate::support::{PATIENCE, Running, ask_over, framed, query, read_message, summary};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

#[test]
fn pipelined_queries_are_answered_in_order_however_they_are_cut() {
    let server = Running::start(|_| {});
    let queries: Vec<Vec<u8>> = (0..300).map(|id| framed(&query(id, "www.example.com", 1))).collect();
    let all = queries.concat();
    for cut in [1, 7, 1000, all.len()] {
        let mut stream = server.tcp();
        stream.set_nodelay(true).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let bytes = if cut == 1 { all[..all.len() / 10].to_vec() } else { all.clone() };
        let expected = bytes.len() / queries[0].len();
        let write =
            std::thread::spawn(move || bytes.chunks(cut).for_each(|part| writer.write_all(part).unwrap()));
        for id in 0..expected {
            let response = read_message(&mut stream).unwrap();
            assert_eq!(summary(&response), (id as u16, 0, false, 1));
        }
        write.join().unwrap();
    }
}

#[test]
fn a_client_that_ends_its_side_still_gets_its_responses() {
    let server = Running::start(|_| {});
    let mut stream = server.tcp();
    for id in 0..3 {
        stream.write_all(&framed(&query(id, "www.example.com", 1))).unwrap();
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    for id in 0..3 {
        assert_eq!(summary(&read_message(&mut stream).unwrap()).0, id);
    }
    assert_eq!(read_message(&mut stream), None);
}

#[test]
fn the_longest_query_is_parsed_and_what_is_no_query_ends_the_connection() {
    let server = Running::start(|_| {});
    let mut stream = server.tcp();
    // Records without number after the question: FORMERR, as they end before the count does.
    let mut longest = query(1, "www.example.com", 1);
    longest[10..12].copy_from_slice(&[0xff, 0xff]);
    while longest.len() + 11 <= 65_535 {
        longest.extend_from_slice(&[0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
    longest.resize(65_535, 0);
    let begun = Instant::now();
    for _ in 0..100 {
        assert_eq!(summary(&ask_over(&mut stream, &longest).unwrap()), (1, 1, false, 0));
    }
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(summary(&ask_over(&mut stream, &query(2, "www.example.com", 1)).unwrap()).0, 2);
    assert_eq!(ask_over(&mut stream, b"short"), None);
    let mut stream = server.tcp();
    assert_eq!(ask_over(&mut stream, b""), None);
}

#[test]
fn idle_and_slow_clients_are_cut_and_others_are_served() {
    let server = Running::start(|config| {
        config.tcp.idle_timeout_ms = 3000;
        config.tcp.message_timeout_ms = 500;
    });
    let mut idle = server.tcp();
    let mut slow = server.tcp();
    slow.set_nodelay(true).unwrap();
    let writer = std::thread::spawn({
        let mut slow = slow.try_clone().unwrap();
        move || {
            // A byte at a time never makes a whole query before the timeout.
            for byte in framed(&query(1, &"a.".repeat(100), 1)) {
                if slow.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(25));
            }
        }
    });
    let mut rest = Vec::new();
    // A reset, too, is an end: bytes of the client were not read.
    let _ = slow.read_to_end(&mut rest);
    assert!(rest.is_empty());
    writer.join().unwrap();
    assert_eq!(idle.read_to_end(&mut rest).unwrap(), 0);
    server.wait("both were cut", |handle| {
        let tcp = handle.stats().tcp;
        tcp.closed_idle == 1 && tcp.closed_slow_query == 1
    });
    assert_eq!(summary(&ask_over(&mut server.tcp(), &query(2, "www.example.com", 1)).unwrap()).0, 2);
}

#[test]
fn a_client_that_never_reads_is_cut_and_its_queue_is_bounded() {
    let server = Running::start(|config| config.tcp.write_timeout_ms = 500);
    let stream = server.tcp();
    stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let many = framed(&query(1, "www.example.com", 1)).repeat(1000);
    let begun = Instant::now();
    // The server does not read on while its responses wait, so that writing ends, too.
    while (&stream).write_all(&many).is_ok() {
        assert!(begun.elapsed() < PATIENCE);
    }
    server.wait("it was cut", |handle| handle.stats().tcp.closed_slow_reader == 1);
    server.wait("its place is free", |handle| handle.status().connections == 0);
}
