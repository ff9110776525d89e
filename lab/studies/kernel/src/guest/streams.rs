//! Throughput of many streams over ::1, as `super_netperf` measures it: one sender and one receiver for each.

use super::report::{Result, Tasks, cannot};
use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Before the first slice: the windows open.
const WARM_UP: Duration = Duration::from_millis(300);

/// Throughput of all streams together in Mbit/s, of each slice of time; each message sent, and each read, has
/// `size` bytes.
pub(super) fn throughput(tasks: &Tasks, size: u32) -> Result<Vec<f64>> {
    let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).map_err(cannot("listen on ::1"))?;
    let server = listener.local_addr().map_err(cannot("listen on ::1"))?;
    let mut pairs = Vec::new();
    for _ in 0..tasks.streams {
        let sender = TcpStream::connect(server).map_err(cannot("connect to ::1"))?;
        let (receiver, _) = listener.accept().map_err(cannot("accept a stream"))?;
        pairs.push((sender, receiver));
    }
    let (stop, received) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for (sender, receiver) in &pairs {
            scope.spawn(|| send(sender, size, &stop));
            scope.spawn(|| receive(receiver, size, &received));
        }
        thread::sleep(WARM_UP);
        let slice = Duration::from_millis(tasks.slice.into());
        let figures = (0..tasks.slices).map(|_| {
            let (before, start) = (received.load(Ordering::Relaxed), Instant::now());
            thread::sleep(slice);
            let bytes = received.load(Ordering::Relaxed) - before;
            bytes as f64 * 8.0 / 1e6 / start.elapsed().as_secs_f64()
        });
        let figures: Vec<f64> = figures.collect();
        stop.store(true, Ordering::Relaxed);
        Ok(figures)
    })
}

/// Sends until `stop` is set or the other end is gone; then shuts down, so that the receiver ends.
fn send(mut stream: &TcpStream, size: u32, stop: &AtomicBool) {
    let message = vec![0x5a; size as usize];
    while !stop.load(Ordering::Relaxed) && stream.write_all(&message).is_ok() {}
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

fn receive(mut stream: &TcpStream, size: u32, received: &AtomicU64) {
    let mut message = vec![0; size as usize];
    while let Ok(bytes @ 1..) = stream.read(&mut message) {
        received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_arrive_and_all_threads_end() {
        let tasks = Tasks {
            sizes: Vec::new(),
            streams: 3,
            slices: 2,
            slice: 20,
            attacks: Vec::new(),
            before: Vec::new(),
            seed: 1,
        };
        // A machine without ::1 is reported.
        match throughput(&tasks, 64) {
            Ok(figures) => {
                assert!(figures.len() == 2 && figures.iter().any(|figure| *figure > 0.0), "{figures:?}")
            }
            Err(why) => assert!(why.contains("::1"), "{why}"),
        }
    }
}
