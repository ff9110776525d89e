//! The forwarding thread, as the management sees it.

use super::message::{Request, Requests};
use crate::management::{CsConfig, FaceOptions, Plane, StrategyInstance, Ticket};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn_fw::strategy::Strategy;

/// The forwarding thread, as the management sees it.
pub(crate) struct PlaneProxy(pub(crate) Requests);

impl Plane for PlaneProxy {
    fn route(&mut self, prefix: NdnName<'_>, face: u64, cost: u64) {
        self.0.add(Request::Route { prefix: owned(prefix), face, cost });
    }

    fn unroute(&mut self, prefix: NdnName<'_>, face: u64) {
        self.0.add(Request::Unroute { prefix: owned(prefix), face });
    }

    fn strategy(&mut self, prefix: NdnName<'_>, strategy: Option<&StrategyInstance>) -> Result<(), String> {
        let strategy = strategy.map(|strategy| Strategy::from_name(strategy.name.view())).transpose();
        let strategy = strategy.map_err(|error| error.to_string())?;
        self.0.add(Request::Strategy { prefix: owned(prefix), strategy });
        Ok(())
    }

    fn create_face(
        &mut self,
        ticket: Ticket,
        remote: &FaceUri,
        _local: Option<&FaceUri>,
        options: &FaceOptions,
    ) {
        if let FaceUri::Ip { protocol, .. } = remote
            && let Some(address) = remote.socket_address()
        {
            let options = *options;
            self.0.add(Request::CreateFace { ticket, protocol: *protocol, remote: address, options });
        }
    }

    fn update_face(&mut self, face: u64, options: &FaceOptions) {
        self.0.add(Request::UpdateFace { face, options: *options });
    }

    fn destroy_face(&mut self, face: u64) {
        self.0.add(Request::DestroyFace { face });
    }

    fn cs(&mut self, config: CsConfig) {
        self.0.add(Request::Cs(config));
    }

    fn erase(&mut self, prefix: NdnName<'_>, limit: u64, ticket: Ticket) {
        self.0.add(Request::Erase { prefix: owned(prefix), limit, ticket });
    }
}

fn owned(name: NdnName<'_>) -> OwnedName<Ndn> {
    OwnedName::from(&name)
}
