//! The section `mod-queryacl` of knot.conf: clients that may query a zone.

use super::super::address;
use super::super::model::{Peer, Zone};
use super::super::report::Fate;
use super::tree::Item;
use super::{Knot, MAX_PEERS};

/// Name of the module.
const MODULE: &str = "mod-queryacl";

/// The clients of a module under a name.
#[derive(Default)]
pub(super) struct Clients {
    networks: Vec<String>,
    /// Addresses were named, if only ones that are lost.
    has_address: bool,
    /// It limits queries by something else, too.
    has_more: bool,
}

/// The name of the clients that a reference to a module is of; `None` for other modules.
pub(super) fn referred(module: &str) -> Option<&str> {
    match module.strip_prefix(MODULE)? {
        "" => Some("default"),
        rest => rest.strip_prefix('/'),
    }
}

impl Knot<'_> {
    pub(super) fn clients(&mut self, item: &Item) {
        let mut clients = Clients::default();
        let kept = "the zones that name the module";
        for entry in &item.entries {
            let fate = match entry.key.as_str() {
                "id" => Fate::kept(kept),
                "address" => {
                    clients.has_address = true;
                    for (text, at) in &entry.values {
                        match address::network(text) {
                            Ok(network) => clients.networks.push(network),
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept(kept)
                }
                _ => {
                    clients.has_more = true;
                    Fate::lost(
                        "no counterpart in this configuration; the zones that name the module are lost",
                    )
                }
            };
            self.set(entry, fate);
        }
        if let Some(id) = item.get("id") {
            self.clients.insert(id.value().to_owned(), clients);
        }
    }

    /// Limits the clients of a zone to its modules' clients.
    pub(super) fn limit_queries(&mut self, zone: &mut Zone, modules: &[(String, usize)]) {
        let mut limit: Option<&str> = None;
        for (name, at) in modules.iter().chain(&self.global_modules) {
            let Some(id) = referred(name) else { continue };
            let fault = match self.clients.get(id) {
                None => Some(format!("the module \"{MODULE}/{id}\" is missing")),
                Some(Clients { has_more: true, .. }) => {
                    Some(format!("\"{MODULE}/{id}\" limits queries by more than addresses"))
                }
                Some(Clients { has_address: false, .. }) => None,
                Some(_) if limit.is_some_and(|known| known != id) => {
                    Some(format!("more than one {MODULE} limits its queries, but allow_query is one list"))
                }
                Some(_) if limit.is_some() => None,
                Some(clients) if self.peers + clients.networks.len() >= MAX_PEERS => {
                    Some("the zones have too many clients together".to_owned())
                }
                Some(clients) => {
                    (limit, zone.limits_query) = (Some(id), true);
                    self.peers += 1 + clients.networks.len();
                    let networks = clients.networks.iter();
                    zone.allow_query = networks.map(|text| Peer::new(text.clone(), None, *at)).collect();
                    None
                }
            };
            if let Some(why) = fault {
                self.report.set(*at, Fate::lost(why.clone()));
                zone.fault = Some(why);
            }
        }
    }
}
