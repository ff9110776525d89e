//! Settings that a reload of the configuration changes.

use super::access::Verify;
use super::manager::Manager;
use super::request::{CsConfig, Plane, Request, TableRequest};
use super::users::Access;

impl Manager {
    /// Replaces the rights to give commands, and the check of signatures. `fetch` is true if certificates are
    /// fetched; those that were are dropped.
    pub fn set_access(&mut self, access: Access, verify: Box<Verify>, fetch: bool) {
        self.config.access = access;
        self.config.fetch = fetch;
        self.verify = verify;
        self.fetcher.forget();
        self.users.forget();
    }

    /// Replaces the limit of the routes that prefix announcements of one face make; `None` refuses new
    /// announcements. Routes stay until they expire.
    pub fn set_announcements(&mut self, per_face: Option<usize>) {
        self.config.announcements = per_face;
    }

    /// Replaces the idle timeout of on-demand UDP faces, in milliseconds.
    pub fn set_udp_idle(&mut self, idle: u64) {
        self.config.udp_idle = idle;
        for face in self.faces.values_mut().filter(|face| face.idle.is_some()) {
            face.idle = Some(idle);
        }
    }

    /// The settings of the content store, including changes by commands.
    pub fn cs(&self) -> CsConfig {
        self.cs
    }

    /// Changes the settings of the content store, if they differ.
    pub fn set_cs(&mut self, cs: CsConfig, plane: &mut dyn Plane) {
        if self.cs != cs {
            self.cs = cs;
            plane.request(Request::Table(TableRequest::ConfigureCs(cs)));
        }
    }
}
