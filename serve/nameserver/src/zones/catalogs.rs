//! Catalog zones (RFC 9432): those whose members are served, and those that list the other zones.

use super::Catalog;
use super::configured::Configured;
use crate::clock::unix_seconds;
use crate::config::Config;
use hashlane_dns::zone::{Builder, is_before};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::catalog;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;

impl Catalog {
    /// Serves the members of the catalogs that are followed. Returns true if they have changed. `step` is
    /// called before members are read from the disk, and while they are.
    ///
    /// # Errors
    /// The file of added zones cannot be read.
    pub(super) fn follow(&mut self, config: &Config, step: &mut dyn FnMut(&Self)) -> io::Result<bool> {
        let mut has_changed = false;
        for zone in self.zones.iter_mut().filter(|zone| zone.file.follows()) {
            let Some(data) = zone.data.clone() else { continue };
            match self.extra.follow(&zone.file, &data, &config.group, config.transfer.max_members) {
                Ok(changed) => has_changed |= changed,
                Err(error) => {
                    tracing::error!(zone = zone.file.name, error, "catalog not followed; its members stay");
                    zone.error = Some(error);
                }
            }
        }
        if has_changed {
            let wanted = self.extra.all(config)?;
            let (before, members) = (self.zones.len(), wanted.len());
            let removed = self.configure(wanted, config).len();
            step(self);
            self.read_received(config, step);
            tracing::info!(zones = members, before, removed, "catalogs followed");
        }
        Ok(has_changed)
    }

    /// Groups of the configuration that no catalog names. None while the members of a catalog are not known.
    pub(super) fn unnamed_groups(&self, config: &Config) -> Vec<String> {
        let mut named = HashSet::new();
        for zone in self.zones.iter().filter(|zone| zone.file.follows()) {
            let members = |data| catalog::members(data, config.transfer.max_members).ok();
            let Some(found) = zone.data.as_deref().and_then(members) else { return Vec::new() };
            named.extend(found.members().iter().flat_map(|member| member.groups().map(<[u8]>::to_vec)));
        }
        let groups = config.group.iter().map(|group| &group.name);
        groups.filter(|name| !named.contains(name.as_bytes())).cloned().collect()
    }

    /// Makes the catalogs that list the other zones, if those have changed.
    pub(super) fn produce(&mut self) {
        // Secondaries would answer all clients: a catalog says nothing of rights.
        let is_listed = |zone: &&Configured| zone.file.catalog.is_empty() && zone.file.allow_query.is_empty();
        let listed = self.zones.iter().filter(is_listed);
        let mut members: Vec<(NameBuf, String)> =
            listed.map(|zone| (zone.apex, zone.file.group.clone())).collect();
        members.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
        let key = self.key;
        for zone in self.zones.iter_mut().filter(|zone| zone.file.is_produced()) {
            zone.produce(&members, &key);
        }
    }
}

impl Configured {
    /// Makes a catalog of these members with their groups, if it has others.
    pub(super) fn produce(&mut self, members: &[(NameBuf, String)], key: &Key) {
        // The clock gives a serial number that rises over restarts (RFC 1912 §2.2).
        let now = unix_seconds() as u32;
        let serial = self.data.as_ref().map_or(now, |data| {
            if is_before(data.serial(), now) { now } else { data.serial().wrapping_add(1) }
        });
        let groups: Vec<&[u8]> = members.iter().map(|(_, group)| group.as_bytes()).collect();
        let entries = || {
            members.iter().zip(&groups).map(|((name, _), group)| catalog::Entry {
                groups: if group.is_empty() { &[] } else { std::slice::from_ref(group) },
                ..catalog::Entry::new(name.view())
            })
        };
        let built = |serial| {
            let records =
                catalog::produce(self.apex.view(), serial, entries()).map_err(|error| error.to_string())?;
            let mut builder = Builder::new(self.apex.view(), key);
            for record in &records {
                let added = builder.add(record.owner, record.rtype, record.ttl, record.data);
                added.map_err(|error| error.to_string())?;
            }
            builder.finish().map_err(|error| error.to_string())
        };
        let current = self.data.clone();
        let is_same = current.is_some_and(|data| {
            built(data.serial()).is_ok_and(|zone| zone.fingerprint(key) == data.fingerprint(key))
        });
        if is_same {
            return;
        }
        match built(serial) {
            Ok(zone) => {
                let data = Arc::new(zone);
                self.change(Arc::clone(&data), None, key);
                (self.data, self.error, self.loaded) = (Some(data), None, unix_seconds());
            }
            Err(error) => {
                tracing::error!(zone = self.file.name, error, "catalog not made");
                self.error = Some(error);
            }
        }
    }
}
