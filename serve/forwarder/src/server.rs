//! The process: sockets, the forwarding thread, and management.

use crate::clock::Clock;
use crate::config::{self, Config, PitIndex};
use crate::handed::Handed;
use crate::heartbeat::{Heartbeat, Heartbeats};
use crate::initial::Initial;
use crate::management::{self, Access, CsConfig, FaceInfo, Manager, Now, Open, Origin, Report, Request};
use crate::observe::{Observation, Observer};
use crate::plane::message::{RequestQueue, Requests, Settings};
use crate::plane::reports::{Inbox, Reports};
use crate::plane::{self, Forwarding, Plane, Secrets, Sockets};
use crate::prepare::{self, Prepared};
use crate::reload::{self, Reload, Reloader};
use crate::shards;
use crate::totals::Totals;
use hashlane_daemon::privileges::Account;
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::wire::{Interest, NackReason};
use hashlane_ndn_fw::face::{Face, LinkType, Scope};
use hashlane_ndn_fw::forward::{DropReason, Forwarder};
use hashlane_ndn_fw::learning::Reported;
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval of the log line with the dropped packets. It is also written at the end.
const LOG_DROPS: Duration = Duration::from_secs(60);

/// Longest wait for a report. A configuration that was read again waits for as long.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Reports that are handled before their requests are handed over.
const REPORTS: usize = 256;

/// Time until the requests that wait are counted again, while there are many.
const BUSY: Duration = Duration::from_millis(1);

/// Stack of the forwarding thread, in bytes. Builds without optimization move the state of the thread several
/// times as it is made, more than 2 MiB with some indexes of the PIT.
const STACK: usize = 8 << 20;

/// A forwarder that listens. [`run`](Self::run) manages it until it ends.
pub struct Server {
    manager: Manager,
    requests: Requests,
    inbox: Inbox,
    counters: Totals,
    origins: HashMap<u64, Origin>,
    initial: Initial,
    /// The configuration in effect.
    config: Config,
    reloader: Reloader,
    reloads: Receiver<Reload>,
    heartbeat: Option<Heartbeat>,
    observer: Option<Observer>,
    channels: Vec<FaceUri>,
    start: Instant,
}

/// Ends a server, from any thread.
#[derive(Clone)]
pub struct Stopper(Requests);

impl Stopper {
    /// Asks the server to end. It accepts no new connections, answers pending Interests for at most 0.5 s,
    /// and then returns from [`Server::run`].
    pub fn stop(&self) {
        self.0.drain();
    }
}

impl Server {
    /// Checks all of a configuration that [`start`](Self::start) checks, and opens the files that it names,
    /// without listening anywhere. Returns the warnings that a start would log, such as of an expired
    /// certificate.
    ///
    /// # Errors
    /// The errors of `start`, except that another program has a port or a socket.
    pub fn check(config: &Config) -> io::Result<Vec<String>> {
        Ok(prepare::prepare(config, &[])?.warnings)
    }

    /// Opens the sockets, and starts the forwarding thread.
    ///
    /// # Errors
    /// An invalid configuration, one without any face, a port in use, a Unix socket on which another program
    /// listens, a file that is not a certificate.
    pub fn start(config: &Config) -> io::Result<Self> {
        Self::start_with(config, Vec::new())
    }

    /// Acts as [`start`](Self::start), with the listening Unix sockets of a supervisor for the paths of the
    /// configuration that they have. Their files stay when the server ends.
    ///
    /// # Errors
    /// The errors of `start`, and a socket whose path the configuration does not list.
    pub fn start_with(config: &Config, listeners: Vec<(PathBuf, UnixListener)>) -> io::Result<Self> {
        let handed = Handed::new(listeners, &config.faces.unix.path)?;
        let Prepared { verify, tls, propagation, warnings } = prepare::prepare(config, &handed.paths())?;
        log_warnings(&warnings);
        let account = Account::of(&config.server.user, &config.server.group)?;
        for path in config.faces.unix.path.iter().filter(|path| !handed.has(path)) {
            make_default_folder(path, account.as_ref())?;
        }
        let no_random = |error| io::Error::other(format!("no random numbers: {error}"));
        let key = || Key::random().map_err(no_random);
        let seed = || getrandom::u64().map_err(no_random);
        let secrets = Secrets { peers: key()?, seed: seed()? };
        let (key, pit_key, seed) = (key()?, key()?, seed()?);

        let sockets = Sockets::open(&config.faces, handed, tls)?;
        if let Some(account) = &account {
            account.assume()?;
        }
        let channels = sockets.channels(&config.faces)?;
        let (reports, inbox) = Reports::new();
        let (poll, waker) = plane::poll()?;
        let (requests, taken) = Requests::new(waker.clone());
        let start = Instant::now();
        let faces = config.faces.clone();
        let tables = Tables { config: core_config(config), shards: config.threads.shards.count(), key, seed };
        let parts = Parts { poll, waker, sockets, faces, taken, reports: reports.clone(), secrets, tables };
        let counters = match config.pit.index {
            PitIndex::Name => parts.start(|_| ByName::default()),
            PitIndex::Token => parts.start(|shard| ByToken::new(&pit_key, shard)),
            PitIndex::Digest => {
                let function = config.pit.digest.function();
                let function = function.ok_or_else(|| io::Error::other("`pit.digest.key` is missing"))?;
                let satisfy = if config.pit.digest.one { Satisfy::One } else { Satisfy::All };
                parts.start(|_| ByDigest::new(function, satisfy, &pit_key))
            }
        }?;
        let manager_config = management::Config {
            access: access(config),
            cs: cs(config),
            announcements: config.rib.announcements(),
            fetch: config.trust.fetch,
            udp_idle: config.faces.udp.idle_timeout_s.saturating_mul(1000),
            channels: channels.clone(),
            ..management::Config::default()
        };
        let mut manager = Manager::new(manager_config, counters.clone(), verify, now(start));
        manager.set_readvertise(config.rib.readvertise_nlsr, now(start));
        propagation.into_iter().for_each(|propagation| manager.set_propagation(propagation, now(start)));
        warn_of_unknown_accounts(&manager);
        let (reloader, reloads) = Reloader::new(&config.faces);
        Ok(Self {
            manager,
            requests,
            inbox,
            counters,
            origins: HashMap::new(),
            initial: Initial::new(config),
            config: config.clone(),
            reloader,
            reloads,
            heartbeat: None,
            observer: None,
            channels,
            start,
        })
    }

    /// URIs of the listening sockets.
    pub fn channels(&self) -> &[FaceUri] {
        &self.channels
    }

    /// A handle that ends the server from any thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.requests.clone())
    }

    /// Observes the forwarder from now on, for metrics and the status page.
    pub fn observe(&mut self) -> Observation {
        let observer = self.observer.get_or_insert_with(|| {
            let (observer, request) = Observer::new(self.counters.clone(), self.start);
            self.requests.add(Request::Table(request));
            observer
        });
        observer.observation()
    }

    /// A handle that changes the configuration from any thread.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Counter that rises at about this interval, for as long as both management and the forwarding thread
    /// make progress.
    pub fn heartbeats(&mut self, every: Duration) -> Heartbeats {
        let beats = Heartbeats::default();
        self.heartbeat = Some(Heartbeat::new(every, beats.clone()));
        beats
    }

    /// Runs management until the server is asked to end.
    ///
    /// # Errors
    /// The forwarding thread has failed.
    pub fn run(mut self) -> io::Result<()> {
        let mut logged = (Instant::now(), 0);
        self.initial.turn(&mut self.manager, now(self.start), &mut self.requests);
        self.requests.wake();
        loop {
            let due =
                self.manager.deadline().map_or(u64::MAX, |due| due.saturating_sub(now(self.start).monotonic));
            let longest =
                self.heartbeat.as_ref().map_or(LONGEST_WAIT, |heart| heart.every().min(LONGEST_WAIT));
            let mut timeout = Duration::from_millis(due.max(1)).min(longest);
            for _ in 0..REPORTS {
                // Interests wait while their answers would.
                let is_busy = self.requests.is_busy();
                if is_busy {
                    self.requests.wake();
                    timeout = timeout.min(BUSY);
                }
                match self.inbox.next(timeout, !is_busy) {
                    Some(Report::Ended(why)) => {
                        self.log_drops(logged.1);
                        // Freeing a million routes takes longer than the shutdown should. If no thread can be
                        // started, they are freed here.
                        drop(std::thread::Builder::new().name("free".into()).spawn(move || drop(self)));
                        return why.map_or(Ok(()), |why| Err(io::Error::other(why)));
                    }
                    Some(report) => self.handle(report),
                    None => break,
                }
                timeout = Duration::ZERO;
            }
            for late in self.manager.tick(now(self.start), &mut self.requests) {
                self.requests.add(Request::Data(late));
            }
            while let Ok(reload) = self.reloads.try_recv() {
                self.reload(reload);
            }
            self.initial.turn(&mut self.manager, now(self.start), &mut self.requests);
            if self.heartbeat.as_mut().is_some_and(|heart| heart.begin(Instant::now())) {
                self.requests.add(Request::Echo);
            }
            if let Some(observer) = &mut self.observer {
                observer.observe(&self.manager, Instant::now());
            }
            // One system call for many requests, and none if there are none.
            self.requests.wake();
            if logged.0.elapsed() >= LOG_DROPS {
                logged = (Instant::now(), self.log_drops(logged.1));
            }
        }
    }

    fn handle(&mut self, report: Report) {
        let now = now(self.start);
        let data = match report {
            Report::Interest { face, packet } => {
                // The face has been closed meanwhile. Others may wait for the same name.
                let Some(from) = self.origins.get(&face) else {
                    let nack = management::nack(&packet, NackReason::CONGESTION);
                    return self.requests.add(Request::Data(nack));
                };
                let Ok(interest) = Interest::parse(&packet) else {
                    debug_assert!(false, "the forwarder has parsed the Interest");
                    return;
                };
                self.manager.interest(&interest, from, now, &mut self.requests)
            }
            Report::Route(Reported { face, event, .. }) => {
                // The face may have been closed meanwhile.
                if let Some(from) = self.origins.get(&face.0.into()) {
                    self.manager.route_event(&event, from, now, &mut self.requests);
                }
                Vec::new()
            }
            Report::FaceUp { info, peer } => {
                let origin = Origin { face: info.id, scope: info.scope, peer };
                self.origins.insert(info.id, origin);
                self.manager.face_up(*info, now)
            }
            Report::FaceDown { face } => {
                self.origins.remove(&face);
                self.initial.face_down(face, now);
                self.manager.face_down(face, now, &mut self.requests)
            }
            Report::FaceLink { face, local } => {
                let works = local.is_some();
                let known = self.manager.faces().find(|known| known.id == face).cloned();
                if let (Some(known), Some(local)) = (known, local) {
                    self.manager.face_changed(FaceInfo { local, ..known });
                }
                self.manager.face_link(face, works, now)
            }
            Report::FaceCreated { ticket, outcome } => self.manager.face_created(ticket, outcome),
            Report::Answer(packet) => self.manager.answered(&packet, now, &mut self.requests),
            Report::Response { ticket, response } => self.manager.responded(ticket, &response),
            Report::Echo => {
                self.heartbeat.iter_mut().for_each(Heartbeat::end);
                Vec::new()
            }
            Report::Ended(_) => Vec::new(),
        };
        for data in data {
            if !self.initial.handle_answer(&data, &mut self.manager, now, &mut self.requests) {
                self.requests.add(Request::Data(data));
            }
        }
    }

    /// Takes the changes of a configuration that was read again.
    fn reload(&mut self, Reload { config, prepared, done }: Reload) {
        let Prepared { verify, tls, propagation, warnings } = prepared;
        let (merged, changes) = match reload::merge(&self.config, &config) {
            Ok(merged) => merged,
            Err(error) => {
                debug_assert!(false, "a configuration has keys and values: {error}");
                return tracing::error!(%error, "cannot compare configurations; nothing changes");
            }
        };
        let old = std::mem::replace(&mut self.config, merged);
        let (config, now) = (&self.config, now(self.start));
        // Read again also if the key is unchanged: the files may have changed.
        self.manager.set_access(access(config), verify, config.trust.fetch);
        warn_of_unknown_accounts(&self.manager);
        self.manager.set_announcements(config.rib.announcements());
        self.manager.set_readvertise(config.rib.readvertise_nlsr, now);
        propagation.into_iter().for_each(|propagation| self.manager.set_propagation(propagation, now));
        self.manager.set_udp_idle(config.faces.udp.idle_timeout_s.saturating_mul(1000));
        // Settings that a command has made stay, unless the file sets others.
        if cs(&old) != cs(config) {
            self.manager.set_cs(cs(config), &mut self.requests);
        }
        let CsConfig { capacity, admit, serve } = self.manager.cs();
        let mut tables = core_config(config);
        tables.cs.packets = usize::try_from(capacity).unwrap_or(usize::MAX);
        (tables.cs.admit, tables.cs.serve) = (admit, serve);
        if tls.is_some() {
            let certificate = config.faces.websocket.tls.certificate.display();
            tracing::info!(%certificate, "certificate and key of TLS read again: in effect for new connections");
        }
        // Also without a change: the files of TLS may have changed under their old names, and faces of groups
        // that commands have closed are opened again.
        self.requests.configure(Settings { faces: config.faces.clone(), tables, tls });
        self.initial.reload(&old, config, &mut self.manager, now, &mut self.requests);
        log_warnings(&warnings);
        reload::log(&changes);
        // The thread that waits may have ended.
        let _ = done.send(());
    }

    /// Logs the number of dropped packets by reason, if there are more than `before`. Returns the number.
    fn log_drops(&self, before: u64) -> u64 {
        let drops = DropReason::ALL.iter().map(|reason| (reason.name(), self.counters.dropped(*reason)));
        let all: u64 = drops.clone().map(|(_, dropped)| dropped).sum();
        if all > before {
            let each: Vec<String> = drops
                .filter(|(_, dropped)| *dropped > 0)
                .map(|(name, dropped)| format!("{name} {dropped}"))
                .collect();
            tracing::info!(dropped = all, reasons = each.join(", "), "packets dropped since the start");
        }
        all
    }
}

/// Parts of the forwarding thread, without the forwarder.
struct Parts {
    poll: mio::Poll,
    sockets: Sockets,
    faces: config::Faces,
    taken: RequestQueue,
    reports: Reports,
    secrets: Secrets,
    waker: Arc<mio::Waker>,
    tables: Tables,
}

/// Tables of a forwarder, in shards.
struct Tables {
    /// Limits of all shards together.
    config: hashlane_ndn_fw::forward::Config,
    shards: usize,
    key: Key,
    seed: u64,
}

impl Parts {
    /// Starts the thread, and one for each other shard, around forwarders with the PITs of these
    /// numbers. Returns the counters.
    fn start<P>(self, pit: impl Fn(u8) -> P) -> io::Result<Totals>
    where
        P: Pit + Send + 'static,
    {
        let Tables { config, shards, key, seed } = self.tables;
        let part = if shards > 1 { shards::part(&config, shards) } else { config };
        let shard = |number: u8| {
            Forwarder::with_pit(part.clone(), &key, seed.wrapping_add(number.into()), pit(number))
        };
        let mut forwarder = shard(0);
        let mut others: Vec<_> = (1..shards as u8).map(shard).collect();
        let all = std::iter::once(&forwarder).chain(&others);
        let counters = Totals::new(all.map(|forwarder| forwarder.counters().clone()));
        let face = || {
            let mut face = Face::new(Scope::Local, LinkType::PointToPoint);
            face.local_fields = true;
            face
        };
        let management = face();
        let uris = ["/localhost/nfd", "/localhop/nfd"];
        let prefixes: Vec<OwnedName<Ndn>> = uris.iter().filter_map(|uri| config::parse_name(uri)).collect();
        debug_assert!(prefixes.len() == uris.len(), "both are URIs of names");
        let prefixes: Vec<_> = prefixes.iter().map(OwnedName::view).collect();
        forwarder.add_management(management, &prefixes);
        // Answers to its own Interests may come from any shard.
        others.iter_mut().for_each(|other| other.add_management(face(), &[]));
        let Self { poll, waker, sockets, faces, taken, reports, secrets, .. } = self;
        let (sender, clock) = (reports.clone(), Clock::start());
        let crew = if others.is_empty() {
            None
        } else {
            let of_worker = reports.clone();
            let report = move |report| match report {
                Report::Ended(why) => of_worker.end(why),
                report => of_worker.add(report),
            };
            tracing::info!(shards, "forwarding threads");
            Some(shards::start(others, &sockets.udp, waker, clock, report)?)
        };
        let forwarding = Forwarding { forwarder, crew, clock };
        let plane = move || Plane::new(poll, sockets, faces, forwarding, taken, sender, &secrets);
        forward(plane, reports)?;
        Ok(counters)
    }
}

fn log_warnings(warnings: &[String]) {
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
}

/// The time on both clocks.
fn now(start: Instant) -> Now {
    // A clock before 1970 reads as 1970: commands signed with a key are then refused as too late.
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { monotonic: 1 + start.elapsed().as_millis() as u64, unix: unix.as_millis() as u64 }
}

/// Rights to give commands.
fn access(config: &Config) -> Access {
    Access {
        own_uid: nix::unistd::Uid::effective().as_raw(),
        users: config.management.users.clone(),
        groups: config.management.groups.clone(),
        sockets: config.faces.unix.path.clone(),
        localhop: config.management.localhop,
        own_faces: config.management.own_faces,
        open: Open {
            localhost: config.trust.localhost.any,
            localhop: config.trust.localhop.any,
            modules: open_modules(config),
        },
    }
}

/// Modules whose commands every user of this host may give.
fn open_modules(config: &Config) -> Vec<String> {
    let open = config.management.authorize.iter().filter(|authorize| authorize.is_any());
    open.flat_map(|authorize| authorize.modules.clone()).collect()
}

/// Settings of the content store that commands can change.
fn cs(config: &Config) -> CsConfig {
    CsConfig { capacity: config.cs.packets as u64, admit: config.cs.admit, serve: config.cs.serve }
}

fn warn_of_unknown_accounts(manager: &Manager) {
    for name in manager.unknown_accounts() {
        tracing::warn!(name, "unknown user or group in [management]; it has its rights once it exists");
    }
}

fn core_config(config: &Config) -> hashlane_ndn_fw::forward::Config {
    hashlane_ndn_fw::forward::Config {
        pit_entries: config.pit.entries,
        pit_bytes: config.pit.bytes,
        remote_lifetime: config.pit.remote_lifetime_ms,
        cs: config.cs.store(),
        // `Config::check` has accepted the URIs.
        regions: config.regions.iter().filter_map(|region| config::parse_name(region)).collect(),
        digest_type: config.pit.digest.tlv_type,
    }
}

/// Creates the folder of the socket if its path is the default one.
fn make_default_folder(path: &Path, account: Option<&Account>) -> io::Result<()> {
    // The folder exists, or is the user's to create: binding the socket reports that it is missing.
    let Some(folder) = prepare::missing_folder(path) else { return Ok(()) };
    // Not group-writable, even with such a umask: clients ignore sockets in folders that others may write to.
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder);
    // The user of the server removes the socket at the end.
    let given = created.and_then(|()| account.map_or(Ok(()), |account| account.own(folder)));
    given.map_err(|error| prepare::cannot_create(folder, &error))
}

/// Starts the forwarding thread. It reports its end, also after a panic, before it frees its tables: freeing
/// a million entries takes longer than the shutdown should.
fn forward<P: Pit + 'static>(
    plane: impl FnOnce() -> io::Result<Plane<P>> + Send + 'static,
    reports: Reports,
) -> io::Result<()> {
    struct ReportEnd(Reports);
    impl Drop for ReportEnd {
        fn drop(&mut self) {
            // Only the first report counts.
            self.0.end(Some("the forwarding thread has panicked".to_owned()));
        }
    }
    let run = move || {
        let end = ReportEnd(reports);
        let (plane, error) = match plane() {
            Ok(mut plane) => {
                let outcome = plane.run();
                (Some(plane), outcome.err())
            }
            Err(error) => (None, Some(error)),
        };
        end.0.end(error.map(|error| error.to_string()));
        drop(plane);
    };
    std::thread::Builder::new().name("forward".into()).stack_size(STACK).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_configuration_that_was_made_in_code_is_refused() {
        let config = Config { regions: vec!["no slash".into()], ..Config::default() };
        let error = Server::start(&config).err().expect("an error");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("`regions` has \"no slash\""), "{error}");
    }
}
