//! Second stage: prefetch the table entries that the packets of a burst need.
//!
//! A packet reads some twenty cache lines of tables that may be far larger than a cache. One by one, packets
//! would wait for each of these misses in turn; here the misses of the whole burst overlap. Passes follow
//! the pointers: buckets, then entries, then memory that the entries own. The passes change no table.
//! A packet later in the burst may need another entry than was prefetched, which costs only time.
//!
//! Lone packets, and tables that fit into a cache, get only the first pass.

use super::burst::{Burst, Content, Ingress};
use super::decode::Names;
use super::forwarder::Forwarder;
use super::route::FibCandidate;
use crate::cs::Pass;
use crate::hashed::HashedName;
use crate::pit::{HopFields, Pit};
use hashlane_table::stage::Stage;

/// Entries of a table, a few hundred bytes each, that a level-2 cache holds.
const CACHED: usize = 1 << 12;

/// Stage that computes the marks of Interests, and prefetches. It changes no table.
#[derive(Debug)]
pub struct Prefetch<'f, P> {
    pub(super) forwarder: &'f Forwarder<P>,
}

/// Tables that are larger than a cache.
#[derive(Clone, Copy)]
struct Large {
    pit: bool,
    fib: bool,
    store: bool,
}

impl<P: Pit> Prefetch<'_, P> {
    /// Prefetches buckets, and computes the mark of an Interest.
    #[inline(always)]
    fn buckets(&self, packet: &mut Ingress<'_, P::Mark>, hop: HopFields<'_>, names: &Names, large: Large) {
        let Forwarder { pit, cs, dead, fib, .. } = self.forwarder;
        match &packet.content {
            Content::None | Content::Elsewhere => {}
            Content::Interest(interest) => {
                let mark = pit.mark(interest, hop);
                let name = names.of(packet);
                if let Ok(mark) = &mark {
                    pit.prefetch(name.hash(), mark);
                }
                if let Some(nonce) = interest.nonce() {
                    dead.prefetch(name.hash(), nonce);
                }
                cs.prefetch(&name);
                if large.fib {
                    fib.prefetch(&name);
                }
                packet.mark = Some(mark);
            }
            Content::Nack(interest) => {
                let mark = pit.mark(interest, hop);
                if let Ok(mark) = &mark {
                    pit.prefetch(names.of(packet).hash(), mark);
                }
                packet.mark = Some(mark);
            }
            Content::Data(_) => {
                let name = names.of(packet);
                pit.prefetch_match(name.hash(), hop);
                cs.prefetch_insert(&name);
            }
        }
    }

    /// Prefetches entries.
    #[inline(always)]
    fn entries(
        &self,
        packet: &mut Ingress<'_, P::Mark>,
        hop: HopFields<'_>,
        name: &HashedName<'_>,
        large: Large,
    ) {
        let Forwarder { pit, cs, fib, .. } = self.forwarder;
        match &packet.content {
            Content::None | Content::Elsewhere | Content::Nack(_) => {}
            Content::Interest(_) => {
                if large.pit
                    && let Some(Ok(mark)) = &packet.mark
                {
                    pit.prefetch_entry(name.hash(), mark);
                }
                if large.fib {
                    packet.tagged = fib.tagged(name);
                }
                if large.store {
                    cs.prefetch_entry(name);
                }
            }
            Content::Data(_) => {
                if large.pit {
                    pit.prefetch_match_entry(name.hash(), hop);
                }
                if large.store {
                    cs.prefetch_insert_entries(name);
                }
            }
        }
    }

    /// Prefetches the entry of the FIB that an Interest needs.
    #[inline(always)]
    fn route(&self, packet: &mut Ingress<'_, P::Mark>, name: &HashedName<'_>) {
        let Forwarder { fib, generation, .. } = self.forwarder;
        let candidate = packet.tagged.and_then(|tagged| fib.candidate(name, tagged));
        packet.fib = candidate.map(|candidate| FibCandidate { candidate, tables: *generation });
    }

    /// Prefetches memory that entries own.
    #[inline(always)]
    fn owned(&self, packet: &Ingress<'_, P::Mark>, name: &HashedName<'_>, large: Large) {
        let Forwarder { pit, fib, .. } = self.forwarder;
        match &packet.content {
            Content::Interest(_) => {
                if let Some(found) = packet.fib {
                    fib.prefetch_components(name, found.candidate);
                }
            }
            Content::Data(_) if large.pit => pit.prefetch_match_packet(name.hash()),
            _ => {}
        }
    }
}

impl<P: Pit> Stage<Burst<'_, P::Mark>> for Prefetch<'_, P> {
    #[inline(always)]
    fn run(&mut self, burst: &mut Burst<'_, P::Mark>) {
        let Forwarder { decode, pit, fib, cs, config, .. } = self.forwarder;
        let (names, digest_type) = (decode.names(), config.digest_type);
        let large = Large { pit: pit.len() > CACHED, fib: fib.len() > CACHED, store: cs.len() > CACHED };
        let Burst { packets, headers, .. } = burst;
        let mut data = 0;
        for packet in packets.iter_mut() {
            let hop = HopFields::of(headers.of(packet), digest_type);
            self.buckets(packet, hop, names, large);
            data += usize::from(matches!(packet.content, Content::Data(_)));
        }
        // A lone packet gains nothing: it would wait for the same misses here.
        if packets.len() < 2 || !(large.pit || large.fib || large.store) {
            return;
        }
        let evicts = |pass| {
            if large.store {
                cs.prefetch_evictions(data, pass);
            }
        };
        evicts(Pass::Buckets);
        for packet in packets.iter_mut() {
            let hop = HopFields::of(headers.of(packet), digest_type);
            let name = names.of(packet);
            self.entries(packet, hop, &name, large);
        }
        evicts(Pass::Entries);
        if large.fib {
            packets.iter_mut().for_each(|packet| self.route(packet, &names.of(packet)));
        }
        for packet in packets.iter() {
            self.owned(packet, &names.of(packet), large);
        }
        evicts(Pass::Owned);
    }
}
