//! Account book of one resource: what each holder has, and whose oldest item has to go.

use super::classes::Classes;
use super::holders::Holder;
use alloc::vec;
use alloc::vec::Vec;

/// Limits of a resource, in the unit of its weights: entries, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most of all holders together.
    pub all: u64,
    /// Most of all remote holders together. The rest is the reserve of local ones.
    pub remote: u64,
}

impl Limits {
    /// At most `all`. A quarter of it is the reserve of local holders.
    pub const fn new(all: u64) -> Self {
        Self { all, remote: all - all / 4 }
    }
}

/// Number of an item. It is free for another item once this one is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemId(u32);

impl ItemId {
    /// Number of no item.
    pub const NONE: Self = Self(NONE);
}

/// New numbers of items.
#[derive(Clone, Debug)]
pub struct Renumbered(Vec<u32>);

impl Renumbered {
    /// New number of an item.
    pub fn of(&self, old: ItemId) -> ItemId {
        let new = self.0.get(old.0 as usize).copied();
        debug_assert!(new.is_some_and(|new| new != NONE), "the caller has the number of an item");
        new.map_or(ItemId::NONE, ItemId)
    }
}

/// Item that has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// The item.
    pub id: ItemId,
    /// Value that the caller gave it.
    pub value: u32,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Item {
    /// Next older and next newer item of the holder. In a free item, `newer` is the next free one.
    older: u32,
    newer: u32,
    holder: Holder,
    weight: u32,
    value: u32,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    weight: u64,
    oldest: u32,
    newest: u32,
}

impl Account {
    const EMPTY: Self = Self { weight: 0, oldest: NONE, newest: NONE };
}

/// Account book of a resource.
#[derive(Clone, Debug)]
pub struct Ledger {
    limits: Limits,
    items: Vec<Item>,
    free: u32,
    len: usize,
    /// Accounts by the number of their holder.
    accounts: Vec<Account>,
    local: Side,
    remote: Side,
}

/// All local accounts, or all remote ones.
#[derive(Clone, Debug)]
struct Side {
    weight: u64,
    classes: Classes,
}

impl Side {
    fn new() -> Self {
        Self { weight: 0, classes: Classes::new() }
    }
}

impl Ledger {
    /// An empty book.
    pub fn new(limits: Limits) -> Self {
        let (local, remote) = (Side::new(), Side::new());
        Self { limits, items: Vec::new(), free: NONE, len: 0, accounts: Vec::new(), local, remote }
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Changes the limits. [`excess`](Self::excess) then returns the items that have to go.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Weight of all items.
    #[inline]
    pub fn weight(&self) -> u64 {
        self.local.weight + self.remote.weight
    }

    /// Weight of the items of all remote holders.
    #[inline]
    pub fn remote_weight(&self) -> u64 {
        self.remote.weight
    }

    /// Weight of the items of one holder.
    #[inline]
    pub fn weight_of(&self, holder: Holder) -> u64 {
        self.account(holder.index).weight
    }

    /// Bytes of memory of the book.
    pub fn memory(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + self.accounts.capacity() * size_of::<Account>()
    }

    /// Holder of an item.
    #[inline]
    pub fn holder(&self, id: ItemId) -> Holder {
        let item = self.items.get(id.0 as usize);
        debug_assert!(item.is_some_and(|item| item.holder != FREE), "the caller has the number of an item");
        item.map_or(FREE, |item| item.holder)
    }

    /// Values of all items.
    pub fn values(&self) -> impl Iterator<Item = u32> {
        self.items.iter().filter(|item| item.holder != FREE).map(|item| item.value)
    }

    /// Gives back the memory of items that were removed. The others get new numbers, and stay in order.
    pub fn compact(&mut self) -> Renumbered {
        let mut numbers = vec![NONE; self.items.len()];
        let old = core::mem::take(&mut self.items);
        self.items.reserve_exact(self.len);
        self.free = NONE;
        for account in &mut self.accounts {
            let mut next =
                core::mem::replace(account, Account { oldest: NONE, newest: NONE, ..*account }).oldest;
            while let Some(&item) = old.get(next as usize) {
                let id = self.items.len() as u32;
                if let Some(number) = numbers.get_mut(next as usize) {
                    *number = id;
                }
                if let Some(before) = self.items.get_mut(account.newest as usize) {
                    before.newer = id;
                } else {
                    account.oldest = id;
                }
                self.items.push(Item { older: account.newest, newer: NONE, ..item });
                account.newest = id;
                next = item.newer;
            }
        }
        debug_assert!(self.items.len() == self.len, "each item is in the list of its holder");
        Renumbered(numbers)
    }

    /// True if an item of this weight fits into an empty resource.
    #[inline]
    pub fn admits(&self, holder: Holder, weight: u32) -> bool {
        let limit = if holder.remote { self.limits.remote.min(self.limits.all) } else { self.limits.all };
        u64::from(weight) <= limit
    }

    /// Adds the newest item of a holder. `value` is the caller's, to find the item by.
    ///
    /// # Panics
    /// More than 2³² − 1 items.
    #[inline]
    pub fn add(&mut self, holder: Holder, weight: u32, value: u32) -> ItemId {
        let at = holder.index as usize;
        if at >= self.accounts.len() {
            self.accounts.resize(at + 1, Account::EMPTY);
        }
        let older = self.account(holder.index).newest;
        let item = Item { older, newer: NONE, holder, weight, value };
        let id = match self.items.get_mut(self.free as usize) {
            Some(place) => core::mem::replace(&mut self.free, core::mem::replace(place, item).newer),
            None => {
                assert!(self.items.len() < NONE as usize, "a book has fewer than 2^32 items");
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
        };
        if let Some(before) = self.items.get_mut(older as usize) {
            before.newer = id;
        }
        if let Some(account) = self.accounts.get_mut(at) {
            account.newest = id;
            if older == NONE {
                account.oldest = id;
            }
        }
        self.len += 1;
        self.charge(holder, weight.into(), 0);
        ItemId(id)
    }

    /// Removes an item.
    #[inline]
    pub fn remove(&mut self, id: ItemId) {
        let Some(place) = self.items.get_mut(id.0 as usize).filter(|item| item.holder != FREE) else {
            debug_assert!(false, "an item is removed once");
            return;
        };
        let newer = core::mem::replace(&mut self.free, id.0);
        let free = Item { older: NONE, newer, holder: FREE, weight: 0, value: 0 };
        let Item { older, newer, holder, weight, .. } = core::mem::replace(place, free);
        if let Some(before) = self.items.get_mut(older as usize) {
            before.newer = newer;
        }
        if let Some(after) = self.items.get_mut(newer as usize) {
            after.older = older;
        }
        if let Some(account) = self.accounts.get_mut(holder.index as usize) {
            if newer == NONE {
                account.newest = older;
            }
            if older == NONE {
                account.oldest = newer;
            }
        }
        self.len -= 1;
        self.charge(holder, 0, weight.into());
    }

    /// Changes the weight of an item.
    #[inline]
    pub fn set_weight(&mut self, id: ItemId, weight: u32) {
        if let Some(item) = self.item_mut(id) {
            let old = core::mem::replace(&mut item.weight, weight);
            let holder = item.holder;
            self.charge(holder, weight.into(), old.into());
        }
    }

    /// Changes the value of an item.
    #[inline]
    pub fn set_value(&mut self, id: ItemId, value: u32) {
        if let Some(item) = self.item_mut(id) {
            item.value = value;
        }
    }

    /// Makes an item the newest of its holder.
    pub fn renew(&mut self, id: ItemId) {
        if let Some(&mut Item { holder, weight, value, .. }) = self.item_mut(id) {
            if self.account(holder.index).newest == id.0 {
                return;
            }
            self.remove(id);
            let again = self.add(holder, weight, value);
            debug_assert!(again == id, "the place that became free last is taken first");
        }
    }

    /// Oldest item of the largest holder, if there is more than the limits allow. The caller removes it.
    ///
    /// Local holders give way only if they have more than their reserve. Holders whose weights differ by less
    /// than an eighth count as equally large; the one that has been so for the longest time gives way.
    #[inline]
    pub fn excess(&self) -> Option<Victim> {
        let Limits { all, remote } = self.limits;
        if self.weight() <= all && self.remote.weight <= remote {
            return None;
        }
        self.oldest_of_largest()
    }

    #[cold]
    fn oldest_of_largest(&self) -> Option<Victim> {
        let Limits { all, remote } = self.limits;
        let reserve = all.saturating_sub(remote);
        let [local, distant] = [&self.local, &self.remote].map(|side| side.classes.largest());
        let largest = match (local, distant) {
            (Some((account, size)), Some((_, other))) if self.remote.weight <= remote => {
                // Of equal holders the remote one gives way.
                if self.local.weight > reserve && size > other { Some(account) } else { None }
            }
            (Some((account, _)), None) => Some(account),
            _ => None,
        };
        let account = largest.or(distant.map(|(account, _)| account))?;
        self.oldest(account)
    }

    /// Oldest item of a holder.
    pub fn oldest_of(&self, holder: Holder) -> Option<Victim> {
        self.oldest(holder.index)
    }

    fn oldest(&self, account: u32) -> Option<Victim> {
        let id = self.account(account).oldest;
        self.items.get(id as usize).map(|item| Victim { id: ItemId(id), value: item.value })
    }

    #[inline(always)]
    fn account(&self, index: u32) -> Account {
        // A holder without an account has nothing.
        self.accounts.get(index as usize).copied().unwrap_or(Account::EMPTY)
    }

    fn item_mut(&mut self, id: ItemId) -> Option<&mut Item> {
        let item = self.items.get_mut(id.0 as usize).filter(|item| item.holder != FREE);
        debug_assert!(item.is_some(), "the caller has the number of an item");
        item
    }

    /// Adds to and takes from the account of a holder.
    #[inline(always)]
    fn charge(&mut self, holder: Holder, more: u64, less: u64) {
        let side = if holder.remote { &mut self.remote } else { &mut self.local };
        let Some(account) = self.accounts.get_mut(holder.index as usize) else {
            debug_assert!(false, "a holder with items has an account");
            return;
        };
        debug_assert!(
            account.weight + more >= less && side.weight + more >= less,
            "no weight is taken twice"
        );
        account.weight = (account.weight + more).saturating_sub(less);
        side.weight = (side.weight + more).saturating_sub(less);
        side.classes.set(holder.index, account.weight);
    }
}

/// Holder of free items.
const FREE: Holder = Holder { index: NONE, remote: false };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const LOCAL: Holder = Holder::new(0, false);

    fn remote(index: u32) -> Holder {
        Holder::new(index, true)
    }

    /// Adds an item, and removes those that have to go. Returns their values.
    fn push(ledger: &mut Ledger, holder: Holder, value: u32) -> std::vec::Vec<u32> {
        ledger.add(holder, 1, value);
        let mut gone = std::vec::Vec::new();
        while let Some(victim) = ledger.excess() {
            ledger.remove(victim.id);
            gone.push(victim.value);
        }
        gone
    }

    #[test]
    fn the_largest_holder_loses_its_oldest_item_to_a_newcomer() {
        let mut ledger = Ledger::new(Limits { all: 100, remote: 80 });
        for value in 0..1000 {
            let gone = push(&mut ledger, remote(1), value);
            assert_eq!(gone, value.checked_sub(80).into_iter().collect::<std::vec::Vec<_>>());
        }
        // Newcomers get up to the same share, one after the other.
        for newcomer in 2..10 {
            assert_eq!(push(&mut ledger, remote(newcomer), 5000), [918 + newcomer]);
        }
        assert_eq!(ledger.weight_of(remote(1)), 72);
        // The reserve of local holders is there, and they may have more than that.
        for value in 0..20 {
            assert!(push(&mut ledger, LOCAL, value).is_empty());
        }
        let gone: std::vec::Vec<u32> = (20..24).flat_map(|value| push(&mut ledger, LOCAL, value)).collect();
        assert_eq!(gone, [928, 929, 930, 931]);
    }

    #[test]
    fn among_equals_the_one_that_has_waited_longest_gives_way() {
        let mut ledger = Ledger::new(Limits { all: 10, remote: 10 });
        for holder in 0..30 {
            let gone = push(&mut ledger, remote(holder), holder);
            assert_eq!(gone, holder.checked_sub(10).into_iter().collect::<std::vec::Vec<_>>());
        }
    }

    #[test]
    fn a_local_flood_ends_at_its_own_items() {
        let mut ledger = Ledger::new(Limits::new(100));
        for value in 0..10 {
            push(&mut ledger, remote(1), value);
        }
        for value in 0..1000 {
            push(&mut ledger, LOCAL, value);
        }
        assert_eq!((ledger.weight_of(remote(1)), ledger.weight_of(LOCAL)), (10, 90));
    }

    #[test]
    fn renewed_items_go_last() {
        let mut ledger = Ledger::new(Limits::new(100));
        let ids: std::vec::Vec<ItemId> = (0..3).map(|value| ledger.add(LOCAL, 1, value)).collect();
        ledger.renew(ids[0]);
        ledger.renew(ids[0]);
        ledger.set_limits(Limits::new(0));
        let order = core::iter::from_fn(|| {
            let victim = ledger.excess()?;
            ledger.remove(victim.id);
            Some(victim.value)
        });
        assert!(order.eq([1, 2, 0]));
        assert!(ledger.is_empty() && !ledger.admits(LOCAL, 1));
    }

    proptest! {
        #[test]
        fn agrees_with_a_model(
            all in 1..60_u64,
            steps in vec((0..6_u32, 0..4_u32, 1..20_u32), 1..400),
        ) {
            let mut ledger = Ledger::new(Limits::new(all));
            let limits = ledger.limits();
            // Items of each holder, oldest first: number, weight, value.
            let mut model: [VecDeque<(ItemId, u32, u32)>; 6] = Default::default();
            let holder = |index: u32| Holder::new(index, index >= 3);
            let weight_of = |items: &VecDeque<(ItemId, u32, u32)>| items.iter().map(|item| u64::from(item.1)).sum::<u64>();
            for (value, (index, action, weight)) in (0..).zip(steps) {
                if value % 50 == 49 {
                    let renumbered = ledger.compact();
                    model.iter_mut().flatten().for_each(|item| item.0 = renumbered.of(item.0));
                }
                let items = &mut model[index as usize];
                match action {
                    0 if !items.is_empty() => {
                        let (id, ..) = items.remove(weight as usize % items.len()).expect("an item");
                        ledger.remove(id);
                    }
                    1 if !items.is_empty() => {
                        let at = weight as usize % items.len();
                        ledger.set_weight(items[at].0, weight);
                        items[at].1 = weight;
                    }
                    _ => items.push_back((ledger.add(holder(index), weight, value), weight, value)),
                }
                while let Some(victim) = ledger.excess() {
                    let sides = [&model[..3], &model[3..]].map(|side| side.iter().map(weight_of).sum::<u64>());
                    prop_assert!(sides[0] + sides[1] > limits.all || sides[1] > limits.remote);
                    let owner = model.iter().position(|items| items.iter().any(|item| item.0 == victim.id)).expect("an owner");
                    let oldest = model[owner].pop_front().expect("an item");
                    prop_assert_eq!((oldest.0, oldest.2), (victim.id, victim.value));
                    let held = weight_of(&model[owner]) + u64::from(oldest.1);
                    if owner < 3 {
                        prop_assert!(sides[0] > limits.all - limits.remote && sides[1] <= limits.remote);
                    }
                    // No holder of the same side is larger by more than an eighth.
                    let side = if owner < 3 { &model[..3] } else { &model[3..] };
                    prop_assert!(side.iter().all(|items| weight_of(items) <= held + held / 8));
                    ledger.remove(victim.id);
                }
                let sides = [&model[..3], &model[3..]].map(|side| side.iter().map(weight_of).sum::<u64>());
                prop_assert_eq!((ledger.weight(), ledger.remote_weight()), (sides[0] + sides[1], sides[1]));
                prop_assert!(ledger.weight() <= limits.all && ledger.remote_weight() <= limits.remote);
                prop_assert_eq!(ledger.len(), model.iter().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
