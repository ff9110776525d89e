//! Zones beside the configured ones: members of catalog zones (RFC 9432), and zones that the operator has
//! added at run time.

pub(super) use super::owners::Wanted;
use super::owners::{Claim, Membership, Owners};
use super::source::{Source, source, unknown_zone};
use crate::config::{Config, ZoneFile};
use hashlane_daemon::config::{Keys, parse, to_toml};
use hashlane_dns::zone::Zone;
use hashlane_name::dns::Name;
use hashlane_transfer::catalog;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the file of added zones in the folder of transfers.
const FILE: &str = "added.toml";

/// The file of added zones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Added {
    zone: Vec<ZoneFile>,
}

/// Zones beside the configured ones.
#[derive(Default)]
pub(super) struct Extra {
    /// The added zones, and the folder that they were read from.
    added: Option<(PathBuf, Added)>,
    /// Members by the names of their catalogs in small letters.
    members: BTreeMap<Vec<u8>, Vec<Claim>>,
    owners: Owners,
}

fn spelled(name: Name<'_>) -> Vec<u8> {
    name.as_bytes().to_ascii_lowercase()
}

fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

impl Extra {
    /// All zones: configured ones, then added ones, then members of catalogs. The first of a name counts.
    ///
    /// # Errors
    /// A name is not valid, or the file of added zones.
    pub(super) fn all(&mut self, config: &Config) -> io::Result<Vec<Wanted>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        let own = |file: &ZoneFile| {
            let apex = file.apex().map_err(invalid)?;
            Ok::<_, io::Error>(Wanted { file: file.clone(), apex, id: Vec::new(), member: None })
        };
        let added = &self.read(config)?.zone;
        for file in config.zone.iter().chain(added) {
            let wanted = own(file)?;
            if seen.insert(spelled(wanted.apex.view())) {
                all.push(wanted);
            } else {
                tracing::warn!(zone = file.name, "added, but also in the configuration, which counts");
            }
        }
        let catalogs: HashSet<Vec<u8>> =
            all.iter().filter(|zone| zone.file.follows()).map(|zone| spelled(zone.apex.view())).collect();
        self.members.retain(|catalog, _| catalogs.contains(catalog));
        for wanted in self.owners.settle(&self.members) {
            if seen.insert(spelled(wanted.apex.view())) {
                all.push(wanted);
            } else {
                tracing::warn!(
                    zone = wanted.file.name,
                    "in a catalog, but served already: the member is ignored"
                );
            }
        }
        Ok(all)
    }

    /// Takes the members of a catalog. Returns true if they have changed.
    ///
    /// # Errors
    /// The zone is no catalog, or is broken: the members stay as they are.
    pub(super) fn follow(
        &mut self,
        catalog: &ZoneFile,
        zone: &Zone,
        groups: &[ZoneFile],
        most: usize,
    ) -> Result<bool, String> {
        let found = catalog::members(zone, most).map_err(|error| error.to_string())?;
        let wanted = |member: &catalog::Member| {
            let name = member.name().to_string();
            let name = name.strip_suffix('.').filter(|name| !name.is_empty()).unwrap_or(&name).to_owned();
            let group = groups.iter().find(|group| member.groups().any(|name| name == group.name.as_bytes()));
            let settings = group.map_or_else(|| catalog.clone(), |group| group.or(catalog));
            let file = ZoneFile { name, file: PathBuf::new(), catalog: String::new(), ..settings };
            let group = group.map(|group| group.name.clone()).unwrap_or_default();
            let membership = Membership { catalog: catalog.name.clone(), group };
            let apex = member.name().into();
            let wanted = Wanted { file, apex, id: Vec::new(), member: Some(membership) };
            Claim { wanted, label: member.id().to_vec(), next_owner: member.next_owner().map(spelled) }
        };
        let members: Vec<Claim> = found.members().iter().map(wanted).collect();
        let place = self.members.entry(spelled(zone.apex_name())).or_default();
        let has_changed = *place != members;
        *place = members;
        Ok(has_changed)
    }

    /// Adds a zone, and keeps it.
    ///
    /// # Errors
    /// There is such a zone, it is not valid, or the file cannot be written.
    pub(super) fn add(&mut self, config: &Config, zone: ZoneFile) -> io::Result<()> {
        let mut changed = config.clone();
        changed.zone.extend(self.read(config)?.zone.iter().cloned());
        changed.zone.push(zone.clone());
        changed.check().map_err(invalid)?;
        let mut added = self.read(config)?.clone();
        added.zone.push(zone);
        self.write(config, added)
    }

    /// Removes a zone that was added.
    ///
    /// # Errors
    /// The zone was not added, or the file cannot be written.
    pub(super) fn delete(&mut self, config: &Config, apex: Name<'_>) -> io::Result<()> {
        let is = |zone: &ZoneFile| zone.apex().is_ok_and(|name| name.view().eq_ignore_case(apex));
        let mut added = self.read(config)?.clone();
        let before = added.zone.len();
        added.zone.retain(|zone| !is(zone));
        if added.zone.len() == before {
            let why = format!(
                "zone {apex} was not added at run time; remove it from the configuration or from its catalog"
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        self.write(config, added)
    }

    /// The zones that were added.
    fn read(&mut self, config: &Config) -> io::Result<&Added> {
        let folder = &config.transfer.folder;
        let known = self.added.take().filter(|(from, _)| from == folder);
        let added = match known {
            Some((_, added)) => added,
            None => {
                let path = folder.join(FILE);
                let is_there = !folder.as_os_str().is_empty() && path.exists();
                if is_there { read(&path)? } else { Added::default() }
            }
        };
        Ok(&self.added.insert((folder.clone(), added)).1)
    }

    fn write(&mut self, config: &Config, added: Added) -> io::Result<()> {
        let folder = &config.transfer.folder;
        if folder.as_os_str().is_empty() {
            return Err(invalid("zones cannot be added: name a folder for them in `transfer.folder`"));
        }
        let (path, temporary) = (folder.join(FILE), folder.join("added.toml.new"));
        let text = "# Zones that `hashlane dns control add` has added; `delete` removes them.\n".to_owned();
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&temporary, text + &to_toml(&added)))
            .and_then(|()| std::fs::File::open(&temporary)?.sync_all())
            .and_then(|()| std::fs::rename(&temporary, &path));
        written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        self.added = Some((folder.clone(), added));
        Ok(())
    }
}

/// Refuses the reload of one zone that is unknown, or that comes from no file.
pub(super) fn check_only(wanted: &[Wanted], only: Name<'_>) -> io::Result<()> {
    let found =
        wanted.iter().find(|zone| zone.apex.view().eq_ignore_case(only)).map(|zone| source(&zone.file));
    let (kind, why) = match found {
        Some(Source::File) => return Ok(()),
        Some(Source::Produced) => {
            (io::ErrorKind::InvalidInput, format!("zone {only} is made of the other zones; reload those"))
        }
        Some(Source::Primaries) => (
            io::ErrorKind::InvalidInput,
            format!("zone {only} comes from its primaries; `hashlane dns control refresh` asks them"),
        ),
        None => return Err(unknown_zone(only)),
    };
    Err(io::Error::new(kind, why))
}

fn read(path: &Path) -> io::Result<Added> {
    let known = Added { zone: vec![ZoneFile::default()] };
    hashlane_daemon::config::read(path, |text| parse(text, &known, &Keys::default()))
}
