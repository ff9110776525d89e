//! Commands of the module faces.

use super::addresses::check_address;
use super::face_info::{FaceInfo, FaceOptions};
use super::fields::{FACE_ID, FACE_OPTIONS, LOCAL_URI, URI};
use super::manager::Manager;
use super::reply::{Done, done, refused};
use super::request::{FaceOutcome, FaceRequest, Request, Ticket};
use super::verb::{Call, Verb};
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_LP_RELIABILITY, FACE_NO_INTEREST_DIGESTS,
    FACE_PIT_TOKENS, FacePersistency, FaceScope,
};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, FaceUri};
use std::net::SocketAddr;

pub(super) const CREATE: Verb =
    Verb { name: "faces/create", required: URI, optional: LOCAL_URI | FACE_OPTIONS, run: create };
pub(super) const UPDATE: Verb =
    Verb { name: "faces/update", required: 0, optional: FACE_ID | FACE_OPTIONS, run: update };
pub(super) const DESTROY: Verb = Verb { name: "faces/destroy", required: FACE_ID, optional: 0, run: destroy };

/// Smallest MTU of a face, in bytes.
const MIN_MTU: u64 = 64;

/// Text of the answer if a face has the peer already.
const EXISTS: &str = "Face with remote URI already exists";

/// Flags that a face can have.
const FLAGS: u64 = FACE_LOCAL_FIELDS
    | FACE_LP_RELIABILITY
    | FACE_CONGESTION_MARKING
    | FACE_PIT_TOKENS
    | FACE_NO_INTEREST_DIGESTS;

/// Flags of a command that a face cannot have: unknown ones, set or cleared, and reliability, if set, of
/// faces over other transports than UDP.
fn unsupported(parameters: &ControlParameters, is_udp: bool) -> u64 {
    // Flags and Mask come together or not at all.
    let mask = parameters.mask.unwrap_or(0);
    let set = parameters.flags.unwrap_or(0) & mask;
    mask & !FLAGS | if is_udp { 0 } else { set & FACE_LP_RELIABILITY }
}

fn create(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    parameters.persistency.get_or_insert(FacePersistency::Persistent);
    let Some(uri) = parameters.uri.as_deref() else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Uri is required");
    };
    let remote = canonical(uri, "remote")?;
    if let Some(uri) = &parameters.local_uri {
        canonical(uri, "local")?;
    }
    let schemes = &manager.config.schemes;
    let protocol = match &remote {
        FaceUri::Ip { protocol, .. } if schemes.contains(&remote.scheme()) => *protocol,
        _ => {
            let (scheme, supported) = (remote.scheme(), schemes.join(", "));
            return refused(406, format!("Unsupported protocol {scheme}: faces are made of {supported}"));
        }
    };
    let Some(address) = remote.socket_address() else {
        return refused(406, "the interface of a link-local address must be given by its number");
    };
    check_address(protocol, address, &manager.config.channels, manager.interfaces)?;
    check_options(&parameters, remote.scheme(), address)?;
    if let Some(face) = manager.faces.values().find(|face| face.remote == remote) {
        return Ok(Some(ControlResponse::with(409, EXISTS, &face.parameters(true))));
    }
    let ticket = manager.wait(call.interest, call.from, call.now, call.plane)?;
    let options = FaceOptions::of(&parameters);
    let request = FaceRequest::Create { ticket, protocol, remote: address, options };
    call.plane.request(Request::Face(request));
    Ok(None)
}

/// Refuses options that a face of this scheme and peer cannot have.
fn check_options(
    parameters: &ControlParameters,
    scheme: &str,
    remote: SocketAddr,
) -> Result<(), ControlResponse> {
    let is_udp = scheme.starts_with("udp");
    if parameters.local_uri.is_some() {
        return refused(406, format!("{scheme} faces cannot be created with a LocalUri"));
    }
    if parameters.persistency == Some(FacePersistency::OnDemand) {
        return refused(406, "Outgoing faces do not support on-demand persistency");
    }
    match unsupported(parameters, is_udp) {
        0 => {}
        FACE_LP_RELIABILITY => {
            return refused(
                406,
                format!("{scheme} faces lose no packets: create the face without reliability"),
            );
        }
        flags => return refused(406, format!("Unsupported face flags {flags:#x}")),
    }
    // A UDP face is never local.
    let is_local = !is_udp && remote.ip().to_canonical().is_loopback();
    if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && !is_local {
        return refused(406, "Local fields can only be enabled on faces with local scope");
    }
    match parameters.mtu {
        Some(_) if !is_udp => refused(406, "TCP faces do not support MTU overrides"),
        Some(mtu) if mtu < MIN_MTU => refused(406, format!("Override MTU cannot be less than {MIN_MTU}")),
        _ => Ok(()),
    }
}

impl Manager {
    /// Handles the outcome of [`FaceRequest::Create`]. A face that was opened has been reported before.
    /// Returns the answer to the command.
    pub fn face_created(&mut self, ticket: Ticket, outcome: FaceOutcome) -> Vec<Vec<u8>> {
        let (id, code, text) = match outcome {
            FaceOutcome::Created(id) => (id, 200, "OK"),
            FaceOutcome::Exists(id) => (id, 409, EXISTS),
            FaceOutcome::Failed { code, text } => {
                return self.respond(ticket, &ControlResponse::new(code, text));
            }
        };
        self.changes += 1;
        let response = match self.faces.get(&id) {
            Some(face) => ControlResponse::with(code, text, &face.parameters(true)),
            None => ControlResponse::new(500, format!("face {id} was opened and is closed again")),
        };
        self.respond(ticket, &response)
    }
}

fn update(manager: &mut Manager, call: Call<'_>) -> Done {
    let parameters = call.parameters;
    let id = parameters.face_id.filter(|&id| id != 0).unwrap_or(call.from.face);
    let udp_idle = manager.config.udp_idle;
    let Some(face) = manager.faces.get_mut(&id) else {
        return refused(404, format!("face {id} does not exist"));
    };
    let mut wrong = ControlParameters::default();
    let mut flags = unsupported(&parameters, face.is_udp());
    if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && face.scope != FaceScope::Local {
        flags |= FACE_LOCAL_FIELDS;
    }
    if flags != 0 {
        wrong.flags = parameters.flags.map(|set| set & flags);
        wrong.mask = Some(flags);
    }
    wrong.persistency = parameters.persistency.filter(|&persistency| !face.can_become(persistency));
    wrong.mtu = parameters.mtu.filter(|&mtu| mtu < MIN_MTU || !face.is_udp());
    if wrong != ControlParameters::default() {
        return Err(ControlResponse::with(409, "Invalid properties specified", &wrong));
    }
    let options = FaceOptions::of(&parameters);
    face.apply(&options, Some(udp_idle));
    call.plane.request(Request::Face(FaceRequest::Update { face: id, options }));
    done(&face.parameters(false))
}

fn destroy(manager: &mut Manager, call: Call<'_>) -> Done {
    let id = match call.parameters.face_id {
        Some(0) => return refused(400, "FaceId must not be 0"),
        Some(id) => id,
        None => {
            debug_assert!(false, "required fields have been checked");
            return refused(400, "FaceId is required");
        }
    };
    match manager.faces.get(&id) {
        Some(FaceInfo { remote: FaceUri::Internal | FaceUri::Null, .. }) => {
            return refused(409, format!("face {id} is a part of the forwarder"));
        }
        Some(_) => call.plane.request(Request::Face(FaceRequest::Destroy { face: id })),
        // The face is gone already, as the command wants it.
        None => {}
    }
    done(&call.parameters)
}

/// Parses a URI, which must be in canonical form. `end` is the end of the face that it names.
fn canonical(text: &str, end: &str) -> Result<FaceUri, ControlResponse> {
    let uri: FaceUri = text.parse().or_else(|error| refused(400, format!("{end} URI: {error}")))?;
    match uri.canonical() {
        Ok(canonical) if canonical == uri && uri.to_string() == text => Ok(uri),
        Ok(canonical) => refused(400, format!("Non-canonical {end} URI: write {canonical}")),
        Err(error) => refused(400, format!("Non-canonical {end} URI: {error}")),
    }
}
