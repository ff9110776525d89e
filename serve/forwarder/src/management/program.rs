//! Strategy names, and the strategy choice table.
//!
//! ```text
//! /localhost/nfd/strategy/<program>[/v=<version>][/<key>~<value>…]
//! ```
//! Versions up to the implemented one are accepted: each version does everything that those before it did.

use super::reply::refused;
use hashlane_name::build::{NameBuilder, OwnedName};
use hashlane_name::component::{Component, GENERIC, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;
use hashlane_ndn::mgmt::ControlResponse;
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn_fw::strategy::StrategyKind;
use std::collections::BTreeMap;

/// Components of the name of a strategy before its version.
const PROGRAM: usize = 4;

/// Name of a strategy, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyInstance {
    /// The whole name, with a version.
    pub name: OwnedName<Ndn>,
    /// The strategy.
    pub kind: StrategyKind,
    /// Keys and values, as written in the name.
    pub parameters: Vec<(String, String)>,
}

impl StrategyInstance {
    /// Parses the name of a strategy.
    ///
    /// # Errors
    /// A response with code 404 if no strategy has this name and version, and 409 if a parameter is
    /// malformed.
    pub fn parse(name: NdnName<'_>) -> Result<Self, ControlResponse> {
        let unknown = || {
            let known: Vec<_> = StrategyKind::ALL.iter().map(|kind| kind.name()).collect();
            let known = known.join(", ");
            let text = format!("Strategy not registered: /localhost/nfd/strategy/ has {known}");
            ControlResponse::new(404, text)
        };
        let mut components = name.components();
        for expected in [&b"localhost"[..], b"nfd", b"strategy"] {
            components.next().filter(|found| *found == Component::generic(expected)).ok_or_else(unknown)?;
        }
        let program = components.next().ok_or_else(unknown)?;
        let &kind = StrategyKind::ALL
            .iter()
            .find(|known| program == Component::generic(known.name().as_bytes()))
            .ok_or_else(unknown)?;
        let mut rest = components.peekable();
        let version = rest.next_if(|component| component.typ == VERSION);
        let is_known = |version| (1..=kind.version()).contains(&version);
        let name = match version.map(|version| number(version, VERSION)) {
            // Parameters follow the version.
            None => {
                let short = OwnedName::<Ndn>::from_components(name.components().take(PROGRAM)).ok();
                let versioned = short.and_then(|name| with_number(name.view(), VERSION, kind.version()).ok());
                let versioned = versioned.ok_or_else(unknown)?;
                let parameters = name.components().skip(PROGRAM);
                OwnedName::from_components(versioned.view().components().chain(parameters))
                    .map_err(|_| unknown())?
            }
            Some(version) if version.is_some_and(is_known) => (&name).into(),
            Some(_) => return Err(unknown()),
        };
        let components = rest;
        let parameters = components.map(parameter).collect::<Result<_, _>>()?;
        Ok(Self { name, kind, parameters })
    }
}

fn parameter(component: Component<'_>) -> Result<(String, String), ControlResponse> {
    let text = std::str::from_utf8(component.value).ok().filter(|_| component.typ == GENERIC);
    match text.and_then(|text| text.split_once('~')) {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.into(), value.into())),
        _ => refused(
            409,
            format!("Error instantiating strategy: parameter {component} is not of the form <key>~<value>"),
        ),
    }
}

/// The strategy choice table: prefixes and their strategies. `/` always has one.
pub(super) struct Strategies {
    /// Choices by the encoded components of the prefix.
    entries: BTreeMap<Box<[u8]>, Choice>,
}

/// A prefix, and the name of its strategy.
type Choice = (OwnedName<Ndn>, OwnedName<Ndn>);

impl Strategies {
    pub(super) fn new(default: StrategyKind) -> Self {
        let root = NameBuilder::new().finish();
        Self { entries: BTreeMap::from([(Box::default(), (root, default.full_name()))]) }
    }

    /// Number of choices.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if the strategy of a prefix is set, not inherited.
    pub(super) fn contains(&self, prefix: NdnName<'_>) -> bool {
        self.entries.contains_key(prefix.walk().bytes())
    }

    /// Sets the strategy of a prefix.
    pub(super) fn insert(&mut self, prefix: OwnedName<Ndn>, strategy: OwnedName<Ndn>) {
        let key = prefix.view().walk().bytes().into();
        self.entries.insert(key, (prefix, strategy));
    }

    /// Unsets the strategy of a prefix. Returns false if it was not set.
    pub(super) fn remove(&mut self, prefix: NdnName<'_>) -> bool {
        self.entries.remove(prefix.walk().bytes()).is_some()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Choice> {
        self.entries.values()
    }
}
