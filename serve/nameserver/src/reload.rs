//! The reload thread: reads the configuration and changed zones again, at low priority.

mod restart;

use crate::config::Config;
use crate::folder;
use crate::handle::{Change, Handle, Request, lock};
use crate::listen;
use crate::status::Reloaded;
use crate::tls;
use crate::transfers::event::{Event, Version};
use crate::transfers::notifier::News;
use crate::view::View;
use crate::zones::Catalog;
use hashlane_link::{memory, priority};
use hashlane_name::dns::text;
use restart::{keep, restart};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Interval at which replaced zones are freed, if all threads have let go of them.
const INTERVAL: Duration = Duration::from_millis(60);

/// Replaced views that other threads may still use, at most: with more, the next reload waits.
const MAX_OLD: usize = 4;

/// Received versions that are put in service at once, at most.
const MAX_BATCH: usize = 256;

/// Reads the configuration again, for a reload.
pub type Reread = Box<dyn Fn() -> io::Result<Config> + Send>;

/// The reload thread.
pub(crate) struct Service {
    catalog: Catalog,
    /// Configuration in effect.
    config: Config,
    reread: Reread,
    requests: Receiver<Request>,
    handle: Handle,
    /// Receives what secondaries are told.
    news: Sender<News>,
    /// Replaced views that other threads may still use.
    old: Vec<Arc<View>>,
}

impl Service {
    pub(crate) fn new(
        (catalog, config, reread): (Catalog, Config, Reread),
        requests: Receiver<Request>,
        news: Sender<News>,
        handle: Handle,
    ) -> Self {
        Self { catalog, config, reread, requests, handle, news, old: Vec::new() }
    }

    /// Serves requests, one after the other.
    pub(crate) fn run(mut self) {
        if let Err(error) = priority::lower() {
            tracing::warn!(%error, "reloads run at the priority of the server");
        }
        self.publish();
        loop {
            let timeout = if self.old.is_empty() { Duration::MAX } else { INTERVAL };
            match self.requests.recv_timeout(timeout) {
                Ok(request) => {
                    let mut next = Some(request);
                    while let Some(request) = next {
                        next = self.serve(request);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.free();
            while self.old.len() > MAX_OLD {
                thread::sleep(INTERVAL);
                self.free();
            }
        }
    }

    /// Serves a request. Returns the one that it has found behind it.
    fn serve(&mut self, request: Request) -> Option<Request> {
        match request {
            Request::Reload(zone, reply) => self.serve_reload(zone, &reply),
            Request::Install(version) => return self.install(*version),
            Request::Expire(apex) => {
                self.catalog.expire(apex.view());
                if let Err(error) = self.exchange() {
                    tracing::error!(%error, "an expired zone stays in service");
                }
            }
            Request::Change(change, reply) => {
                // The client may have gone.
                let _ = reply.send(self.change(change));
            }
            Request::Notify(zone, reply, answers) => {
                let told = self.catalog.news_of(zone.view(), &self.config).map(|news| {
                    let peers = news.peers.iter().map(|(peer, _)| peer.address).collect();
                    // The thread waits for as long as the server runs.
                    let _ = self.news.send(News { answers, ..news });
                    peers
                });
                // The client may have gone.
                let _ = reply.send(told);
            }
            Request::Free(transfer) => drop(transfer),
        }
        None
    }

    /// Puts a received version of a zone in service, and those that wait behind it, so that many zones cost
    /// one exchange.
    fn install(&mut self, version: Version) -> Option<Request> {
        let (mut installed, mut has_changed) = (Vec::new(), false);
        let (mut version, mut behind) = (Some(version), None);
        while let Some(Version { apex, id, zone, deltas }) = version.take() {
            let outcome = self.catalog.install((apex.view(), &id), zone, deltas, &self.config);
            has_changed |= matches!(outcome, Ok(true));
            installed.push((apex, outcome.map(drop)));
            if installed.len() < MAX_BATCH {
                match self.requests.try_recv() {
                    Ok(Request::Install(next)) => version = Some(*next),
                    other => behind = other.ok(),
                }
            }
        }
        let exchanged = self.exchange().map_err(|error| error.to_string());
        if has_changed {
            self.tell_refresher();
        }
        for (apex, outcome) in installed {
            let outcome = outcome.map_err(|error| error.to_string()).and(exchanged.clone());
            // The server ends.
            let _ = self.handle.0.events.send(Event::Installed(apex, outcome));
        }
        self.publish();
        behind
    }

    /// Tells the thread that refreshes zones which ones have primaries.
    fn tell_refresher(&mut self) {
        // The server ends.
        let _ = self.handle.0.events.send(self.catalog.secondaries(&self.config));
    }

    /// Adds or removes a zone beside the configured ones.
    fn change(&mut self, change: Change) -> io::Result<()> {
        match change {
            Change::Add(zone) => {
                let apex = zone.apex().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
                lock(&self.handle.0.folder).hold(&self.config.transfer.folder, true)?;
                self.catalog.add(&self.config, *zone)?;
                self.catalog.update(&self.config, None)?;
                if let Some(error) = self.catalog.error_of(apex.view()) {
                    self.catalog.delete(&self.config, apex.view())?;
                    self.catalog.update(&self.config, None)?;
                    return Err(io::Error::new(io::ErrorKind::InvalidData, format!("not added: {error}")));
                }
            }
            Change::Delete(apex) => self.catalog.delete(&self.config, apex.view())?,
        }
        self.catalog.update(&self.config, None)?;
        self.exchange()?;
        self.tell_refresher();
        self.publish();
        Ok(())
    }

    /// Exchanges the zones that all threads use.
    fn exchange(&mut self) -> io::Result<()> {
        let view = self.catalog.view(&self.config)?;
        self.old.push(self.handle.0.view.swap(view));
        *lock(&self.handle.0.zones) = self.catalog.list();
        Ok(())
    }

    /// Tells secondaries of versions that they were not told of.
    fn publish(&mut self) {
        for news in self.catalog.news(&self.config) {
            // The thread waits for as long as the server runs.
            let _ = self.news.send(news);
        }
    }

    fn serve_reload(&mut self, zone: Option<String>, reply: &Sender<io::Result<Reloaded>>) {
        let outcome = self.reload(zone.as_deref()).map(|(reloaded, old)| {
            self.old.push(old);
            reloaded
        });
        if zone.is_none() {
            *lock(&self.handle.0.refused) = outcome.as_ref().err().map(ToString::to_string);
        }
        self.note(zone.as_deref(), &outcome);
        // The client may have gone.
        let _ = reply.send(outcome);
        self.publish();
    }

    /// Frees the replaced views that no other thread uses. The last one to let go of a zone frees it, which
    /// takes long for a large one: that is this thread.
    fn free(&mut self) {
        let before = self.old.len();
        self.old.retain(|view| Arc::strong_count(view) > 1);
        if self.old.len() < before {
            memory::release_freed();
        }
    }

    fn reload(&mut self, zone: Option<&str>) -> io::Result<(Reloaded, Arc<View>)> {
        let unknown = |error| {
            let zone = zone.unwrap_or_default();
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{zone:?} is not the name of a zone: {error}"),
            )
        };
        let only = zone.map(|zone| text::parse(zone.as_bytes())).transpose().map_err(unknown)?;
        // A single zone is loaded by the configuration in effect.
        let config = if only.is_some() { self.config.clone() } else { (self.reread)()? };
        let restart = restart(&self.config, &config);
        let config = keep(&self.config, config);
        listen::check_source(&config)?;
        lock(&self.handle.0.folder).hold(&config.transfer.folder, folder::is_needed(&config))?;
        // All is read before anything changes.
        let tls = match only {
            Some(_) => None,
            None => Some(tls::server(&config.tls)?),
        };
        if let Some(certificate) = &tls {
            for warning in
                tls::warning(&config.tls, certificate.as_ref()).into_iter().chain(config.open_secrets())
            {
                tracing::warn!("{warning}");
            }
        }
        let mut reloaded = self.catalog.update(&config, only.as_ref().map(|zone| zone.view()))?;
        reloaded.restart = restart;
        let old = self.handle.0.view.swap(self.catalog.view(&config)?);
        *lock(&self.handle.0.zones) = self.catalog.list();
        if let Some(tls) = tls {
            *lock(&self.handle.0.tls) = tls;
        }
        self.config = config;
        self.tell_refresher();
        Ok((reloaded, old))
    }

    /// Counts and logs a reload, of one zone or of all.
    fn note(&self, zone: Option<&str>, outcome: &io::Result<Reloaded>) {
        let mut reloads = lock(&self.handle.0.reloads);
        reloads.reloads += 1;
        match outcome {
            Ok(Reloaded { loaded, unchanged, removed, failed, restart, .. }) => {
                reloads.loaded += loaded.len() as u64;
                reloads.failed += failed.len() as u64;
                for key in restart {
                    tracing::warn!(key, "configuration changed: takes effect after a restart");
                }
                let (loaded, removed, failed) = (loaded.len(), removed.len(), failed.len());
                tracing::info!(loaded, unchanged, removed, failed, "reloaded");
            }
            // No configuration was read.
            Err(error) if zone.is_some() => tracing::warn!(%error, "nothing reloaded"),
            Err(error) => {
                reloads.refused += 1;
                tracing::error!(%error, "reload refused; nothing has changed");
            }
        }
    }
}
