//! Start of the workers.

use super::crew::Crew;
use super::datagrams::Datagrams;
use super::exchange::{Exchange, FirstWaker};
use super::idle::IdleAnswers;
use super::worker::Worker;
use crate::clock::Clock;
use crate::management::Report;
use hashlane_link::udp::UdpSocket;
use hashlane_ndn_fw::forward::Forwarder;
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::Dispatch;
use mio::Waker;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Starts a thread for each of the shards after the first one. They send over the same UDP sockets. `report`
/// reports to the management, also that a thread has ended before the others. `waker` wakes the first thread.
///
/// # Errors
/// A thread cannot be started.
pub(crate) fn start<P: Pit + Send + 'static>(
    forwarders: Vec<Forwarder<P>>,
    sockets: &[UdpSocket],
    waker: Arc<Waker>,
    clock: Clock,
    report: impl Fn(Report) + Clone + Send + 'static,
) -> io::Result<Box<Crew>> {
    let shards = 1 + forwarders.len();
    let waker = Arc::new(FirstWaker::new(waker));
    let mut ends = Exchange::of_all(shards, Some(&waker)).into_iter();
    let first = ends.next().ok_or_else(|| io::Error::other("no shards"))?;
    let counters = forwarders.iter().map(|forwarder| forwarder.counters().clone()).collect();
    let (queues, controls): (Vec<_>, Vec<_>) = forwarders.iter().map(|_| channel()).unzip();
    let idle = IdleAnswers::new();
    let workers = forwarders.into_iter().zip(ends).zip(controls).enumerate();
    for (at, ((forwarder, exchange), controls)) in workers {
        let next = queues.get(at + 1).map(|queue| (at + 2, queue.clone()));
        let (answer, idle) = (report.clone(), idle.clone());
        let sockets = sockets.iter().map(|socket| Ok((socket.try_clone()?, socket.local_addr()?)));
        let datagrams = Datagrams::new(sockets.collect::<io::Result<_>>()?);
        let answer = Box::new(answer);
        let worker = Worker { forwarder, exchange, datagrams, controls, next, report: answer, idle, clock };
        let end = ReportEnd(Some(report.clone()));
        let run = move || {
            let mut end = end;
            worker.run();
            end.0 = None;
        };
        std::thread::Builder::new().name(format!("forward-{}", at + 1)).spawn(run)?;
    }
    Ok(Box::new(Crew::new(Dispatch::new(shards), first, waker, queues, idle, counters)))
}

/// Reports a panic of a worker.
struct ReportEnd<F: Fn(Report)>(Option<F>);

impl<F: Fn(Report)> Drop for ReportEnd<F> {
    fn drop(&mut self) {
        if let Some(report) = &self.0 {
            report(Report::Ended(Some("a forwarding thread has panicked".to_owned())));
        }
    }
}
