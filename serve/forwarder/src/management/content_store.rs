//! Commands of the module cs.

use super::fields::{CAPACITY, COUNT, FLAGS, MASK, NAME};
use super::manager::Manager;
use super::reply::{Done, done, refused};
use super::request::{CsConfig, ERASE_LIMIT, Request, TableRequest};
use super::verb::{Call, Verb};
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::values::{CS_ADMIT, CS_SERVE};

pub(super) const CONFIG: Verb =
    Verb { name: "cs/config", required: 0, optional: CAPACITY | FLAGS | MASK, run: configure };
pub(super) const ERASE: Verb = Verb { name: "cs/erase", required: NAME, optional: COUNT, run: erase };

fn configure(manager: &mut Manager, call: Call<'_>) -> Done {
    let (old, parameters) = (manager.cs, call.parameters);
    let cs = CsConfig {
        capacity: parameters.capacity.unwrap_or(old.capacity),
        admit: parameters.flag(CS_ADMIT).unwrap_or(old.admit),
        serve: parameters.flag(CS_SERVE).unwrap_or(old.serve),
    };
    manager.set_cs(cs, call.plane);
    done(&ControlParameters {
        capacity: Some(manager.cs.capacity),
        flags: Some(flags(&manager.cs)),
        ..ControlParameters::default()
    })
}

/// Flags of the content store.
pub(super) fn flags(cs: &CsConfig) -> u64 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    flag(cs.admit, CS_ADMIT) | flag(cs.serve, CS_SERVE)
}

fn erase(manager: &mut Manager, call: Call<'_>) -> Done {
    let Some(prefix) = call.parameters.name else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Name is required");
    };
    let limit = match call.parameters.count {
        Some(0) => return refused(400, "Count must be positive"),
        // A count that no address can hold is more than the limit.
        Some(count) => usize::try_from(count).unwrap_or(usize::MAX).min(ERASE_LIMIT),
        None => ERASE_LIMIT,
    };
    let ticket = manager.wait(call.interest, call.from, call.now, call.plane)?;
    call.plane.request(Request::Table(TableRequest::Erase { prefix, limit, ticket }));
    Ok(None)
}
