//! Module strategy-choice.
//!
//! ```text
//! /localhost/nfd/strategy/<program>[/v=<version>[/<key>~<value>…]]
//! ```
//! A version up to the one that is here is taken, since each version here does what the ones before it did.

use super::{Done, Manager, Plane, done, refused};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, GENERIC, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};
use hashlane_ndn_fw::strategy::StrategyKind;
use std::collections::BTreeMap;

/// A strategy and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyInstance {
    /// The name, with a version.
    pub name: OwnedName<Ndn>,
    /// The strategy.
    pub kind: StrategyKind,
    /// Keys and values, as the name has them.
    pub parameters: Vec<(String, String)>,
}

impl StrategyInstance {
    /// The strategy that `name` asks for.
    ///
    /// # Errors
    /// A response with code 404 where there is none of this name and version, and 409 where its parameters are none.
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
        let Some(version) = components.next() else {
            let name = with_number(name, VERSION, kind.version()).map_err(|_| unknown())?;
            return Ok(Self { name, kind, parameters: Vec::new() });
        };
        number(version, VERSION)
            .filter(|version| (1..=kind.version()).contains(version))
            .ok_or_else(unknown)?;
        let parameters = components.map(parameter).collect::<Result<_, _>>()?;
        Ok(Self { name: (&name).into(), kind, parameters })
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

/// Prefixes and their strategies; `/` always has one.
pub(super) struct Strategies {
    /// By the components of the prefix, encoded.
    entries: BTreeMap<Box<[u8]>, Choice>,
}

/// A prefix, and the name of its strategy.
type Choice = (OwnedName<Ndn>, OwnedName<Ndn>);

impl Strategies {
    pub(super) fn new(default: StrategyKind) -> Self {
        let root = hashlane_name::build::NameBuilder::new().finish();
        Self { entries: BTreeMap::from([(Box::default(), (root, default.full_name()))]) }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Choice> {
        self.entries.values()
    }
}

impl Manager {
    pub(super) fn set_strategy(&mut self, mut parameters: ControlParameters, plane: &mut impl Plane) -> Done {
        let (Some(prefix), Some(strategy)) = (parameters.name.clone(), parameters.strategy.clone()) else {
            return refused(400, "Name and Strategy are required");
        };
        self.check_depth(prefix.view())?;
        let instance = StrategyInstance::parse(strategy.view())?;
        let key = Box::<[u8]>::from(prefix.view().walk().bytes());
        let limit = self.config.max_strategies;
        let entries = &mut self.strategies.entries;
        if entries.len() >= limit && !entries.contains_key(&key) {
            return refused(507, format!("there are {limit} strategy choices, their limit"));
        }
        plane
            .strategy(prefix.view(), Some(&instance))
            .or_else(|text| refused(409, format!("Error instantiating strategy: {text}")))?;
        entries.insert(key, (prefix, instance.name.clone()));
        parameters.strategy = Some(instance.name);
        done(&parameters)
    }

    pub(super) fn unset_strategy(&mut self, parameters: ControlParameters, plane: &mut impl Plane) -> Done {
        if let Some(prefix) = &parameters.name
            && self.strategies.entries.remove(prefix.view().walk().bytes()).is_some()
        {
            plane.strategy(prefix.view(), None).or_else(|text| refused(500, text))?;
        }
        done(&parameters)
    }
}
