//! Datasets: made anew for an Interest without a version, and kept for their later segments. Long ones are
//! made at most once in a tenth of a second, unless a command has changed something.

use super::clock::Now;
use super::content_store;
use super::manager::Manager;
use super::origin::Origin;
use super::reply::no_dataset;
use crate::rib::Hop;
use hashlane_name::component::{GENERIC, SEGMENT, VERSION};
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::{
    ChannelStatus, Count, CsInfo, FaceQueryFilter, FibEntry, ForwarderStatus, NextHopRecord, RibEntry, Route,
    StrategyChoice,
};
use hashlane_ndn::mgmt::segment::with_number;
use hashlane_ndn::mgmt::{ControlResponse, Record};
use hashlane_ndn::wire::Interest;
use hashlane_ndn_fw::face::Counter;
use hashlane_ndn_fw::forward::{Counters, DropReason};

/// Longest name of an Interest for a dataset, in bytes. With it, a segment fits in a packet.
const MAX_NAME: usize = 1024;

/// True for lists that may have as many entries as a table. Interests that come at once share them.
fn is_long(target: Target<'_>) -> bool {
    matches!(
        (target.module, target.verb),
        (b"faces", b"list" | b"query") | (b"fib" | b"rib" | b"strategy-choice", b"list")
    )
}

/// A counter by its name.
type Named = (&'static str, fn(&Counters) -> &Counter);

impl Manager {
    /// The segment of a dataset that an Interest asks for, or an error packet. Returns `None` if no Data can
    /// answer the Interest.
    pub(super) fn dataset(
        &mut self,
        target: Target<'_>,
        interest: &Interest<'_>,
        from: &Origin,
        now: Now,
    ) -> Option<Vec<u8>> {
        let name = interest.name();
        let last = name.components().last()?;
        if last.typ == SEGMENT {
            return self.store.find(name, from, now);
        }
        if last.typ == VERSION {
            let versioned = with_number(name, SEGMENT, 0).ok()?;
            return self.store.find(versioned.view(), from, now);
        }
        if name.as_bytes().len() > MAX_NAME {
            let response = ControlResponse::new(414, format!("the name is longer than {MAX_NAME} bytes"));
            return no_dataset(name, &response);
        }
        let changes = self.changes + if target.module == b"faces" { self.opened } else { 0 };
        if is_long(target)
            && interest.can_be_prefix()
            && let Some(first) = self.store.shared(name, from, changes, now)
        {
            return Some(first);
        }
        match self.list(target, name, now) {
            // The name of the Data is longer than the Interest's.
            Ok(_) if !interest.can_be_prefix() => None,
            Ok(content) => self.store.keep(name, content, from, changes, now),
            Err(response) => no_dataset(name, &response),
        }
    }

    fn list(&self, target: Target<'_>, name: NdnName<'_>, now: Now) -> Result<Vec<u8>, ControlResponse> {
        let mut out = Vec::new();
        match (target.module, target.verb) {
            (b"status", b"general") => self.status(now).write_fields(&mut out),
            (b"faces", b"list") => {
                self.faces.values().for_each(|face| face.status().write(&mut out));
            }
            (b"faces", b"query") => {
                let filter = name.components().nth(Target::LEN).filter(|filter| filter.typ == GENERIC);
                let filter = FaceQueryFilter::parse(filter.map_or(&[], |filter| filter.value))
                    .map_err(|error| ControlResponse::new(400, format!("Malformed filter: {error}")))?;
                let faces = self.faces.values().filter(|face| face.matches(&filter));
                faces.for_each(|face| face.status().write(&mut out));
            }
            (b"faces", b"channels") => {
                let channels = self.config.channels.iter();
                channels.for_each(|uri| ChannelStatus { local_uri: uri.to_string() }.write(&mut out));
            }
            (b"fib", b"list") => {
                for (name, hops) in self.rib.fib() {
                    let hop = |hop: &Hop| NextHopRecord { face_id: hop.face, cost: hop.cost };
                    let mut next_hops: Vec<_> = hops.iter().map(hop).collect();
                    next_hops.sort_unstable_by_key(|hop| (hop.cost, hop.face_id));
                    FibEntry { name, next_hops }.write(&mut out);
                }
            }
            (b"rib", b"list") => self.list_routes(now, &mut out),
            (b"strategy-choice", b"list") => {
                for (name, strategy) in self.strategies.entries() {
                    StrategyChoice { name: name.clone(), strategy: strategy.clone() }.write(&mut out);
                }
            }
            (b"cs", b"info") => CsInfo {
                capacity: self.cs.capacity,
                flags: content_store::flags(&self.cs),
                entries: self.counters.value(|all| &all.cs_entries),
                hits: self.counters.value(|all| &all.cs_hits),
                misses: self.counters.value(|all| &all.cs_misses),
            }
            .write(&mut out),
            (module, verb) => {
                let text = format!("there is no {}/{}", module.escape_ascii(), verb.escape_ascii());
                return Err(ControlResponse::new(501, text));
            }
        }
        Ok(out)
    }

    fn list_routes(&self, now: Now, out: &mut Vec<u8>) {
        for (name, routes) in self.rib.entries() {
            let routes = routes.iter().map(|route| Route {
                face_id: route.face,
                origin: route.origin,
                cost: route.cost,
                flags: route.flags,
                expiration: route.expires.map(|end| end.saturating_sub(now.monotonic)),
            });
            RibEntry { name, routes: routes.collect() }.write(out);
        }
    }

    /// Counters that NFD does not have: dropped packets by reason, and whatever gave way to others.
    fn counts(&self) -> Vec<Count> {
        let counters = &self.counters;
        let others: [Named; 8] = [
            ("evicted-interests", |all| &all.evicted),
            ("evicted-faces", |all| &all.evicted_faces),
            ("evicted-connections", |all| &all.evicted_connections),
            ("refused-faces", |all| &all.refused_faces),
            ("receive-queue-full", |all| &all.udp_overflows),
            ("receive-limited", |all| &all.flood_drops),
            ("send-queue-full", |all| &all.queue_drops),
            ("log-lines", |all| &all.suppressed_lines),
        ];
        let reasons = DropReason::ALL.iter().map(|reason| (reason.name(), counters.dropped(*reason)));
        let others = others.into_iter().map(|(name, counter)| (name, counters.value(counter)));
        reasons.chain(others).map(|(name, value)| Count { name: name.into(), value }).collect()
    }

    fn status(&self, now: Now) -> ForwarderStatus {
        let counters = &self.counters;
        ForwarderStatus {
            version: self.config.version.clone(),
            start: self.started.unix,
            current: now.unix,
            name_tree_entries: 0,
            fib_entries: self.rib.fib_len() as u64,
            pit_entries: counters.value(|all| &all.pit_entries),
            measurements_entries: counters.value(|all| &all.measurements_entries),
            cs_entries: counters.value(|all| &all.cs_entries),
            in_interests: counters.value(|all| &all.in_interests),
            in_data: counters.value(|all| &all.in_data),
            in_nacks: counters.value(|all| &all.in_nacks),
            out_interests: counters.value(|all| &all.out_interests),
            out_data: counters.value(|all| &all.out_data),
            out_nacks: counters.value(|all| &all.out_nacks),
            satisfied: Some(counters.value(|all| &all.satisfied)),
            unsatisfied: Some(counters.value(|all| &all.unsatisfied)),
            counts: self.counts(),
            cs_oldest: (counters.value(|all| &all.cs_entries) > 0)
                .then(|| counters.largest(|all| &all.cs_age)),
        }
    }
}
