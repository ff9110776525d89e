//! The process: sockets, the forwarding thread, and the management.

use crate::config::{self, Config, PitIndex};
use crate::initial::Initial;
use crate::management::{self, Access, CsConfig, FaceInfo, Manager, Now, Origin, Report, Request};
use crate::plane::message::{Inbox, Reports, RequestQueue, Requests};
use crate::plane::{self, Plane, Secrets, Sockets};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::wire::Interest;
use hashlane_ndn_fw::face::{Face, LinkType, Scope};
use hashlane_ndn_fw::forward::{Counters, DropReason, Forwarder};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often drops are told of in the log, if there were any, beside at the end.
const TELL_DROPS: Duration = Duration::from_secs(60);

/// Reports that are handled before the requests they lead to are handed over.
const REPORTS: usize = 256;

/// A forwarder that listens, and is yet to forward.
pub struct Server {
    manager: Manager,
    requests: Requests,
    inbox: Inbox,
    counters: Arc<Counters>,
    origins: HashMap<u64, Origin>,
    initial: Initial,
    channels: Vec<FaceUri>,
    start: Instant,
}

/// Ends a server, from any thread.
#[derive(Clone)]
pub struct Stopper(Requests);

impl Stopper {
    /// Asks the server to end: it takes nothing new, answers what is pending for 0.8 s at most, and returns
    /// from [`Server::run`], however much it has to do. `why` goes into the log.
    pub fn stop(&self, why: &'static str) {
        tracing::info!(why, "ending");
        self.0.drain();
    }
}

impl Server {
    /// Opens the sockets, and starts the forwarding thread.
    ///
    /// # Errors
    /// What cannot be had, and why: a port in use, a socket at which another program answers, a certificate that is none.
    pub fn start(config: &Config) -> io::Result<Self> {
        let verify = crate::management::trust::verifier(&config.management.trust_anchors)?;
        for path in &config.faces.unix.path {
            make_default_folder(path)?;
        }
        let no_random = |error| io::Error::other(format!("no random numbers: {error}"));
        let key = || Key::random().map_err(no_random);
        let seed = || getrandom::u64().map_err(no_random);

        let sockets = Sockets::open(&config.faces)?;
        let channels = sockets.channels(&config.faces);
        let (reports, inbox) = Reports::new();
        let (poll, waker) = plane::poll()?;
        let (requests, taken) = Requests::new(waker);
        let start = Instant::now();
        let faces = config.faces.clone();
        let secrets = Secrets { peers: key()?, seed: seed()? };
        let (key, pit_key, seed) = (key()?, key()?, seed()?);
        let parts = Parts { poll, sockets, faces, taken, reports: reports.clone(), secrets };
        let core = core_config(config);
        let counters = match config.pit.index {
            PitIndex::Name => parts.start(Forwarder::with_pit(core, &key, seed, ByName::default())),
            PitIndex::Token => parts.start(Forwarder::with_pit(core, &key, seed, ByToken::new(&pit_key, 0))),
            PitIndex::Digest => {
                let function = config.pit.digest.function().unwrap_or_default();
                let satisfy = if config.pit.digest.one { Satisfy::One } else { Satisfy::All };
                let pit = ByDigest::new(function, satisfy, &pit_key);
                parts.start(Forwarder::with_pit(core, &key, seed, pit))
            }
        }?;
        let manager_config = management::Config {
            access: Access {
                own_uid: nix::unistd::Uid::effective().as_raw(),
                users: config.management.users.clone(),
                groups: config.management.groups.clone(),
                sockets: config.faces.unix.path.clone(),
                loopback: config.management.loopback,
                localhop: config.management.localhop,
            },
            cs: CsConfig {
                capacity: config.cs.packets as u64,
                admit: config.cs.admit,
                serve: config.cs.serve,
            },
            udp_idle: config.faces.udp.idle_timeout_s.saturating_mul(1000),
            channels: channels.clone(),
            ..management::Config::default()
        };
        let manager = Manager::new(manager_config, counters.clone(), verify, now(start));
        for name in manager.unknown_accounts() {
            tracing::warn!(
                name,
                "this host has no such user or group of [management]; it counts once there is one"
            );
        }
        Ok(Self {
            manager,
            requests,
            inbox,
            counters,
            origins: HashMap::new(),
            initial: Initial::new(config),
            channels,
            start,
        })
    }

    /// What it listens on.
    pub fn channels(&self) -> &[FaceUri] {
        &self.channels
    }

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.requests.clone())
    }

    /// Manages it until it is asked to end.
    ///
    /// # Errors
    /// Why it has ended without being asked to.
    pub fn run(mut self) -> io::Result<()> {
        let mut told = (Instant::now(), 0);
        self.initial.turn(&mut self.manager, now(self.start), &mut self.requests);
        self.requests.wake();
        loop {
            let due =
                self.manager.deadline().map_or(u64::MAX, |due| due.saturating_sub(now(self.start).monotonic));
            let mut timeout = Duration::from_millis(due.clamp(1, 1000));
            for _ in 0..REPORTS {
                match self.inbox.next(timeout) {
                    Some(Report::Ended(why)) => {
                        self.tell_drops(told.1);
                        return why.map_or(Ok(()), |why| Err(io::Error::other(why)));
                    }
                    Some(report) => self.take(report),
                    None => break,
                }
                timeout = Duration::ZERO;
            }
            for late in self.manager.tick(now(self.start), &mut self.requests) {
                self.requests.add(Request::Data(late));
            }
            self.initial.turn(&mut self.manager, now(self.start), &mut self.requests);
            // One call for many requests, and none where nothing is asked for.
            self.requests.wake();
            if told.0.elapsed() >= TELL_DROPS {
                told = (Instant::now(), self.tell_drops(told.1));
            }
        }
    }

    fn take(&mut self, report: Report) {
        let now = now(self.start);
        let data = match report {
            Report::Interest { face, packet } => {
                let (Some(from), Ok(interest)) = (self.origins.get(&face), Interest::parse(&packet)) else {
                    return;
                };
                self.manager.interest(&interest, from, now, &mut self.requests)
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
            Report::Response { ticket, response } => self.manager.responded(ticket, &response),
            Report::Ended(_) => Vec::new(),
        };
        for data in data {
            if !self.initial.answered(&data, &mut self.manager, now, &mut self.requests) {
                self.requests.add(Request::Data(data));
            }
        }
    }

    /// Says how many packets were dropped and why, where there are more than before. Returns how many.
    fn tell_drops(&self, before: u64) -> u64 {
        let drops = DropReason::ALL.iter().map(|reason| (reason.name(), self.counters.drops.value(*reason)));
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

/// What the forwarding thread is made of, but for the forwarder.
struct Parts {
    poll: mio::Poll,
    sockets: Sockets,
    faces: config::Faces,
    taken: RequestQueue,
    reports: Reports,
    secrets: Secrets,
}

impl Parts {
    /// Starts the thread around a forwarder, and says what that counts.
    fn start<P>(self, mut forwarder: Forwarder<P>) -> io::Result<Arc<Counters>>
    where
        P: Pit + Send + 'static,
    {
        let mut management = Face::new(Scope::Local, LinkType::PointToPoint);
        management.local_fields = true;
        let prefixes: Vec<OwnedName<Ndn>> =
            ["/localhost/nfd", "/localhop/nfd"].iter().filter_map(|uri| config::region_name(uri)).collect();
        let prefixes: Vec<_> = prefixes.iter().map(OwnedName::view).collect();
        forwarder.add_management(management, &prefixes);
        let counters = forwarder.counters().clone();
        let Self { poll, sockets, faces, taken, reports, secrets } = self;
        let told = reports.clone();
        forward(move || Plane::new(poll, sockets, faces, forwarder, taken, told, &secrets), reports)?;
        Ok(counters)
    }
}

/// The two clocks.
fn now(start: Instant) -> Now {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { monotonic: 1 + start.elapsed().as_millis() as u64, unix: unix.as_millis() as u64 }
}

fn core_config(config: &Config) -> hashlane_ndn_fw::forward::Config {
    hashlane_ndn_fw::forward::Config {
        pit_entries: config.pit.entries,
        remote_lifetime: config.pit.remote_lifetime_ms,
        cs: config.cs.store(),
        regions: config.regions.iter().filter_map(|region| config::region_name(region)).collect(),
        digest_type: config.pit.digest.tlv_type,
    }
}

/// Makes the folder of the socket where that is the one that nobody named.
fn make_default_folder(path: &PathBuf) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.exists());
    match folder {
        Some(folder) if config::Unix::default().path.contains(path) => {
            let told = |error| io::Error::other(format!("cannot make {}: {error}", folder.display()));
            // Whatever the umask: clients look for no socket in a temporary folder that others may write to.
            std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(told)
        }
        _ => Ok(()),
    }
}

/// Starts the forwarding thread. It reports its end, however that comes, before it frees its tables: a
/// million entries take longer than the process should.
fn forward<P: Pit + 'static>(
    plane: impl FnOnce() -> io::Result<Plane<P>> + Send + 'static,
    reports: Reports,
) -> io::Result<()> {
    struct Ends(Reports);
    impl Drop for Ends {
        fn drop(&mut self) {
            // Only the first report counts.
            self.0.end(Some("the forwarding thread has panicked".to_owned()));
        }
    }
    let run = move || {
        let ends = Ends(reports);
        let (plane, error) = match plane() {
            Ok(mut plane) => {
                let outcome = plane.run();
                (Some(plane), outcome.err())
            }
            Err(error) => (None, Some(error)),
        };
        ends.0.end(error.map(|error| error.to_string()));
        drop(plane);
    };
    std::thread::Builder::new().name("forward".into()).spawn(run).map(drop)
}
