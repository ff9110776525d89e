//! The second stage: bring into the cache what the packets of a burst will need.
//!
//! A packet reads some twenty cache lines of tables that are far larger than a cache. Handled one by one, packets
//! wait for each of these in turn; here the misses of the whole burst overlap. Three passes follow the pointers:
//! buckets, then the entries that they lead to, then the memory that these own. The passes read tables and write
//! none; packets later in the burst may find other entries than were prefetched, which costs them time alone.

use super::Forwarder;
use super::burst::{Burst, Content, Ingress};
use super::decode::Names;
use crate::hashed::HashedName;
use crate::pit::{Hop, Pit};
use table::stage::Stage;

/// Derives the marks of Interests, and prefetches. It changes no table.
#[derive(Debug)]
pub struct Prefetch<'f, P> {
    pub(super) forwarder: &'f Forwarder<P>,
}

impl<P: Pit> Prefetch<'_, P> {
    /// Where the entries stand.
    #[inline(always)]
    fn buckets(&self, packet: &mut Ingress<'_, P::Mark>, names: &Names) {
        let Forwarder { pit, cs, dead, fib, choice, config, .. } = self.forwarder;
        let hop = Hop::of(&packet.header, config.digest_type);
        match &packet.content {
            Content::None => {}
            Content::Interest(interest) => {
                let mark = pit.mark(interest, hop);
                let name = names.of(packet);
                if let Ok(mark) = &mark {
                    pit.prefetch(name.hash(), mark);
                }
                dead.prefetch(name.hash(), interest.nonce().unwrap_or_default());
                cs.prefetch(&name);
                fib.prefetch(&name);
                choice.prefetch(&name);
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

    /// The entries.
    #[inline(always)]
    fn entries(&self, packet: &Ingress<'_, P::Mark>, name: &HashedName<'_>) {
        let Forwarder { pit, cs, fib, config, .. } = self.forwarder;
        match &packet.content {
            Content::None | Content::Nack(_) => {}
            Content::Interest(_) => {
                if let Some(Ok(mark)) = &packet.mark {
                    pit.prefetch_entry(name.hash(), mark);
                }
                fib.prefetch_entries(name);
                cs.prefetch_entry(name);
            }
            Content::Data(_) => {
                pit.prefetch_match_entry(name.hash(), Hop::of(&packet.header, config.digest_type));
                cs.prefetch_insert_entries(name);
            }
        }
    }
}

impl<P: Pit> Stage<Burst<'_, P::Mark>> for Prefetch<'_, P> {
    #[inline(always)]
    fn run(&mut self, burst: &mut Burst<'_, P::Mark>) {
        let names = self.forwarder.decode.names();
        for packet in &mut burst.packets {
            self.buckets(packet, names);
        }
        // A lone packet would wait here for what it will wait for anyway.
        if burst.len() < 2 {
            return;
        }
        for packet in &burst.packets {
            self.entries(packet, &names.of(packet));
        }
    }
}
