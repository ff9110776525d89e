//! A command of the protocol: its name, its fields, and the function that handles it.

use super::access::Grant;
use super::clock::Now;
use super::fetch::Progress;
use super::fields::{FLAGS, MASK, names, present};
use super::manager::Manager;
use super::origin::Origin;
use super::reply::{Done, refused};
use super::request::Plane;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse};
use hashlane_ndn::wire::Interest;

/// A command of the protocol. Each is a constant in the file of its module, and one entry of the list in
/// `management/mod.rs`.
pub(super) struct Verb {
    /// `module/verb`.
    pub(super) name: &'static str,
    /// Fields that must be present.
    pub(super) required: u16,
    /// Fields that may be present.
    pub(super) optional: u16,
    /// Handles the command, whose fields have been checked.
    pub(super) run: fn(&mut Manager, Call<'_>) -> Done,
}

/// One command, as its handler gets it.
pub(super) struct Call<'a> {
    pub(super) parameters: ControlParameters,
    pub(super) interest: &'a Interest<'a>,
    pub(super) from: &'a Origin,
    pub(super) grant: Grant,
    pub(super) progress: Progress,
    pub(super) now: Now,
    pub(super) plane: &'a mut dyn Plane,
}

impl Verb {
    /// True if this is the command of a module and verb.
    pub(super) fn is(&self, module: &[u8], verb: &[u8]) -> bool {
        self.name.split_once('/').is_some_and(|name| (name.0.as_bytes(), name.1.as_bytes()) == (module, verb))
    }

    /// Refuses parameters that lack a required field, or have one that the command does not take.
    pub(super) fn check(&self, parameters: &ControlParameters) -> Result<(), ControlResponse> {
        let present = present(parameters);
        if let Some(missing) = names(self.required & !present).next() {
            return refused(400, format!("{missing} is required but missing"));
        }
        if let Some(forbidden) = names(present & !(self.required | self.optional)).next() {
            return refused(400, format!("{forbidden} is forbidden but present"));
        }
        if self.optional & MASK != 0 && (present & FLAGS != 0) != (present & MASK != 0) {
            return refused(400, "Flags and Mask must come together");
        }
        Ok(())
    }
}
