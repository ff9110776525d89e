//! Memory of the forwarder's tables, measured by the system and counted by the tables themselves.
//!
//! A table is filled in a process that does nothing else, and the growth of its resident memory is divided by
//! the entries. So the figure includes the allocator's own losses and the table's spare room.

use crate::load::Names;
use crate::load::template::Template;
use hashlane_hash::scheme::Key;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest, PitToken};
use hashlane_ndn_fw::cs::{self, ContentStore};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::{Fib, NextHop};
use hashlane_ndn_fw::hashed::{HashedName, NameHasher};
use hashlane_ndn_fw::pit::{ByName, InRecord, OutRecord, Pit as _};
use hashlane_rig::proc;
use hashlane_table::share::ItemId;
use std::fmt;
use std::io;
use std::str::FromStr;

/// A table of the forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Pending Interests of 11 components, each from one face and to one other; the Interest itself is kept
    /// in it.
    Pit,
    /// Prefixes of 3 components with one next hop each.
    Fib,
    /// Data of 11 components that share the first ten.
    Cs,
}

/// Memory that a table takes for each entry, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// By the resident memory of the process.
    pub resident: f64,
    /// By the table's own account.
    pub accounted: f64,
    /// Bytes of the packet that an entry keeps, part of [`resident`](Self::resident); 0 if it keeps none.
    pub packet: f64,
}

impl Table {
    /// All of them, by their ids.
    pub const ALL: [(&'static str, Self); 3] = [("pit", Self::Pit), ("fib", Self::Fib), ("cs", Self::Cs)];

    /// The table of an id.
    pub fn of(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == id).map(|(_, table)| *table)
    }
}

/// Three numbers: resident, accounted, packet.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.resident, self.accounted, self.packet)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [resident, accounted, packet] = *numbers.as_slice() else {
            return Err(format!("{text:?} is not three numbers"));
        };
        Ok(Self { resident, accounted, packet })
    }
}

/// Fills a table with `entries` entries in this process, which must have done nothing before.
///
/// # Errors
/// The system does not say how much memory is resident.
pub fn fill(table: Table, entries: u32) -> io::Result<Memory> {
    let entries = entries.clamp(1, 10_000_000);
    let long = Names { components: 11, third_distinct: false };
    let names = if table == Table::Fib { Names { components: 3, ..long } } else { long };
    let mut template = Template::new(names, 0, 4000).ok_or_else(|| io::Error::other("no such names"))?;
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let other = hasher.clone();
    let before = resident()?;
    // The growth is read while the table is alive.
    let (grown, accounted, packet) = match table {
        Table::Pit => {
            let mut pit = ByName::default();
            for number in 0..entries {
                with_interest(&mut template, &mut hasher, number, |name, interest| {
                    pend(&mut pit, name, interest)
                });
            }
            (resident()? - before, pit.memory(), template.interest(0).len())
        }
        Table::Fib => {
            let mut fib = Fib::default();
            for number in 0..entries {
                let hop = NextHop { face: FaceId(FaceId::FIRST + number % 16), cost: 1 };
                with_interest(&mut template, &mut hasher, number, |name, _| {
                    fib.add(name, hop);
                });
            }
            (resident()? - before, fib.memory(), 0)
        }
        Table::Cs => {
            let room = cs::Config { packets: entries as usize, bytes: usize::MAX, ..cs::Config::default() };
            let mut store = ContentStore::new(room);
            for number in 0..entries {
                let Ok(data) = Data::parse(template.data(u64::from(number))) else { continue };
                let name = hasher.hash_name(&data.name());
                store.insert(&name, &data, Time::from_millis(1), |name| other.hash(name));
            }
            let packet = template.data(0).len();
            (resident()? - before, store.bytes(), packet)
        }
    };
    let entries = f64::from(entries);
    Ok(Memory { resident: grown / entries, accounted: accounted as f64 / entries, packet: packet as f64 })
}

/// Adds an entry with a record in each direction, as the forwarder does.
fn pend(pit: &mut ByName, name: &HashedName<'_>, interest: &Interest<'_>) {
    let now = Time::from_millis(1);
    let expires = now.after_millis(interest.lifetime());
    let (face, nonce) = (FaceId(FaceId::FIRST), interest.nonce().unwrap_or_default());
    let slot = pit.insert(name, interest, (), expires);
    if let Some((_, records)) = pit.entry_mut(slot) {
        let (item, token) = (ItemId::NONE, PitToken::new(&[]));
        records.ins.push(InRecord { face, item, nonce, expires, token, non_discovery: false, hinted: None });
        let face = FaceId(FaceId::FIRST + 1);
        let out =
            OutRecord { face, nonce, sent: now, expires, nack: None, suppression: 0, non_discovery: false };
        records.outs.push(out);
    }
}

fn with_interest(
    template: &mut Template,
    hasher: &mut NameHasher,
    number: u32,
    take: impl FnOnce(&HashedName<'_>, &Interest<'_>),
) {
    // A template's packets are right.
    if let Ok(interest) = Interest::parse(template.interest(u64::from(number))) {
        take(&hasher.hash_name(&interest.name()), &interest);
    }
}

/// Bytes of this process that are in memory.
fn resident() -> io::Result<f64> {
    let bytes = i32::try_from(std::process::id()).ok().and_then(proc::resident);
    bytes.map(|bytes| bytes as f64).ok_or_else(|| io::Error::other("/proc/self/status has no VmRSS in kB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_figures_are_read_back() {
        let memory = Memory { resident: 301.5, accounted: 280.0, packet: 150.0 };
        assert_eq!(memory.to_string().parse(), Ok(memory));
        assert!("1 2".parse::<Memory>().unwrap_err().contains("three numbers"));
        assert!("1 2 x".parse::<Memory>().is_err());
    }

    #[test]
    fn tables_take_more_than_nothing_and_account_for_it() {
        for (id, table) in Table::ALL {
            assert_eq!(Table::of(id), Some(table));
            let memory = fill(table, 2000).unwrap();
            assert!(memory.accounted > memory.packet, "{id}: {memory:?}");
            assert_eq!(memory.packet > 0.0, table != Table::Fib, "{id}");
        }
        assert_eq!(Table::of("rib"), None);
    }
}
