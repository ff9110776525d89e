//! Which strategy is asked about which names.

use super::{Asf, BestRoute, Multicast, Random, Strategy, Suppression};
use crate::hashed::{HashedName, NameHasher};
use crate::prefixes::Prefixes;
use core::fmt;
use hashlane_name::component::{Component, GENERIC, VERSION};
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::segment::number;

/// The table: the root always has one.
#[derive(Clone, Debug)]
pub struct Choice {
    prefixes: Prefixes<Strategy>,
}

/// Why a strategy cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrategyError {
    /// The name does not begin with `/localhost/nfd/strategy`, and a strategy behind it.
    NotAStrategy,
    /// There is none of this name.
    Unknown,
    /// There is none of this version, which is none or a later one than is here.
    Version {
        /// The latest that there is.
        known: u64,
    },
    /// A parameter is not written `name~value`, is not known, or has a value that it cannot have.
    Parameter,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAStrategy => f.write_str("the name of a strategy begins with /localhost/nfd/strategy/"),
            Self::Unknown => {
                f.write_str("there are the strategies best-route, multicast, asf and random, and no other")
            }
            Self::Version { known } => write!(f, "of this strategy there are versions 1 to {known}"),
            Self::Parameter => f.write_str(
                "a parameter is one component NAME~VALUE; there are retx-suppression-initial, retx-suppression-max, retx-suppression-multiplier, \
                 and of asf probing-interval (at least 1000) and max-timeouts (at least 1)",
            ),
        }
    }
}

impl core::error::Error for StrategyError {}

/// Components before the strategy's own.
pub(super) const STRATEGY_PREFIX: [&[u8]; 3] = [b"localhost", b"nfd", b"strategy"];

impl Strategy {
    /// The strategy of this name: `/localhost/nfd/strategy/NAME`, with a version where one is wanted, and then parameters, each a component
    /// `NAME~VALUE`. Versions are counted as NFD's; an earlier one than that which is here is taken too, and is the same.
    ///
    /// # Errors
    /// Why there is none.
    pub fn from_name(name: NdnName<'_>) -> Result<Self, StrategyError> {
        let mut components = name.components();
        for expected in STRATEGY_PREFIX {
            if components.next() != Some(Component::generic(expected)) {
                return Err(StrategyError::NotAStrategy);
            }
        }
        let kind = components.next().ok_or(StrategyError::NotAStrategy)?;
        let (mut strategy, known) = match kind.value {
            b"best-route" => (Self::BestRoute(BestRoute::default()), 5),
            b"multicast" => (Self::Multicast(Multicast::default()), 5),
            b"asf" => (Self::Asf(Asf::default()), 5),
            b"random" => (Self::Random(Random::default()), 1),
            _ => return Err(StrategyError::Unknown),
        };
        let mut rest = components.peekable();
        if let Some(version) = rest.next_if(|component| component.typ == VERSION)
            && !number(version, VERSION).is_some_and(|version| (1..=known).contains(&version))
        {
            return Err(StrategyError::Version { known });
        }
        rest.try_for_each(|component| strategy.parameter(component))?;
        Ok(strategy)
    }

    /// The version of it that its name states.
    pub fn version(&self) -> u64 {
        match self {
            Self::Random(_) => 1,
            _ => 5,
        }
    }

    fn parameter(&mut self, component: Component<'_>) -> Result<(), StrategyError> {
        let text = core::str::from_utf8(component.value).map_err(|_| StrategyError::Parameter)?;
        let (name, value) = text.split_once('~').ok_or(StrategyError::Parameter)?;
        if component.typ != GENERIC {
            return Err(StrategyError::Parameter);
        }
        let number =
            || value.parse::<u32>().ok().filter(|number| *number > 0).ok_or(StrategyError::Parameter);
        match (name, &mut *self) {
            ("probing-interval", Self::Asf(asf)) => {
                asf.probing_interval =
                    Some(number()?).filter(|millis| *millis >= 1000).ok_or(StrategyError::Parameter)?.into();
            }
            ("max-timeouts", Self::Asf(asf)) => asf.max_timeouts = number()?,
            ("retx-suppression-initial", strategy) => strategy.suppression().initial = number()?,
            ("retx-suppression-max", strategy) => strategy.suppression().longest = number()?,
            ("retx-suppression-multiplier", strategy) => {
                let factor = value.parse::<f32>().ok().filter(|factor| (1.0..=1000.0).contains(factor));
                strategy.suppression().factor = factor.ok_or(StrategyError::Parameter)?;
            }
            _ => return Err(StrategyError::Parameter),
        }
        Ok(())
    }

    fn suppression(&mut self) -> &mut Suppression {
        match self {
            Self::BestRoute(strategy) => &mut strategy.suppression,
            Self::Multicast(strategy) => &mut strategy.suppression,
            Self::Asf(strategy) => &mut strategy.again.suppression,
            Self::Random(strategy) => &mut strategy.again.suppression,
        }
    }
}

impl Choice {
    /// Best route for all names.
    pub fn new(hasher: &mut NameHasher) -> Self {
        let mut prefixes = Prefixes::new();
        prefixes.insert(&hasher.root(), Strategy::BestRoute(BestRoute::default()));
        Self { prefixes }
    }

    /// The strategy of a name.
    #[inline(always)]
    pub fn find(&mut self, name: &HashedName<'_>) -> Option<&mut Strategy> {
        self.find_slot(name).map(|(_, strategy)| strategy)
    }

    /// As [`find`](Self::find), with the slot of the strategy, which it has until the table changes.
    #[inline(always)]
    pub(crate) fn find_slot(&mut self, name: &HashedName<'_>) -> Option<(u32, &mut Strategy)> {
        self.prefixes.longest_slot_mut(name)
    }

    /// The strategy in a slot.
    #[inline(always)]
    pub(crate) fn at(&mut self, slot: u32) -> Option<&mut Strategy> {
        self.prefixes.at_mut(slot)
    }

    /// Lets names below `prefix` have a strategy.
    pub fn set(&mut self, prefix: &HashedName<'_>, strategy: Strategy) {
        self.prefixes.insert(prefix, strategy);
    }

    /// Lets names below `prefix` have that of the next shorter prefix again; the root keeps what it has. Whether they had one.
    pub fn unset(&mut self, prefix: &HashedName<'_>) -> bool {
        !prefix.is_empty() && self.prefixes.remove(prefix).is_some()
    }
}
