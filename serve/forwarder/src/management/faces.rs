//! Commands of the module faces.

use super::addresses::check_address;
use super::face_info::{FaceInfo, FaceOptions};
use super::fields::{FACE_ID, FACE_OPTIONS, LOCAL_URI, URI};
use super::manager::Manager;
use super::reply::{Done, done, refused};
use super::request::{FaceOutcome, FaceRequest, Request, Ticket};
use super::verb::{Call, Verb};
use hashlane_link::packet;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_LP_RELIABILITY, FACE_NO_INTEREST_DIGESTS,
    FACE_PIT_TOKENS, FacePersistency, FaceScope, LinkType,
};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, FaceUri};

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
/// other faces than those to one UDP peer.
fn unsupported(parameters: &ControlParameters, can_be_reliable: bool) -> u64 {
    // Flags and Mask come together or not at all.
    let mask = parameters.mask.unwrap_or(0);
    let set = parameters.flags.unwrap_or(0) & mask;
    mask & !FLAGS | if can_be_reliable { 0 } else { set & FACE_LP_RELIABILITY }
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
    if let Some(group) = find_group(manager, &remote, parameters.local_uri.as_deref()) {
        return Ok(Some(ControlResponse::with(409, EXISTS, &group.parameters(true))));
    }
    let schemes = &manager.config.schemes;
    let protocol = match &remote {
        FaceUri::Ether(address) if schemes.contains(&remote.scheme()) => {
            return create_ether(manager, Call { parameters, ..call }, *address);
        }
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
    if parameters.local_uri.is_some() {
        return refused(406, format!("{} faces cannot be created with a LocalUri", remote.scheme()));
    }
    check_options(&parameters, &remote)?;
    if let Some(face) = manager.faces.values().find(|face| face.remote == remote) {
        return Ok(Some(ControlResponse::with(409, EXISTS, &face.parameters(true))));
    }
    let ticket = manager.wait(call.interest, call.from, call.now, call.plane)?;
    let options = FaceOptions::of(&parameters);
    let request = FaceRequest::Create { ticket, protocol, remote: address, options };
    call.plane.request(Request::Face(request));
    Ok(None)
}

/// The face of a multicast group, which commands name and cannot create: the one with this local end, or the
/// only one.
fn find_group<'m>(manager: &'m Manager, remote: &FaceUri, local: Option<&str>) -> Option<&'m FaceInfo> {
    let is_local = |face: &FaceInfo| local.is_none_or(|local| face.local.to_string() == local);
    let is_group = |face: &&FaceInfo| face.link_type != LinkType::PointToPoint && face.remote == *remote;
    let mut groups = manager.faces.values().filter(is_group).filter(|face| is_local(face));
    groups.next().filter(|_| groups.next().is_none())
}

/// Handles a faces/create command for a host on the Ethernet of an interface.
fn create_ether(manager: &mut Manager, call: Call<'_>, address: [u8; 6]) -> Done {
    let parameters = &call.parameters;
    let Some(Ok(FaceUri::Dev(interface))) = parameters.local_uri.as_deref().map(str::parse) else {
        let text =
            "Creation of unicast Ethernet faces requires a LocalUri with dev:// scheme, such as dev://eth0";
        return refused(406, text);
    };
    if !packet::is_host(address) {
        return refused(406, "Cannot create multicast Ethernet faces");
    }
    let remote = FaceUri::Ether(address);
    check_options(parameters, &remote)?;
    let local = FaceUri::Dev(interface.clone());
    let mut faces = manager.faces.values();
    if let Some(face) = faces.find(|face| face.remote == remote && face.local == local) {
        return Ok(Some(ControlResponse::with(409, EXISTS, &face.parameters(true))));
    }
    let options = FaceOptions::of(parameters);
    let ticket = manager.wait(call.interest, call.from, call.now, call.plane)?;
    let request = FaceRequest::CreateEther { ticket, remote: address, interface, options };
    call.plane.request(Request::Face(request));
    Ok(None)
}

/// Refuses options that a face to this peer cannot have.
fn check_options(parameters: &ControlParameters, remote: &FaceUri) -> Result<(), ControlResponse> {
    let is_stream = matches!(remote, FaceUri::Ip { protocol: Protocol::Tcp, .. });
    let is_udp = matches!(remote, FaceUri::Ip { protocol: Protocol::Udp, .. });
    if parameters.persistency == Some(FacePersistency::OnDemand) {
        return refused(406, "Outgoing faces do not support on-demand persistency");
    }
    match unsupported(parameters, is_udp) {
        0 => {}
        FACE_LP_RELIABILITY => {
            let scheme = remote.scheme();
            let text = match is_stream {
                true => format!("{scheme} faces lose no packets: create the face without reliability"),
                false => format!("{scheme} faces have no reliability: create the face without it"),
            };
            return refused(406, text);
        }
        flags => return refused(406, format!("Unsupported face flags {flags:#x}")),
    }
    // A UDP or Ethernet face is never local.
    let address = remote.socket_address().filter(|_| is_stream);
    let is_local = address.is_some_and(|address| address.ip().to_canonical().is_loopback());
    if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && !is_local {
        return refused(406, "Local fields can only be enabled on faces with local scope");
    }
    match parameters.mtu {
        Some(_) if is_stream => refused(406, "TCP faces do not support MTU overrides"),
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
    let mut flags = unsupported(&parameters, face.can_be_reliable());
    if parameters.flag(FACE_LOCAL_FIELDS) == Some(true) && face.scope != FaceScope::Local {
        flags |= FACE_LOCAL_FIELDS;
    }
    if flags != 0 {
        wrong.flags = parameters.flags.map(|set| set & flags);
        wrong.mask = Some(flags);
    }
    wrong.persistency = parameters.persistency.filter(|&persistency| !face.can_become(persistency));
    wrong.mtu = parameters.mtu.filter(|&mtu| mtu < MIN_MTU || !face.is_datagram());
    if wrong != ControlParameters::default() {
        return Err(ControlResponse::with(409, invalid_properties(&wrong, face), &wrong));
    }
    let options = FaceOptions::of(&parameters);
    face.apply(&options, Some(udp_idle));
    call.plane.request(Request::Face(FaceRequest::Update { face: id, options }));
    done(&face.parameters(false))
}

/// Text about the properties that a face cannot have.
fn invalid_properties(wrong: &ControlParameters, face: &FaceInfo) -> String {
    let scheme = face.remote.scheme();
    let mtu = match wrong.mtu {
        Some(mtu) if face.is_datagram() => Some(format!("an MTU of {mtu} (at least {MIN_MTU})")),
        Some(_) => Some(format!("an MTU ({scheme} faces have none)")),
        None => None,
    };
    let persistency =
        wrong.persistency.map(|persistency| format!("the persistency {persistency} ({scheme})"));
    let flags = wrong.mask.map(|mask| format!("the flags {mask:#x} ({scheme})"));
    let wrong: Vec<String> = [mtu, persistency, flags].into_iter().flatten().collect();
    format!("Invalid properties specified: face {} cannot have {}", face.id, wrong.join(" and "))
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
