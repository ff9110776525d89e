//! Queries to a server and its answers, over UDP and TCP.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Answers to queries in their order, `None` for none.
pub(crate) type Answers = Vec<Option<Vec<u8>>>;

/// Most queries without an answer at a time.
const WINDOW: usize = 64;
/// Time after which a query is sent again.
const RETRY: Duration = Duration::from_millis(500);
/// Number of times that a query is sent before it counts as unanswered.
const TRIES: usize = 4;
/// Most queries at a time on a connection.
const PIPELINE: usize = 20;
/// Timeout of a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// The answer to one query over UDP.
pub(crate) fn once(server: SocketAddr, query: &[u8], timeout: Duration) -> Option<Vec<u8>> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    socket.connect(server).ok()?;
    socket.set_read_timeout(Some(timeout)).ok()?;
    socket.send(query).ok()?;
    let mut buffer = vec![0; 65_536];
    let len = socket.recv(&mut buffer).ok()?;
    buffer.truncate(len);
    Some(buffer)
}

/// The identifier of query number `at` of a batch of at most 65,535.
pub(crate) fn id(at: usize) -> u16 {
    at as u16 + 1
}

/// Sends `queries`, numbered by [`id`], over UDP. Returns the answers in the same order.
pub(crate) fn udp(server: SocketAddr, queries: &[Vec<u8>]) -> Result<Answers, String> {
    let failed = |error: std::io::Error| format!("UDP to {server}: {error}");
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    socket.connect(server).map_err(failed)?;
    socket.set_read_timeout(Some(Duration::from_millis(50))).map_err(failed)?;
    let mut answers = vec![None; queries.len()];
    let mut buffer = vec![0; 65_536];
    // Number, time of sending and number of tries; the oldest first.
    let mut waiting: VecDeque<(usize, Instant, usize)> = VecDeque::new();
    let (mut next, mut missing) = (0, 0);
    while next < queries.len() || missing > 0 {
        while missing < WINDOW && next < queries.len() {
            socket.send(&queries[next]).map_err(failed)?;
            waiting.push_back((next, Instant::now(), 1));
            (next, missing) = (next + 1, missing + 1);
        }
        match socket.recv(&mut buffer) {
            Ok(len) => {
                let id = buffer[..len].first_chunk().map_or(0, |id| u16::from_be_bytes(*id));
                let number = usize::from(id).wrapping_sub(1);
                if let Some(answer @ None) = answers.get_mut(number).filter(|_| number < next) {
                    *answer = Some(buffer[..len].to_vec());
                    missing -= 1;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(failed(error)),
        }
        while let Some(&(number, sent, tries)) = waiting.front() {
            if answers[number].is_some() {
                waiting.pop_front();
            } else if sent.elapsed() < RETRY {
                break;
            } else {
                waiting.pop_front();
                if tries < TRIES {
                    socket.send(&queries[number]).map_err(failed)?;
                    waiting.push_back((number, Instant::now(), tries + 1));
                } else {
                    missing -= 1;
                }
            }
        }
    }
    Ok(answers)
}

/// Sends `queries` over TCP, some at a time on one connection. Returns the answers in the same order.
pub(crate) fn tcp(server: SocketAddr, queries: &[Vec<u8>]) -> Result<Answers, String> {
    let mut answers = vec![None; queries.len()];
    let mut connection = None;
    for (chunk, first) in queries.chunks(PIPELINE).zip((0..).step_by(PIPELINE)) {
        let mut wanted: BTreeMap<u16, usize> = (first..).take(chunk.len()).map(|at| (id(at), at)).collect();
        if talk(&mut connection, server, chunk, &mut wanted, &mut answers).is_err() {
            connection = None;
        }
        // One at a time, those that the server has not answered before it closed the connection.
        for (id, at) in wanted {
            let mut one = BTreeMap::from([(id, at)]);
            let _ = talk(&mut None, server, &queries[at..=at], &mut one, &mut answers);
        }
    }
    Ok(answers)
}

fn talk(
    connection: &mut Option<TcpStream>,
    server: SocketAddr,
    queries: &[Vec<u8>],
    wanted: &mut BTreeMap<u16, usize>,
    answers: &mut [Option<Vec<u8>>],
) -> std::io::Result<()> {
    let stream = match connection {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect_timeout(&server, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            connection.insert(stream)
        }
    };
    let framed = |query: &Vec<u8>| [&(query.len() as u16).to_be_bytes()[..], query].concat();
    stream.write_all(&queries.iter().flat_map(framed).collect::<Vec<u8>>())?;
    while !wanted.is_empty() {
        let mut len = [0; 2];
        stream.read_exact(&mut len)?;
        let mut answer = vec![0; usize::from(u16::from_be_bytes(len))];
        stream.read_exact(&mut answer)?;
        let id = answer.first_chunk().map_or(0, |id| u16::from_be_bytes(*id));
        if let Some(at) = wanted.remove(&id) {
            answers[at] = Some(answer);
        }
    }
    Ok(())
}
