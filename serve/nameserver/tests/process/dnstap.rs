//! A collector of dnstap messages.

use crate::support::{PATIENCE, Running, query};
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

const CONTENT: &[u8] = b"protobuf:dnstap.Dnstap";

fn control(kind: u8) -> Vec<u8> {
    let body = [&[0, 0, 0, kind, 0, 0, 0, 1, 0, 0, 0, CONTENT.len() as u8][..], CONTENT].concat();
    [&[0, 0, 0, 0, 0, 0, 0, body.len() as u8], &body[..]].concat()
}

fn number(stream: &mut UnixStream) -> u32 {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes).unwrap();
    u32::from_be_bytes(bytes)
}

/// The next frame: the type of a control frame, or 0, and the rest.
fn frame(stream: &mut UnixStream) -> (u32, Vec<u8>) {
    let (mut len, mut kind) = (number(stream), 0);
    if len == 0 {
        len = number(stream) - 4;
        kind = number(stream);
    }
    let mut body = vec![0; len as usize];
    stream.read_exact(&mut body).unwrap();
    (kind, body)
}

/// Accepts a server.
fn accept(listener: &UnixListener) -> UnixStream {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (kind, body) = frame(&mut stream);
    assert_eq!((kind, &body[8..]), (4, CONTENT), "READY");
    stream.write_all(&control(1)).unwrap();
    assert_eq!(frame(&mut stream).0, 2, "START");
    stream
}

#[test]
fn a_collector_gets_each_query_and_response_and_may_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dnstap.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = Running::start(|config| {
        config.log.dnstap = path;
        config.server.identity = "ns1".into();
    });
    let begun = Instant::now();
    for _ in 0..4 {
        let mut stream = accept(&listener);
        let asked = query(0x1234, "www.example.com", 1);
        let answered = server.ask(&asked);
        let (kind, first) = frame(&mut stream);
        let (_, second) = frame(&mut stream);
        assert_eq!(kind, 0);
        let holds = |frame: &[u8], part: &[u8]| frame.windows(part.len()).any(|bytes| bytes == part);
        assert!(holds(&first, &asked) && !holds(&first, &answered), "{first:?}");
        assert!(holds(&second, &answered) && holds(&second, b"ns1"), "{second:?}");
        // AUTH_QUERY and AUTH_RESPONSE, IPv4, UDP, 127.0.0.1.
        assert!(holds(&first, &[8, 1, 16, 1, 24, 1, 34, 4, 127, 0, 0, 1]), "{first:?}");
        assert!(holds(&second, &[8, 2, 16, 1, 24, 1, 34, 4, 127, 0, 0, 1]), "{second:?}");
        drop(stream);
        // The server notices when it writes.
        server.ask(&asked);
    }
    // It connects again after a second, each time: 1, 2 and 4 s are for a collector that stays away.
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    server.wait("the queries that were lost", |handle| handle.stats().dnstap_lost == 4);
}
