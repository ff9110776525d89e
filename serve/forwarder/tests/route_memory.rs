//! Memory of routes over both tables that hold them, the RIB of the management and the FIB of the forwarding
//! thread, and its return when their face closes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_forwarder::Totals;
use hashlane_forwarder::management::{
    Config, FaceInfo, Manager, Now, Origin, Over, Peer, Plane, Request, TableRequest,
};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType};
use hashlane_ndn::mgmt::{Command, CommandBuilder, ControlParameters, Scope};
use hashlane_ndn::security::Certificates;
use hashlane_ndn::wire::Interest;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::Forwarder;
use std::sync::Arc;

/// Routes of the face. A tenth of a table that a routing daemon may register.
const ROUTES: usize = 100_000;
/// Most bytes of a route over both tables.
const LIMIT: usize = 200;

const NOW: Now = Now { monotonic: 5_000, unix: 1_700_000_000_000 };

/// The forwarding thread, without a thread: applies each request at once.
struct Tables(Forwarder);

impl Plane for Tables {
    fn request(&mut self, request: Request) {
        let face = |face: u64| FaceId(u32::try_from(face).unwrap());
        match request {
            Request::Table(TableRequest::AddNextHop { prefix, face: hop, cost }) => {
                self.0.add_route(&prefix.view(), NextHop { face: face(hop), cost });
            }
            Request::Table(TableRequest::RemoveNextHop { prefix, face: hop }) => {
                assert!(self.0.remove_route(&prefix.view(), face(hop)));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Resident bytes of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

fn name(number: usize) -> OwnedName<Ndn> {
    let uri = format!("ndn:/org/example/site-{}/prefix-{number}", number % 300);
    hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap()
}

fn face(id: u64) -> FaceInfo {
    FaceInfo {
        id,
        remote: "udp4://192.0.2.1:6363".parse().unwrap(),
        local: "udp4://192.0.2.2:6363".parse().unwrap(),
        scope: FaceScope::NonLocal,
        persistency: FacePersistency::Persistent,
        link_type: LinkType::PointToPoint,
        flags: 0,
        marking_interval: 0,
        congestion_threshold: 0,
        mtu: None,
        idle: None,
        counters: Arc::default(),
    }
}

#[test]
fn a_route_takes_little_memory_and_gives_it_back() {
    let routes = std::env::var("ROUTES").map_or(ROUTES, |routes| routes.parse().unwrap());
    let unverified = |_: &Command<'_>, _: &[&Certificates], _: Now| {
        Err::<Box<[u8]>, _>("no key is trusted".to_owned().into())
    };
    let mut manager = Manager::new(Config::default(), Totals::default(), Box::new(unverified), NOW);
    let mut tables = Tables(Forwarder::new(hashlane_ndn_fw::forward::Config::default(), &Key::VECTOR, 7));
    manager.face_up(face(300), NOW);
    let peer = Peer::User { uid: 0, over: Over::Unix };
    let from = Origin { face: 299, scope: FaceScope::Local, peer };
    let before = resident();
    for number in 0..routes {
        let parameters =
            ControlParameters { name: Some(name(number)), face_id: Some(300), ..Default::default() };
        let builder = CommandBuilder {
            target: Target { scope: Scope::Localhost, module: b"rib", verb: b"register" },
            parameters: &parameters,
            nonce: 1,
            lifetime: 4000,
            signature_nonce: [3; 8],
            time: NOW.unix,
        };
        let packet = builder.build().unwrap();
        let interest = Interest::parse(&packet).unwrap();
        assert_eq!(manager.interest(&interest, &from, NOW, &mut tables).len(), 1);
    }
    assert_eq!(tables.0.fib().len(), routes);
    let full = resident().saturating_sub(before);
    println!("{} bytes per route", full / routes);
    assert!(full / routes <= LIMIT, "{} bytes per route", full / routes);

    manager.face_down(300, NOW, &mut tables);
    while manager.deadline().is_some() {
        manager.tick(NOW, &mut tables);
    }
    assert_eq!(tables.0.fib().len(), 0);
    let left = resident().saturating_sub(before);
    println!("{left} bytes stay resident of {full}");
    assert!(left <= full / 8, "{left} bytes stay resident of {full}");
}
