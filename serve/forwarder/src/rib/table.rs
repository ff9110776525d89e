//! Entries of the RIB by their keys, in the order of the keys.
//!
//! Most entries have one route, without a time of expiry, and the next hop that it makes. Those take 24 bytes
//! and their key; all others are boxed.

use super::entry::{Entry, Hop};
use super::{Route, order::Order};
use hashlane_name_map::names::{Names, Owners, Position};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_table::Segments;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

/// Number of an entry, for as long as it exists.
pub(super) type Id = u32;

/// Routes and next hops of an entry.
enum Content {
    /// One route that never expires, and the next hop that it makes.
    One {
        face: u32,
        cost: u32,
        origin: u16,
        flags: u8,
    },
    Any(Box<Entry>),
}

impl Content {
    fn new(entry: Entry) -> Self {
        Self::one(&entry).unwrap_or_else(|| Self::Any(Box::new(entry)))
    }

    /// The short form of an entry, if it has one.
    fn one(entry: &Entry) -> Option<Self> {
        let ([route], [hop]) = (&*entry.routes, &*entry.hops) else { return None };
        let Route { face, origin, cost, flags, expires: None } = *route else { return None };
        if *hop != (Hop { face, cost, routed: true }) {
            return None;
        }
        Some(Self::One {
            face: face.try_into().ok()?,
            cost: cost.try_into().ok()?,
            origin: origin.0.try_into().ok()?,
            flags: flags.try_into().ok()?,
        })
    }

    fn entry(&self) -> Cow<'_, Entry> {
        match *self {
            Self::Any(ref entry) => Cow::Borrowed(entry),
            Self::One { face, cost, origin, flags } => {
                let (face, cost, origin) = (face.into(), cost.into(), RouteOrigin(origin.into()));
                let route = Route { face, origin, cost, flags: flags.into(), expires: None };
                let hop = Hop { face, cost, routed: true };
                Cow::Owned(Entry { routes: [route].into(), hops: [hop].into() })
            }
        }
    }
}

enum Slot {
    /// The next free slot.
    Free(Id),
    Taken {
        content: Content,
        position: Position,
        len: u16,
    },
}

/// End of the list of free slots.
const NONE: Id = Id::MAX;

/// Slots of entries. They keep the memory of the most entries so far until the last one is removed.
struct Slots {
    slots: Segments<Slot>,
    free: Id,
}

impl Slots {
    fn new() -> Self {
        Self { slots: Segments::with_capacity(0), free: NONE }
    }
}

impl Owners for Slots {
    fn len_of(&self, owner: u32) -> Option<usize> {
        match self.slots.get(owner as usize)? {
            Slot::Taken { len, .. } => Some((*len).into()),
            Slot::Free(_) => None,
        }
    }

    fn moved(&mut self, owner: u32, to: Position) {
        if let Some(Slot::Taken { position, .. }) = self.slots.get_mut(owner as usize) {
            *position = to;
        }
    }
}

/// The entries.
pub(super) struct Table {
    slots: Slots,
    names: Names,
    order: Order,
    /// Bytes of all keys.
    name_bytes: usize,
    /// The entry that was found last: a change finds its own a few times.
    last: Cell<Id>,
}

impl Table {
    /// Most bytes of a key.
    pub(super) const MAX_KEY: usize = Names::MAX_LEN;

    pub(super) fn new() -> Self {
        let (slots, names, order) = (Slots::new(), Names::new(), Order::default());
        Self { slots, names, order, name_bytes: 0, last: Cell::new(NONE) }
    }

    /// Bytes of all keys.
    pub(super) fn name_bytes(&self) -> usize {
        self.name_bytes
    }

    /// The key of an entry.
    pub(super) fn key(&self, id: Id) -> &[u8] {
        self.key_at(id).invariant("the entry exists").unwrap_or_default()
    }

    /// The key of the entry in a slot, if it is taken.
    fn key_at(&self, id: Id) -> Option<&[u8]> {
        match self.slots.slots.get(id as usize)? {
            Slot::Taken { position, len, .. } => Some(self.names.get(*position, (*len).into())),
            Slot::Free(_) => None,
        }
    }

    /// Compares entries with a key.
    fn compare<'t>(&'t self, key: &'t [u8]) -> impl Fn(Id) -> Ordering + 't {
        move |id| self.key(id).cmp(key)
    }

    /// The entry of a key.
    pub(super) fn find(&self, key: &[u8]) -> Option<Id> {
        if self.key_at(self.last.get()) == Some(key) {
            return Some(self.last.get());
        }
        let found = self.order.find(self.compare(key))?;
        self.last.set(found);
        Some(found)
    }

    /// Routes and next hops of an entry.
    pub(super) fn at(&self, id: Id) -> Option<Cow<'_, Entry>> {
        match self.slots.slots.get(id as usize)? {
            Slot::Taken { content, .. } => Some(content.entry()),
            Slot::Free(_) => None,
        }
    }

    /// Routes and next hops of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<Cow<'_, Entry>> {
        self.at(self.find(key)?)
    }

    /// Changes an entry.
    pub(super) fn edit<R>(&mut self, id: Id, change: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let Slot::Taken { content, .. } = self.slots.slots.get_mut(id as usize)? else { return None };
        if let Content::Any(entry) = content {
            let result = change(entry);
            if let Some(one) = Content::one(entry) {
                *content = one;
            }
            return Some(result);
        }
        let mut entry = content.entry().into_owned();
        let result = change(&mut entry);
        *content = Content::new(entry);
        Some(result)
    }

    /// The entry of a key of at most [`MAX_KEY`](Self::MAX_KEY) bytes, added if it is missing. `None` if there
    /// is no room for another one.
    pub(super) fn find_or_add(&mut self, key: &[u8]) -> Option<Id> {
        if let Some(id) = self.find(key) {
            return Some(id);
        }
        let Slots { slots, free } = &mut self.slots;
        let id = if *free == NONE { Id::try_from(slots.len()).ok()? } else { *free };
        let position = self.names.push(id, key)?;
        let content = Content::Any(Box::default());
        let slot = Slot::Taken { content, position, len: key.len() as u16 };
        match slots.get_mut(id as usize) {
            Some(place) => {
                if let Slot::Free(next) = *place {
                    *free = next;
                }
                *place = slot;
            }
            None => slots.push(slot),
        }
        self.name_bytes += key.len();
        let mut order = std::mem::take(&mut self.order);
        order.insert(id, self.compare(key));
        self.order = order;
        self.last.set(id);
        Some(id)
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, id: Id) {
        let mut order = std::mem::take(&mut self.order);
        order.remove(self.compare(self.key(id)));
        self.order = order;
        let Slots { slots, free } = &mut self.slots;
        let Some(slot) = slots.get_mut(id as usize) else { return };
        let Slot::Taken { position, len, .. } = std::mem::replace(slot, Slot::Free(*free)) else { return };
        *free = id;
        self.name_bytes -= usize::from(len);
        self.names.remove(position, len.into(), &mut self.slots);
        if self.order.is_empty() {
            *self = Self::new();
        }
    }

    /// All entries, in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Cow<'_, Entry>)> {
        self.order.iter().filter_map(|id| Some((self.key(id), self.at(id)?)))
    }

    /// Keys after a key, in order.
    pub(super) fn after<'t>(&'t self, key: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        self.order.after(self.compare(key)).map(|id| self.key(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_entry_takes_24_bytes() {
        assert_eq!(size_of::<Slot>(), 24);
        let route = Route { face: 300, origin: RouteOrigin::NLSR, cost: 17, flags: 3, expires: None };
        let hop = Hop { face: 300, cost: 17, routed: true };
        let common = Entry { routes: [route].into(), hops: [hop].into() };
        let content = Content::new(common.clone());
        assert!(matches!(content, Content::One { .. }));
        assert_eq!(*content.entry(), common);
        let others = [
            Entry { routes: [Route { expires: Some(7), ..route }].into(), ..common.clone() },
            Entry { hops: [Hop { routed: false, ..hop }].into(), ..common.clone() },
            Entry { hops: [Hop { cost: 18, ..hop }].into(), ..common.clone() },
            Entry { hops: Default::default(), ..common.clone() },
            Entry { routes: vec![route; 2].into(), ..common.clone() },
            Entry {
                routes: [Route { cost: 1 << 32, ..route }].into(),
                hops: [Hop { cost: 1 << 32, ..hop }].into(),
            },
        ];
        for other in others {
            let content = Content::new(other.clone());
            assert!(matches!(content, Content::Any(_)));
            assert_eq!(*content.entry(), other);
        }
    }
}
