//! knot.conf: sections of items with keys and values, in a subset of YAML.

mod access;
mod catalog;
mod queries;
mod rule;
mod settings;
mod tree;
mod zone;

use super::model::Model;
use super::report::{Fate, Report};
use super::source::Reached;
use super::{ImportError, Reader};
use access::Remote;
use rule::Rule;
use std::collections::HashMap;
use tree::{Entry, Item};

/// Folder of zone files without `storage`.
const STORAGE: &str = "/var/lib/knot";

/// Servers and networks that all zones have at most.
const MAX_PEERS: usize = 4 << 20;

struct Knot<'m> {
    model: &'m mut Model,
    report: &'m mut Report,
    remotes: HashMap<String, Remote>,
    /// Names of several remotes.
    groups: HashMap<String, Vec<String>>,
    rules: HashMap<String, Rule>,
    /// Clients of modules that limit queries.
    clients: HashMap<String, queries::Clients>,
    /// Modules of all zones.
    global_modules: Vec<(String, usize)>,
    /// Remotes, with the addresses that they are reached from.
    reached: Vec<Reached>,
    peers: usize,
    /// The template of zones that name none is a flow mapping, which is lost.
    lacks_default: bool,
}

/// Reads a configuration.
pub(super) fn read(reader: &mut Reader<'_>, text: &str, model: &mut Model) -> Result<(), ImportError> {
    let tree = tree::read(reader, text)?;
    let report = &mut reader.report;
    let (remotes, groups, rules) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (clients, global_modules, reached) = (HashMap::new(), Vec::new(), Vec::new());
    let mut knot = Knot {
        model,
        report,
        remotes,
        groups,
        rules,
        clients,
        global_modules,
        reached,
        peers: 0,
        lacks_default: false,
    };
    let of = |names: &[&str]| {
        let found = tree.iter().filter(|section| names.contains(&section.name.as_str()));
        found.flat_map(|section| &section.items).collect::<Vec<_>>()
    };
    // What others name comes first, wherever it stands.
    of(&["server"]).into_iter().for_each(|item| knot.server(item));
    of(&["key"]).into_iter().for_each(|item| knot.key(item));
    of(&["remote"]).into_iter().for_each(|item| knot.remote(item));
    knot.model.set_sources(&knot.reached, knot.report);
    of(&["remotes"]).into_iter().for_each(|item| knot.group(item));
    of(&["acl"]).into_iter().for_each(|item| knot.rule(item));
    of(&["mod-rrl"]).into_iter().for_each(|item| knot.rate_limit(item));
    of(&["mod-queryacl"]).into_iter().for_each(|item| knot.clients(item));
    let templates = of(&["template"]);
    // Of any template, as Knot has them in the one of all zones alone.
    let modules = templates.iter().filter_map(|item| item.get("global-module"));
    knot.global_modules = modules.flat_map(|entry| entry.values.clone()).collect();
    knot.lacks_default = templates.iter().any(|item| item.flow.as_deref() == Some("default"));
    templates.iter().for_each(|item| knot.check_zone(item, "the name of the template"));
    let templates: HashMap<&str, &Item> =
        templates.into_iter().filter_map(|item| Some((item.get("id")?.value(), item))).collect();
    let zones = of(&["zone"]);
    let produced = catalog::Produced::of(&zones, &templates);
    for item in zones {
        knot.check_zone(item, "zone.name");
        knot.zone(item, &templates, produced.as_ref());
    }
    Ok(())
}

impl Knot<'_> {
    fn set(&mut self, entry: &Entry, fate: Fate) {
        for at in entry.lines() {
            self.report.set(at, fate.clone());
        }
    }
}
