//! Buckets with chains: the shape of the Linux kernel's table of established connections.
//!
//! An array of heads, one for each bucket, and nodes that hold their hash, the next node and the entry. The
//! number of buckets is fixed when the table is made, as the kernel's is at boot, and a new node becomes its
//! bucket's first (`inet_ehash_nolisten`, `hlist_nulls_add_head_rcu`). A find compares the hash before it
//! compares the key (`__inet6_lookup_established`). Source: Linux `net/ipv6/inet6_hashtables.c`,
//! `include/net/inet_hashtables.h`.
//!
//! It has no answer to keys of one bucket: a find then walks over all of them.

use crate::group::prefetch;
use crate::place::{Entry, Places};
use crate::table::{Inserted, Table};
use alloc::vec;
use alloc::vec::Vec;

/// A table of chains.
#[derive(Clone, Debug)]
pub struct Chained<K, V> {
    heads: Vec<u32>,
    nodes: Places<Node<K, V>>,
}

#[derive(Clone, Debug)]
struct Node<K, V> {
    /// The low half of the hash, as the kernel keeps it (`sk_hash`).
    hash: u32,
    next: u32,
    entry: Entry<K, V>,
}

/// The end of a chain.
const END: u32 = u32::MAX;

impl<K: Eq, V> Chained<K, V> {
    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    #[inline(always)]
    fn chain(&self, hash: u64) -> Chain<'_, K, V> {
        let next = self.heads.get(self.bucket(hash)).copied().unwrap_or(END);
        Chain { nodes: &self.nodes, next }
    }

    #[inline(always)]
    fn place(&self, hash: u64, key: &K) -> Option<u32> {
        self.chain(hash)
            .find(|(_, node)| node.hash == hash as u32 && node.entry.key == *key)
            .map(|(at, _)| at)
    }

    /// Nodes in the longest chain.
    pub fn longest_chain(&self) -> usize {
        let length = |head: &u32| Chain { nodes: &self.nodes, next: *head }.count();
        self.heads.iter().map(length).max().unwrap_or(0)
    }
}

/// The nodes of a bucket, from the newest on.
struct Chain<'a, K, V> {
    nodes: &'a Places<Node<K, V>>,
    next: u32,
}

impl<'a, K, V> Iterator for Chain<'a, K, V> {
    type Item = (u32, &'a Node<K, V>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        let node = self.nodes.at(at)?;
        self.next = node.next;
        Some((at, node))
    }
}

impl<K: Eq, V> Table<K, V> for Chained<K, V> {
    const SLOTS_STAY: bool = true;

    /// One bucket for each entry, rounded up to a power of two; their number never changes.
    fn with_capacity(entries: usize) -> Self {
        Self { heads: vec![END; entries.next_power_of_two()], nodes: Places::with_capacity(entries) }
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn memory(&self) -> usize {
        self.heads.capacity() * size_of::<u32>() + self.nodes.bytes()
    }

    fn slots(&self) -> usize {
        self.nodes.bound()
    }

    #[inline(always)]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        let mut chain = self.chain(hash);
        chain
            .find(|(_, node)| node.hash == hash as u32 && node.entry.key == *key)
            .map(|(_, node)| &node.entry.value)
    }

    #[inline(always)]
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        let at = self.place(hash, key)?;
        self.nodes.at_mut(at).map(|node| &mut node.entry.value)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> Option<(&K, &V)> {
        self.nodes.at(slot).map(|node| (&node.entry.key, &node.entry.value))
    }

    fn insert(&mut self, hash: u64, key: K, value: V, _: impl Fn(&K) -> u64) -> Inserted {
        let bucket = self.bucket(hash);
        let next = self.heads.get(bucket).copied().unwrap_or(END);
        let slot = self.nodes.add(Node { hash: hash as u32, next, entry: Entry { key, value } });
        if let Some(head) = self.heads.get_mut(bucket) {
            *head = slot;
        }
        Inserted { slot, moved: false }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let mut before = None;
        let mut found = None;
        for (at, node) in self.chain(hash) {
            if node.hash == hash as u32 && node.entry.key == *key {
                found = Some((at, node.next));
                break;
            }
            before = Some(at);
        }
        let (at, next) = found?;
        let bucket = self.bucket(hash);
        let link = match before {
            Some(before) => self.nodes.at_mut(before).map(|node| &mut node.next),
            None => self.heads.get_mut(bucket),
        };
        if let Some(link) = link {
            *link = next;
        }
        self.nodes.take(at).map(|node| node.entry.value)
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        if let Some(head) = self.heads.get(self.bucket(hash)) {
            prefetch(head);
        }
    }

    #[inline(always)]
    fn prefetch_entry(&self, hash: u64) {
        let head = self.heads.get(self.bucket(hash)).copied().unwrap_or(END);
        if let Some(node) = self.nodes.memory(head) {
            prefetch(node);
        }
    }

    /// Nodes of the bucket before the key is found, whether or not their hash is the same: each is a step in
    /// memory.
    fn comparisons(&self, hash: u64, key: &K) -> usize {
        let mut nodes = 0;
        for (_, node) in self.chain(hash) {
            nodes += 1;
            if node.hash == hash as u32 && node.entry.key == *key {
                break;
            }
        }
        nodes
    }

    fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a K, &'a V)>
    where
        K: 'a,
        V: 'a,
    {
        self.nodes.iter().map(|(at, node)| (at, &node.entry.key, &node.entry.value))
    }
}
