//! The server: sockets, threads, reloads, reports.

mod threads;

pub use crate::handle::Handle;
pub use crate::reload::Reread;

use crate::cell::Cell;
use crate::config::Config;
use crate::counters::{AllCounters, Counters};
use crate::dnstap::{Collector, Tap};
use crate::folder::{self, Folder};
use crate::handle::{End, Shared, lock};
use crate::interfaces;
use crate::listen;
use crate::reload;
use crate::status::{Loading, ZoneStatus};
use crate::transfers::notifier::Notifier;
use crate::transfers::refresh::Refresher;
use crate::zones::{self, Catalog, random_key};
use crate::{account, control, tls};
use hashlane_dns::respond::Transport;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;
use threads::Threads;

/// A configuration that was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Faults with which the server would use it.
    pub warnings: Vec<String>,
    /// State of each zone, in order.
    pub zones: Vec<ZoneStatus>,
}

/// Least time between two exchanges of the zones while they are loaded, as a multiple of the time that one
/// takes, which is in proportion to the number of zones.
const LOADING_SHARE: u32 = 10;

/// A server with loaded zones, which answers queries. Dropped, it stops.
pub struct Server {
    handle: Handle,
    threads: Threads,
    /// Path of the control socket.
    control: Option<PathBuf>,
    reload: reload::Service,
    refresher: Refresher,
    notifier: Notifier,
    collector: Option<Collector>,
    ends: Receiver<End>,
}

impl Server {
    /// Binds the sockets of a configuration, gives up privileges, and loads the zones. `reread` gets the
    /// configuration again at each reload. Queries are answered meanwhile: those for zones that are not
    /// loaded yet with SERVFAIL, and the extended error Not Ready (RFC 8914 §4.15). So are commands of the
    /// control socket that change nothing.
    ///
    /// A zone that cannot be loaded is reported in the log, and its queries get SERVFAIL.
    ///
    /// # Errors
    /// The configuration is not valid; an address cannot be bound, or an interface opened; the user cannot be
    /// changed; no zone can be loaded.
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
        let addresses: Vec<_> = sockets.iter().map(|sockets| sockets.address).collect();
        let queues = interfaces::open(config, &addresses)?;
        let (tls_addresses, tls_listeners): (Vec<_>, Vec<_>) = listen::bind_tls(config)?.into_iter().unzip();
        let control = config.control.socket();
        control.prepare(account.as_ref())?;
        if let Some(account) = &account {
            account.assume()?;
        }
        let control = control.listen()?;

        listen::check_source(config)?;
        let mut folder = Folder::default();
        folder.hold(&config.transfer.folder, folder::is_needed(config))?;
        // As the user who reads them again at each reload.
        let certificate = tls::server(&config.tls)?;
        for warning in
            tls::warning(&config.tls, certificate.as_ref()).into_iter().chain(config.open_secrets())
        {
            tracing::warn!("{warning}");
        }
        let key = random_key()?;
        let threads = sockets.len() * workers + queues.len() + 1;
        let mut catalog = Catalog::new(&key, threads)?;
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
            addresses,
            tls_addresses,
            tls: Arc::new(Mutex::new(certificate)),
            workers,
            interfaces: interfaces::each(&queues),
            counters: AllCounters(counters),
            stop: Arc::default(),
            wakers: Mutex::default(),
            ended,
            requests,
            events,
            waiting: AtomicUsize::default(),
            received: Arc::default(),
            transfers: Mutex::default(),
            view,
            zones: Mutex::default(),
            loading: Mutex::new(Some(Loading::default())),
            reloads: Mutex::default(),
            refused: Mutex::default(),
            connections: Arc::default(),
            untapped: Arc::default(),
            folder: Mutex::new(folder),
        }));
        let (tap, collector) = match config.log.dnstap.as_os_str().is_empty() {
            true => (None, None),
            false => {
                let lost = Arc::clone(&handle.0.untapped);
                let (tap, collector) = Tap::new(config.log.dnstap.clone(), &config.server.identity, lost);
                (Some(tap), Some(collector))
            }
        };
        let (udp, tcp) = handle.0.threads((sockets, queues, tls_listeners), config, &key, tap)?;
        let mut threads = Threads::new(handle.clone());
        let path = control.as_ref().map(|service| service.path().to_owned());
        if let Some(service) = control {
            let (handle, stopped) = (handle.clone(), handle.clone());
            let answer = move |command: &str| control::answer(command, &handle);
            threads.start("control".into(), move || service.run(answer, || stopped.is_stopped()))?;
        }
        load(&mut catalog, config, &handle.0, || threads.answer(udp, tcp))?;
        // The thread that takes it runs later.
        let _ = handle.0.events.send(catalog.secondaries(config));
        let refresher = Refresher::new(&key, handle.clone(), due);
        let reload = reload::Service::new((catalog, config.clone(), reread), wait, news, handle.clone());
        let notifier = Notifier::new(told, Arc::clone(&handle.0.received));
        Ok(Self { threads, control: path, reload, refresher, notifier, collector, handle, ends })
    }

    /// Checks all that [`start`](Self::start) would refuse, and loads every zone, without listening anywhere:
    /// no port is bound, as the server may be running. Returns the state of each zone: those that cannot be
    /// loaded have an error.
    ///
    /// # Errors
    /// The errors of `start`, except that a port is in use.
    pub fn check(config: &Config) -> io::Result<Checked> {
        config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let account = account::check(config)?;
        listen::check(config)?;
        interfaces::check(config)?;
        listen::check_source(config)?;
        config.control.socket().check(account.as_ref())?;
        let certificate = tls::server(&config.tls)?;
        if folder::is_needed(config) {
            folder::check(&config.transfer.folder)?;
        }
        let (zones, unnamed) = zones::check(config)?;
        let mut warnings: Vec<_> = tls::warning(&config.tls, certificate.as_ref()).into_iter().collect();
        warnings.extend(config.open_secrets());
        warnings.extend(unnamed.iter().map(|group| {
            format!("`[[group]]` {group:?} is named by no catalog that is followed; correct its name, or remove it")
        }));
        Ok(Checked { warnings, zones })
    }

    /// Loads every zone of a configuration, and checks nothing else. Returns the state of each zone.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn check_zones(config: &Config) -> io::Result<Vec<ZoneStatus>> {
        zones::check(config).map(|(zones, _)| zones)
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
        self.control.as_deref()
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
        let Self { handle, threads, reload, refresher, notifier, collector, ends, .. } = self;
        let shared = &handle.0;
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
        drop(threads);
        outcome
    }
}

/// Loads the zones, and puts them in service as they come. `answer` is called once the names of all are
/// known.
///
/// # Errors
/// `answer` fails; no zone can be loaded.
fn load(
    catalog: &mut Catalog,
    config: &Config,
    shared: &Shared,
    answer: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let (mut next, mut answer, mut outcome) = (Instant::now(), Some(answer), Ok(()));
    let mut publish = |catalog: &Catalog| {
        let begun = Instant::now();
        if begun < next || outcome.is_err() {
            return;
        }
        outcome = catalog.view(config).map(|view| drop(shared.view.swap(view)));
        *lock(&shared.zones) = catalog.list();
        *lock(&shared.loading) = Some(catalog.loading());
        if outcome.is_ok()
            && let Some(answer) = answer.take()
        {
            outcome = answer();
        }
        next = Instant::now() + begun.elapsed() * LOADING_SHARE;
    };
    let loaded = catalog.update_in_steps(config, None, &mut publish)?;
    outcome?;
    // Zones with primaries come later.
    if !catalog.serves() && config.zone.iter().all(|zone| zone.primaries.is_empty()) {
        let why = loaded.failed.into_values().next();
        debug_assert!(why.is_some(), "a zone that is not served has failed to load");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why.unwrap_or_default()));
    }
    drop(shared.view.swap(catalog.view(config)?));
    *lock(&shared.zones) = catalog.list();
    *lock(&shared.loading) = None;
    Ok(())
}

/// The work of a thread.
pub(crate) type Run = Box<dyn FnOnce() + Send>;
