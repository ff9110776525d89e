//! Requests of the management, handled on the forwarding thread.

use super::dial::{Dialer, set_persistency, with_persistency};
use super::faces::Faces;
use super::message::RequestQueue;
use super::peers;
use super::pipeline::Pipeline;
use super::udp::Udp;
use crate::management::{
    FaceOptions, FaceOutcome, FaceRequest, Report, Request, TableRequest, Ticket, erased, face_id,
};
use crate::shards::Erasure;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_LP_RELIABILITY, FACE_NO_INTEREST_DIGESTS,
    FACE_PIT_TOKENS, FacePersistency,
};
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn::wire::lp::NO_CACHE;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::pit::Pit;
use std::net::SocketAddr;

/// Requests that are handled in one turn. Packets wait meanwhile: each request is a few cache misses.
const REQUESTS: usize = 32;

/// Handles the requests of one turn. Returns true if there may be more.
pub(super) fn handle_requests<P: Pit>(
    requests: &RequestQueue,
    faces: &mut Faces<P>,
    dialer: &mut Dialer,
) -> bool {
    while let Some(settings) = requests.next_settings() {
        faces.configure(settings);
    }
    for _ in 0..REQUESTS {
        let Some(request) = requests.next() else { return false };
        handle(request, faces, dialer);
    }
    true
}

fn handle<P: Pit>(request: Request, faces: &mut Faces<P>, dialer: &mut Dialer) {
    match request {
        Request::Table(request) if faces.pipeline.crew.is_some() => change_tables(request, faces),
        Request::Table(request) => {
            if let Some(report) = request.apply(&mut faces.pipeline.forwarder) {
                faces.reports.add(report);
            }
        }
        Request::Face(FaceRequest::Create { ticket, protocol, remote, options }) => {
            create_face(ticket, protocol, remote, options, faces, dialer);
        }
        Request::Face(FaceRequest::CreateEther { ticket, remote, interface, options }) => {
            let outcome = create_ether(remote, &interface, &options, faces);
            faces.reports.add(Report::FaceCreated { ticket, outcome });
        }
        Request::Face(FaceRequest::Update { face, options }) => {
            update_face(face_id(face), &options, faces);
        }
        Request::Face(FaceRequest::Destroy { face }) => faces.close(face_id(face), "destroyed by a command"),
        Request::Echo => faces.reports.add(Report::Echo),
        Request::Interest(packet) => faces.pipeline.express(&packet),
        Request::Data(packet) => match LpPacket::parse(&packet) {
            Ok(mut packet) => {
                // A cached dataset would be an outdated one.
                packet.header.cache_policy = Some(NO_CACHE);
                faces.pipeline.receive_management(&packet);
            }
            Err(_) => debug_assert!(false, "the management answers with packets that it has built"),
        },
    }
}

/// Applies a change of a table at all shards.
fn change_tables<P: Pit>(request: TableRequest, faces: &mut Faces<P>) {
    let Pipeline { forwarder, crew: Some(crew), .. } = &mut faces.pipeline else {
        debug_assert!(false, "there are other shards");
        return;
    };
    match request {
        TableRequest::Erase { prefix, limit, ticket } => {
            let count = forwarder.erase(&prefix.view(), limit);
            if count < limit {
                return crew.erase(Erasure { prefix, left: limit - count, count, ticket });
            }
            faces.reports.add(Report::Response { ticket, response: erased(prefix, count, true) });
        }
        request => {
            let request = match request {
                TableRequest::ConfigureCs(cs) => TableRequest::ConfigureCs(crew.part_of_cs(cs)),
                request => request,
            };
            crew.change_table(&request);
            let report = request.apply(forwarder);
            debug_assert!(report.is_none(), "only an erasure has an answer");
        }
    }
}

fn create_face<P: Pit>(
    ticket: Ticket,
    protocol: Protocol,
    remote: SocketAddr,
    options: FaceOptions,
    faces: &mut Faces<P>,
    dialer: &mut Dialer,
) {
    let outcome = match protocol {
        Protocol::Udp => create_udp(remote, &options, faces),
        Protocol::Tcp => return dialer.create_face(ticket, remote, options, faces),
        _ => FaceOutcome::Failed { code: 406, text: "faces are made for udp4, udp6, tcp4 and tcp6".into() },
    };
    faces.reports.add(Report::FaceCreated { ticket, outcome });
}

fn create_udp<P: Pit>(remote: SocketAddr, options: &FaceOptions, faces: &mut Faces<P>) -> FaceOutcome {
    let sockets = &faces.pipeline.ports.sockets;
    let fits = |udp: &Udp| udp.local.is_ipv4() == remote.is_ipv4() && !udp.is_of_group();
    let Some((socket, _)) = sockets.iter().find(|(_, udp)| fits(udp)) else {
        let text = "no UDP socket of this address family is open; add one to [faces.udp] listen";
        return FaceOutcome::Failed { code: 504, text: text.into() };
    };
    if let Some(face) = faces.peers.find(&peers::tuple(socket, remote)) {
        return FaceOutcome::Exists(face.0.into());
    }
    match faces.open_udp(socket, remote, &with_persistency(options)) {
        Some(face) => FaceOutcome::Created(face.0.into()),
        None => FaceOutcome::limit_reached(),
    }
}

fn create_ether<P: Pit>(
    remote: [u8; 6],
    interface: &str,
    options: &FaceOptions,
    faces: &mut Faces<P>,
) -> FaceOutcome {
    let ethers = &faces.pipeline.ports.ethers;
    let found = ethers.iter().find(|(_, ether)| ether.interface == interface);
    let Some((number, own)) = found.map(|(number, ether)| (number, ether.own_address())) else {
        let text = format!("no Ethernet faces on {interface}: add it to faces.ether.interfaces");
        return FaceOutcome::Failed { code: 504, text };
    };
    if remote == own {
        let text = format!("{interface} itself has this address: give the address of a neighbour");
        return FaceOutcome::Failed { code: 406, text };
    }
    if let Some(face) = faces.peers.find(&peers::tuple_of_ether(number, remote)) {
        return FaceOutcome::Exists(face.0.into());
    }
    match faces.open_ether(number, remote, &with_persistency(options)) {
        Some(face) => FaceOutcome::Created(face.0.into()),
        None => FaceOutcome::limit_reached(),
    }
}

pub(super) fn update_face<P: Pit>(id: FaceId, options: &FaceOptions, faces: &mut Faces<P>) {
    let meant = |flag| (options.mask & flag != 0).then_some(options.flags & flag != 0);
    // The face may have been closed meanwhile.
    let Some(face) = faces.pipeline.forwarder.face_mut(id) else { return };
    let set = |flag: &mut bool, meant: Option<bool>| *flag = meant.unwrap_or(*flag);
    set(&mut face.local_fields, meant(FACE_LOCAL_FIELDS));
    set(&mut face.pit_tokens, meant(FACE_PIT_TOKENS));
    set(&mut face.interest_digests, meant(FACE_NO_INTEREST_DIGESTS).map(|none| !none));
    let now = faces.pipeline.ports.now;
    let transport_mtu = faces.pipeline.ports.transport_mtu(id);
    // The face of the management has no port.
    let Some(port) = faces.pipeline.ports.find_mut(id) else { return };
    let mut link = port.link.options();
    set(&mut link.marks, meant(FACE_CONGESTION_MARKING));
    set(&mut link.reliability, meant(FACE_LP_RELIABILITY));
    if let Some(persistency) = options.persistency.filter(|_| port.is_datagram()) {
        port.idle = faces.config.udp.idle_after(persistency);
        if port.idle.is_some() {
            // The time limit starts now.
            port.used = now;
        }
    }
    match options.persistency {
        Some(FacePersistency::OnDemand) => faces.shares.add(port),
        Some(_) => faces.shares.remove(port),
        None => {}
    }
    if let Some(interval) = options.marking_interval {
        link.interval = interval / 1_000_000;
    }
    if let Some(threshold) = options.congestion_threshold {
        link.threshold = usize::try_from(threshold).unwrap_or(usize::MAX);
    }
    if let (Some(mtu), Some(limit)) = (options.mtu, transport_mtu) {
        link.mtu = usize::try_from(mtu).unwrap_or(usize::MAX).min(limit);
    }
    port.set_options(link);
    if !link.reliability {
        faces.pipeline.ports.stop_timer(id);
    }
    if let (Some(crew), Some(face)) = (&mut faces.pipeline.crew, faces.pipeline.forwarder.faces().find(id)) {
        crew.update_face(id, face, link);
    }
    if let Some(persistency) = options.persistency {
        set_persistency(id, persistency, faces);
    }
}
