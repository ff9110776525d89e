//! The sections `template` and `zone` of knot.conf.

use super::super::model::Zone;
use super::super::report::Fate;
use super::catalog::{Produced, get};
use super::queries::referred;
use super::tree::{Entry, Item};
use super::{Knot, STORAGE};
use std::collections::HashMap;

impl Knot<'_> {
    /// Reports the fate of the entries of a zone or a template, before the names in them are looked up.
    pub(super) fn check_zone(&mut self, item: &Item, named: &'static str) {
        for entry in &item.entries {
            let value = entry.value();
            let is_off = matches!(value, "off" | "false" | "none");
            let fate = match entry.key.as_str() {
                "domain" | "id" => Fate::kept(named),
                "template" => Fate::kept("the entries of the template"),
                "storage" => Fate::kept("the folder of zone.file"),
                "file" if value.replace("%s", "").contains('%') => {
                    Fate::lost("of the patterns in names of files, %s alone is known; write the name")
                }
                "file" => Fate::kept("zone.file"),
                "master" => Fate::kept("zone.primaries"),
                "notify" => Fate::kept("zone.notify"),
                "acl" => Fate::kept("zone.allow_transfer, zone.allow_notify"),
                "dnssec-signing" if !is_off => {
                    Fate::lost("this server does not sign; have another program sign, and serve its file")
                }
                "dnssec-validation" | "ddns-master" | "zonemd-verify" | "reverse-generate"
                | "catalog-role" | "zonemd-generate" | "serial-modulo"
                    if is_off || value.is_empty() =>
                {
                    Fate::ignored("it is so")
                }
                "dnssec-signing" => Fate::ignored("it is so"),
                "module" | "global-module" if !entry.values.is_empty() => {
                    let is_limit = |name: &str| name == "mod-rrl" || name.starts_with("mod-rrl/");
                    let names = || entry.values.iter().map(|(name, _)| name.as_str());
                    match () {
                        () if names().all(is_limit) => Fate::kept("[rate_limit], for all zones"),
                        () if names().all(|name| referred(name).is_some()) => Fate::kept("zone.allow_query"),
                        () if names().all(|name| is_limit(name) || referred(name).is_some()) => {
                            Fate::kept("zone.allow_query; [rate_limit], for all zones")
                        }
                        () => Fate::lost("modules have no counterpart but for mod-rrl and mod-queryacl"),
                    }
                }
                "provide-ixfr" if !is_off => Fate::ignored("it is so"),
                "catalog-role" if matches!(value, "interpret" | "generate") => Fate::kept("zone.catalog"),
                "catalog-role" if value == "member" => Fate::kept("the catalog with all zones"),
                "catalog-zone" => Fate::kept("the catalog with all zones"),
                "catalog-template" => Fate::kept("[[group]], and the servers of the catalog"),
                "catalog-group" => Fate::ignored("the zone is no member of a catalog that is made"),
                "semantic-checks"
                | "default-ttl"
                | "zonefile-sync"
                | "zonefile-load"
                | "zonefile-skip"
                | "journal-content"
                | "journal-max-usage"
                | "journal-max-depth"
                | "ixfr-from-axfr"
                | "ixfr-benevolent"
                | "ixfr-by-one"
                | "zone-max-size"
                | "adjust-threads"
                | "dnssec-policy"
                | "ds-push"
                | "serial-policy"
                | "master-pin-tolerance"
                | "max-timers"
                | "notify-delay" => Fate::ignored("no counterpart"),
                "disabled" if is_off => Fate::ignored("it is so"),
                "refresh-min-interval"
                | "refresh-max-interval"
                | "retry-min-interval"
                | "retry-max-interval"
                | "expire-min-interval"
                | "expire-max-interval"
                | "provide-ixfr"
                | "catalog-role"
                | "ddns-master"
                | "dnssec-validation"
                | "reverse-generate"
                | "zonemd-verify"
                | "zonemd-generate"
                | "module"
                | "global-module"
                | "serial-modulo"
                | "disabled"
                | "include-from" => Fate::lost("no counterpart in this configuration"),
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
    }

    pub(super) fn zone(
        &mut self,
        item: &Item,
        templates: &HashMap<&str, &Item>,
        produced: Option<&Produced>,
    ) {
        let Some(domain) = item.get("domain") else {
            item.entries.iter().for_each(|entry| self.set(entry, Fate::lost("a zone without `domain`")));
            return;
        };
        let name = domain.value();
        let mut zone = Zone { name: name.to_owned(), at: domain.at, ..Zone::default() };
        // It may have limited access.
        if let Some(template) = item.get("template")
            && !templates.contains_key(template.value())
        {
            let why = Fate::lost(format!("the template {:?} is missing", template.value()));
            self.set(template, why.clone());
            self.report.set(zone.at, why);
            return;
        }
        if self.lacks_default && item.get("template").is_none() {
            self.report.set(zone.at, Fate::lost("the template \"default\" is lost"));
            return;
        }
        let get = |key: &str| get(item, templates, key);
        self.fill(&mut zone, get);
        let bare = name.strip_suffix('.').unwrap_or(name);
        let file = get("file").map_or("%s.zone", Entry::value).replace("%s", bare);
        if !file.contains('%') {
            let folder = get("storage").map_or(STORAGE, Entry::value).trim_end_matches('/');
            let path = if file.starts_with('/') { file } else { format!("{folder}/{file}") };
            zone.file = Some((path, get("file").map_or(usize::MAX, |entry| entry.at)));
        }
        if self.catalog(&mut zone, item, templates, produced) {
            self.model.push(zone, self.report);
        }
    }
}
