//! Module cs.

use super::{CsConfig, Done, Manager, Now, Plane, done};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::values::{CS_ADMIT, CS_SERVE};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};
use hashlane_ndn::wire::Interest;

/// The most packets that one command erases, so that it does not keep a forwarding thread from its work.
const ERASE_LIMIT: u64 = 256;

impl Manager {
    pub(super) fn configure_cs(&mut self, parameters: &ControlParameters, plane: &mut impl Plane) -> Done {
        let old = self.cs;
        self.cs = CsConfig {
            capacity: parameters.capacity.unwrap_or(old.capacity),
            admit: parameters.flag(CS_ADMIT).unwrap_or(old.admit),
            serve: parameters.flag(CS_SERVE).unwrap_or(old.serve),
        };
        if self.cs != old {
            plane.cs(self.cs);
        }
        done(&ControlParameters {
            capacity: Some(self.cs.capacity),
            flags: Some(self.cs_flags()),
            ..ControlParameters::default()
        })
    }

    pub(super) fn cs_flags(&self) -> u64 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.cs.admit, CS_ADMIT) | flag(self.cs.serve, CS_SERVE)
    }

    pub(super) fn erase(
        &mut self,
        parameters: ControlParameters,
        interest: &Interest<'_>,
        now: Now,
        plane: &mut impl Plane,
    ) -> Done {
        let prefix = parameters.name;
        let ticket = self.wait(interest, now, prefix.clone())?;
        if let Some(prefix) = prefix {
            let limit = parameters.count.map_or(ERASE_LIMIT, |count| count.min(ERASE_LIMIT));
            plane.erase(prefix.view(), limit, ticket);
        }
        Ok(None)
    }
}

/// The answer to cs/erase.
pub(super) fn erased(prefix: Option<OwnedName<Ndn>>, count: u64, more: bool) -> ControlResponse {
    let capacity = more.then_some(ERASE_LIMIT);
    let body =
        ControlParameters { name: prefix, count: Some(count), capacity, ..ControlParameters::default() };
    ControlResponse::with(200, "OK", &body)
}
