//! The threads that answer, and the end of each thread.

use super::Run;
use crate::answer::Answerer;
use crate::cell::Reader;
use crate::clock::Clock;
use crate::config::Config;
use crate::counters::Counters;
use crate::dnstap::Tap;
use crate::handle::{End, Handle, Shared, lock};
use crate::interface::Interface;
use crate::interfaces::Queue;
use crate::listen::Sockets;
use crate::transfers::special::Special;
use crate::view::View;
use crate::zones::random_key;
use crate::{tcp, udp};
use hashlane_dns::query::BATCH;
use hashlane_dns::respond::Transport;
use hashlane_hash::scheme::Key;
use hashlane_link::burst::{Burst, UdpBurst};
use mio::net::TcpListener;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Threads that run until they are stopped, which is when this value is dropped.
pub(super) struct Threads {
    handle: Handle,
    joined: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle, joined: Vec::new() }
    }

    /// Starts a thread. Its end is reported, also after a panic.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(super) fn start(
        &mut self,
        name: String,
        run: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        self.joined.push(self.handle.0.spawn(name, run)?);
        Ok(())
    }

    /// Starts the threads that answer queries.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(super) fn answer(&mut self, udp: Vec<(String, Run)>, tcp: tcp::Worker) -> io::Result<()> {
        for (name, run) in udp {
            self.start(name, move || {
                run();
                Ok(())
            })?;
        }
        self.start("tcp".into(), move || tcp.run())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.handle.stop();
        for thread in self.joined.drain(..) {
            // A panic was reported as the end of its thread.
            let _ = thread.join();
        }
        lock(&self.handle.0.folder).release();
    }
}

impl Shared {
    /// The threads that answer.
    pub(super) fn threads(
        &self,
        (sockets, queues, tls): (Vec<Sockets>, Vec<Queue>, Vec<TcpListener>),
        config: &Config,
        key: &Key,
        tap: Option<Tap>,
    ) -> io::Result<(Vec<(String, Run)>, tcp::Worker)> {
        let clock = Clock::start();
        let mut parts = self.counters.0.iter().enumerate();
        let mut next = || {
            let (thread, counters) = parts.next().ok_or_else(|| io::Error::other("too few counters"))?;
            // Its 64 KiB would be moved over the stack several times.
            let answerer = Box::new(Answerer::new(key, thread, tap.clone()));
            Ok::<_, io::Error>((answerer, Reader::new(&self.view), Arc::clone(counters)))
        };
        let (limiter_key, names_key) = (random_key()?, random_key()?);
        let special = |transport| Special::new(&names_key, transport, self.events.clone());
        let (mut udp, mut listeners) = (Vec::new(), Vec::new());
        let pause = Duration::from_micros(config.server.pause_us);
        for sockets in sockets {
            let threads = sockets.udp.len();
            for socket in sockets.udp {
                let source = UdpBurst::new(socket, BATCH, udp::PATIENCE)?;
                let run = self.worker(
                    (source, None),
                    next()?,
                    special(Transport::Udp),
                    (clock, limiter_key, threads, pause),
                );
                udp.push((format!("udp-{}", udp.len()), run));
            }
            listeners.push((sockets.tcp, false));
        }
        let threads = queues.len();
        for (number, Queue { interface, socket }) in queues.into_iter().enumerate() {
            let run = self.worker(
                (socket, Some(interface)),
                next()?,
                special(Transport::Udp),
                (clock, limiter_key, threads, pause),
            );
            udp.push((format!("xdp-{number}"), run));
        }
        listeners.extend(tls.into_iter().map(|listener| (listener, true)));
        let (answerer, view, counters) = next()?;
        let stop = Arc::clone(&self.stop);
        let connections = Arc::clone(&self.connections);
        let (special, requests) = (special(Transport::Tcp), self.requests.clone());
        let tls = Arc::clone(&self.tls);
        let parts = tcp::Parts { answerer, special, requests, view, counters, clock, tls, stop, connections };
        let (tcp, waker) = tcp::Worker::new(listeners, config.tcp.clone(), &random_key()?, parts)?;
        lock(&self.wakers).push(waker);
        Ok((udp, tcp))
    }

    /// The work of a thread that answers datagrams. `threads` share the limit of rates.
    fn worker<B: Burst + Send + 'static>(
        &self,
        (source, interface): (B, Option<Arc<Interface>>),
        (answerer, view, counters): (Box<Answerer>, Reader<View>, Arc<Counters>),
        special: Special,
        (clock, key, threads, pause): (Clock, Key, usize, Duration),
    ) -> Run {
        let stop = Arc::clone(&self.stop);
        let worker = udp::Worker {
            source,
            interface,
            answerer,
            special,
            view,
            counters,
            clock,
            key,
            threads,
            stop,
            pause,
        };
        Box::new(move || worker.run())
    }

    /// Starts a thread. Its end is reported, also after a panic.
    pub(super) fn spawn(
        &self,
        name: String,
        run: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<thread::JoinHandle<()>> {
        struct ReportEnd(Sender<End>, Option<(String, io::Result<()>)>);
        impl Drop for ReportEnd {
            fn drop(&mut self) {
                if let Some((name, result)) = self.1.take() {
                    // Nobody waits for the end of a thread once the server has ended.
                    let _ = self.0.send(End::Thread(name, result));
                }
            }
        }
        let panicked = Err(io::Error::other("it has panicked; report this defect"));
        let mut end = ReportEnd(self.ended.clone(), Some((name.clone(), panicked)));
        thread::Builder::new().name(name).spawn(move || {
            let result = run();
            if let Some((_, place)) = &mut end.1 {
                *place = result;
            }
        })
    }
}
