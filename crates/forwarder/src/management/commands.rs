//! The commands, and which parameters each takes.

use super::refused;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FacePersistency, ROUTE_CHILD_INHERIT, RouteOrigin};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    FaceCreate,
    FaceUpdate,
    FaceDestroy,
    FibAddNextHop,
    FibRemoveNextHop,
    RibRegister,
    RibUnregister,
    StrategySet,
    StrategyUnset,
    CsConfig,
    CsErase,
}

/// Parameters by the bit that stands for each in a set of them.
const NAMES: [&str; 16] = [
    "Name",
    "FaceId",
    "Uri",
    "LocalUri",
    "Origin",
    "Cost",
    "Capacity",
    "Count",
    "Flags",
    "Mask",
    "Strategy",
    "ExpirationPeriod",
    "FacePersistency",
    "BaseCongestionMarkingInterval",
    "DefaultCongestionThreshold",
    "Mtu",
];
const NAME: u16 = 1;
const FACE_ID: u16 = 1 << 1;
const URI: u16 = 1 << 2;
const LOCAL_URI: u16 = 1 << 3;
const ORIGIN: u16 = 1 << 4;
const COST: u16 = 1 << 5;
const CAPACITY: u16 = 1 << 6;
const COUNT: u16 = 1 << 7;
const FLAGS: u16 = 1 << 8;
const MASK: u16 = 1 << 9;
const STRATEGY: u16 = 1 << 10;
const EXPIRATION: u16 = 1 << 11;
const PERSISTENCY: u16 = 1 << 12;
const MARKING: u16 = 1 << 13;
const THRESHOLD: u16 = 1 << 14;
const MTU: u16 = 1 << 15;
const FACE_OPTIONS: u16 = FLAGS | MASK | PERSISTENCY | MARKING | THRESHOLD | MTU;

impl Verb {
    pub(super) fn of(target: Target<'_>) -> Option<Self> {
        Some(match (target.module, target.verb) {
            (b"faces", b"create") => Self::FaceCreate,
            (b"faces", b"update") => Self::FaceUpdate,
            (b"faces", b"destroy") => Self::FaceDestroy,
            (b"fib", b"add-nexthop") => Self::FibAddNextHop,
            (b"fib", b"remove-nexthop") => Self::FibRemoveNextHop,
            (b"rib", b"register") => Self::RibRegister,
            (b"rib", b"unregister") => Self::RibUnregister,
            (b"strategy-choice", b"set") => Self::StrategySet,
            (b"strategy-choice", b"unset") => Self::StrategyUnset,
            (b"cs", b"config") => Self::CsConfig,
            (b"cs", b"erase") => Self::CsErase,
            _ => return None,
        })
    }

    /// Module and name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::FaceCreate => "faces/create",
            Self::FaceUpdate => "faces/update",
            Self::FaceDestroy => "faces/destroy",
            Self::FibAddNextHop => "fib/add-nexthop",
            Self::FibRemoveNextHop => "fib/remove-nexthop",
            Self::RibRegister => "rib/register",
            Self::RibUnregister => "rib/unregister",
            Self::StrategySet => "strategy-choice/set",
            Self::StrategyUnset => "strategy-choice/unset",
            Self::CsConfig => "cs/config",
            Self::CsErase => "cs/erase",
        }
    }

    /// Tells if it registers or unregisters a prefix: what applications do, and neighbours.
    pub(super) fn is_registration(self) -> bool {
        matches!(self, Self::RibRegister | Self::RibUnregister)
    }

    /// The parameters that must be there, and those that may.
    fn takes(self) -> (u16, u16) {
        match self {
            Self::FaceCreate => (URI, LOCAL_URI | FACE_OPTIONS),
            Self::FaceUpdate => (0, FACE_ID | FACE_OPTIONS),
            Self::FaceDestroy => (FACE_ID, 0),
            Self::FibAddNextHop => (NAME, FACE_ID | COST),
            Self::FibRemoveNextHop => (NAME, FACE_ID),
            Self::RibRegister => (NAME, FACE_ID | ORIGIN | COST | FLAGS | EXPIRATION),
            Self::RibUnregister => (NAME, FACE_ID | ORIGIN),
            Self::StrategySet => (NAME | STRATEGY, 0),
            Self::StrategyUnset => (NAME, 0),
            Self::CsConfig => (0, CAPACITY | FLAGS | MASK),
            Self::CsErase => (NAME, COUNT),
        }
    }

    /// The parameters with what the protocol puts in where something is left out.
    pub(super) fn check(
        self,
        mut parameters: ControlParameters,
    ) -> Result<ControlParameters, ControlResponse> {
        let (required, optional) = self.takes();
        let present = present(&parameters);
        let name = |set: u16| NAMES.get(set.trailing_zeros() as usize).copied().unwrap_or_default();
        let missing = required & !present;
        if missing != 0 {
            return refused(400, format!("{} is required but missing", name(missing)));
        }
        let forbidden = present & !(required | optional);
        if forbidden != 0 {
            return refused(400, format!("{} is forbidden but present", name(forbidden)));
        }
        if optional & MASK != 0 && (present & FLAGS != 0) != (present & MASK != 0) {
            return refused(400, "Flags and Mask must come together");
        }
        match self {
            Self::FaceCreate => {
                parameters.persistency.get_or_insert(FacePersistency::Persistent);
            }
            Self::FaceDestroy if parameters.face_id == Some(0) => {
                return refused(400, "FaceId must not be 0");
            }
            Self::FibAddNextHop => {
                parameters.cost.get_or_insert(0);
            }
            Self::RibRegister => {
                parameters.origin.get_or_insert(RouteOrigin::APP);
                parameters.cost.get_or_insert(0);
                parameters.flags.get_or_insert(ROUTE_CHILD_INHERIT);
            }
            Self::RibUnregister => {
                parameters.origin.get_or_insert(RouteOrigin::APP);
            }
            Self::StrategyUnset if parameters.name.as_ref().is_some_and(|name| name.view().is_empty()) => {
                return refused(400, "the strategy of / cannot be unset: set another one");
            }
            Self::CsErase if parameters.count == Some(0) => return refused(400, "Count must be positive"),
            _ => {}
        }
        Ok(parameters)
    }
}

fn present(parameters: &ControlParameters) -> u16 {
    let ControlParameters {
        name,
        face_id,
        uri,
        local_uri,
        origin,
        cost,
        capacity,
        count,
        flags,
        mask,
        strategy,
        expiration,
        persistency,
        marking_interval,
        congestion_threshold,
        mtu,
    } = parameters;
    let all = [
        name.is_some(),
        face_id.is_some(),
        uri.is_some(),
        local_uri.is_some(),
        origin.is_some(),
        cost.is_some(),
        capacity.is_some(),
        count.is_some(),
        flags.is_some(),
        mask.is_some(),
        strategy.is_some(),
        expiration.is_some(),
        persistency.is_some(),
        marking_interval.is_some(),
        congestion_threshold.is_some(),
        mtu.is_some(),
    ];
    all.iter().rev().fold(0, |set, &is_there| set << 1 | u16::from(is_there))
}
