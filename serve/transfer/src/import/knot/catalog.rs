//! Catalog zones in knot.conf: `catalog-role` and its companions.

use super::super::model::Zone;
use super::super::report::Fate;
use super::Knot;
use super::access::Use;
use super::tree::{Entry, Item};
use std::collections::HashMap;

/// The entry of a zone, or of the template that it names.
pub(super) fn get<'i>(item: &'i Item, templates: &HashMap<&str, &'i Item>, key: &str) -> Option<&'i Entry> {
    let template = || templates.get(item.get("template").map_or("default", Entry::value)).copied();
    item.get(key).or_else(|| template()?.get(key))
}

/// A catalog that this server can make: it lists all other zones.
pub(super) struct Produced {
    /// The catalog.
    name: String,
    /// The reason for which it cannot be made.
    fault: Option<&'static str>,
}

impl Produced {
    /// The catalog of these zones, if there is one.
    pub(super) fn of(zones: &[&Item], templates: &HashMap<&str, &Item>) -> Option<Self> {
        let value = |item: &&Item, key| get(item, templates, key).map_or("", Entry::value).to_owned();
        let role = |item: &&Item| value(item, "catalog-role");
        let folded = |name: &str| name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let mut catalogs = zones.iter().filter(|item| role(item) == "generate");
        let name = folded(&value(catalogs.next()?, "domain"));
        let is_listed = |item: &&Item| match role(item).as_str() {
            "generate" | "interpret" => true,
            "member" => folded(&value(item, "catalog-zone")) == name,
            _ => false,
        };
        let fault = match () {
            () if catalogs.next().is_some() => Some("this server makes one catalog of all its zones"),
            () if !zones.iter().all(is_listed) => {
                Some("this server's catalog lists all zones, but some are not members of it here")
            }
            () => None,
        };
        Some(Self { name, fault })
    }
}

impl Knot<'_> {
    /// Sets the part of a zone in catalogs. Returns false for a catalog that cannot be made.
    pub(super) fn catalog(
        &mut self,
        zone: &mut Zone,
        item: &Item,
        templates: &HashMap<&str, &Item>,
        produced: Option<&Produced>,
    ) -> bool {
        let Some(role) = get(item, templates, "catalog-role") else { return true };
        let lost = |knot: &mut Self, why: &str| knot.set(role, Fate::lost(why.to_owned()));
        match (role.value(), produced) {
            ("interpret", _) => match self.follow(zone, item, templates) {
                Ok(()) => zone.catalog = Some("follow"),
                Err(why) => lost(self, &why),
            },
            ("generate", Some(Produced { fault: None, .. })) => {
                zone.catalog = Some("produce");
                (zone.file, zone.primaries, zone.is_secondary) = (None, Vec::new(), false);
            }
            ("generate", Some(Produced { fault: Some(why), .. })) => {
                lost(self, why);
                self.report.set(zone.at, Fate::lost(*why));
                return false;
            }
            ("member", Some(Produced { fault: None, name })) => {
                debug_assert!(!name.is_empty(), "a catalog has a name");
                if let Some(group) = get(item, templates, "catalog-group") {
                    zone.group = Some(group.value().to_owned());
                    self.set(group, Fate::kept("zone.group"));
                }
            }
            ("member", _) => lost(self, "its catalog is not made by this server"),
            _ => {}
        }
        true
    }

    /// Has the members of a catalog served with the servers of their templates; the first template must name
    /// the catalog's.
    fn follow(&mut self, zone: &Zone, item: &Item, templates: &HashMap<&str, &Item>) -> Result<(), String> {
        if !zone.is_secondary {
            return Err("a catalog that is followed needs `master` here".to_owned());
        }
        let entry = get(item, templates, "catalog-template");
        let mut groups = Vec::new();
        for (number, (name, at)) in entry.map_or(&[][..], |entry| &entry.values).iter().enumerate() {
            let template = templates.get(name.as_str()).ok_or(format!("the template {name:?} is missing"))?;
            let mut group = Zone { name: name.clone(), at: *at, ..Zone::default() };
            self.fill(&mut group, |key| template.get(key));
            if let Some(why) = &group.fault {
                return Err(format!("of the template {name:?}: {why}"));
            }
            if group.limits_query && group.allow_query.is_empty() {
                return Err(format!("the template {name:?} limits queries to clients that cannot be kept"));
            }
            if number == 0 && !group.has_servers_of(zone) {
                return Err(format!(
                    "members have the servers of their catalog; give the template {name:?} and the catalog the same \
                     `master`, `notify`, `acl` and `module`"
                ));
            }
            // An empty list would stand for the catalog's, and access be wider.
            if group.lacks_servers_of(zone) {
                return Err(format!(
                    "the template {name:?} lacks `master`, `notify`, `acl` or `module`, as its catalog has"
                ));
            }
            groups.push(group);
        }
        groups.into_iter().for_each(|group| self.model.add_group(group, self.report));
        Ok(())
    }

    /// Fills in the servers of a zone, or of a template of members.
    pub(super) fn fill<'i>(&mut self, zone: &mut Zone, get: impl Fn(&str) -> Option<&'i Entry>) {
        let list = |key: &str| get(key).map_or(&[][..], |entry| &entry.values);
        zone.is_secondary = !list("master").is_empty();
        zone.primaries = self.servers(list("master"), Use::Primary);
        zone.notify = self.servers(list("notify"), Use::Notify);
        zone.allow_transfer = self.allowed(list("acl"), |rule| rule.transfer);
        zone.allow_notify = self.allowed(list("acl"), |rule| rule.notify);
        self.limit_queries(zone, list("module"));
    }
}
