use super::*;
use crate::queries::{Queries, QueryKind};
use crate::zone::{Shape, Zone};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const ZONE: Zone = Zone { names: 40, shape: Shape::Mixed };

/// An echo of the datagrams that `keep` picks by their ordinal, until it is dropped.
struct Echo {
    target: Target,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    fn new(manner: Manner, keep: fn(u64) -> bool) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let (address, from) = (socket.local_addr().unwrap(), Ipv4Addr::LOCALHOST);
        let target = Target { address, from, manner };
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut buffer, mut count) = ([0; 512], 0);
            while !ended.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                if keep(count) {
                    socket.send_to(&buffer[..length], from).unwrap();
                }
                count += 1;
            }
        });
        Self { target, stop, thread: Some(thread) }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_full_load_counts_answers_and_goes_on_where_it_ended() {
    let echo = Echo::new(Manner::Echoes, |_| true);
    let queries = Queries::of(ZONE, QueryKind::Mix, 1_000);
    let loaded = full(echo.target, &queries, 10, Duration::from_millis(30)).unwrap();
    let Loaded { counts, time, idle, next } = loaded;
    assert!(counts.answers > 0 && time > Duration::ZERO && idle < time);
    assert_eq!((counts.wrong, counts.check().is_ok()), (0, true));
    assert_eq!((10 + counts.answers + counts.lost) % 1_000, next as u64);
}

#[test]
fn lost_answers_are_counted_and_the_load_ends() {
    let echo = Echo::new(Manner::Echoes, |count| count % 10 != 3);
    let queries = Queries::of(ZONE, QueryKind::Positive, 100);
    let end = AtomicBool::new(false);
    let pace = Pace { rate: 2_000, from: 0, time: Duration::from_millis(100), end: &end };
    let Paced { counts, sent, times, .. } = paced(echo.target, &queries, pace).unwrap();
    assert_eq!(counts.answers + counts.lost, sent);
    assert!(counts.lost >= sent / 10 && counts.answers > 0, "{counts:?} of {sent}");
    assert!(times.is_empty());
}

#[test]
fn timed_queries_have_times() {
    let echo = Echo::new(Manner::Echoes, |_| true);
    let queries = Queries::timed_among(ZONE, QueryKind::Random, 1_000);
    let end = AtomicBool::new(false);
    let pace = Pace { rate: 5_000, from: 0, time: Duration::from_millis(60), end: &end };
    let Paced { counts, times, .. } = paced(echo.target, &queries, pace).unwrap();
    assert!(times.iter().all(|time| *time > 0.0));
    assert!(times.len() as u64 >= counts.answers / 5 && times.len() as u64 <= counts.answers / 5 + 1);
    end.store(true, Ordering::Relaxed);
    assert_eq!(paced(echo.target, &queries, pace).unwrap().sent, 0);
}

#[test]
fn wrong_answers_are_refused() {
    // An echo is a query, and no response.
    let echo = Echo::new(Manner::Answers, |_| true);
    let queries = Queries::of(ZONE, QueryKind::Positive, 100);
    let Loaded { counts, .. } = full(echo.target, &queries, 0, Duration::from_millis(5)).unwrap();
    assert!(counts.wrong > 0 && counts.answers == 0);
    let error = counts.check().unwrap_err().to_string();
    assert!(error.ends_with("answers are wrong, the first: flags 0x0000"), "{error}");
}

#[test]
fn a_silent_server_loses_all() {
    let echo = Echo::new(Manner::Echoes, |_| false);
    let queries = Queries::of(ZONE, QueryKind::Positive, 100);
    let Loaded { counts, .. } = full(echo.target, &queries, 0, Duration::from_millis(5)).unwrap();
    assert!(counts.answers == 0 && counts.lost > 0);
}
