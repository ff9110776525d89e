//! Finding names.

use super::Zone;
use super::names::NameId;
use crate::query::Hash;
use hashlane_name::dns::{Labels, Name};

/// The place of a name in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The name; or the closest name above it that exists and is not occluded.
    pub node: NameId,
    /// Labels of the name before the labels of `node`; 0 if the name itself exists and is not occluded.
    pub below: usize,
    /// The delegation that the name is at or below; it is `node`.
    pub cut: Option<NameId>,
    /// The owner of a DNAME record that the name is strictly below; it is `node`.
    pub dname: Option<NameId>,
}

impl Zone {
    /// Locates a name at or below the apex. `suffixes` are its hashes ([`Hash::name`] or
    /// [`Batch::suffixes`](crate::query::Batch::suffixes)) under the key of the builder.
    ///
    /// The caller has found the zone of the name before: a name that is not in the zone is located anywhere.
    #[inline]
    pub fn locate(&self, suffixes: &[u64], name: Name<'_>) -> Located {
        let apex = suffixes.len().saturating_sub(1 + self.apex_labels);
        if let Some(node) = self.lookup(suffixes, 0, name.labels(), apex) {
            return self.located(node, 0);
        }
        // Without the first `missing` labels or fewer the name does not exist; without the first `below` it
        // does.
        let (mut node, mut missing, mut below) = (self.apex, 0, apex);
        while below > missing + 1 {
            let skip = missing.midpoint(below);
            let mut labels = name.labels();
            labels.by_ref().take(skip).for_each(drop);
            match self.lookup(suffixes, skip, labels, apex - skip) {
                Some(found) => (node, below) = (found, skip),
                None => missing = skip,
            }
        }
        self.located(node, below)
    }

    /// Looks up the name of `count` labels below the apex whose hash is the suffix's without the first `skip`
    /// labels.
    #[inline(always)]
    fn lookup(&self, suffixes: &[u64], skip: usize, labels: Labels<'_>, count: usize) -> Option<NameId> {
        let is = |place| self.names.matches(NameId(place), labels.clone(), count, self.apex);
        self.index.find(*suffixes.get(skip)?, is).map(|found| NameId(found.place))
    }

    #[inline(always)]
    fn located(&self, node: NameId, below: usize) -> Located {
        let cut = self.is_cut(node).then_some(node);
        let dname = (below > 0 && self.has_dname(node)).then_some(node);
        Located { node, below, cut, dname }
    }

    /// Locates a name by its id, such as the target of a CNAME. `None` if it is not in the zone.
    pub fn locate_id(&self, id: NameId) -> Option<Located> {
        let (mut node, mut below) = (id, 0);
        while !self.names.flags(node).is_visible() {
            if node == NameId::ROOT {
                return None;
            }
            (node, below) = (self.parent(node), below + 1);
        }
        Some(self.located(node, below))
    }

    /// The id of a name that exists and is not occluded, with `hash` under the key of the builder.
    pub fn find(&self, name: Name<'_>, hash: &mut Hash) -> Option<NameId> {
        if !name.is_within(self.apex_name()) {
            return None;
        }
        let suffixes = hash.name(name);
        self.lookup(suffixes, 0, name.labels(), suffixes.len().checked_sub(1 + self.apex_labels)?)
    }

    /// The name `*` below `id`, if it exists: the source of synthesis of RFC 4592 §3.3.1 for names whose
    /// closest encloser is `id`.
    #[inline]
    pub fn wildcard(&self, id: NameId) -> Option<NameId> {
        if !self.names.flags(id).has(super::Flags::WILDCARD) {
            return None;
        }
        let at = self.wildcards.binary_search_by_key(&id, |(parent, _)| *parent).ok()?;
        self.wildcards.get(at).map(|(_, wildcard)| *wildcard)
    }

    /// The wildcard from which the records of a name at this place are made (RFC 4592 §3.3.1); `None` of a
    /// name that exists, or that is below a delegation or a DNAME.
    #[inline]
    pub fn source(&self, located: &Located) -> Option<NameId> {
        let Located { node, below, cut, dname } = *located;
        if below == 0 || cut.is_some() || dname.is_some() {
            return None;
        }
        self.wildcard(node)
    }

    /// Returns true if names of the zone may be made from a wildcard.
    #[inline]
    pub fn has_wildcards(&self) -> bool {
        !self.wildcards.is_empty()
    }

    /// Prefetches what [`locate`](Self::locate) reads first for the name of these hashes: the buckets of the
    /// whole name and of the name that it looks up next.
    #[inline(always)]
    pub fn prefetch(&self, suffixes: &[u64]) {
        for hash in self.first_lookups(suffixes).into_iter().flatten() {
            self.index.prefetch(hash);
        }
    }

    /// Prefetches the node of the name, or of the name that is looked up next, once their buckets are in the
    /// cache.
    #[inline(always)]
    pub fn prefetch_node(&self, suffixes: &[u64]) {
        if let Some(id) = self.likely(suffixes) {
            self.names.prefetch(id);
        }
    }

    /// Prefetches the label and the first sets of that name, once its node is in the cache.
    #[inline(always)]
    pub fn prefetch_sets(&self, suffixes: &[u64]) {
        if let Some(id) = self.likely(suffixes) {
            self.names.prefetch_label(id);
            if let Some(sets) = self.names.sets(id) {
                super::sets::prefetch(&self.sets, sets);
            }
        }
    }

    /// Hashes of the first two names that [`locate`](Self::locate) looks up.
    #[inline(always)]
    fn first_lookups(&self, suffixes: &[u64]) -> [Option<u64>; 2] {
        let apex = suffixes.len().saturating_sub(1 + self.apex_labels);
        let next = if apex > 1 { suffixes.get(apex / 2).copied() } else { None };
        [suffixes.first().copied(), next]
    }

    /// The name that one of the first two lookups will find, by the tags of their buckets.
    #[inline(always)]
    fn likely(&self, suffixes: &[u64]) -> Option<NameId> {
        let hashes = self.first_lookups(suffixes).into_iter().flatten();
        hashes.filter_map(|hash| self.index.first_place(hash)).next().map(NameId)
    }
}
