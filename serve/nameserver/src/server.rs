//! The server: sockets, threads, reloads, reports.

pub use crate::handle::Handle;
pub use crate::reload::Reread;

use crate::answer::Answerer;
use crate::cell::{Cell, Reader};
use crate::clock::Clock;
use crate::config::Config;
use crate::counters::{AllCounters, Counters};
use crate::dnstap::{Collector, Tap};
use crate::folder::{self, Folder};
use crate::handle::{End, Shared, lock};
use crate::listen::{self, Sockets};
use crate::reload;
use crate::status::ZoneStatus;
use crate::transfers::counts::Counts;
use crate::transfers::notifier::Notifier;
use crate::transfers::refresh::Refresher;
use crate::transfers::special::Special;
use crate::zones::{self, Catalog, random_key};
use crate::{account, control, tcp, tls, udp};
use hashlane_daemon::control::Service;
use hashlane_dns::respond::Transport;
use hashlane_hash::scheme::Key;
use mio::net::TcpListener;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// A server with bound sockets and loaded zones, which does not answer yet.
pub struct Server {
    handle: Handle,
    udp: Vec<udp::Worker>,
    tcp: tcp::Worker,
    control: Option<Service>,
    reload: reload::Service,
    refresher: Refresher,
    notifier: Notifier,
    collector: Option<Collector>,
    ends: Receiver<End>,
}

impl Server {
    /// Binds the sockets of a configuration, gives up privileges, and loads the zones. `reread` gets the
    /// configuration again at each reload.
    ///
    /// A zone that cannot be loaded is reported in the log, and its queries get SERVFAIL.
    ///
    /// # Errors
    /// The configuration is not valid; an address cannot be bound; the user cannot be changed; no zone can be
    /// loaded.
    pub fn start(config: &Config, reread: Reread) -> io::Result<Self> {
        config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        if config.zone.is_empty() {
            let why = "there is no zone to serve; name zone files, or [[zone]] in the configuration";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let workers = match config.server.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        let account = account::choose(config)?;
        let sockets = listen::bind(config, workers)?;
        let (tls_addresses, tls_listeners): (Vec<_>, Vec<_>) = listen::bind_tls(config)?.into_iter().unzip();
        let control = config.control.socket();
        control.prepare(account.as_ref())?;
        if let Some(account) = &account {
            account.assume()?;
        }
        let control = control.listen()?;

        listen::check_source(config)?;
        let mut folder = Folder::default();
        folder.hold(&config.transfer.folder, needs_folder(config))?;
        // As the user who reads them again at each reload.
        let certificate = tls::server(&config.tls)?;
        let key = random_key()?;
        let threads = sockets.len() * workers + 1;
        let mut catalog = Catalog::new(&key, threads)?;
        let loaded = catalog.update(config, None)?;
        // Zones with primaries come later.
        if !catalog.serves() && config.zone.iter().all(|zone| zone.primaries.is_empty()) {
            let why = loaded.failed.into_values().next();
            debug_assert!(why.is_some(), "a zone that is not served has failed to load");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why.unwrap_or_default()));
        }
        let view = Cell::new(catalog.view(config)?);

        let (ended, ends) = channel();
        let (requests, wait) = channel();
        let (events, due) = channel();
        let (news, told) = channel();
        let counters: Vec<_> = (0..threads)
            .map(|thread| if thread + 1 < threads { Transport::Udp } else { Transport::Tcp })
            .map(|transport| Arc::new(Counters::new(transport)))
            .collect();
        let handle = Handle(Arc::new(Shared {
            begun: Instant::now(),
            addresses: sockets.iter().map(|sockets| sockets.address).collect(),
            tls_addresses,
            tls: Arc::new(Mutex::new(certificate)),
            workers,
            counters: AllCounters(counters),
            stop: Arc::default(),
            wakers: Mutex::default(),
            ended,
            requests,
            events,
            received: Counts::default(),
            transfers: Mutex::default(),
            view,
            zones: Mutex::new(catalog.status()),
            reloads: Mutex::default(),
            refused: Mutex::default(),
            connections: Arc::default(),
            untapped: Arc::default(),
            folder: Mutex::new(folder),
        }));
        // The thread that takes it runs later.
        let _ = handle.0.events.send(catalog.secondaries(config));
        let refresher = Refresher::new(&key, handle.clone(), due);
        let reload = reload::Service::new((catalog, config.clone(), reread), wait, news, handle.clone());
        let (tap, collector) = match config.log.dnstap.as_os_str().is_empty() {
            true => (None, None),
            false => {
                let lost = Arc::clone(&handle.0.untapped);
                let (tap, collector) = Tap::new(config.log.dnstap.clone(), &config.server.identity, lost);
                (Some(tap), Some(collector))
            }
        };
        let (udp, tcp) = handle.0.threads((sockets, tls_listeners), config, &key, tap)?;
        let notifier = Notifier::new(told);
        Ok(Self { udp, tcp, control, reload, refresher, notifier, collector, handle, ends })
    }

    /// Checks all that [`start`](Self::start) would refuse, and loads every zone, without listening anywhere.
    /// Returns the state of each zone: those that cannot be loaded have an error.
    ///
    /// # Errors
    /// Those of `start`, except that a port is in use.
    pub fn check(config: &Config) -> io::Result<Vec<ZoneStatus>> {
        config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let account = account::check(config)?;
        listen::check(config)?;
        listen::check_source(config)?;
        config.control.socket().check(account.as_ref())?;
        tls::server(&config.tls)?;
        if needs_folder(config) {
            folder::check(&config.transfer.folder)?;
        }
        zones::check(config)
    }

    /// Loads every zone of a configuration, and checks nothing else. Returns the state of each zone.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn check_zones(config: &Config) -> io::Result<Vec<ZoneStatus>> {
        zones::check(config)
    }

    /// Addresses of the sockets, with the ports that the kernel chose.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.handle.0.addresses
    }

    /// Addresses of the sockets for TLS.
    pub fn tls_addresses(&self) -> &[SocketAddr] {
        &self.handle.0.tls_addresses
    }

    /// Path of the control socket, if there is one.
    pub fn control(&self) -> Option<&Path> {
        self.control.as_ref().map(Service::path)
    }

    /// A handle.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Answers until it is [stopped](Handle::stop).
    ///
    /// # Errors
    /// A thread cannot be started, or has ended; the name of the thread, and its error.
    pub fn run(self) -> io::Result<()> {
        let Self { handle, udp, tcp, control, reload, refresher, notifier, collector, ends } = self;
        let shared = &handle.0;
        let mut threads = Vec::new();
        for (number, worker) in udp.into_iter().enumerate() {
            threads.push(shared.spawn(format!("udp-{number}"), move || worker.run())?);
        }
        threads.push(shared.spawn("tcp".into(), move || tcp.run())?);
        if let Some(service) = control {
            let (handle, stopped) = (handle.clone(), handle.clone());
            let answer = move |command: &str| control::answer(command, &handle);
            let run = move || service.run(answer, || stopped.is_stopped());
            threads.push(shared.spawn("control".into(), run)?);
        }
        // They wait for requests, and end with the process.
        let mut services: Vec<(&str, Run)> = vec![
            ("reload", Box::new(move || reload.run())),
            ("refresh", Box::new(move || refresher.run())),
            ("notify", Box::new(move || notifier.run())),
        ];
        if let Some(collector) = collector {
            services.push(("dnstap", Box::new(move || collector.run())));
        }
        for (name, run) in services {
            shared.spawn(name.to_owned(), move || {
                run();
                Ok(())
            })?;
        }
        let outcome = match ends.recv() {
            Ok(End::Thread(name, Err(error))) => {
                Err(io::Error::new(error.kind(), format!("thread {name}: {error}")))
            }
            Ok(End::Thread(name, Ok(()))) if !shared.stop.load(Ordering::Relaxed) => {
                Err(io::Error::other(format!("thread {name} has ended")))
            }
            _ => Ok(()),
        };
        handle.stop();
        for thread in threads {
            // A panic was reported as the end of its thread.
            let _ = thread.join();
        }
        lock(&shared.folder).release();
        outcome
    }
}

/// The work of a thread.
type Run = Box<dyn FnOnce() + Send>;

/// True if the configuration has zones that are received.
pub(crate) fn needs_folder(config: &Config) -> bool {
    config.zone.iter().any(|zone| !zone.primaries.is_empty())
}

impl Shared {
    /// The threads that answer.
    fn threads(
        &self,
        (sockets, tls): (Vec<Sockets>, Vec<TcpListener>),
        config: &Config,
        key: &Key,
        tap: Option<Tap>,
    ) -> io::Result<(Vec<udp::Worker>, tcp::Worker)> {
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
        for sockets in sockets {
            let threads = sockets.udp.len();
            for socket in sockets.udp {
                let (answerer, view, counters) = next()?;
                let (key, stop) = (limiter_key, Arc::clone(&self.stop));
                let special = special(Transport::Udp);
                udp.push(udp::Worker {
                    socket,
                    answerer,
                    special,
                    view,
                    counters,
                    clock,
                    key,
                    threads,
                    stop,
                });
            }
            listeners.push((sockets.tcp, false));
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

    /// Starts a thread. Its end is reported, also after a panic.
    fn spawn(
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
