//! Names of strategies, as the management protocol has them.

use super::{Strategy, StrategyKind};
use core::fmt;
use hashlane_name::build::{NameBuilder, OwnedName};
use hashlane_name::component::{Component, GENERIC, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::segment::number;

/// Reason why a name selects no strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrategyError {
    /// The name is not `/localhost/nfd/strategy/NAME…`.
    NotAStrategy,
    /// No strategy has this name.
    Unknown,
    /// The version is later than the implemented one, or not valid.
    Version {
        /// Implemented version.
        known: u64,
    },
    /// A parameter is not of the form `NAME~VALUE`, is unknown, or has a value that is not valid.
    Parameter,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAStrategy => {
                f.write_str("not the name of a strategy: expected /localhost/nfd/strategy/NAME")
            }
            Self::Unknown => {
                f.write_str("unknown strategy; choose one of ")?;
                write_list(f, StrategyKind::ALL.iter().map(|kind| kind.name()))
            }
            Self::Version { known } => write!(f, "unknown version of this strategy; choose 1 to {known}"),
            Self::Parameter => {
                f.write_str("bad strategy parameter: expected a component NAME~VALUE; ")?;
                for (at, kind) in StrategyKind::ALL.iter().enumerate() {
                    write!(f, "{}{} has ", if at == 0 { "" } else { "; " }, kind.name())?;
                    match kind.parameters() {
                        [] => f.write_str("none")?,
                        parameters => write_list(f, parameters.iter().copied())?,
                    }
                }
                Ok(())
            }
        }
    }
}

fn write_list<'a>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (at, item) in items.enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for StrategyError {}

/// Components before the name of a strategy.
const PREFIX: [&[u8]; 3] = [b"localhost", b"nfd", b"strategy"];

impl StrategyKind {
    /// Full name with version: `/localhost/nfd/strategy/NAME/v=VERSION`.
    pub fn full_name(self) -> OwnedName<Ndn> {
        let version = [self.version() as u8];
        debug_assert_eq!(u64::from(version[0]), self.version(), "versions of strategies are below 256");
        let components = PREFIX.into_iter().chain([self.name().as_bytes()]).map(Component::generic);
        let mut name = NameBuilder::new();
        for component in components.chain([Component { typ: VERSION, value: &version }]) {
            let pushed = name.push(component);
            debug_assert!(pushed.is_ok(), "names of strategies are short");
        }
        name.finish()
    }
}

impl Strategy {
    /// Creates the strategy that a name selects: `/localhost/nfd/strategy/NAME`, optionally with a version,
    /// then parameters, each a component `NAME~VALUE`. A version before the implemented one selects the
    /// implemented one.
    ///
    /// # Errors
    /// The first rule that the name breaks.
    pub fn from_name(name: NdnName<'_>) -> Result<Self, StrategyError> {
        let mut components = name.components();
        for expected in PREFIX {
            if components.next() != Some(Component::generic(expected)) {
                return Err(StrategyError::NotAStrategy);
            }
        }
        let program = components.next().ok_or(StrategyError::NotAStrategy)?;
        let mut known = StrategyKind::ALL.iter();
        let kind =
            known.find(|kind| kind.name().as_bytes() == program.value).ok_or(StrategyError::Unknown)?;
        let mut rest = components.peekable();
        if let Some(version) = rest.next_if(|component| component.typ == VERSION)
            && !number(version, VERSION).is_some_and(|version| (1..=kind.version()).contains(&version))
        {
            return Err(StrategyError::Version { known: kind.version() });
        }
        let mut strategy = kind.create();
        rest.try_for_each(|component| strategy.parse_parameter(component).ok_or(StrategyError::Parameter))?;
        Ok(strategy)
    }

    /// Name of the strategy: `/localhost/nfd/strategy/NAME`.
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Implemented version.
    pub const fn version(&self) -> u64 {
        self.kind().version()
    }

    fn parse_parameter(&mut self, component: Component<'_>) -> Option<()> {
        let text = core::str::from_utf8(component.value).ok().filter(|_| component.typ == GENERIC)?;
        let (name, value) = text.split_once('~')?;
        self.set_parameter(name, value)
    }
}
