//! `hashlane_name_map::map::NameMap`: the table of the forwarder's FIB and strategy choice.
//!
//! A probe for each length in use, the longest first; short names stand in the entries, a cache line each.

use super::{HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;
use hashlane_name_map::map::{BURST, Delimited, NameMap, Prefix};

pub(super) struct Map(NameMap<u32>);

fn prefix<'a>(name: &HashedName<'a>) -> Prefix<'a> {
    Prefix { bytes: name.components, components: name.len(), hash: name.hash() }
}

impl LongestPrefix for Map {
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let mut map = Self(NameMap::new());
        super::insert_all(&mut map, prefixes, hasher);
        map
    }

    /// A prefix that exceeds the map's limits is left out, which a run finds by its lookups.
    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        self.0.insert(prefix(name), value).unwrap_or_default()
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        self.0.remove(&prefix(name))
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        let mut delimited = [Delimited { bytes: &[], root: 0, hashes: &[] }; BURST];
        for (place, name) in delimited.iter_mut().zip(names) {
            *place = Delimited { bytes: name.components, root: name.prefix(0), hashes: name.hashes };
        }
        let asked = delimited.get(..names.len()).unwrap_or_default();
        self.0.longest_burst(asked, |number, prefix| {
            if let Some(found) = found.get_mut(number) {
                *found = prefix.map(|prefix| *prefix.value);
            }
        });
    }

    fn memory(&self) -> usize {
        self.0.memory()
    }
}
